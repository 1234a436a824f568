/** Combination of a point's value with the element that it writes. */
import type { Combine } from "../access.js";
import { isArithmeticType, type ValueType } from "./expression.js";
import { isFloatValue } from "./formats.js";
import { castNumber, meaningOf } from "./ops.js";

/** Combination that uses the present value of the element that a point writes. */
export type Combination = Exclude<Combine, "set">;

/**
 * Returns a function that combines an element with a value of a type. The operation is in i32, u32 or f32 and
 * is rounded once to the type. Elements of fewer than 32 bits are computed in i32 or f32. For f16 and bf16
 * the value may be any f32.
 */
export function combination(how: Combination, type: ValueType): (element: number, value: number) => number {
  if (isArithmeticType(type)) return meaningOf(how, type);
  const wide = isFloatValue(type) ? "f32" : "i32";
  const meaning = meaningOf(how, wide);
  return (element, value) => castNumber(wide, type, meaning(element, value));
}
