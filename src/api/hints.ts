/** Performance hints: what a legal schedule leaves on the table, with what was measured and what to change. */
import {
  dtypeBytes,
  hint,
  inputsOf,
  outputOf,
  replaced,
  straddledPages,
  targetFacts,
  type Diagnostic,
  type Straddled,
  type Tiling,
} from "../../ir/index.js";
import { clockOf } from "../../passes/index.js";

export function performanceHints(tiling: Tiling): Diagnostic[] {
  const { traffic: moved, schedule, target, operands } = tiling;
  if (moved.tasks === 0) return [];
  const found: Diagnostic[] = [];
  moved.operands.forEach(({ operand, burst, bytes }, k) => {
    const inPlace = targetFacts[target.kind].gathersInPlace && operands[k]?.inUb === false;
    if (bytes === 0 || burst >= target.burstBytes || inPlace) return;
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
  });
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
  found.push(...straddledPages(tiling).map((straddled) => acrossPages(tiling, straddled)));
  if (tiling.residency === "ub" && targetFacts[target.kind].vectorUnit) found.push(...onScalarUnit(tiling));
  return found;
}

/** `tile[0] = 24 straddles pages of 16` */
function acrossPages({ schedule }: Tiling, { dim, entry, pages, instead }: Straddled): Diagnostic {
  const message = `tile[${dim}] = ${entry} straddles pages of ${pages.join(" and ")}`;
  const flags = instead.map((n) => `--tile ${replaced(schedule.tile, dim, n).join()}`);
  return hint("TC909", message, {
    hint: flags.length === 0 ? "no legal entry ends where pages do" : flags.join(" or "),
    data: { dim, entry, pages, instead },
  });
}

/** Why the vector unit does not gather. */
function onScalarUnit({ gather, target, lowering }: Tiling): Diagnostic[] {
  const wide = inputsOf(gather).some(({ role, type }) => role === "indices" && dtypeBytes[type.dtype] === 8);
  if (wide) {
    const message = "64-bit indices gather element by element on the scalar unit";
    return [hint("TC904", message, { hint: "use i32 indices: the vector unit gathers a repeat at a time" })];
  }
  const bytes = dtypeBytes[outputOf(gather).type.dtype];
  if (lowering.class !== "scalar" || target.vectorGatherBytes.includes(bytes)) return [];
  const taken = target.vectorGatherBytes.map((size) => 8 * size).join(", ");
  return [
    hint("TC904", `${8 * bytes}-bit elements gather element by element on the scalar unit`, {
      hint: `the vector unit of ${target.name} gathers elements of ${taken} bits`,
      data: { bits: 8 * bytes },
    }),
  ];
}

export interface Reversed {
  readonly order: readonly number[];
  readonly bytes: number;
  readonly compulsory: number;
  readonly cycles: number;
  /** How often each byte of the data is loaded. */
  readonly dataReloads: number;
}

/** The same tile with the loop order turned round: what losing (or winning) the reuse of the data would cost. */
export function reversedOrder(tiling: Tiling): Reversed | undefined {
  const order = [...tiling.schedule.order].reverse();
  const other = tiling.with({ order });
  const { traffic: moved } = other;
  if (moved.bytes === tiling.traffic.bytes) return undefined;
  const data = moved.operands.find(({ role }) => role === "data");
  const dataReloads = data === undefined || data.compulsory === 0 ? 1 : data.bytes / data.compulsory;
  return {
    order,
    bytes: moved.bytes,
    compulsory: moved.compulsory,
    cycles: clockOf(other).cycles,
    dataReloads,
  };
}
