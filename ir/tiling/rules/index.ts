/**
 * The rules of tiling, in the order in which they are judged. Passes report what they say, the verifier
 * judges by them, explain and legal map over them.
 */
import { checkArgument } from "../../argument.js";
import { at, type Shape } from "../../types.js";
import type { Tiling } from "../tiling.js";
import { keepsSlots, slotsOf } from "../pypto-writes.js";
import { orderFault } from "../point-order.js";
import { deviceLimits } from "./device-limits.js";
import { fullLoad } from "./full-load.js";
import { packedTile } from "./packed-tile.js";
import { residency } from "./residency.js";
import type { Rule, RuleVerdict } from "./rule.js";
import { scheduleShape } from "./schedule-shape.js";
import { ubBudget } from "./ub-budget.js";

/** Tiling rules, by name. A schedule is legal for a gather on a target if all rules pass. */
export const rules = { scheduleShape, deviceLimits, residency, packedTile, fullLoad, ubBudget } as const;

/** Tiling rules in the order of checking. */
export const ruleList = Object.values(rules) satisfies readonly Rule[];

/** Returns the results of all tiling rules for a tiling, passing and failing, in the order of the rules. */
export const judge = (tiling: Tiling): readonly RuleVerdict[] =>
  ruleList.flatMap((rule) => rule.judge(tiling));

/** True if all results of a rule for a tiling pass. */
export const holds = (rule: Rule, tiling: Tiling): boolean =>
  rule.judge(tiling).every((verdict) => verdict.pass);

/**
 * True if a tiling satisfies all tiling rules. Throws a CompileError (TC702) if the argument is not a tiling.
 */
export function isLegal(tiling: Tiling): boolean {
  checkArgument("isLegal", "tiling", tiling);
  return ruleList.every((rule) => holds(rule, tiling));
}

/**
 * True if a scatter's tile takes the points in a valid order. If the operator has slots (number of indices of
 * a sequence), the tile's extent along dim 0 must also be a multiple or a divisor of that number. Always true
 * for a gather. A larger tile may pass where a smaller tile fails.
 */
export function keepsOrder({ gather, schedule, scatter }: Tiling): boolean {
  if (scatter === undefined) return true;
  const slots = slotsOf(gather);
  return (
    orderFault(scatter) === undefined && (slots === undefined || keepsSlots(schedule.tile[0] ?? 1, slots))
  );
}

/**
 * True if a tiling satisfies all rules apart from those on the order of points and on slots (indices for each
 * sequence). A larger tile of the same schedule may satisfy these two rules too.
 */
export const isLegalApartFromOrder = (tiling: Tiling): boolean =>
  judge(tiling).every(({ pass, rule }) => pass || rule === "point-order" || rule === "slots");

/**
 * Returns the one or two nearest tiles that write the points of a scatter in order. If the schedule's own
 * tile does so, or the program is a gather, returns only that tile.
 */
export function tilesInOrder({ schedule, scatter }: Tiling): readonly [Shape, ...Shape[]] {
  const { tile } = schedule;
  const fault = scatter === undefined ? undefined : orderFault(scatter);
  if (scatter === undefined || fault === undefined) return [tile];
  const { carrying, scatter: func } = scatter;
  const { domain } = func.map;
  const last = Math.max(...carrying.filter((d) => at(scatter.tile, d) < at(domain, d)));
  return [
    tile.map((entry, d) => (carrying.includes(d) && d < last ? 1 : entry)),
    tile.map((entry, d) =>
      carrying.includes(d) && d > fault.outer ? Math.max(entry, at(domain, d)) : entry,
    ),
  ];
}

export { boundBuffers, bufferBytes } from "./device-limits.js";
export { freeDims, pinnedEntry, pinnedTiles, pinnedViews, requiredView } from "./pinned-dims.js";
export { gmAllowed } from "./residency.js";
export type { Rule, RuleId, RuleVerdict } from "./rule.js";
export { coresFault, shapeFaults } from "./schedule-shape.js";
