/** Operators `take` and `take_along_axis` of numpy, and of torch and jax, which follow numpy. */
import { defined } from "../defined.js";
import { gatherOver, readData, type NegativeIndex, type OutOfBounds, type IndexOperand } from "../access.js";
import { dim, div, mod, index, type Linear } from "../linear.js";
import type { Operator } from "../operator.js";
import { at, elementCount, formatShape, strides, type Shape } from "../types.js";
import { broadcastCoords, broadcastShapes } from "./broadcast.js";
import { checkSameRank, breakRule, unlessEmpty, type OpInputs } from "./op-def.js";

/**
 * Policies of an index operand: the meaning of a negative index, and the treatment of an index out of range.
 */
export interface IndexPolicy {
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  /** Fill bits that are used under policy `zero` for an index out of range. Absent: 0. */
  readonly fill?: string;
}

/**
 * Returns the index operand that reads the operator's input `table` at `coords`. `table`: position of the
 * input, from 0. `extent`: exclusive upper bound of the index.
 */
export const indexOperand = (
  { negative, oob }: IndexPolicy,
  table: number,
  coords: Extract<IndexOperand["value"], { readonly table: number }>["at"],
  extent: number,
): IndexOperand => ({
  value: { table, at: coords },
  outOfRange: oob,
  extent,
  ...(negative === "from-end" ? { wrapNegativeBy: extent } : {}),
});

const fillOf = ({ fill }: IndexPolicy) => defined({ fill });

/**
 * Returns the coordinates of an element in a tensor of `shape`. `number`: position of the element in
 * row-major order.
 */
export function coordsOfFlat(shape: Shape, number: Linear): Linear[] {
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
  if (alone !== undefined && policy.fill === undefined) return { op: "gather", axis: alone, data, indices };
  const q = indices.length;
  if (alone === undefined) {
    const read = readData(coordsOfFlat(data, index(0)));
    const coords = indices.map((_, k) => dim(k));
    const operands = [indexOperand(policy, 1, coords, elementCount(data))];
    const map = gatherOver(indices, 2, { indices: operands, ...read, ...fillOf(policy) });
    return { op: "mapped", map, inputs: [data, indices] };
  }
  const output = [...data.slice(0, alone), ...indices, ...data.slice(alone + 1)];
  const coords = indices.map((_, k) => dim(alone + k));
  const read = readData(data.map((_, k) => (k === alone ? index(0) : dim(k < alone ? k : k + q - 1))));
  const operands = [indexOperand(policy, 1, coords, at(data, alone))];
  const map = gatherOver(output, 2, { indices: operands, ...read, ...fillOf(policy) });
  return { op: "mapped", map, inputs: [data, indices] };
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
  const read = readData(broadcastCoords(data, output).map((coord, k) => (k === axis ? index(0) : coord)));
  // Indices that are broadcast to none are not looked up.
  const effective = { ...policy, oob: unlessEmpty(output, policy.oob) };
  const operands = [indexOperand(effective, 1, broadcastCoords(indices, output), at(data, axis))];
  const map = gatherOver(output, 2, { indices: operands, ...read, ...fillOf(policy) });
  return { op: "mapped", map, inputs: [data, indices] };
}

/**
 * Returns the operator that selects elements of the flattened data by the flattened indices. The output has
 * one dim.
 */
export function takeFlatOperator(inputs: OpInputs, policy: IndexPolicy): Operator {
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  const output = [elementCount(indices)];
  if (data.length === 1 && indices.length === 1) return { op: "gather_elements", axis: 0, data, indices };
  const operands = [indexOperand(policy, 1, coordsOfFlat(indices, dim(0)), elementCount(data))];
  const map = gatherOver(output, 2, {
    indices: operands,
    ...readData(coordsOfFlat(data, index(0))),
    ...fillOf(policy),
  });
  return { op: "mapped", map, inputs: [data, indices] };
}
