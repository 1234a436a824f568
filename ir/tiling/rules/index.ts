/**
 * The rules of tiling, in the order in which they are judged. Passes report what they say, the verifier judges by them,
 * explain and legal map over them.
 */
import { checkArgument } from "../../argument.js";
import type { Tiling } from "../tiling.js";
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

export { boundBuffers, bufferBytes } from "./device-limits.js";
export { freeDims, pinnedTiles, pinnedViews, requiredView } from "./full-load.js";
export { gmAllowed } from "./residency.js";
export type { Rule, RuleId, RuleVerdict } from "./rule.js";
export { coresFault, shapeFaults } from "./schedule-shape.js";
