/**
 * reference: the three operators by their definitions, element by element. No tiling, no access map; this is the text
 * to read when in doubt about what a gather means. A mapped operator is defined by its map.
 */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import { roles, type Operand } from "../../ir/func.js";
import { accessMap, inputShapes, outputShape, type Operator } from "../../ir/operator.js";
import { indexRule, resolveIndex } from "../../ir/policy.js";
import { assertNever, at, invariant, strides } from "../../ir/types.js";
import { drained } from "../long-run.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";
import { elementByElement } from "./element-by-element.js";
import { referenceOfMapSteps } from "./reference-of-map.js";

/** An operator with what its dialect decided: all that its definition needs. */
export interface ReferenceProgram {
  readonly operator: Operator;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
}

/**
 * The output's bytes. `operands`: of the program, where it has others than data and indices. Throws a RunError (TC601) for the
 * first output element whose index is out of range under `error` and `unchecked`.
 */
export const reference = (
  program: ReferenceProgram,
  inputs: HostInputs,
  operands?: readonly Operand[],
): Uint8Array => drained(referenceSteps(program, inputs, operands));

/** `reference`, in steps that yield the elements done. */
export function referenceSteps(
  program: ReferenceProgram,
  inputs: HostInputs,
  named: readonly Operand[] = dataAndIndices(inputs),
): Generator<number, Uint8Array> {
  const { operator, negative, oob } = program;
  const operands = effective(operator, named);
  if (operator.op === "mapped") return referenceOfMapSteps(operator.map, operands, inputs);
  const indices = tensorOf(inputs, at(operands, 1));
  const read = indexReader(indices.bytes, indices.type.dtype);
  const indexStrides = strides(operator.indices);
  const rules = operator.data.map((below) => {
    const fromEnd = negative === "from-end" ? { fromEnd: below } : {};
    return indexRule({ below, ...fromEnd, keep: oob }, indices.type.dtype);
  });

  /** The data coordinate along a dim that the index at these coordinates names; a mark when there is none. */
  const lookUp = (dim: number, coords: readonly number[]): number => {
    const position = coords.reduce((sum, coord, k) => sum + coord * at(indexStrides, k), 0);
    return resolveIndex(at(rules, dim), read(position), () => read.exact(position));
  };
  const map = accessMap(operator, negative, oob);
  return elementByElement({ map, operands, inputs }, (out) => dataCoordinates(operator, out, lookUp));
}

function dataCoordinates(
  operator: Exclude<Operator, { readonly op: "mapped" }>,
  out: readonly number[],
  lookUp: (dim: number, coords: readonly number[]) => number,
): number[] {
  const q = operator.indices.length;
  switch (operator.op) {
    case "gather": {
      // out[d[:a], i…, d[a+1:]] = data[d[:a], indices[i…], d[a+1:]]
      const { axis } = operator;
      const index = lookUp(axis, out.slice(axis, axis + q));
      return [...out.slice(0, axis), index, ...out.slice(axis + q)];
    }
    case "gather_elements": {
      // out[d…] = data[d[:a], indices[d…], d[a+1:]]
      const { axis } = operator;
      const index = lookUp(axis, out);
      return [...out.slice(0, axis), index, ...out.slice(axis + 1)];
    }
    case "gather_nd": {
      // out[b…, i…, d…] = data[b…, indices[b…, i…, 0], …, indices[b…, i…, K-1], d…]
      const { batchDims } = operator;
      const tuple = at(operator.indices, q - 1);
      const picked = Array.from({ length: tuple }, (_, k) =>
        lookUp(batchDims + k, [...out.slice(0, q - 1), k]),
      );
      return [...out.slice(0, batchDims), ...picked, ...out.slice(q - 1)];
    }
    default:
      return assertNever(operator);
  }
}

/** The operands with the operator's shapes: a dialect's leading ones are gone. */
function effective(operator: Operator, operands: readonly Operand[]): readonly Operand[] {
  const shapes = [...inputShapes(operator), outputShape(operator)];
  return operands.map((operand, k) => ({
    ...operand,
    type: { dtype: operand.type.dtype, shape: at(shapes, k) },
  }));
}

function dataAndIndices(inputs: HostInputs): readonly Operand[] {
  const [data, indices] = [inputs["data"], inputs["indices"]];
  invariant(data !== undefined && indices !== undefined, "an operator takes data and indices");
  return [data, indices, data].map(({ type }, k) => ({ name: at(roles, k), role: at(roles, k), type }));
}
