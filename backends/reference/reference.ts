/**
 * reference: the three operators by their definitions, element by element. No tiling, no access map; this is the text
 * to read when in doubt about what a gather means.
 */
import type { NegativeIndex, OutOfBounds } from "../../ir/access.js";
import type { Operand, Role } from "../../ir/func.js";
import { accessMap, outputShape, type Operator } from "../../ir/operator.js";
import { indexRule, resolveIndex } from "../../ir/policy.js";
import { assertNever, at, invariant, strides, type Shape } from "../../ir/types.js";
import { drained } from "../long-run.js";
import { indexReader, tensorOf, type HostInputs, type HostTensor } from "../memory.js";
import { elementByElement } from "./element-by-element.js";

/** An operator with what its dialect decided: all that its definition needs. */
export interface ReferenceProgram {
  readonly operator: Operator;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
}

/**
 * The output's bytes. Throws a RunError (TC601) for the first output element whose index is out of range under `error` and
 * `unchecked`.
 */
export const reference = (program: ReferenceProgram, inputs: HostInputs): Uint8Array =>
  drained(referenceSteps(program, inputs));

/** `reference`, in steps that yield the elements done. */
export function referenceSteps(program: ReferenceProgram, inputs: HostInputs): Generator<number, Uint8Array> {
  const { operator, negative, oob } = program;
  const operands = operandsOf(operator, inputs);
  const indices = tensorOf(inputs, at(operands, 1));
  const read = indexReader(indices.bytes, indices.type.dtype);
  const indexStrides = strides(operator.indices);

  /** The data coordinate along a dim that the index at these coordinates names; a mark when there is none. */
  const lookUp = (dim: number, coords: readonly number[]): number => {
    const position = coords.reduce((sum, coord, k) => sum + coord * at(indexStrides, k), 0);
    const below = at(operator.data, dim);
    const fromEnd = negative === "from-end" ? { fromEnd: below } : {};
    const rule = indexRule({ below, ...fromEnd, keep: oob }, indices.type.dtype);
    return resolveIndex(rule, read(position), () => read.exact(position));
  };
  const map = accessMap(operator, negative, oob);
  return elementByElement({ map, operands, inputs }, (out) => dataCoordinates(operator, out, lookUp));
}

function dataCoordinates(
  operator: Operator,
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
function operandsOf(operator: Operator, inputs: HostInputs): readonly Operand[] {
  const [data, indices] = [inputs["data"], inputs["indices"]];
  invariant(data !== undefined && indices !== undefined, "an operator takes data and indices");
  const operand = (role: Role, { type }: HostTensor, shape: Shape): Operand => ({
    name: role,
    role,
    type: { dtype: type.dtype, shape },
  });
  return [
    operand("data", data, operator.data),
    operand("indices", indices, operator.indices),
    operand("output", data, outputShape(operator)),
  ];
}
