/** Expression of what a point makes of the element that it writes, where points combine. */
import { CompileError, error } from "../../ir/diagnostic.js";
import type { DType } from "../../ir/types.js";
import {
  castTo,
  isArithmeticType,
  isFloatValue,
  isValueType,
  type Combination,
  type Expression,
} from "../../ir/values/index.js";

/**
 * Returns the expression that combines an output element of type `dtype` with a value of type `from`. The
 * result is rounded once. Throws a CompileError (TC104) for a type that cannot be combined.
 */
export function combinedValue(
  combine: Combination,
  dtype: DType,
  element: Expression,
  value: Expression,
  from: DType,
): Expression {
  if (!isValueType(dtype)) throw new CompileError([error("TC104", `points combine in ${dtype}`)]);
  const wide = isArithmeticType(dtype) ? dtype : isFloatValue(dtype) ? "f32" : "i32";
  const of = [castTo(wide, dtype, element), castTo(wide, from, value)] as const;
  return castTo(dtype, wide, { kind: "op", op: combine, of });
}
