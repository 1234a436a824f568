/**
 * The rules of a value's types. B2 both sides of an operation have one type, i32, u32 or f32. B3 a cast is
 * from one of the nine types of values, a packed one or one of 8-bit real numbers to another of the nine. B7
 * an exact sum fits into 64 bits. B8 a mean and an exact sum are of f32. A7 the output has the type of the
 * value. B9 packed elements are cast: they are no output, and are not moved. W3 points of a scatter combine
 * in the nine types of values.
 */
import { isScatter, type AccessMap } from "../access.js";
import { exactWidthOf } from "../values/exact-width.js";
import { isPacked, type DType } from "../types.js";
import type { BrokenCode } from "./broken.js";
import {
  arithmeticTypes,
  isArithmeticType,
  isIntegerOperation,
  isSourceType,
  isValueType,
  typeOf,
  valueTypes,
  type Expression,
} from "../values/expression.js";

/**
 * Fault in the types or the bit width of the value of an access map. `rule`: identifier of the broken rule,
 * for example `B3`.
 */
export interface ValueFault {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
  /** Code of the diagnostic for the fault; by default TC104 (types). */
  readonly code?: BrokenCode;
}

/**
 * Returns the faults in the types and the bit width of the value of an access map; an empty list if there are
 * none. `reads`: the element type of each read. `output`: the output's element type.
 */
export function valueFaults(map: AccessMap, reads: readonly DType[], output: DType): ValueFault[] {
  const { value, reduced } = map;
  const faults = nodes(value).flatMap((node) => faultOf(node, reads));
  if (faults.length > 0) return faults;
  const wide = widthFault(value, reads, reduced?.max ?? 0);
  if (wide !== undefined) return [wide];
  const type = typeOf(value, reads);
  const packed = [type, output].find(isPacked);
  if (packed !== undefined) {
    const message = `${packed} elements share bytes: they are no output, and are not moved as they are`;
    return [
      { rule: "B9", message, hint: packed === type ? "cast them: u8(…) or f32(…)" : `write an output of u8` },
    ];
  }
  const combined = combineFault(map, type, output);
  if (combined !== undefined) return combined;
  if (type === output) return [];
  if (value.kind === "read" && !isScatter(map))
    return [{ rule: "A7", message: `data is ${type} and output ${output}` }];
  const message = `the value is ${type} and output ${output}`;
  return [{ rule: "A7", message, hint: `cast it: ${output}(…)` }];
}

/** Types that points combine in. */
const combinedTypes: readonly DType[] = valueTypes;

/**
 * Returns a list with the fault (rule W3) if a scatter's combine, such as `add`, does not accept the output
 * type `output`. Returns an empty list if the value has type f32 and the output f16 or bf16. Undefined in all
 * other cases: the value must then have the output's type.
 */
function combineFault(
  { write: { combine } }: AccessMap,
  type: DType,
  output: DType,
): ValueFault[] | undefined {
  if (combine === "set") return undefined;
  if (!combinedTypes.includes(output)) {
    const message = `${combine} of ${output}: it takes ${combinedTypes.join(", ")}`;
    return [{ rule: "W3", message, hint: "combine = set moves elements of any type" }];
  }
  return type === "f32" && (output === "f16" || output === "bf16") ? [] : undefined;
}

/**
 * Returns the violation of rule B7 by a well-typed expression: an exact sum that may not fit in 64 bits.
 * Undefined if the sum fits, or if there is no exact sum. `elements`: the maximum number of elements in the
 * sum.
 */
export function widthFault(
  value: Expression,
  reads: readonly DType[],
  elements: number,
): ValueFault | undefined {
  const width = exactWidthOf(value, reads, elements);
  if (width === undefined) return undefined;
  const fault = (message: string, hint: string): ValueFault => ({ rule: "B7", message, hint, code: "TC205" });
  const folded = "fold(…) sums in the order of r and rounds each step";
  if (!width.ok) return fault(`the reduction elements of an exact sum: ${width.why}`, folded);
  const { unit, termBits, mostTerms, availableBits } = width.width;
  if (elements <= mostTerms) return undefined;
  const each = `a reduction element takes ${termBits} bits in units of 2^${unit}`;
  return mostTerms === 0
    ? fault(`${each}, and an exact sum has ${availableBits}`, folded)
    : fault(
        `${each}: an exact sum of ${availableBits} bits holds ${mostTerms} elements, not ${elements}`,
        `reduce at most ${mostTerms} elements, or use fold: ${folded}`,
      );
}

/** Returns the nodes of an expression, inner first. */
const nodes = (value: Expression): readonly Expression[] => {
  switch (value.kind) {
    case "read":
    case "number":
      return [value];
    case "cast":
    case "reduce":
      return [...nodes(value.of), value];
    case "op":
      return [...value.of.flatMap(nodes), value];
  }
};

/**
 * Returns the violations of the type rules by one node of an expression: casts (rule B3), types of operands
 * (rule B2) and types of reductions (rule B8). `reads`: the element type of each read.
 */
function faultOf(node: Expression, reads: readonly DType[]): ValueFault[] {
  switch (node.kind) {
    case "read":
    case "number":
      return [];
    case "cast": {
      const from = typeOf(node.of, reads);
      if (from === node.to)
        return [{ rule: "B3", message: `a cast of ${from} to itself`, hint: "leave the cast out" }];
      if (isSourceType(from) && isValueType(node.to)) return [];
      const message = `there is no cast from ${from} to ${node.to}: values are ${valueTypes.join(", ")}`;
      const hint = isPacked(node.to)
        ? "read the packed element without a cast"
        : "leave the cast out: a read moves elements of any type";
      return [{ rule: "B3", message, hint }];
    }
    case "reduce": {
      const type = typeOf(node.of, reads);
      const { how } = node;
      if ((how === "mean" || how === "exact") && type !== "f32")
        return [
          {
            rule: "B8",
            message: `${how} of ${type}: it is of f32`,
            hint: `cast it: ${how}(f32(…))`,
            code: "TC205",
          },
        ];
      if (isArithmeticType(type)) return [];
      const message = `${how} of ${type}: arithmetic is in ${arithmeticTypes.join(", ")}`;
      return [{ rule: "B2", message, hint: `cast the reduction elements: ${how}(f32(…))` }];
    }
    case "op": {
      const [left, right] = node.of.map((side) => typeOf(side, reads));
      if (left === undefined || right === undefined) return [];
      const hint = "cast a side: f32(…)";
      if (left !== right)
        return [{ rule: "B2", message: `${node.op} of ${left} and ${right}, which are two types`, hint }];
      if (isArithmeticType(left)) {
        if (left === "f32" || isIntegerOperation(node.op)) return [];
        const hint = "cast both sides: f32(…) / f32(…)";
        return [{ rule: "B2", message: `${node.op} of ${left}: a quotient is of f32`, hint: hint }];
      }
      return [
        {
          rule: "B2",
          message: `${node.op} of ${left}: arithmetic is in ${arithmeticTypes.join(", ")}`,
          hint,
        },
      ];
    }
  }
}
