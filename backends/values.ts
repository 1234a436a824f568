/** JavaScript arrays as host tensors and back, without changing a bit. */
import { CompileError, error } from "../ir/diagnostic.js";
import { inputsOf, keyOf, type Func } from "../ir/func.js";
import { byteCount, dtypeBytes, elementCount, formatType, type DType, type TensorType } from "../ir/types.js";
import type { HostTensor } from "./memory.js";

/**
 * The elements of a tensor, row-major. f16 and bf16 are their bits in a Uint16Array, bool is a byte of 0 or 1, complex
 * numbers are pairs, strings are strings.
 */
export type TensorData =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array
  | readonly string[];

const arrayTypes = {
  bool: Uint8Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  f64: Float64Array,
  c64: Float32Array,
  c128: Float64Array,
} as const satisfies Readonly<Record<Exclude<DType, "string">, unknown>>;

export interface HostValue extends HostTensor {
  /** What the handles of a string tensor stand for; handle 0 is the empty string. */
  readonly strings?: readonly string[];
}

/** Wraps an array as a tensor; no copy but for strings. Throws a CompileError (TC702) for another type or length. */
export function toHost(name: string, type: TensorType, data: TensorData): HostValue {
  const count = elementCount(type.shape);
  if (isStrings(data)) {
    if (type.dtype !== "string") throw mismatch(name, type, "an array of strings");
    if (data.length !== count) throw mismatch(name, type, `${data.length} strings`);
    const handles = Uint32Array.from(data, (_, k) => k + 1);
    return { type, bytes: new Uint8Array(handles.buffer), strings: ["", ...data] };
  }
  const { byteLength } = data;
  if (type.dtype === "string" || byteLength !== byteCount(type) || !accepts(type.dtype, data)) {
    throw mismatch(name, type, `a ${data.constructor.name} of ${byteLength} bytes`);
  }
  return { type, bytes: new Uint8Array(data.buffer, data.byteOffset, byteLength) };
}

const isStrings = (data: TensorData): data is readonly string[] => Array.isArray(data);

/** Raw bytes are welcome for any type: they are what travels. */
const accepts = (dtype: Exclude<DType, "string">, data: Exclude<TensorData, readonly string[]>): boolean =>
  data instanceof arrayTypes[dtype] || data instanceof Uint8Array;

/** TC702: `found` stands where `name` should. */
export const mismatch = (name: string, type: TensorType, found: string): CompileError =>
  new CompileError([
    error("TC702", `${name} is ${formatType(type)}, ${byteCount(type)} bytes; got ${found}`, {
      hint: `pass a ${type.dtype === "string" ? "string array" : arrayTypes[type.dtype].name} of ${elementCount(type.shape)} elements`,
    }),
  ]);

/** The elements of a tensor as an array of its type. Strings come back through the table of the data's handles. */
export function fromHost(type: TensorType, bytes: Uint8Array, strings: readonly string[] = []): TensorData {
  const size = dtypeBytes[type.dtype];
  const aligned = bytes.byteOffset % Math.min(8, size) === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset, byteLength } = aligned;
  if (type.dtype === "string") {
    return Array.from(new Uint32Array(buffer, byteOffset, byteLength / 4), (handle) => strings[handle] ?? "");
  }
  const ArrayType = arrayTypes[type.dtype];
  return new ArrayType(buffer as ArrayBuffer, byteOffset, byteLength / ArrayType.BYTES_PER_ELEMENT);
}

/** A program's input arrays by key: `data` and `indices`. */
export type GatherData = Readonly<Record<string, TensorData>>;

/** The arrays that a program takes, as tensors by key. Throws a CompileError (TC702) for one that is missing or another type. */
export const toHosts = (
  func: Pick<Func, "operands">,
  arrays: Readonly<Record<string, TensorData | undefined>>,
): Readonly<Record<string, HostValue>> =>
  Object.fromEntries(
    inputsOf(func).map((operand) => {
      const key = keyOf(operand);
      const data = Object.hasOwn(arrays, key) ? arrays[key] : undefined;
      if (data === undefined) throw mismatch(key, operand.type, "nothing");
      return [key, toHost(key, operand.type, data)];
    }),
  );

/** What the handles of the output stand for: those of the data. */
export const stringsOf = (hosts: Readonly<Record<string, HostValue>>): readonly string[] =>
  Object.values(hosts).flatMap((host) => host.strings ?? []);
