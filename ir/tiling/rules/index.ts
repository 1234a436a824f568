/**
 * The rules of tiling, in the order in which they are judged. Passes report what they say, the verifier judges by them,
 * explain and legal map over them.
 */
import { checkArgument } from "../../argument.js";
import type { Tiling } from "../tiling.js";
import { keepsSlots, slotsOf } from "../pypto-writes.js";
import { orderFault } from "./store.js";
import { deviceLimits } from "./device-limits.js";
import { fullLoad } from "./full-load.js";
import { packedTile } from "./packed-tile.js";
import { residency } from "./residency.js";
import type { Rule, RuleVerdict } from "./rule.js";
import { scheduleShape } from "./schedule-shape.js";
import { ubBudget } from "./ub-budget.js";

/** Every tiling rule, by name. */
export const rules = { scheduleShape, deviceLimits, residency, packedTile, fullLoad, ubBudget } as const;

/** Every tiling rule, in the order in which they judge. */
export const ruleList = Object.values(rules) satisfies readonly Rule[];

/** Every rule's verdicts on a schedule. */
export const judge = (tiling: Tiling): readonly RuleVerdict[] =>
  ruleList.flatMap((rule) => rule.judge(tiling));

/** True if a rule holds. */
export const holds = (rule: Rule, tiling: Tiling): boolean =>
  rule.judge(tiling).every((verdict) => verdict.pass);

/** True if every rule holds. Throws a CompileError (TC702) for what is no tiling. */
export function isLegal(tiling: Tiling): boolean {
  checkArgument("isLegal", "tiling", tiling);
  return ruleList.every((rule) => holds(rule, tiling));
}

/**
 * True if a scatter's points keep their order, and its tile the slots of a sequence: rules that a larger entry may meet where a smaller
 * one does not. Always so for a gather.
 */
export function keepsOrder({ gather, schedule, scatter }: Tiling): boolean {
  if (scatter === undefined) return true;
  const slots = slotsOf(gather);
  return (
    orderFault(scatter) === undefined && (slots === undefined || keepsSlots(schedule.tile[0] ?? 1, slots))
  );
}

export { boundBuffers, bufferBytes } from "./device-limits.js";
export { freeDims, pinnedTiles, pinnedViews, requiredView } from "./full-load.js";
export { gmAllowed } from "./residency.js";
export type { Rule, RuleId, RuleVerdict } from "./rule.js";
export { coresFault, shapeFaults } from "./schedule-shape.js";
