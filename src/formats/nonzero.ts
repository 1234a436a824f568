/** Positions of the elements of a tensor that are not zero: how a boolean mask chooses. */
import { elementCount, elementTypes, invariant, type DType, type Shape } from "../../ir/index.js";
import { fromHost } from "../../backends/index.js";
import type { TensorValue } from "./tensor.js";

/**
 * True if the elements of a type are real numbers that {@link flatNonzero} can test for zero: bool, integers,
 * and floats other than float8.
 */
export function isReal(dtype: DType): boolean {
  switch (elementTypes[dtype].class) {
    case "bool":
    case "signed":
    case "unsigned":
    case "float":
      return true;
    case "float8":
    case "complex":
    case "string":
      return false;
  }
}

/**
 * Returns the row-major indices, from 0, of the nonzero elements of a tensor of real numbers, in ascending
 * order. -0 counts as zero; NaN counts as nonzero.
 */
export function flatNonzero({ type, bytes }: TensorValue): Float64Array {
  const { dtype } = type;
  invariant(isReal(dtype), "the tensor has real numbers");
  const elements = fromHost(type, bytes) as ArrayLike<number | bigint>;
  // Arrays of the host hold the bits of these types: all but the sign.
  const bits = dtype === "f16" || dtype === "bf16" ? 0x7fff : undefined;
  const isZero = (element: number | bigint | undefined): boolean =>
    bits === undefined ? Number(element) === 0 : (Number(element) & bits) === 0;
  let count = 0;
  for (let k = 0; k < elements.length; k++) if (!isZero(elements[k])) count++;
  const positions = new Float64Array(count);
  let place = 0;
  for (let k = 0; k < elements.length; k++) if (!isZero(elements[k])) positions[place++] = k;
  return positions;
}

/**
 * Returns the coordinates of tensor elements in dim `k` as an i64 tensor of one dim. `positions`: row-major
 * element indices, from 0. `shape`: shape of the tensor.
 */
export function coordinatesOf(positions: Float64Array, shape: Shape, k: number): TensorValue {
  const inner = elementCount(shape.slice(k + 1));
  const extent = shape[k] ?? 1;
  const values = BigInt64Array.from(positions, (position) => BigInt(Math.floor(position / inner) % extent));
  return { type: { dtype: "i64", shape: [values.length] }, bytes: new Uint8Array(values.buffer) };
}
