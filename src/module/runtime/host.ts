/** The caller's arrays and sizes as bytes and numbers, and back. */
import { entryCalled } from "../../../ir/entry-of.js";
import { elementCount, formatShape, type TensorType } from "../../../ir/types.js";
import { GatherError } from "./gather-error.js";
import type { Numbers } from "../../../backends/bad-index.js";
import type { ModuleOperand, ModulePlan } from "./plan.js";

/**
 * Array that a caller passes to a gather, or that a gather returns: a typed array of numbers, or a list of
 * strings.
 */
export type HostArray = ArrayBufferView | readonly string[];

/**
 * Operand of a module for given sizes of the dynamic dims, with type, number of elements and number of bytes.
 */
export interface SizedOperand extends ModuleOperand {
  readonly type: TensorType;
  readonly elements: number;
  readonly bytes: number;
}

/** Operands of a module for one set of sizes, with the values of the symbols in `numbers`. */
export interface Sized {
  readonly numbers: Numbers;
  readonly operands: readonly SizedOperand[];
  readonly output: SizedOperand;
}

/** Returns the operands of a plan for given symbol values. The last operand is the output. */
export function sizedWith({ operands }: ModulePlan, numbers: Numbers): Sized {
  const sized = operands.map((operand) => {
    const { dtype, bits } = operand;
    const shape = operand.shape(numbers);
    const elements = elementCount(shape);
    return { ...operand, type: { dtype, shape }, elements, bytes: Math.ceil((elements * bits) / 8) };
  });
  return { numbers, operands: sized, output: sized.at(-1) as SizedOperand };
}

/**
 * Inputs of a call as bytes, one array for each input. A string element is a u32 handle, an index into
 * `strings`.
 */
export interface HostBytes {
  readonly bytes: readonly Uint8Array[];
  /** Strings that the handles refer to. */
  readonly strings: readonly string[];
}

/**
 * Converts the inputs of a call to bytes, in the order of the operands. Throws a GatherError (TC702) for a
 * missing input, or for an input of the wrong type or length. Without `inputs`, all are missing.
 */
export function bytesOf(
  { operands }: Sized,
  inputs: Readonly<Record<string, HostArray>> | null | undefined,
): HostBytes {
  const strings = [""];
  const taken = operands.slice(0, -1);
  const bytes = taken.map((operand) => {
    const given = entryCalled(inputs ?? {}, operand, taken);
    const { elements, bits, array } = operand;
    if (operand.dtype === "string" && Array.isArray(given) && given.length === elements) {
      const texts = given as readonly string[];
      const handles = Uint32Array.from(texts, (_, k) => strings.length + k);
      for (const text of texts) strings.push(text);
      return new Uint8Array(handles.buffer);
    }
    if (ArrayBuffer.isView(given)) {
      const kind = (given as unknown as Readonly<Record<symbol, string>>)[Symbol.toStringTag];
      // An array whose buffer was transferred has no bytes, and takes no view.
      const { buffer, byteOffset, byteLength } = given;
      const view = byteLength ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array();
      if (byteLength === operand.bytes && (kind === array || kind === "Uint8Array")) return view;
      if (bits < 8 && byteLength === elements && /^U?int8Array$/i.test(kind as string))
        return packed(operand, view);
    }
    throw refused(operand, given);
  });
  return { bytes, strings };
}

/**
 * Returns an error (TC702) for an input that is missing or has the wrong type or length, with the lengths of
 * both arrays. `given` is the input that the caller passed, if any.
 */
function refused(operand: SizedOperand, given: HostArray | undefined): GatherError {
  const { key, type, bytes, elements, array } = operand;
  const isString = type.dtype === "string";
  const length = isString ? elements : bytes / arrayOf(array).BYTES_PER_ELEMENT;
  const has = (given as ArrayLike<unknown> | null | undefined)?.length;
  const message = `${key} is ${type.dtype}${formatShape(type.shape)}, ${isString ? "Array" : array} of ${length}; got ${given ? `${given.constructor.name} of ${has}` : "nothing"}`;
  return new GatherError("TC702", message, { key, length, given: has });
}

/**
 * Packs values of 8 bits into elements of fewer bits, the first value in the low bits of a byte. Throws a
 * GatherError (TC702) for a value outside the range of the element type.
 */
function packed({ key, bits, bytes, signed = false }: SizedOperand, values: Uint8Array): Uint8Array {
  const result = new Uint8Array(bytes);
  const each = 8 / bits;
  values.forEach((value, k) => {
    const number = signed ? (value << 24) >> 24 : value;
    const low = signed ? -(2 ** (bits - 1)) : 0;
    if (number < low || number >= low + 2 ** bits)
      throw new GatherError("TC702", `${key} has ${number} as element ${k}`, { key, value: number });
    const byte = Math.floor(k / each);
    result[byte] = (result[byte] ?? 0) | ((value & (2 ** bits - 1)) << (bits * (k % each)));
  });
  return result;
}

/** Converts the bytes of the output to a typed array, or to a list of strings for string handles. */
export function outputOf(
  { output }: Sized,
  bytes: Uint8Array<ArrayBuffer>,
  strings: readonly string[],
): HostArray {
  const { dtype, array } = output;
  const { buffer } = bytes;
  if (dtype === "string")
    return Array.from(new Uint32Array(buffer, 0, output.elements), (handle) => strings[handle] ?? "");
  const ArrayType = arrayOf(array);
  return new ArrayType(buffer, 0, output.bytes / ArrayType.BYTES_PER_ELEMENT);
}

/** Returns the typed-array class with the given name. */
const arrayOf = (name: string): Uint8ArrayConstructor =>
  (globalThis as unknown as Readonly<Record<string, unknown>>)[name] as Uint8ArrayConstructor;
