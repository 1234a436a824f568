/** Steps of a value that neighbouring elements share: what computes several together computes these once. */
import { assertNever, at } from "../../ir/types.js";
import type { ValueStep } from "../../ir/values/index.js";

/** Returns by step whether its value is the same for all elements. `isStill`: asked of a read; `reduced`: of what the terms come to. */
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
