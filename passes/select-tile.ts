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
import { dataFollows } from "../ir/access.js";
import { error, hint as hintDiagnostic } from "../ir/diagnostic.js";
import type { AccessFunc } from "../ir/func.js";
import type { Residency, ResolvedSchedule } from "../ir/schedule.js";
import type { Target } from "../ir/target.js";
import { alignUp, at, dtypeBytes, type Shape } from "../ir/types.js";
import { cost } from "./analysis/cost.js";
import {
  checkScheduleShape,
  gatherOf,
  gmAllowed,
  isLegal,
  pinnedDims,
  requiredView,
} from "./analysis/legality.js";
import { brokenFullLoad, noLegalTile } from "./analysis/refusals.js";
import { largestThat, smallest } from "./analysis/suggest.js";
import { definePass } from "./pass.js";

export const selectTile = definePass({
  name: "select-tile",
  summary: "keeps the user's schedule and chooses what it leaves open",
  requires: ["access"],
  ensures: ["scheduled"],
  run(func, context) {
    if (func.level !== "access") return func;
    const problems = checkScheduleShape(func, func.schedule);
    if (problems.length > 0) {
      problems.forEach(context.report);
      return func;
    }
    const { target } = context;
    const asked = func.schedule.residency ?? target.defaultResidency;
    if (asked === "gm" && !gmAllowed(func, target)) {
      context.report(
        error(
          "TC403",
          `residency gm fetches whole rows, and this gather follows the output along its gather dim`,
          {
            span: func.opSpan,
            notes: [`target ${target.name} reads global memory row by row (PyPTO index_select, PTO MGATHER)`],
            hint: "use residency ub",
          },
        ),
      );
      return func;
    }
    const schedule =
      asked === "auto" ? decideResidency(func, target, context.report) : complete(func, asked, target);
    if (schedule === undefined) {
      const residency = asked === "auto" ? "ub" : asked;
      const attempted = withDefaults(func, residency, target);
      // A view that cuts the gather dim is at fault before any byte is.
      const cut = brokenFullLoad(func, { ...smallest(func, attempted), view: attempted.view }, target);
      (cut.length > 0 ? cut : [noLegalTile(func, attempted, target)]).forEach(context.report);
      return func;
    }
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
export function withDefaults(func: AccessFunc, residency: Residency, target: Target): ResolvedSchedule {
  const { schedule } = func;
  const extents = func.output.type.shape;
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
  if (schedule.view !== undefined) return open;
  // Without a view, a tile that covers the index along a pinned dim cuts nothing: it counts as the whole view.
  const pins = pinnedDims(func, open);
  const covers = (d: number): boolean => at(given, d) >= at(whole, d);
  const view = whole.map((extent, d) =>
    pins.includes(d) ? Math.max(requiredView(func, d), at(given, d)) : extent,
  );
  return {
    ...open,
    view,
    tile: given.map((entry, d) => (pins.includes(d) && covers(d) ? at(view, d) : entry)),
  };
}

/** Dims the data follows come first, so that loops of indices alone can reuse its tile. */
function defaultOrder(func: AccessFunc): number[] {
  const follows = dataFollows(func.map);
  const dims = func.output.type.shape.map((_, d) => d);
  return [...dims.filter((d) => follows.has(d)), ...dims.filter((d) => !follows.has(d))];
}

/** The schedule for one residency: the user's tile as it is, legal or not, or the best legal one. */
function complete(func: AccessFunc, residency: Residency, target: Target): ResolvedSchedule | undefined {
  const schedule = withDefaults(func, residency, target);
  return func.schedule.tile === undefined ? chooseTile(func, schedule, target) : schedule;
}

function decideResidency(
  func: AccessFunc,
  target: Target,
  report: (diagnostic: ReturnType<typeof hintDiagnostic>) => void,
): ResolvedSchedule | undefined {
  const ub = complete(func, "ub", target);
  const gm = gmAllowed(func, target) ? complete(func, "gm", target) : undefined;
  const ubLegal = ub !== undefined && isLegal(func, ub, target);
  const gmLegal = gm !== undefined && isLegal(func, gm, target);
  const say = (message: string): void => {
    report(hintDiagnostic("TC907", message, { span: func.opSpan }));
  };
  if (!ubLegal && gmLegal) {
    say("residency auto: gm, because no full load of the data fits the unified buffer under this schedule");
    return gm;
  }
  if (!ubLegal || !gmLegal) return ub ?? gm;
  const gather = gatherOf(func);
  const [full, rows] = [cost(gather, ub, target).cycles, cost(gather, gm, target).cycles];
  const [chosen, other] = full < rows ? (["ub", "gm"] as const) : (["gm", "ub"] as const);
  say(
    `residency auto: ${chosen}, estimated ${Math.round(Math.min(full, rows))} cycles ` +
      `against ${Math.round(Math.max(full, rows))} with ${other}`,
  );
  return chosen === "ub" ? ub : gm;
}

/**
 * The best of a fixed list of candidates under the static cost model; undefined when no tile is legal. Stays within the
 * target's safe size where that leaves a choice.
 */
export function chooseTile(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
): ResolvedSchedule | undefined {
  if (schedule.ubBytes === target.ubBytes && target.ubSafeBytes < target.ubBytes) {
    const safe = bestTile(func, { ...schedule, ubBytes: target.ubSafeBytes }, target);
    if (safe !== undefined) return { ...safe, ubBytes: schedule.ubBytes };
  }
  return bestTile(func, schedule, target);
}

function bestTile(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
): ResolvedSchedule | undefined {
  const least = smallest(func, schedule);
  const start = { ...least, view: schedule.view };
  if (!isLegal(func, start, target)) return undefined;
  const gather = gatherOf(func);
  const ranked = candidates(func, start, target).map((candidate) => {
    const { cycles, traffic } = cost(gather, candidate, target);
    const frugal =
      target.kind !== "ascend" ||
      (traffic.bytes <= frugalFactor * traffic.compulsory && 2 * traffic.tasks >= candidate.cores);
    return { candidate, keys: [frugal ? 0 : 1, cycles, traffic.bytes, -volume(candidate.tile)] as const };
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

const volume = (tile: Shape): number => tile.reduce((product, entry) => product * entry, 1);

/** Tiles grown from the innermost dim outwards, for a few widths of it, whole or split so that every core has work. */
function candidates(func: AccessFunc, start: ResolvedSchedule, target: Target): ResolvedSchedule[] {
  const extents = func.output.type.shape;
  const pins = pinnedDims(func, start);
  const limit = extents.map((extent, d) => Math.max(1, Math.min(extent, at(start.view, d))));
  const free = extents.map((_, d) => d).filter((d) => !pins.includes(d) && at(limit, d) > 1);
  const inner = free[free.length - 1];
  if (inner === undefined) return [start];
  const follows = dataFollows(func.map);
  const outwards = free.slice(0, -1).reverse();
  const indexFirst = [...outwards.filter((d) => !follows.has(d)), ...outwards.filter((d) => follows.has(d))];
  const dataFirst = [...outwards.filter((d) => follows.has(d)), ...outwards.filter((d) => !follows.has(d))];
  const orders = [outwards, indexFirst, dataFirst].filter(
    (order, k, all) => all.findIndex((other) => other.join() === order.join()) === k,
  );
  const lanes =
    inner === extents.length - 1 ? Math.max(1, target.blockBytes / dtypeBytes[func.data.type.dtype]) : 1;
  const found: ResolvedSchedule[] = [];
  for (const width of widths(at(limit, inner), lanes)) {
    const wide = withEntry(start, inner, width);
    if (!isLegal(func, wide, target)) continue;
    for (const order of orders) {
      const grown = order.reduce((schedule, dim) => grow(func, schedule, dim, at(limit, dim), target), wide);
      found.push(wide, grown, ...splitForCores(func, grown, limit, order));
    }
  }
  return found.length === 0 ? [start] : found.filter((schedule) => isLegal(func, schedule, target));
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
function grow(func: AccessFunc, schedule: ResolvedSchedule, dim: number, limit: number, target: Target) {
  const cap = Math.min(limit, directCap(schedule, dim, target));
  const largest =
    largestThat(1, cap, (n) => isLegal(func, withEntry(schedule, dim, n), target)) ?? at(schedule.tile, dim);
  return withEntry(schedule, dim, Math.ceil(limit / Math.ceil(limit / largest)));
}

/** A task that reads and writes gm directly has no budget to stop it. */
function directCap(schedule: ResolvedSchedule, dim: number, target: Target): number {
  if (schedule.residency === "ub") return Infinity;
  return Math.max(1, Math.floor((target.directElements * at(schedule.tile, dim)) / volume(schedule.tile)));
}

const withEntry = (schedule: ResolvedSchedule, dim: number, entry: number): ResolvedSchedule => ({
  ...schedule,
  tile: schedule.tile.map((old, d) => (d === dim ? entry : old)),
});

/** Smaller outer tiles, or a view that splits the index loops, until there is a task for every core. */
function splitForCores(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  limit: Shape,
  outwards: readonly number[],
): ResolvedSchedule[] {
  const tiles = (d: number): number => Math.ceil(at(limit, d) / at(schedule.tile, d));
  const tasks = limit.reduce((product, _, d) => product * tiles(d), 1);
  const follows = dataFollows(func.map);
  const out: ResolvedSchedule[] = [];
  if (tasks < schedule.cores) {
    for (const dim of [...outwards].reverse()) {
      const parts = Math.min(at(limit, dim), Math.ceil(schedule.cores / tasks) * tiles(dim));
      out.push(withEntry(schedule, dim, Math.ceil(at(limit, dim) / parts)));
    }
  }
  if (func.schedule.view === undefined && schedule.residency === "ub") {
    const reused = limit.map((_, d) => d).find((d) => !follows.has(d) && tiles(d) > 1);
    const parallel = limit.reduce((product, _, d) => (follows.has(d) ? product * tiles(d) : product), 1);
    if (reused !== undefined && parallel < schedule.cores) {
      const parts = Math.min(tiles(reused), Math.ceil(schedule.cores / parallel));
      const view = Math.ceil(tiles(reused) / parts) * at(schedule.tile, reused);
      out.push({ ...schedule, view: schedule.view.map((old, d) => (d === reused ? view : old)) });
    }
  }
  return out;
}
