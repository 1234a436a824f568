/** Performance hints: what a legal schedule leaves on the table, with what was measured and what to change. */
import { hint, type Diagnostic } from "../../ir/diagnostic.js";
import type { AccessFunc } from "../../ir/func.js";
import type { ResolvedSchedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { dtypeBytes } from "../../ir/types.js";
import { cost } from "../../passes/analysis/cost.js";
import { gatherOf } from "../../passes/analysis/legality.js";
import { traffic } from "../../passes/analysis/traffic.js";

export function performanceHints(func: AccessFunc, schedule: ResolvedSchedule, target: Target): Diagnostic[] {
  const moved = traffic(gatherOf(func), schedule, target);
  if (moved.tasks === 0) return [];
  const found: Diagnostic[] = [];
  for (const { operand, burst, bytes } of moved.operands) {
    const inPlace = target.kind !== "ascend" && (operand !== "data" || schedule.residency === "gm");
    if (bytes === 0 || burst >= target.burstBytes || inPlace) continue;
    found.push(
      hint(
        "TC901",
        `${operand} moves in rows of ${burst} B; target ${target.name} wants ${target.burstBytes} B or more`,
        {
          hint: "widen the tile along the last dim",
          data: { operand, burst, wanted: target.burstBytes },
        },
      ),
    );
  }
  if (moved.tasks * 2 < schedule.cores) {
    found.push(
      hint(
        "TC902",
        `${moved.tasks} tasks leave ${schedule.cores - moved.tasks} of ${schedule.cores} cores idle`,
        {
          hint: "use a smaller tile, or a view that splits the index loops",
          data: { tasks: moved.tasks, cores: schedule.cores },
        },
      ),
    );
  }
  for (const { operand, bytes, compulsory } of moved.operands) {
    if (compulsory > 0 && bytes > 2 * compulsory) {
      const times = (bytes / compulsory).toFixed(1);
      found.push(
        hint("TC903", `${operand} is loaded ${times} times over: ${bytes} B for ${compulsory} B`, {
          hint: "put the loops that the operand does not follow last, or enlarge the tile along them",
          data: { operand, bytes, compulsory },
        }),
      );
    }
  }
  if (schedule.residency === "ub" && target.kind === "ascend" && dtypeBytes[func.indices.type.dtype] === 8) {
    found.push(
      hint("TC904", "64-bit indices gather element by element on the scalar unit", {
        hint: "use i32 indices: the vector unit gathers a repeat at a time",
      }),
    );
  }
  return found;
}

export interface Alternative {
  readonly order: readonly number[];
  readonly bytes: number;
  readonly compulsory: number;
  readonly cycles: number;
  /** How often each byte of the data is loaded. */
  readonly dataReloads: number;
}

/** The same tile with the loop order turned round: what losing (or winning) the reuse of the data would cost. */
export function reversedOrder(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
): Alternative | undefined {
  const order = [...schedule.order].reverse();
  const gather = gatherOf(func);
  const other = { ...schedule, order };
  const { cycles, traffic: moved } = cost(gather, other, target);
  if (moved.bytes === traffic(gather, schedule, target).bytes) return undefined;
  const data = moved.operands.find((o) => o.operand === "data");
  const dataReloads = data === undefined || data.compulsory === 0 ? 1 : data.bytes / data.compulsory;
  return { order, bytes: moved.bytes, compulsory: moved.compulsory, cycles: Math.round(cycles), dataReloads };
}
