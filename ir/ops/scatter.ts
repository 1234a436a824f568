/**
 * What the scatters of frameworks have in common: a point for each index or update, which writes one element, and what may become of it
 * there. Each dialect states its own rules; the map is made here.
 */
import {
  outOfBoundsPolicies,
  type AccessMap,
  type Combine,
  type IndexOperand,
  type OutOfBounds,
  type Read,
} from "../access.js";
import { defined } from "../defined.js";
import { dim, index, constant, type Linear } from "../linear.js";
import type { Operator } from "../operator.js";
import { at, formatShape, formatType, sameShape, type DType, type Shape } from "../types.js";
import { castTo, isValueType, valueTypes, type Expression } from "../values/expression.js";
import { integerRanges, isFloatValue } from "../values/formats.js";
import { broadcastShapes } from "./broadcast.js";
import { breakRule, type AttrSpec, type OpInputs } from "./op-def.js";
import { indexOperand, type IndexPolicy } from "./take.js";

/** Returns the attribute for an index outside its extent on the written side, where nothing is read that could be filled. */
export const writtenOobSpec = (fallback: OutOfBounds) =>
  ({
    key: "oob",
    kind: "word",
    words: outOfBoundsPolicies.filter((policy) => policy !== "zero"),
    default: fallback,
    help: "what an index out of range means",
  }) as const satisfies AttrSpec;

/** A scatter as its dialect states it, before it is a map. */
export interface Scatter {
  /** Extents of the points. */
  readonly domain: Shape;
  /** Index values with their policies, inner first. */
  readonly indices: readonly IndexOperand[];
  /** Coordinates of the element that a point writes. */
  readonly to: readonly Linear[];
  /** Element that is written there, or the value of every point. */
  readonly from: Read | Expression;
  /** The expression that makes the written value of the element. Absent: the element itself. */
  readonly value?: Expression;
  readonly combine: Combine;
  /** Dims of the data that an index names, and that the domain has too. Absent: none. */
  readonly sharedDims?: readonly number[];
}

/** Refuses (TC104) a combination of elements whose type has no arithmetic here. `who` is the operator's name. */
export function checkCombine(inputs: OpInputs, combine: Combine, dtype: DType, who: string): void {
  if (combine === "set" || isValueType(dtype)) return;
  breakRule(
    "TC104",
    inputs,
    `${who}: ${combine} of ${dtype} is none that tilec computes`,
    `elements combine in ${valueTypes.join(", ")}`,
  );
}

/** Refuses updates of another type than the data (TC104), or of another shape than the operator states (TC103). `k`: their number. */
export function checkUpdates(inputs: OpInputs, k: number, shape: Shape, name: string, who: string): void {
  const updates = at(inputs.inputs, k);
  if (updates.dtype !== inputs.data.dtype)
    breakRule(
      "TC104",
      inputs,
      `${who} takes ${name} of the type of its data, ${inputs.data.dtype}, not ${updates.dtype}`,
    );
  if (!sameShape(updates.shape, shape))
    breakRule(
      "TC103",
      inputs,
      `${who} takes ${name} of shape ${formatShape(shape)}, not ${formatType(updates)}`,
    );
}

/** Refuses values of another type than the data (TC104), and (TC103) those that numpy does not broadcast to a shape. `k`: their number. */
export function checkBroadcast(inputs: OpInputs, k: number, shape: Shape, name: string, who: string): void {
  const { shape: given } = at(inputs.inputs, k);
  const over = broadcastShapes([given, shape]);
  checkUpdates(inputs, k, over !== undefined && sameShape(over, shape) ? given : shape, name, who);
}

/** Refuses (TC103) an index that is longer than the source in some dim. */
export function checkReach(inputs: OpInputs, source: Shape, who: string): void {
  inputs.indices.shape.forEach((extent, k) => {
    const length = source[k] ?? 0;
    if (source.length === inputs.indices.shape.length && extent <= length) return;
    breakRule(
      "TC103",
      inputs,
      `${who} takes a src that reaches as far as index, and index dim ${k} is ${extent} and src's ${length}`,
    );
  });
}

/**
 * Returns a number as a value of an element type: of integers exactly, of f32 the nearest, of f16 and bf16 that one rounded once more.
 * Refuses (TC104) types that no number here is of, and (TC105) one that an integer type does not hold. `name`: of the attribute.
 */
export function numberAs(
  inputs: OpInputs,
  value: number,
  dtype: DType,
  name: string,
  who: string,
): Expression {
  if (!isValueType(dtype))
    breakRule("TC104", inputs, `${who} writes a number to ${valueTypes.join(", ")}, not to ${dtype}`);
  if (isFloatValue(dtype)) {
    const bits = new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0;
    return castTo(dtype, "f32", { kind: "number", type: "f32", bits });
  }
  const [min, max] = integerRanges[dtype];
  if (!Number.isInteger(value) || value < min || value > max)
    breakRule("TC105", inputs, `${who} has ${name} ${value}, which is no ${dtype}`);
  const type = dtype === "u32" ? "u32" : "i32";
  return castTo(dtype, type, { kind: "number", type, bits: value >>> 0 });
}

/**
 * Returns the operator of a scatter into a copy of its first input, or into that input itself. `shapes`: the effective ones of its
 * inputs. `zeros`: shape of the zeros that it starts from, where it copies no input.
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

/** Returns dims of the domain, so many from `first` on. */
export const dimsFrom = (first: number, count: number): Linear[] =>
  Array.from({ length: count }, (_, k) => dim(first + k));

/**
 * Returns the scatter by elements: y[d0, …, i[d…], …] = u[d…] for each element of the indices, the input of number 1. What the updates,
 * of number 2, have beyond them is not read. `value` stands in their place.
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

/** The inputs in which a scatter by tuples finds its tuples and its updates. */
export interface TupleTables {
  readonly indices: number;
  readonly updates: number;
}

/**
 * Returns the scatter by tuples: y[i[d…, 0], i[d…, 1], …, e…] = u[d…, e…] for each element of the updates, whose shape is that of the
 * indices without their last dim, then that of what a tuple names.
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

/** Returns the shape of the updates of a scatter by tuples. */
export const tupleUpdates = (data: Shape, indices: Shape): Shape => [
  ...indices.slice(0, -1),
  ...data.slice(at(indices, indices.length - 1)),
];
