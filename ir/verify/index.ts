/**
 * Checks that a function has a property. Structure always holds; the rest hold after the pass that ensures
 * them.
 */
import { error, type Diagnostic } from "../diagnostic.js";
import type { Func } from "../func.js";
import { isResolved } from "../schedule-entries.js";
import type { Target } from "../target.js";
import { refusals, shapeRefusals } from "../tiling/refusals.js";
import { rules } from "../tiling/rules/index.js";
import { Tilings } from "../tiling/tiling.js";
import { assertNever } from "../types.js";
import { verifyAllocated } from "./allocated.js";
import type { Property } from "./property.js";
import { verifyStructure } from "./structure.js";
import { verifySynchronized } from "./synchronized.js";

export type { Property } from "./property.js";
export { verifyStructure };

/**
 * Returns the diagnostics for one property of a function; an empty list if the function has the property.
 * `tilings`: cache of the pipeline's tilings.
 */
export function verify(
  func: Func,
  property: Property,
  target: Target,
  tilings = new Tilings(target),
): readonly Diagnostic[] {
  const need = (holds: boolean, what: string): readonly Diagnostic[] =>
    holds ? [] : [error("TC201", `the function is not ${what}`, { span: func.span })];
  /** Returns the refusals of a rule that passes report. */
  const judged = (rule: (typeof rules)[keyof typeof rules]): readonly Diagnostic[] => {
    if (func.level !== "access" || !isResolved(func.schedule))
      return need(false, "scheduled at the access level");
    return refusals(rule, tilings.of(func, func.schedule));
  };
  switch (property) {
    case "source":
    case "access":
    case "tile":
      return need(func.level === property, `at the ${property} level`);
    case "scheduled":
      return isResolved(func.schedule) && func.level === "access"
        ? shapeRefusals(func, func.schedule, target)
        : need(isResolved(func.schedule), "fully scheduled");
    case "full-load":
      return func.level === "access" && func.tiles === undefined
        ? need(false, "tiled")
        : [...judged(rules.packedTile), ...judged(rules.fullLoad)];
    case "fits-ub":
      return judged(rules.ubBudget);
    case "allocated":
      return func.level === "tile" ? verifyAllocated(func, target) : need(false, "at the tile level");
    case "synchronized":
      return func.level === "tile" ? verifySynchronized(func, target) : need(false, "at the tile level");
    default:
      return assertNever(property);
  }
}
