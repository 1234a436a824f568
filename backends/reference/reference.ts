/**
 * reference: the three operators by their definitions, element by element. No tiling, no access map; this is
 * the text to read when in doubt about what a gather means. A mapped operator is defined by its map.
 */
import { roles, type Operand } from "../../ir/func.js";
import type { Operator } from "../../ir/operator.js";
import { indexRule, resolveIndex } from "../../ir/policy.js";
import { assertNever, at, invariant, strides } from "../../ir/types.js";
import { drained } from "../long-run.js";
import { indexReader, inputTensor, type HostInputs } from "../memory.js";
import { mapOfOperator, type ReferenceProgram } from "./defined-map.js";
import { elementByElement } from "./element-by-element.js";
import { referenceOfMapSteps } from "./reference-of-map.js";

/**
 * Returns the output's bytes, computed from the definition of an operator. `operands`: the program's
 * operands; by default `data` and `indices`. Throws a RunError (TC601) for the first rejected index.
 */
export const reference = (
  program: ReferenceProgram,
  inputs: HostInputs,
  operands?: readonly Operand[],
): Uint8Array => drained(referenceSteps(program, inputs, operands));

/**
 * Returns a generator that computes the output of an operator from the operator's definition and returns the
 * bytes. Yields the number of finished output elements. Throws the errors of {@link reference}.
 */
export function referenceSteps(
  program: ReferenceProgram,
  inputs: HostInputs,
  named: readonly Operand[] = dataAndIndices(inputs),
): Generator<number, Uint8Array> {
  const { operator, negative, oob } = program;
  const { map, operands } = mapOfOperator(program, named);
  if (operator.op === "mapped") return referenceOfMapSteps(map, operands, inputs);
  const indices = inputTensor(inputs, at(operands, 1));
  const read = indexReader(indices.bytes, indices.type.dtype);
  const rules = operator.data.map((extent) => {
    const wrapNegativeBy = negative === "from-end" ? { wrapNegativeBy: extent } : {};
    return indexRule({ extent, ...wrapNegativeBy, outOfRange: oob }, indices.type.dtype);
  });

  /**
   * Returns the data coordinate along a dim that the index at this position names; a mark when there is none.
   */
  const lookUp = (dim: number, position: number): number =>
    resolveIndex(at(rules, dim), read(position), () => read.exact(position));
  const coordinatesOf = dataCoordinates(operator, lookUp);
  let coords: readonly number[] = [];
  return elementByElement(
    { map, operands, inputs },
    {
      to(out) {
        coords = coordinatesOf(out);
        return Math.min(0, ...coords);
      },
      read: () => coords,
      // Each element is written at its own coordinates.
      written: () => [],
    },
  );
}

/**
 * Returns a function that maps the coordinates of an output element to those of the data element to copy.
 * Each call reuses the returned array. `lookUp`: returns the coordinate along data dim `dim` for the index
 * value at row-major position `position`.
 */
function dataCoordinates(
  operator: Exclude<Operator, { readonly op: "mapped" }>,
  lookUp: (dim: number, position: number) => number,
): (out: readonly number[]) => readonly number[] {
  const rank = operator.data.length;
  const q = operator.indices.length;
  const indexStrides = strides(operator.indices);
  const coords = new Array<number>(rank).fill(0);
  /** Returns the position of indices[d[from:from+count]]. */
  const indexAt = (d: readonly number[], from: number, count: number): number => {
    let position = 0;
    for (let k = 0; k < count; k++) position += at(d, from + k) * at(indexStrides, k);
    return position;
  };
  switch (operator.op) {
    case "gather": {
      // out[d[:a], i…, d[a+1:]] = data[d[:a], indices[i…], d[a+1:]]
      const { axis } = operator;
      return (out) => {
        for (let k = 0; k < axis; k++) coords[k] = at(out, k);
        coords[axis] = lookUp(axis, indexAt(out, axis, q));
        for (let k = axis + 1; k < rank; k++) coords[k] = at(out, k + q - 1);
        return coords;
      };
    }
    case "gather_elements": {
      // out[d…] = data[d[:a], indices[d…], d[a+1:]]
      const { axis } = operator;
      return (out) => {
        for (let k = 0; k < rank; k++) coords[k] = at(out, k);
        coords[axis] = lookUp(axis, indexAt(out, 0, q));
        return coords;
      };
    }
    case "gather_nd": {
      // out[b…, i…, d…] = data[b…, indices[b…, i…, 0], …, indices[b…, i…, K-1], d…]
      const { batchDims } = operator;
      const tuple = at(operator.indices, q - 1);
      return (out) => {
        for (let k = 0; k < batchDims; k++) coords[k] = at(out, k);
        const first = indexAt(out, 0, q - 1);
        for (let k = 0; k < tuple; k++) coords[batchDims + k] = lookUp(batchDims + k, first + k);
        for (let k = batchDims + tuple; k < rank; k++) coords[k] = at(out, k - batchDims - tuple + q - 1);
        return coords;
      };
    }
    default:
      return assertNever(operator);
  }
}

function dataAndIndices(inputs: HostInputs): readonly Operand[] {
  const [data, indices] = [inputs["data"], inputs["indices"]];
  invariant(data !== undefined && indices !== undefined, "an operator takes data and indices");
  return [data, indices, data].map(({ type }, k) => ({ name: at(roles, k), role: at(roles, k), type }));
}
