/** JavaScript arrays as host tensors and back, without changing a bit. */
import { dtypeMeant } from "../ir/element-type-names.js";
import { checkArgument } from "../ir/argument.js";
import { CompileError, error } from "../ir/diagnostic.js";
import { entryOf } from "../ir/entry-of.js";
import { givenFor, inputsOf, keyOf, outputOf, inoutOf, type Func, type Operand } from "../ir/func.js";
import {
  at,
  byteCount,
  bytesOf,
  dtypes,
  elementCount,
  elementTypes,
  formatType,
  elementsInByte,
  isDType,
  isPacked,
  isSigned,
  type DType,
  type PackedType,
  type TensorType,
} from "../ir/types.js";
import { isObject, kindOf, shownValue } from "./fields.js";
import {
  alignedTo,
  checkArrayBytes,
  maxArrayBytes,
  packedBits,
  putPackedBits,
  type HostInputs,
  type HostTensor,
} from "./memory.js";

/**
 * Elements of a tensor as a JavaScript array, row-major. f16 and bf16 elements are bits in a Uint16Array.
 * Packed types are ONNX bytes, or one number for each element in a Uint8Array or Int8Array.
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

/**
 * Host tensor with a list of strings. The elements of a string tensor are handles: indices in the list
 * `strings`.
 */
export interface HostValue extends HostTensor {
  /** Strings that the handles of a string tensor refer to; handle 0 is the empty string. */
  readonly strings?: readonly string[];
}

/**
 * Wraps an array as a host tensor, normally without a copy. Throws a CompileError: TC702 for a wrong type or
 * length, TC104 for an unknown element type, TC502 for more than 4 GiB if `mayBeLarge` returns false.
 */
export function toHost(
  name: string,
  type: TensorType,
  data: TensorData,
  mayBeLarge: () => boolean = () => false,
): HostValue {
  // Callers are not all TypeScript: the array may be anything.
  checkArgument("toHost", "type", type);
  const given: unknown = data;
  if (!isDType(type.dtype)) {
    const meant = dtypeMeant(String(type.dtype));
    const hint = meant === undefined ? `one of ${dtypes.join(", ")}` : `write ${meant}`;
    throw new CompileError([error("TC104", `${name} has element type ${shownValue(type.dtype)}`, { hint })]);
  }
  if (type.dtype === "string") return stringsToHost(name, type, given);
  if (isPacked(type.dtype) && isOneEach(type, given))
    return packed(name, { ...type, dtype: type.dtype }, given);
  if (!ArrayBuffer.isView(given) || given.byteLength !== byteCount(type) || !accepts(type.dtype, given)) {
    const shown = Array.isArray(given) ? "an array, not a typed one" : shownValue(given);
    throw mismatch(name, type, shown, passHint(type));
  }
  if (given.byteLength > maxArrayBytes && mayBeLarge())
    return { type, bytes: new Uint8Array(), beyond: given };
  checkArrayBytes(given.byteLength, name, largeHint);
  return { type, bytes: new Uint8Array(given.buffer, given.byteOffset, given.byteLength) };
}

const largeHint =
  'split the tensors, or run simulate with { executor: "fast" }, which reads data of any length';

/**
 * Converts an array of strings to a tensor of handles (indices in a list of strings). Throws a CompileError
 * (TC702) if `given` is not an array of strings of the right length.
 */
function stringsToHost(name: string, type: TensorType, given: unknown): HostValue {
  const refused = (shown: string): CompileError => mismatch(name, type, shown, passHint(type));
  if (!Array.isArray(given)) throw refused(shownValue(given));
  const list: readonly unknown[] = given;
  if (list.length !== elementCount(type.shape)) throw refused(`${list.length} strings`);
  const strings = Array.from(list, (text, k) => {
    if (typeof text !== "string") throw refused(`${shownValue(text)} as element ${k}`);
    return text;
  });
  const handles = Uint32Array.from(strings, (_, k) => k + 1);
  return { type, bytes: new Uint8Array(handles.buffer), strings: ["", ...strings] };
}

/**
 * True if an array has one number for each packed element. The array is shorter if the elements are already
 * packed.
 */
const isOneEach = ({ shape }: TensorType, given: unknown): given is Uint8Array | Int8Array =>
  ArrayBuffer.isView(given) &&
  ["Uint8Array", "Int8Array"].includes(kindOf(given)) &&
  given.byteLength === elementCount(shape) &&
  given.byteLength > 0;

/**
 * Returns a tensor of a packed type (several elements in a byte) from a list with one number for each
 * element. Throws a CompileError (TC702) for a number that the type cannot represent.
 */
function packed(
  name: string,
  type: TensorType & { readonly dtype: PackedType },
  values: Uint8Array | Int8Array,
): HostValue {
  const { dtype } = type;
  const bytes = new Uint8Array(byteCount(type));
  values.forEach((value, k) => {
    putPackedBits(bytes, dtype, k, value);
    if (packedValue(bytes, dtype, k) !== value)
      throw mismatch(name, type, `${value} as element ${k}`, passHint(type));
  });
  return { type, bytes };
}

/**
 * Returns the number that an element of a packed type (several elements in a byte) represents. `element`:
 * index of the element.
 */
export function packedValue(bytes: Uint8Array, dtype: PackedType, element: number): number {
  const bits = packedBits(bytes, dtype, element);
  const { bits: width, class: kind } = elementTypes[dtype];
  return kind === "signed" && bits >= 2 ** (width - 1) ? bits - 2 ** width : bits;
}

/**
 * True if an array may hold values of a type. Raw bytes are accepted for any type: they are the form in which
 * values are transferred.
 */
function accepts(dtype: DType, data: ArrayBufferView): boolean {
  const kind = kindOf(data);
  return kind === elementTypes[dtype].array.name || kind === "Uint8Array";
}

const passHint = ({ dtype, shape }: TensorType): string =>
  isPacked(dtype)
    ? `pass ${elementsInByte(dtype)} elements a byte, the first in its low bits, in a Uint8Array, or one number each in a Uint8Array or Int8Array`
    : `pass a ${dtype === "string" ? "string array" : elementTypes[dtype].array.name} of ${elementCount(shape)} elements`;

const mismatch = (name: string, type: TensorType, shown: string, hint: string): CompileError =>
  new CompileError([
    error("TC702", `${name} is ${formatType(type)}, ${byteCount(type)} bytes; got ${shown}`, { hint }),
  ]);

/** Maximum number of strings in an array. JavaScript engines crash on far longer arrays of strings. */
export const maxStrings = 2 ** 24;

/**
 * Returns the elements of a tensor as a JavaScript array. `strings`: the list in which handles of a string
 * tensor are indices. Throws a CompileError (TC502) for more than 2^24 strings.
 */
export function fromHost(type: TensorType, bytes: Uint8Array, strings: readonly string[] = []): TensorData {
  checkArgument("fromHost", "type", type);
  const { dtype } = type;
  if (isPacked(dtype)) {
    const values = Array.from({ length: elementCount(type.shape) }, (_, k) => packedValue(bytes, dtype, k));
    return isSigned(dtype) ? Int8Array.from(values) : Uint8Array.from(values);
  }
  const size = bytesOf(dtype);
  const aligned = alignedTo(Math.min(8, size), bytes);
  const { buffer, byteOffset, byteLength } = aligned;
  if (type.dtype === "string") {
    if (byteLength / 4 > maxStrings) {
      const message = `${formatType(type)} is ${byteLength / 4} strings; one array holds at most ${maxStrings}`;
      throw new CompileError([error("TC502", message, { hint: "split the indices" })]);
    }
    return Array.from(new Uint32Array(buffer, byteOffset, byteLength / 4), (handle) => strings[handle] ?? "");
  }
  const ArrayType = elementTypes[type.dtype].array;
  return new ArrayType(buffer as ArrayBuffer, byteOffset, byteLength / ArrayType.BYTES_PER_ELEMENT);
}

/**
 * Returns the output as a JavaScript array. For a program that writes in place, the result is the caller's
 * input array. `bytes`: bytes of the output.
 */
export function outputData(
  func: Pick<Func, "operands">,
  arrays: GatherData,
  hosts: Readonly<Record<string, HostValue>>,
  bytes: Uint8Array,
): TensorData {
  const inPlace = inoutOf(func);
  const given = inPlace === undefined ? undefined : givenFor(func, inPlace, arrays);
  const isWritten =
    ArrayBuffer.isView(given) && given.buffer === bytes.buffer && given.byteOffset === bytes.byteOffset;
  if (isWritten) return given;
  const output = fromHost(outputOf(func).type, bytes, stringsOf(hosts));
  // An array of strings has handles of its own while it is written.
  if (isStrings(given) && isStrings(output)) return writeOver(given, output);
  return output;
}

const isStrings = (data: TensorData | undefined): data is readonly string[] => Array.isArray(data);

/** Writes the elements of an array over those of another, which it returns. */
function writeOver(target: readonly string[], from: readonly string[]): readonly string[] {
  Object.assign(target, from);
  return target;
}

/**
 * Input arrays of a program, by operand key or by the operand's name in the program text. A simple gather has
 * the keys `data` and `indices`.
 */
export type GatherData = Readonly<Record<string, TensorData>>;

/**
 * Converts the input arrays of a program to host tensors, by key. Throws a CompileError (TC702) if an array
 * is missing or has a wrong type. `mayBeLarge`: returns true for an operand that may exceed 4 GiB; by default
 * none may.
 */
export function toHosts(
  func: Pick<Func, "operands">,
  arrays: GatherData,
  mayBeLarge: (operand: Operand) => boolean = () => false,
): Readonly<Record<string, HostValue>> {
  const given: unknown = arrays;
  const inputs = inputsOf(func);
  const hosts = inputs.map((operand) => {
    const key = keyOf(operand);
    const data = isObject(given) ? givenFor(func, operand, arrays) : undefined;
    if (data === undefined) {
      const shown = isObject(given)
        ? `only ${Object.keys(given).join(", ") || "nothing"}`
        : shownValue(given);
      const hint = `pass { ${inputs.map(keyOf).join(", ")} }`;
      throw new CompileError([error("TC702", `the inputs lack ${key}; got ${shown}`, { hint })]);
    }
    return [key, toHost(key, operand.type, data, () => mayBeLarge(operand))] as const;
  });
  return shareStrings(Object.fromEntries(hosts));
}

/**
 * Throws a CompileError (TC702) if a tensor has a wrong number of bytes or shares memory with the input that
 * is written in place. `mayBeLarge`: returns true for an operand that may exceed 4 GiB.
 */
export function checkTensors(
  func: Pick<Func, "operands">,
  tensors: HostInputs,
  mayBeLarge: (operand: Operand) => boolean = () => false,
): void {
  const given: unknown = tensors;
  for (const operand of inputsOf(func)) {
    const key = keyOf(operand);
    const tensor = isObject(given) ? entryOf(given, key) : undefined;
    const bytes = isObject(tensor) ? tensor["bytes"] : undefined;
    const isBytes = ArrayBuffer.isView(bytes) && kindOf(bytes) === "Uint8Array";
    if (isBytes && bytes.byteLength === byteCount(operand.type)) continue;
    const beyond = isObject(tensor) ? tensor["beyond"] : undefined;
    if (ArrayBuffer.isView(beyond) && beyond.byteLength === byteCount(operand.type) && mayBeLarge(operand))
      continue;
    const shown = isBytes ? `${bytes.byteLength} bytes` : `${shownValue(bytes)} as its bytes`;
    const hint = `toHost("${key}", type, array) makes a tensor of an array`;
    throw mismatch(key, operand.type, shown, hint);
  }
  checkOverlap(func, tensors);
}

/**
 * Throws a CompileError (TC702) if an input shares memory with the input that the program writes in place.
 */
function checkOverlap(func: Pick<Func, "operands">, tensors: HostInputs): void {
  const written = inoutOf(func);
  const place = written === undefined ? undefined : entryOf(tensors, keyOf(written))?.bytes;
  if (written === undefined || place === undefined) return;
  for (const operand of inputsOf(func)) {
    const other = entryOf(tensors, keyOf(operand))?.bytes;
    if (operand === written || other?.buffer !== place.buffer) continue;
    const [first, end] = [
      Math.max(other.byteOffset, place.byteOffset),
      Math.min(other.byteOffset + other.byteLength, place.byteOffset + place.byteLength),
    ];
    if (first >= end) continue;
    const message = `${keyOf(operand)} and ${keyOf(written)} share ${end - first} bytes, and ${keyOf(written)} is written in place`;
    throw new CompileError([
      error("TC702", message, { hint: `pass a copy of ${keyOf(operand)}`, data: { bytes: end - first } }),
    ]);
  }
}

/** Inputs by key, some of which may be handles of strings. */
type StringInputs = Readonly<Record<string, HostTensor & Pick<HostValue, "strings">>>;

/** Returns the tables of strings that inputs have, each once. */
function stringTables(hosts: StringInputs): readonly (readonly string[])[] {
  const tables: (readonly string[])[] = [];
  for (const { strings } of Object.values(hosts))
    if (strings !== undefined && !tables.includes(strings)) tables.push(strings);
  return tables;
}

/**
 * Returns the strings to which the handles in the output refer: the lists of strings of all inputs in
 * sequence. Entry 0 is the empty string.
 */
export function stringsOf(hosts: StringInputs): readonly string[] {
  const tables = stringTables(hosts);
  const [only = []] = tables;
  return tables.length < 2 ? only : ["", ...tables.flatMap(([_, ...strings]) => strings)];
}

/**
 * Returns the inputs, with all string handles changed to refer to one shared list: the result of {@link
 * stringsOf}. Unchanged if at most one input has a list of strings.
 */
export function shareStrings<T extends HostTensor & Pick<HostValue, "strings">>(
  hosts: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  const tables = stringTables(hosts);
  if (tables.length < 2) return hosts;
  const strings = stringsOf(hosts);
  const before = tables.map((_, k) => tables.slice(0, k).reduce((sum, { length }) => sum + length - 1, 0));
  const shared = (host: T): T => {
    if (host.strings === undefined) return host;
    const offset = at(before, tables.indexOf(host.strings));
    const { buffer, byteOffset, byteLength } = host.bytes;
    const handles = new Uint32Array(buffer, byteOffset, byteLength / 4).map((handle) =>
      handle === 0 ? 0 : handle + offset,
    );
    return { ...host, bytes: new Uint8Array(handles.buffer), strings };
  };
  return Object.fromEntries(Object.entries(hosts).map(([key, host]) => [key, shared(host)]));
}
