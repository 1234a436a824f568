/**
 * select-tile: writes the schedule down in full; keeps what the user chose, chooses the rest.
 *
 *   schedule {profile = head}
 *     →
 *   schedule {tile = [64, 128], view = [3000, 768], profile = head, residency = ub, order = [1, 0], …}
 *
 * Without a tile, tile, view, order, buffers and, where it is `auto`, residency are chosen together, by the clock
 * (choose-schedule.ts). With one, the rest is the plain default. May report TC302 and TC303 (no schedule), TC402 (no legal
 * tile), TC403 (residency), TC907 (auto).
 */
import { followedBy, gatheredTable } from "../ir/access.js";
import { hint as hintDiagnostic, type Diagnostic } from "../ir/diagnostic.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import type { Residency, ResolvedSchedule } from "../ir/schedule.js";
import type { Target } from "../ir/target.js";
import {
  gmAllowed,
  isLegal,
  noLegalTile,
  pinnedDims,
  refusals,
  requiredView,
  rules,
  shapeRefusals,
  smallest,
  tilingOf,
  type Tiling,
} from "../ir/tiling/index.js";
import { at } from "../ir/types.js";
import { chooseSchedule } from "./choose-schedule.js";
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

/** The plain defaults; the tile starts at the whole output. */
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
  return func.schedule.tile === undefined ? chooseSchedule(tiling) : tiling;
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
