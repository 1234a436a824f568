/**
 * Scatters of whole slices along a dim, which torch and PyPTO have: an index names the slice that one of the
 * source goes to.
 */
import type { Combine } from "../access.js";
import { dimsFrom, indexOperand } from "../index-operand.js";
import { dim, index } from "../linear.js";
import { at } from "../types.js";
import { castTo, isArithmeticType, isValueType, type Expression } from "../values/expression.js";
import { isFloatValue } from "../values/formats.js";
import { oobOf } from "./attributes.js";
import { checkRank, resolvedAs, shapesOf, type AttrSpec, type OpInputs, type Resolved } from "./op-def.js";
import { checkCombine, checkUpdates, numberAs, scatterOperator } from "./scatter.js";

/**
 * Rule by which {@link slicesScatter} changes an output element: the value made from an element of the source
 * tensor, and the operation that combines the value with the old output element.
 */
export interface SlicesWrite {
  readonly combine: Combine;
  /** Value to write, as an expression of the source element (read 0). */
  readonly value: Expression;
  /** True if a PyPTO rule profile may fix the tile's extent along the dim of the slices. */
  readonly sharesDim?: boolean;
}

/**
 * Returns the resolved operator that writes or combines slices of a source (input 2) into slices of the data.
 * Input 1 selects the slices along dim `along`. Throws a RuleError if the type, rank or shape of an input is
 * not valid. `who`: name of the operator.
 */
export function slicesScatter(
  inputs: OpInputs,
  along: number,
  { combine, value, sharesDim = false }: SlicesWrite,
  who: string,
): Resolved {
  const { dtype, shape: data } = inputs.data;
  checkCombine(inputs, combine, dtype, who);
  checkRank(inputs, "indices", 1, 1, who);
  const length = at(inputs.indices.shape, 0);
  const source = data.map((extent, k) => (k === along ? length : extent));
  checkUpdates(inputs, 2, source, "source", who);
  const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
  const operator = scatterOperator(
    {
      domain: source,
      indices: [indexOperand(policy, 1, [dim(along)], at(data, along))],
      to: data.map((_, k) => (k === along ? index(0) : dim(k))),
      from: { table: 2, at: dimsFrom(0, data.length) },
      value,
      combine,
      ...(sharesDim ? { sharedDims: [along] } : {}),
    },
    shapesOf(inputs),
  );
  return resolvedAs(operator, policy);
}

/** Expression for the source element of a scatter, unchanged. */
export const unchanged: Expression = { kind: "read", read: 0 };

/**
 * Returns the expression for a source element times `alpha`. Throws a RuleError (TC105) for an `alpha` that
 * the element type cannot represent. `who`: name of the operator.
 */
export function scaled(inputs: OpInputs, alpha: number, who: string): Expression {
  const { dtype } = inputs.data;
  if (alpha === 1 || !isValueType(dtype)) return unchanged;
  const type = isFloatValue(dtype) ? "f32" : dtype === "u32" ? "u32" : "i32";
  const factor = numberAs(inputs, alpha, type, "alpha", who);
  const product: Expression = { kind: "op", op: "mul", of: [castTo(type, dtype, unchanged), factor] };
  return isFloatValue(dtype) || isArithmeticType(dtype) ? product : castTo(dtype, type, product);
}

/**
 * Definition of the attribute `alpha` of index_add: the factor by which the source is multiplied before the
 * addition; default 1.
 */
export const alphaSpec = {
  key: "alpha",
  kind: "number",
  default: 1,
  help: "factor of what is added",
} as const satisfies AttrSpec;
