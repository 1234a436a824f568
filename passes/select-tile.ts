/**
 * select-tile: writes the schedule down in full; keeps what the user chose, chooses the rest.
 *
 *   schedule {profile = head}
 *     →
 *   schedule {tile = [64, 128], view = [3000, 768], profile = head, residency = ub, order = [1, 0], …}
 *
 * Deterministic: candidates in a fixed order; those that move at most 1.05 of the compulsory bytes with half the cores
 * busy come first, then the fewest estimated cycles, the least traffic, the larger tile. May report TC302 and TC303 (no schedule), TC402 (no legal tile), TC403 (residency), TC907 (auto).
 */
import { followedBy, gatheredTable } from "../ir/access.js";
import { hint as hintDiagnostic, type Diagnostic } from "../ir/diagnostic.js";
import { inputOf, outputOf, type AccessFunc } from "../ir/func.js";
import type { Residency, ResolvedSchedule } from "../ir/schedule.js";
import { targetFacts, type Target } from "../ir/target.js";
import {
  gmAllowed,
  isLegal,
  largestThat,
  noLegalTile,
  pinnedDims,
  refusals,
  replaced,
  requiredView,
  rules,
  shapeRefusals,
  smallest,
  tilingOf,
  volume,
  type Tiling,
} from "../ir/tiling/index.js";
import { alignUp, at, dtypeBytes, type Shape } from "../ir/types.js";
import { clockOf } from "./lowered.js";
import { definePass } from "./pass.js";

export const selectTile = definePass({
  name: "select-tile",
  summary: "keeps the user's schedule and chooses what it leaves open",
  requires: ["access"],
  ensures: ["scheduled"],
  run(func, context) {
    if (func.level !== "access") return func;
    const problems = shapeRefusals(func, func.schedule);
    if (problems.length > 0) {
      problems.forEach(context.report);
      return func;
    }
    const { target } = context;
    const asked = func.schedule.residency ?? target.defaultResidency;
    const attempted = withDefaults(func, asked === "auto" ? "ub" : asked, target);
    const rows = refusals(rules.residency, attempted);
    if (rows.length > 0) {
      rows.forEach(context.report);
      return func;
    }
    const chosen =
      asked === "auto" ? decideResidency(func, target, context.report) : complete(func, asked, target);
    if (chosen === undefined) {
      // A view that cuts the gather dim is at fault before any byte is.
      const cut = refusals(rules.fullLoad, smallest(attempted).with({ view: attempted.schedule.view }));
      (cut.length > 0 ? cut : [noLegalTile(attempted)]).forEach(context.report);
      return func;
    }
    const { schedule } = chosen;
    const raised = schedule.tile.findIndex((entry, d) => entry > (func.schedule.tile?.[d] ?? entry));
    if (raised !== -1) {
      const entry = at(func.schedule.tile ?? [], raised);
      const message = `tile[${raised}] = ${entry} covers the index; it counts as the whole view of ${at(schedule.tile, raised)}`;
      context.report(hintDiagnostic("TC906", message, { span: func.opSpan }));
    }
    return { ...func, target: target.name, schedule };
  },
});

/** Every default but the tile's, which starts at the whole output. */
export function withDefaults(func: AccessFunc, residency: Residency, target: Target): Tiling {
  const { schedule } = func;
  const extents = outputOf(func).type.shape;
  const whole = extents.map((extent) => Math.max(1, extent));
  const given = schedule.tile ?? whole;
  const open: ResolvedSchedule = {
    profile: "strict",
    order: defaultOrder(func),
    buffers: 1,
    cores: target.cores,
    budgetRule: "full",
    ubBytes: target.ubBytes,
    ...schedule,
    residency,
    tile: given,
    view: schedule.view ?? whole,
  };
  if (schedule.view !== undefined) return tilingOf(func, open, target);
  // Without a view, a tile that covers the index along a pinned dim cuts nothing: it counts as the whole view.
  const pins = pinnedDims(func, open);
  const covers = (d: number): boolean => at(given, d) >= at(whole, d);
  const view = whole.map((extent, d) =>
    pins.includes(d) ? Math.max(requiredView(func, d), at(given, d)) : extent,
  );
  const tile = given.map((entry, d) => (pins.includes(d) && covers(d) ? at(view, d) : entry));
  return tilingOf(func, { ...open, view, tile }, target);
}

/** Dims the data follows come first, so that loops of indices alone can reuse its tile. */
function defaultOrder(func: AccessFunc): number[] {
  const follows = followedBy(func.map, gatheredTable);
  const dims = outputOf(func).type.shape.map((_, d) => d);
  return [...dims.filter((d) => follows.has(d)), ...dims.filter((d) => !follows.has(d))];
}

/** The schedule for one residency: the user's tile as it is, legal or not, or the best legal one. */
function complete(func: AccessFunc, residency: Residency, target: Target): Tiling | undefined {
  const tiling = withDefaults(func, residency, target);
  return func.schedule.tile === undefined ? chooseTile(tiling) : tiling;
}

function decideResidency(
  func: AccessFunc,
  target: Target,
  report: (diagnostic: Diagnostic) => void,
): Tiling | undefined {
  const ub = complete(func, "ub", target);
  const gm = gmAllowed(func, target) ? complete(func, "gm", target) : undefined;
  const ubLegal = ub !== undefined && isLegal(ub);
  const gmLegal = gm !== undefined && isLegal(gm);
  const say = (message: string): void => {
    report(hintDiagnostic("TC907", message, { span: func.opSpan }));
  };
  if (!ubLegal && gmLegal) {
    say("residency auto: gm, because no full load of the data fits the unified buffer under this schedule");
    return gm;
  }
  if (!ubLegal || !gmLegal) return ub ?? gm;
  const [full, rows] = [clockOf(ub).cycles, clockOf(gm).cycles];
  const [chosen, other] = full < rows ? (["ub", "gm"] as const) : (["gm", "ub"] as const);
  say(
    `residency auto: ${chosen}, estimated ${Math.min(full, rows)} cycles against ${Math.max(full, rows)} with ${other}`,
  );
  return chosen === "ub" ? ub : gm;
}

/**
 * The best of a fixed list of candidates under the static cost model; undefined when no tile is legal. Stays within the
 * target's safe size where that leaves a choice.
 */
export function chooseTile(tiling: Tiling): Tiling | undefined {
  const { ubBytes } = tiling.schedule;
  const { target } = tiling;
  if (ubBytes === target.ubBytes && target.ubSafeBytes < target.ubBytes) {
    const safe = bestTile(tiling.with({ ubBytes: target.ubSafeBytes }));
    if (safe !== undefined) return safe.with({ ubBytes });
  }
  return bestTile(tiling);
}

function bestTile(tiling: Tiling): Tiling | undefined {
  const start = smallest(tiling).with({ view: tiling.schedule.view });
  if (!isLegal(start)) return undefined;
  const ranked = candidates(start).map((candidate) => {
    const { traffic, schedule, target } = candidate;
    const frugal =
      targetFacts[target.kind].gathersInPlace ||
      (traffic.bytes <= frugalFactor * traffic.compulsory && 2 * traffic.tasks >= schedule.cores);
    const keys = [frugal ? 0 : 1, clockOf(candidate).cycles, traffic.bytes, -volume(schedule.tile)] as const;
    return { candidate, keys };
  });
  ranked.sort((a, b) => compareKeys(a.keys, b.keys));
  return ranked[0]?.candidate ?? start;
}

/** Moving hardly more than the compulsory bytes, with half the cores busy, comes before fewer estimated cycles. */
const frugalFactor = 1.05;

function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (let k = 0; k < a.length; k++) {
    const difference = at(a, k) - at(b, k);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Tiles grown from the innermost dim outwards, for a few widths of it, whole or split so that every core has work. */
function candidates(start: Tiling): Tiling[] {
  const { gather, schedule, target, extents } = start;
  const pins = pinnedDims(gather, schedule);
  const limit = extents.map((extent, d) => Math.max(1, Math.min(extent, at(schedule.view, d))));
  const free = extents.map((_, d) => d).filter((d) => !pins.includes(d) && at(limit, d) > 1);
  const inner = free[free.length - 1];
  if (inner === undefined) return [start];
  const follows = followedBy(gather.map, gatheredTable);
  const outwards = free.slice(0, -1).reverse();
  const indexFirst = [...outwards.filter((d) => !follows.has(d)), ...outwards.filter((d) => follows.has(d))];
  const dataFirst = [...outwards.filter((d) => follows.has(d)), ...outwards.filter((d) => !follows.has(d))];
  const orders = [outwards, indexFirst, dataFirst].filter(
    (order, k, all) => all.findIndex((other) => other.join() === order.join()) === k,
  );
  const { dtype } = inputOf(gather, gatheredTable).type;
  const lanes = inner === extents.length - 1 ? Math.max(1, target.blockBytes / dtypeBytes[dtype]) : 1;
  const found: Tiling[] = [];
  for (const width of widths(at(limit, inner), lanes)) {
    const wide = withEntry(start, inner, width);
    if (!isLegal(wide)) continue;
    for (const order of orders) {
      const grown = order.reduce((tiling, dim) => grow(tiling, dim, at(limit, dim)), wide);
      found.push(wide, grown, ...splitForCores(grown, limit, order));
    }
  }
  return found.length === 0 ? [start] : found.filter(isLegal);
}

/** The whole extent and power-of-two parts of it, each a whole number of blocks. */
function widths(limit: number, lanes: number): number[] {
  const list = [limit];
  for (let parts = 2; list.length < maxWidths && limit / parts >= lanes; parts *= 2) {
    list.push(Math.min(limit, alignUp(Math.ceil(limit / parts), lanes)));
  }
  const block = Math.min(lanes, limit);
  return [...new Set([...list, block])];
}
const maxWidths = 12;

/** The largest legal entry along one dim, evened out over the tiles it makes. */
function grow(tiling: Tiling, dim: number, limit: number): Tiling {
  const cap = Math.min(limit, directCap(tiling, dim));
  const largest =
    largestThat(1, cap, (n) => isLegal(withEntry(tiling, dim, n))) ?? at(tiling.schedule.tile, dim);
  return withEntry(tiling, dim, Math.ceil(limit / Math.ceil(limit / largest)));
}

/** A task that reads and writes gm directly has no budget to stop it. */
function directCap({ schedule, target }: Tiling, dim: number): number {
  if (schedule.residency === "ub") return Infinity;
  return Math.max(1, Math.floor((target.directElements * at(schedule.tile, dim)) / volume(schedule.tile)));
}

const withEntry = (tiling: Tiling, dim: number, entry: number): Tiling =>
  tiling.with({ tile: replaced(tiling.schedule.tile, dim, entry) });

/** Smaller outer tiles, or a view that splits the index loops, until there is a task for every core. */
function splitForCores(tiling: Tiling, limit: Shape, outwards: readonly number[]): Tiling[] {
  const { gather, schedule } = tiling;
  const tiles = (d: number): number => Math.ceil(at(limit, d) / at(schedule.tile, d));
  const tasks = limit.reduce((product, _, d) => product * tiles(d), 1);
  const follows = followedBy(gather.map, gatheredTable);
  const out: Tiling[] = [];
  if (tasks < schedule.cores) {
    for (const dim of [...outwards].reverse()) {
      const parts = Math.min(at(limit, dim), Math.ceil(schedule.cores / tasks) * tiles(dim));
      out.push(withEntry(tiling, dim, Math.ceil(at(limit, dim) / parts)));
    }
  }
  if (gather.schedule.view === undefined && schedule.residency === "ub") {
    const reused = limit.map((_, d) => d).find((d) => !follows.has(d) && tiles(d) > 1);
    const parallel = limit.reduce((product, _, d) => (follows.has(d) ? product * tiles(d) : product), 1);
    if (reused !== undefined && parallel < schedule.cores) {
      const parts = Math.min(tiles(reused), Math.ceil(schedule.cores / parallel));
      const view = Math.ceil(tiles(reused) / parts) * at(schedule.tile, reused);
      out.push(tiling.with({ view: replaced(schedule.view, reused, view) }));
    }
  }
  return out;
}
