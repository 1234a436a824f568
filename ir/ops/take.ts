/** Operators `take` and `take_along_axis` of numpy, and of torch and jax, which follow numpy. */
import { defined } from "../defined.js";
import { readData, type IndexOperand } from "../access.js";
import { coordsAlong, dimsFrom, indexOperand, type IndexPolicy } from "../index-operand.js";
import { constant, dim, div, mod, index, type Linear } from "../linear.js";
import { outputShape, type Operator } from "../operator.js";
import { at, elementCount, formatShape, strides, type Shape } from "../types.js";
import { broadcastCoords, broadcastShapes } from "./broadcast.js";
import { mappedGather } from "./mapped-gather.js";
import { checkSameRank, breakRule, unlessEmpty, type OpInputs } from "./op-def.js";

/** Returns the operator of a gather with one index operand. `coords`: coordinates of the data element. */
const pickedBy = (
  inputs: OpInputs,
  output: Shape,
  operand: IndexOperand,
  coords: readonly Linear[],
  { fill }: IndexPolicy,
): Operator =>
  mappedGather([inputs.data.shape, inputs.indices.shape], output, {
    indices: [operand],
    ...readData(coords),
    ...(operand.outOfRange === "zero" ? defined({ fill }) : {}),
  });

/**
 * Returns the coordinates of an element in a tensor of `shape`. `number`: position of the element in
 * row-major order. A tensor with an extent of 0 has no element: the position, which is then outside of
 * it, is the coordinate along each such dim.
 */
export function coordsOfFlat(shape: Shape, number: Linear): Linear[] {
  if (shape.includes(0)) return shape.map((extent) => (extent === 0 ? number : constant(0)));
  const by = strides(shape);
  return shape.map((extent, k) => {
    const quotient = div(number, at(by, k));
    return k === 0 ? quotient : mod(quotient, extent);
  });
}

/**
 * Returns the operator of a `take`, whose output shape is data[:axis] + indices + data[axis+1:]. Without an
 * axis, elements of the flattened data are selected.
 */
export function takeOperator(inputs: OpInputs, axis: number | undefined, policy: IndexPolicy): Operator {
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  const alone = axis ?? (data.length === 1 ? 0 : undefined);
  const rank = indices.length;
  if (alone === undefined) {
    const operand = indexOperand(policy, 1, dimsFrom(0, rank), elementCount(data));
    return pickedBy(inputs, indices, operand, coordsOfFlat(data, index(0)), policy);
  }
  const gather = { op: "gather", axis: alone, data, indices } as const;
  if (policy.fill === undefined) return gather;
  const operand = indexOperand(policy, 1, dimsFrom(alone, rank), at(data, alone));
  return pickedBy(inputs, outputShape(gather), operand, coordsAlong(data, alone, rank), policy);
}

/**
 * Returns the operator of a `take_along_axis`, which selects one element for each index along an axis. Throws
 * a RuleError if the ranks differ (TC102), or if dims other than the axis do not broadcast (TC103).
 */
export function takeAlongOperator(
  inputs: OpInputs,
  axis: number,
  policy: IndexPolicy,
  who: string,
): Operator {
  checkSameRank(inputs, who);
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  const offAxis = (shape: typeof data): typeof data => shape.map((extent, k) => (k === axis ? 1 : extent));
  const off = broadcastShapes([offAxis(data), offAxis(indices)]);
  if (off === undefined) {
    breakRule(
      "TC103",
      inputs,
      `${who} broadcasts data and indices off axis ${axis}, and ${formatShape(data)} and ${formatShape(indices)} differ there`,
    );
  }
  const output = off.map((extent, k) => (k === axis ? at(indices, axis) : extent));
  const matches = data.every((extent, k) => k === axis || extent === at(output, k));
  if (matches && policy.fill === undefined && indices.every((extent, k) => extent === at(output, k)))
    return { op: "gather_elements", axis, data, indices };
  const coords = broadcastCoords(data, output).map((coord, k) => (k === axis ? index(0) : coord));
  // Indices that are broadcast to none are not looked up.
  const effective = { ...policy, oob: unlessEmpty(output, policy.oob) };
  const operand = indexOperand(effective, 1, broadcastCoords(indices, output), at(data, axis));
  return pickedBy(inputs, output, operand, coords, policy);
}

/**
 * Returns the operator that selects elements of the flattened data by the flattened indices. The output has
 * one dim.
 */
export function takeFlatOperator(inputs: OpInputs, policy: IndexPolicy): Operator {
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  const output = [elementCount(indices)];
  if (data.length === 1 && indices.length === 1) return { op: "gather_elements", axis: 0, data, indices };
  const operand = indexOperand(policy, 1, coordsOfFlat(indices, dim(0)), elementCount(data));
  return pickedBy(inputs, output, operand, coordsOfFlat(data, index(0)), policy);
}
