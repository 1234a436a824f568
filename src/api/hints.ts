/**
 * Performance hints: what a legal schedule leaves on the table, with what was measured and what to type
 * instead.
 */
import {
  at,
  hint,
  isLegal,
  outputBytes,
  replaced,
  straddledPages,
  targetFacts,
  TileSpace,
  type AccessFunc,
  type Diagnostic,
  type Straddled,
  type Tiling,
  type Traffic,
} from "../../ir/index.js";
import { policyOf } from "../../ir/access.js";
import { isPlain, plainIndices } from "../../ir/tiling/plain.js";
import { counted } from "../../ir/counted.js";
import { isPowerOfTwo } from "../../ir/types.js";
import { clockOf, flagsTo } from "../../passes/index.js";

/**
 * Returns hints (TC901 to TC904, TC909) on how to make a legal schedule faster. `given`: the program with the
 * user's schedule entries. `tiling`: the complete legal schedule.
 */
export function performanceHints(given: AccessFunc, tiling: Tiling): Diagnostic[] {
  const { traffic: traffic, schedule, target, operands } = tiling;
  if (traffic.tasks === 0) return [];
  const hints: Diagnostic[] = [];
  const fewest = clockOf(tiling).cycles;
  /**
   * Returns the fastest of some schedules that mends what is wrong, where it is legal and no slower, as
   * flags.
   */
  const mended = (others: readonly Tiling[], mends: (other: Traffic) => boolean): string | undefined => {
    const [best] = others
      .filter((other) => mends(other.traffic) && isLegal(other))
      .map((other) => ({ other, cycles: clockOf(other).cycles }))
      .filter(({ cycles }) => cycles <= fewest)
      .sort((a, b) => a.cycles - b.cycles);
    return best && flagsTo(given, best.other);
  };
  const wider = largerTiles(tiling);
  traffic.operands.forEach(({ operand, burst, bytes }, k) => {
    const inPlace = targetFacts[target.kind].gathersInPlace && operands[k]?.inUb === false;
    if (bytes === 0 || burst >= target.burstBytes || inPlace) return;
    const flags = mended(wider, (other) => at(other.operands, k).burst > burst);
    if (flags === undefined) return;
    const message = `${operand} moves in rows of ${burst} B; target ${target.name} wants ${target.burstBytes} B or more`;
    hints.push(hint("TC901", message, { hint: flags, data: { operand, burst, wanted: target.burstBytes } }));
  });
  if (traffic.tasks * 2 < schedule.cores) {
    const flags = mended(smallerTiles(tiling), ({ tasks }) => tasks > traffic.tasks);
    const idle = schedule.cores - traffic.tasks;
    if (flags !== undefined) {
      const message = `${counted(traffic.tasks, "task")} ${traffic.tasks === 1 ? "leaves" : "leave"} ${idle} of ${schedule.cores} cores idle`;
      hints.push(
        hint("TC902", message, { hint: flags, data: { tasks: traffic.tasks, cores: schedule.cores } }),
      );
    }
  }
  const turned = tiling.with({ order: [...schedule.order].reverse() });
  traffic.operands.forEach(({ operand, bytes, compulsory }, k) => {
    if (bytes <= 2 * compulsory) return;
    const flags = mended([turned, ...wider], (other) => at(other.operands, k).bytes < bytes);
    if (flags === undefined) return;
    const message = `${operand} of ${compulsory} B is loaded ${(bytes / compulsory).toFixed(1)} times: ${bytes} B`;
    hints.push(hint("TC903", message, { hint: flags, data: { operand, bytes, compulsory } }));
  });
  hints.push(...straddledPages(tiling).map((straddled) => acrossPages(tiling, straddled)));
  if (tiling.residency === "ub" && targetFacts[target.kind].vectorUnit) hints.push(...onScalarUnit(tiling));
  return hints;
}

/**
 * Returns tilings with one extent of the tile as large as is legal, one tiling for each dim. Dims that a rule
 * fixes, or that cannot grow, have no tiling.
 */
function largerTiles(tiling: Tiling): readonly Tiling[] {
  const space = new TileSpace(tiling);
  return space.free.flatMap((d) => {
    const max = at(space.limits, d);
    const tile = at(tiling.tile, d) < max ? space.largest(tiling.schedule.tile, d, max) : undefined;
    return tile === undefined ? [] : tiling.with({ tile });
  });
}

/**
 * Returns tilings with one extent of the tile reduced until each core has a task. Each dim that no rule fixes
 * has two tilings: with the view unchanged, and with the view reduced to the tile.
 */
function smallerTiles(tiling: Tiling): readonly Tiling[] {
  const { schedule, tile, traffic } = tiling;
  const count = Math.ceil(schedule.cores / traffic.tasks);
  return new TileSpace(tiling).free.flatMap((d) => {
    const entry = Math.ceil(at(tile, d) / count);
    const smaller = replaced(schedule.tile, d, entry);
    return [
      tiling.with({ tile: smaller }),
      tiling.with({ tile: smaller, view: replaced(schedule.view, d, entry) }),
    ];
  });
}

/**
 * Returns a hint (TC909) that the tile's extent in a dim does not end at the end of a page. `pages`: page
 * sizes in elements, by which the access map divides the coordinate.
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
