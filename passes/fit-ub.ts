/**
 * fit-ub: refuses a tile whose footprint exceeds the unified buffer. Changes nothing.
 *
 * May report TC401 (over budget, with the arithmetic and the nearest legal tiles), TC402 (no tile is legal),
 * TC905 (within the budget but above the target's safe size).
 */
import { warning, type Diagnostic } from "../ir/diagnostic.js";
import { isResolved } from "../ir/schedule-entries.js";
import { invariant } from "../ir/types.js";
import { isLegal, nearestLegal, refusals, rules, type Tiling } from "../ir/tiling/index.js";
import { decided } from "./lowered.js";
import { definePass } from "./pass.js";
import { remedies } from "./remedies.js";

/** Pass that rejects a tile that needs more bytes than the unified buffer has (docs/passes/04-fit-ub.md). */
export const fitUb = definePass({
  name: "fit-ub",
  summary: "refuses a tile whose footprint exceeds the unified buffer",
  requires: ["full-load"],
  ensures: ["fits-ub"],
  run(func, context) {
    if (func.level !== "access") return func;
    const { schedule } = func;
    invariant(isResolved(schedule), "fit-ub runs on a resolved schedule");
    const tiling = context.tilings.of(func, schedule);
    const refused = refusals(rules.ubBudget, tiling, remedies);
    refused.forEach(context.report);
    if (refused.length === 0) aboveSafe(tiling).forEach(context.report);
    return func;
  },
});

/**
 * Returns a warning (TC905) if the kernel takes more than `ubSafeBytes` of unified buffer (UB), because
 * libraries use the rest; else an empty list. No warning is given if the schedule sets the budget of UB.
 */
export function aboveSafe(tiling: Tiling): Diagnostic[] {
  const { target, gather } = tiling;
  const { planned: bytes, budget } = decided(tiling).footprint;
  if (bytes <= target.ubSafeBytes || budget !== target.ubBytes) return [];
  const message = `${bytes} B is within ${budget} B but above the ${target.ubSafeBytes} B that libraries leave alone`;
  const safe = hintFor(tiling.with({ ubBytes: target.ubSafeBytes }));
  return [warning("TC905", message, { span: gather.opSpan, ...safe })];
}

/** Returns the flags of a schedule that stays within the budget of `safe`; nothing where no tile does. */
function hintFor(safe: Tiling): { readonly hint?: string } {
  const flag = `--ub-bytes ${safe.schedule.ubBytes}`;
  if (isLegal(safe)) return { hint: flag };
  const [nearest] = nearestLegal(safe);
  return nearest === undefined ? {} : { hint: `--tile ${nearest.schedule.tile.join(",")} ${flag}` };
}
