/** Combination of a point's value with the element that it writes. */
import type { Combine } from "../access.js";
import { isArithmeticType, type ValueType } from "./expression.js";
import { bitsOfNumber, isFloatValue, numberOf } from "./formats.js";
import { castNumber, meaningOf } from "./ops.js";

/**
 * Combination of a scatter that uses the old value of the written element, such as `add`; every combination
 * but `set`.
 */
export type Combination = Exclude<Combine, "set">;

/**
 * Returns a function that combines the bits of an element of type `type` with the bits of a written value of
 * type `from`. The function returns the bits of the new element. `how`: combining operation.
 */
export function combination(
  how: Combination,
  type: ValueType,
  from: ValueType,
): (element: number, value: number) => number {
  const step = numbersCombined(how, type);
  return (element, value) => bitsOfNumber(type, step(numberOf(type, element), numberOf(from, value)));
}

/** Returns the function that {@link combination} applies to the numbers that the bits represent. */
function numbersCombined(how: Combination, type: ValueType): (element: number, value: number) => number {
  if (isArithmeticType(type)) return meaningOf(how, type);
  const wide = isFloatValue(type) ? "f32" : "i32";
  const meaning = meaningOf(how, wide);
  return (element, value) => castNumber(wide, type, meaning(element, value));
}
