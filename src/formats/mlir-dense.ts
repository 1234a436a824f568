/**
 * Whole numbers of MLIR's `dense<…> : tensor<…>`: lists for its dims, one element for all of them (a splat),
 * nothing, or bytes.
 *
 * Source: mlir.llvm.org/docs/Dialects/Builtin, "DenseIntOrFPElementsAttr". Bytes are little-endian, one or
 * more of each element; eight elements of i1 share one.
 */
import {
  bitsOf,
  elementCount,
  elementTypes,
  isSigned,
  sameShape,
  shownAmount,
  type TensorType,
} from "../../ir/index.js";

/**
 * Contents of an MLIR literal `dense<…>`: a list nested like the tensor's dims, or the text of one element. A
 * text that begins with a double quote has the bytes of all elements in hexadecimal.
 */
export type DenseLiteral = string | readonly DenseLiteral[];

/**
 * Returns the integer elements of an MLIR literal `dense<…>` in row-major order. For an invalid literal,
 * returns a text: the end of an error message. `literal`: undefined for `dense<>`.
 */
export function denseIntegers(
  literal: DenseLiteral | undefined,
  type: TensorType,
): readonly bigint[] | string {
  const count = elementCount(type.shape);
  const { dtype } = type;
  if (!["bool", "signed", "unsigned"].includes(elementTypes[dtype].class))
    return `takes whole numbers, not ${dtype}`;
  if (literal === undefined)
    return count === 0 ? [] : `has no element, and its type has ${shownAmount(count)}`;
  if (typeof literal !== "string") {
    const shape = shapeOf(literal);
    // A list for one dim says its length itself.
    return shape?.length === 1 || (shape !== undefined && sameShape(shape, type.shape))
      ? integersIn(elementsOf(literal))
      : "is a list of another shape than its type";
  }
  const values = literal.startsWith('"') ? bytesIn(literal.slice(1, -1), type) : integersIn([literal]);
  if (typeof values === "string" || values.length === count) return values;
  const [only, ...others] = values;
  return only === undefined || others.length > 0
    ? `has ${values.length} elements, and its type has ${shownAmount(count)}`
    : new Array<bigint>(count).fill(only);
}

/** Extents of nested lists; undefined where lists of one depth differ. */
function shapeOf(literal: DenseLiteral): readonly number[] | undefined {
  if (typeof literal === "string") return [];
  const [first = [], ...others] = literal.map(shapeOf);
  const alike = others.every((other) => other !== undefined && sameShape(other, first));
  return first === undefined || !alike ? undefined : [literal.length, ...first];
}

const elementsOf = (literal: DenseLiteral): readonly string[] =>
  typeof literal === "string" ? [literal] : literal.flatMap(elementsOf);

function integersIn(texts: readonly string[]): readonly bigint[] | string {
  const bad = texts.find((text) => !/^(?:-?\d+|0x[\da-f]+|true|false)$/i.test(text));
  if (bad !== undefined) return `takes whole numbers, not ${bad}`;
  return texts.map((text) => BigInt(text === "true" ? 1 : text === "false" ? 0 : text));
}

/**
 * Returns the integers that little-endian bytes, written in hexadecimal, encode. For invalid bytes, returns a
 * text: the end of an error message.
 */
function bytesIn(hex: string, { dtype, shape }: TensorType): readonly bigint[] | string {
  if (!/^0x(?:[\da-f]{2})*$/i.test(hex)) return `takes bytes as "0x…", two digits each, not "${hex}"`;
  const bytes = Uint8Array.from(hex.slice(2).match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  const count = elementCount(shape);
  if (dtype === "bool" && bytes.length === Math.ceil(count / 8))
    return Array.from({ length: count }, (_, k) => BigInt(((bytes[k >> 3] ?? 0) >> (k & 7)) & 1));
  if (dtype === "bool" && bytes.length === 1) return [BigInt((bytes[0] ?? 0) & 1)];
  const [width, size] = [bitsOf(dtype), Math.ceil(bitsOf(dtype) / 8)];
  if (dtype === "bool" || bytes.length % size !== 0)
    return `has ${bytes.length} bytes, and its type has ${shownAmount(count)} elements`;
  return Array.from({ length: bytes.length / size }, (_, k) => {
    const element = bytes.subarray(k * size, (k + 1) * size);
    const value = element.reduceRight((high, byte) => (high << 8n) | BigInt(byte), 0n);
    return isSigned(dtype) ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
  });
}
