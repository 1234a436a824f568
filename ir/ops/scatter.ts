/**
 * Common part of the frameworks' scatters. There is a point for each index or update. A point writes one
 * element, or combines its value with that element. Each dialect states its own rules; this file makes the
 * map.
 */
import { eitherOf } from "../counted.js";
import {
  outOfBoundsPolicies,
  type AccessMap,
  type Combine,
  type IndexOperand,
  type OutOfBounds,
  type Read,
} from "../access.js";
import { defined } from "../defined.js";
import { dimsFrom, indexOperand, type IndexPolicy } from "../index-operand.js";
import { dim, index, constant, type Linear } from "../linear.js";
import type { Operator } from "../operator.js";
import { at, formatShape, formatType, sameShape, type DType, type Shape } from "../types.js";
import { castTo, isValueType, valueTypes, type Expression } from "../values/expression.js";
import { integerRanges, isFloatValue } from "../values/formats.js";
import { broadcastShapes } from "./broadcast.js";
import { breakRule, type AttrSpec, type OpInputs } from "./op-def.js";

/**
 * Returns the definition of a scatter's attribute `oob`: the policy for an index that is out of range in the
 * written tensor. `fallback`: default policy. The policy `zero` is not accepted.
 */
export const writtenOobSpec = (fallback: OutOfBounds) =>
  ({
    key: "oob",
    kind: "word",
    words: outOfBoundsPolicies.filter((policy) => policy !== "zero"),
    default: fallback,
    help: "what an index out of range means",
  }) as const satisfies AttrSpec;

/**
 * Scatter of a dialect's operator: the domain, the element and value that each point writes, and the
 * combination with the old element.
 */
export interface Scatter {
  /** Extents of the domain, in points. */
  readonly domain: Shape;
  /** Index operands with their policies. Each may use only operands before it. */
  readonly indices: readonly IndexOperand[];
  /** Coordinates of the element that a point writes. */
  readonly to: readonly Linear[];
  /**
   * Input element from which the written value is made; or an expression for the value that every point
   * writes.
   */
  readonly from: Read | Expression;
  /** The expression that makes the written value of the element. Absent: the element itself. */
  readonly value?: Expression;
  readonly combine: Combine;
  /** Dims of the data that an index names, and that the domain has too. Absent: none. */
  readonly sharedDims?: readonly number[];
}

/**
 * Throws a RuleError (TC104) if tilec cannot combine elements of type `dtype`. The combination `set` is
 * allowed for every type. `who`: name of the operator.
 */
export function checkCombine(inputs: OpInputs, combine: Combine, dtype: DType, who: string): void {
  if (combine === "set" || isValueType(dtype)) return;
  breakRule(
    "TC104",
    inputs,
    `${who}: tilec does not compute ${combine} of ${dtype}`,
    `use ${eitherOf(valueTypes)}`,
  );
}

/**
 * Throws a RuleError if the updates differ from the data in type (TC104), or do not have the shape `shape`
 * (TC103). `k`: position of the updates among the inputs, from 0. `name`: name of the updates. `who`: name of
 * the operator.
 */
export function checkUpdates(inputs: OpInputs, k: number, shape: Shape, name: string, who: string): void {
  const updates = at(inputs.inputs, k);
  if (updates.dtype !== inputs.data.dtype)
    breakRule(
      "TC104",
      inputs,
      `${who} takes ${name} of the type of its data, ${inputs.data.dtype}, not ${updates.dtype}`,
      `cast ${name} to ${inputs.data.dtype}`,
    );
  if (!sameShape(updates.shape, shape))
    breakRule(
      "TC103",
      inputs,
      `${who} takes ${name} of shape ${formatShape(shape)}, not ${formatType(updates)}`,
    );
}

/**
 * Throws a RuleError if a scatter's values differ from the data in type (TC104), or do not broadcast to
 * `shape` by numpy's rules (TC103). `k`: position of the values among the inputs, from 0. `name`: name of
 * the values. `who`: name of the operator.
 */
export function checkBroadcast(inputs: OpInputs, k: number, shape: Shape, name: string, who: string): void {
  const { shape: given } = at(inputs.inputs, k);
  const over = broadcastShapes([given, shape]);
  checkUpdates(inputs, k, over !== undefined && sameShape(over, shape) ? given : shape, name, who);
}

/**
 * Throws a RuleError (TC103) if the index has another rank than the source, or is longer along some dim.
 * `who`: name of the operator.
 */
export function checkReach(inputs: OpInputs, source: Shape, who: string): void {
  inputs.indices.shape.forEach((extent, k) => {
    const length = source[k] ?? 0;
    if (source.length === inputs.indices.shape.length && extent <= length) return;
    breakRule(
      "TC103",
      inputs,
      `${who} needs a src as large as index along each dim; dim ${k} of index is ${extent} and of src ${length}`,
    );
  });
}

/**
 * Returns an expression for a number as a constant of an element type, rounded for floats. Throws a RuleError
 * for an unsupported type (TC104), or for a number that an integer type cannot represent (TC105). `name`:
 * name of the attribute.
 */
export function numberAs(
  inputs: OpInputs,
  value: number,
  dtype: DType,
  name: string,
  who: string,
): Expression {
  if (!isValueType(dtype))
    breakRule(
      "TC104",
      inputs,
      `${who} writes a number to ${valueTypes.join(", ")}, not to ${dtype}`,
      `use ${eitherOf(valueTypes)}`,
    );
  if (isFloatValue(dtype)) {
    const bits = new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0;
    return castTo(dtype, "f32", { kind: "number", type: "f32", bits });
  }
  const [min, max] = integerRanges[dtype];
  if (!Number.isInteger(value) || value < min || value > max)
    breakRule("TC105", inputs, `${who} has ${name} ${value}, which ${dtype} cannot represent`);
  const type = dtype === "u32" ? "u32" : "i32";
  return castTo(dtype, type, { kind: "number", type, bits: value >>> 0 });
}

/**
 * Returns the operator of a scatter into the first input, or into a tensor of zeros. `shapes`: shapes of the
 * inputs, without padding dims. `zeros`: shape of the tensor of zeros; absent for a scatter into the first
 * input.
 */
export function scatterOperator(
  { domain, indices, to, from, value = { kind: "read", read: 0 }, combine, sharedDims }: Scatter,
  shapes: readonly Shape[],
  zeros?: Shape,
): Operator {
  const map: AccessMap = {
    domain,
    indices,
    ...("kind" in from ? { reads: [], value: from } : { reads: [from], value }),
    write: {
      table: shapes.length,
      at: to,
      combine,
      ...(combine === "set" ? { duplicates: "last" } : {}),
      base: zeros === undefined ? { operand: 0 } : { fill: "0" },
    },
  };
  return { op: "mapped", map, inputs: shapes, output: zeros ?? at(shapes, 0), ...defined({ sharedDims }) };
}

/**
 * Returns a scatter of elements along an axis of the output y: y[d0, …, i[d…], …] = u[d…]. Input 1 is the
 * indices i; input 2 is the updates u. `value`: written value; by default the updates.
 */
export function elementsScatter(
  data: Shape,
  indices: Shape,
  axis: number,
  policy: IndexPolicy,
  combine: Combine,
  value?: Expression,
): Scatter {
  const point = dimsFrom(0, indices.length);
  return {
    domain: indices,
    indices: [indexOperand(policy, 1, point, at(data, axis))],
    to: data.map((_, k) => (k === axis ? index(0) : dim(k))),
    from: value ?? { table: 2, at: point },
    combine,
    sharedDims: [axis],
  };
}

/**
 * Positions, from 0, of the inputs of a scatter by index tuples: the tuples (`indices`) and the updates
 * (`updates`).
 */
export interface TupleTables {
  readonly indices: number;
  readonly updates: number;
}

/**
 * Returns a scatter by index tuples: y[i[d…, 0], i[d…, 1], …, e…] = u[d…, e…], with indices i and updates u.
 * A tuple selects an element or a slice of the data y.
 */
export function tuplesScatter(
  data: Shape,
  indices: Shape,
  policy: IndexPolicy,
  combine: Combine,
  { indices: table, updates }: TupleTables = { indices: 1, updates: 2 },
): Scatter {
  const [outer, tuple] = [indices.length - 1, at(indices, indices.length - 1)];
  const domain = tupleUpdates(data, indices);
  const place = dimsFrom(0, outer);
  return {
    domain,
    indices: data
      .slice(0, tuple)
      .map((extent, k) => indexOperand(policy, table, [...place, constant(k)], extent)),
    to: data.map((_, k) => (k < tuple ? index(k) : dim(outer + k - tuple))),
    from: { table: updates, at: dimsFrom(0, domain.length) },
    combine,
  };
}

/**
 * Returns the shape of the updates of a scatter by index tuples: indices[:-1], followed by the shape of a
 * selected slice.
 */
export const tupleUpdates = (data: Shape, indices: Shape): Shape => [
  ...indices.slice(0, -1),
  ...data.slice(at(indices, indices.length - 1)),
];
