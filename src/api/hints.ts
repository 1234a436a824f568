/**
 * Performance hints: what a legal schedule leaves on the table, with what was measured and what to type
 * instead.
 */
import {
  at,
  hint,
  outputBytes,
  replaced,
  straddledPages,
  targetFacts,
  type Diagnostic,
  type Straddled,
  type Tiling,
  type Traffic,
} from "../../ir/index.js";
import { policyOf } from "../../ir/access.js";
import { isPlain, plainIndices } from "../../ir/tiling/plain.js";
import { counted } from "../../ir/counted.js";
import { isPowerOfTwo } from "../../ir/types.js";
import { clockOf } from "../../passes/index.js";
import type { ComparedSchedules } from "./comparison.js";

/**
 * Returns hints (TC901 to TC904, TC909) about faults that slow the legal schedule `tiling`. A hint TC901 to
 * TC903 is given only if another schedule has less of the fault, and names the flags of that schedule.
 * `compared`: returns the comparison from which the other schedule is taken.
 */
export function performanceHints(tiling: Tiling, compared: () => ComparedSchedules): Diagnostic[] {
  const { traffic: traffic, schedule, target, operands } = tiling;
  if (traffic.tasks === 0) return [];
  const hints: Diagnostic[] = [];
  /** Returns the flags of the fastest compared schedule whose traffic mends what is wrong. */
  const mended = (mends: (other: Traffic) => boolean): string | undefined => {
    const { better, neighbours } = compared();
    const limit = (better ?? neighbours.at(-1))?.cycles ?? 0;
    const best = [...(better === undefined ? [] : [better]), ...neighbours].find(
      (other) => other.cycles <= limit && mends(tiling.with(other.schedule).traffic),
    );
    return best?.flags;
  };
  traffic.operands.forEach(({ operand, burst, bytes }, k) => {
    const inPlace = targetFacts[target.kind].gathersInPlace && operands[k]?.inUb === false;
    if (bytes === 0 || burst >= target.burstBytes || inPlace) return;
    const flags = mended((other) => at(other.operands, k).burst > burst);
    if (flags === undefined) return;
    const message = `${operand} moves in rows of ${burst} B; target ${target.name} wants ${target.burstBytes} B or more`;
    hints.push(hint("TC901", message, { hint: flags, data: { operand, burst, wanted: target.burstBytes } }));
  });
  if (traffic.tasks * 2 < schedule.cores) {
    const flags = mended(({ tasks }) => tasks > traffic.tasks);
    const idle = schedule.cores - traffic.tasks;
    if (flags !== undefined) {
      const message = `${counted(traffic.tasks, "task")} ${traffic.tasks === 1 ? "leaves" : "leave"} ${idle} of ${schedule.cores} cores idle`;
      hints.push(
        hint("TC902", message, { hint: flags, data: { tasks: traffic.tasks, cores: schedule.cores } }),
      );
    }
  }
  traffic.operands.forEach(({ operand, bytes, compulsory }, k) => {
    if (bytes <= 2 * compulsory) return;
    const flags = mended((other) => at(other.operands, k).bytes < bytes);
    if (flags === undefined) return;
    const message = `${operand} of ${compulsory} B is loaded ${(bytes / compulsory).toFixed(1)} times: ${bytes} B`;
    hints.push(hint("TC903", message, { hint: flags, data: { operand, bytes, compulsory } }));
  });
  hints.push(...straddledPages(tiling).map((straddled) => acrossPages(tiling, straddled)));
  if (tiling.residency === "ub" && targetFacts[target.kind].vectorUnit) hints.push(...onScalarUnit(tiling));
  return hints;
}

/**
 * Returns a hint (TC909) that tiles cross page boundaries because of the tile's extent along a dim. `entry`:
 * that extent. `pages`: page sizes along the dim, in elements. `instead`: nearest legal extents whose tiles
 * cross no boundary.
 */
function acrossPages({ schedule }: Tiling, { dim, entry, pages, instead }: Straddled): Diagnostic {
  const message = `tile[${dim}] = ${entry} does not end where pages of ${pages.join(" and ")} end`;
  const flags = instead.map((n) => `--tile ${replaced(schedule.tile, dim, n).join()}`);
  return hint("TC909", message, {
    hint: flags.length === 0 ? "no legal entry ends where pages do" : flags.join(" or "),
    data: { dim, entry, pages, instead },
  });
}

/**
 * Returns a list with a hint (TC904) if the wrap extent or the element size forces the gather onto the scalar
 * unit. The list is empty in all other cases.
 */
function onScalarUnit(tiling: Tiling): Diagnostic[] {
  const { gather, target } = tiling;
  if (clockOf(tiling).lowering?.class !== "scalar" || !isPlain(gather.map)) return [];
  const by = plainIndices(gather.map).map(({ extent }) => extent);
  const odd = by.find((value) => !isPowerOfTwo(value));
  if (policyOf(gather.map) === "wrap" && odd !== undefined) {
    const message = `indices that wrap by ${odd} gather element by element on the scalar unit`;
    return [hint("TC904", message, { hint: "wrap by a power of two, or before the gather" })];
  }
  const bytes = outputBytes(gather);
  if (bytes > 4 || target.vectorGatherBytes.some((size) => size === bytes || size === 2 * bytes)) return [];
  const taken = target.vectorGatherBytes.map((size) => 8 * size).join(", ");
  return [
    hint("TC904", `${8 * bytes}-bit elements gather element by element on the scalar unit`, {
      hint: `the vector unit of ${target.name} gathers elements of ${taken} bits`,
      data: { bits: 8 * bytes },
    }),
  ];
}

/**
 * Traffic in bytes and estimated cycles of a schedule with its loop order reversed. `compulsory`: bytes that
 * every schedule moves at least.
 */
export interface Reversed {
  readonly order: readonly number[];
  readonly bytes: number;
  readonly compulsory: number;
  readonly cycles: number;
  /** Average number of times that each byte of the data is loaded. */
  readonly dataReloads: number;
}

/**
 * Returns the traffic and the estimated cycles of a schedule with its loop order reversed. Undefined if
 * reversing does not change the traffic.
 */
export function reversedOrder(tiling: Tiling): Reversed | undefined {
  const order = [...tiling.schedule.order].reverse();
  const other = tiling.with({ order });
  const { traffic: traffic } = other;
  if (traffic.bytes === tiling.traffic.bytes) return undefined;
  const data = traffic.operands.find(({ role }) => role === "data");
  const dataReloads = data === undefined || data.compulsory === 0 ? 1 : data.bytes / data.compulsory;
  return {
    order,
    bytes: traffic.bytes,
    compulsory: traffic.compulsory,
    cycles: clockOf(other).cycles,
    dataReloads,
  };
}
