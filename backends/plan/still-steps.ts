/** Steps of a value that neighbouring elements share: what computes several together computes these once. */
import { assertNever, at } from "../../ir/types.js";
import type { ValueStep } from "../../ir/values/index.js";

/**
 * Returns, for each step of a value's computation, true if the step has one result for all output elements
 * that are computed together. `isStill`: returns true if read number `read` gives these elements one value.
 * `reduced`: true if the reduction gives them one result.
 */
export function stillSteps(
  steps: readonly ValueStep[],
  isStill: (read: number) => boolean,
  reduced: boolean,
): readonly boolean[] {
  const still: boolean[] = [];
  for (const step of steps) {
    switch (step.kind) {
      case "read":
        still.push(isStill(step.read));
        break;
      case "number":
        still.push(true);
        break;
      case "cast":
        still.push(at(still, step.of));
        break;
      case "op":
        still.push(step.of.every((side) => at(still, side)));
        break;
      case "reduced":
        still.push(reduced);
        break;
      default:
        assertNever(step);
    }
  }
  return still;
}
