/**
 * reference: the three operators by their definitions, element by element. No tiling, no access map; this is the text
 * to read when in doubt about what a gather means.
 */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import { accessMap, outputShape, type Operator } from "../../ir/operator.js";
import { at, dtypeBytes, elementCount, strides } from "../../ir/types.js";
import {
  allocate,
  coordinates,
  indexOutOfRange,
  indexReader,
  outOfRange,
  resolveIndex,
  unitsOf,
  zeroFill,
  type HostInputs,
} from "../memory.js";

export interface ReferenceProgram {
  readonly operator: Operator;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
}

/** The output's bytes. Throws a RunError (TC601) for the first index out of range under `error` and `unchecked`. */
export function reference(program: ReferenceProgram, { data, indices }: HostInputs): Uint8Array {
  const { operator, negative, oob } = program;
  const shape = outputShape(operator);
  const count = elementCount(shape);
  const size = dtypeBytes[data.type.dtype];
  const output = allocate(count * size, "the output");
  const source = unitsOf(data.bytes, data.type.dtype);
  const target = unitsOf(output, data.type.dtype);
  const read = indexReader(indices.bytes, indices.type.dtype);
  const dataStrides = strides(operator.data);
  const indexStrides = strides(operator.indices);
  let firstBad = Infinity;

  const flat = (coords: readonly number[], by: readonly number[]): number =>
    coords.reduce((sum, coord, k) => sum + coord * at(by, k), 0);
  /** The data coordinate that the index at this position names along a data dim; a mark when there is none. */
  const lookUp = (position: number, dim: number): number => {
    const index = resolveIndex(read, position, at(operator.data, dim), negative, oob);
    if (index === outOfRange) firstBad = Math.min(firstBad, position);
    return index;
  };

  for (let element = 0; element < count; element++) {
    const out = coordinates(element, shape);
    const coords = dataCoordinates(operator, out, indexStrides, flat, lookUp);
    if (coords.includes(zeroFill) || coords.includes(outOfRange)) continue;
    const from = flat(coords, dataStrides) * source.per;
    for (let unit = 0; unit < source.per; unit++) {
      target.units[element * source.per + unit] = at(source.units, from + unit);
    }
  }
  if (firstBad !== Infinity) {
    const map = accessMap(operator, negative);
    const types = {
      data: { dtype: data.type.dtype, shape: operator.data },
      indices: { dtype: indices.type.dtype, shape: operator.indices },
    };
    throw indexOutOfRange(map, types.data, types.indices, firstBad, read.exact(firstBad));
  }
  return output;
}

function dataCoordinates(
  operator: Operator,
  out: readonly number[],
  indexStrides: readonly number[],
  flat: (coords: readonly number[], by: readonly number[]) => number,
  lookUp: (position: number, dim: number) => number,
): number[] {
  const q = operator.indices.length;
  switch (operator.op) {
    case "gather": {
      // out[d[:a], i…, d[a+1:]] = data[d[:a], indices[i…], d[a+1:]]
      const { axis } = operator;
      const index = lookUp(flat(out.slice(axis, axis + q), indexStrides), axis);
      return [...out.slice(0, axis), index, ...out.slice(axis + q)];
    }
    case "gather_elements": {
      // out[d…] = data[d[:a], indices[d…], d[a+1:]]
      const { axis } = operator;
      const index = lookUp(flat(out, indexStrides), axis);
      return [...out.slice(0, axis), index, ...out.slice(axis + 1)];
    }
    case "gather_nd": {
      // out[b…, i…, d…] = data[b…, indices[b…, i…, 0], …, indices[b…, i…, K-1], d…]
      const { batchDims } = operator;
      const tuple = at(operator.indices, q - 1);
      const start = flat(out.slice(0, q - 1), indexStrides);
      const picked = Array.from({ length: tuple }, (_, k) => lookUp(start + k, batchDims + k));
      return [...out.slice(0, batchDims), ...picked, ...out.slice(q - 1)];
    }
  }
}
