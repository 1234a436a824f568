/**
 * TensorProto to a tensor. Elements are in `raw_data` (9), little-endian, or in the typed field that onnx.proto gives
 * to their type. They are counted before anything is allocated, so dims alone never take memory.
 */
import { bytesFor, formatType, type DType, type TensorType } from "../../../ir/index.js";
import { allocate, maxStrings } from "../../../backends/index.js";
import type { TensorValue } from "../tensor.js";
import { describeDataType, dtypeOf } from "./data-type.js";
import { failure, quoted } from "./fail.js";
import type { OnnxTensor } from "./model.js";
import { readTensorHeader } from "./read-model.js";
import { Message, Source } from "./wire.js";

const rawData = 9;
const stringData = 6;
const elementFields: ReadonlyMap<number, string> = new Map([
  [4, "float_data"],
  [5, "int32_data"],
  [stringData, "string_data"],
  [7, "int64_data"],
  [10, "double_data"],
  [11, "uint64_data"],
]);

/** The typed field of an element type. Types of 16 bits and fewer, floats as their bits, go as int32. */
function fieldOf(dtype: DType): number {
  switch (dtype) {
    case "f32":
    case "c64":
      return 4;
    case "bool":
    case "i8":
    case "u8":
    case "i16":
    case "u16":
    case "f16":
    case "bf16":
    case "i32":
      return 5;
    case "string":
      return stringData;
    case "i64":
      return 7;
    case "f64":
    case "c128":
      return 10;
    case "u32":
    case "u64":
      return 11;
  }
}

/** A file that holds one TensorProto, as backend tests do: `input_0.pb`. */
export function readTensorFile(
  bytes: Uint8Array,
  file: string,
): { readonly name: string; readonly value: TensorValue } {
  const tensor = readTensorHeader(new Source(file), bytes);
  return { name: tensor.name, value: readTensor(tensor, file) };
}

/** Throws a CompileError (TC014) that names the tensor when its elements are not here or do not fit its dims. */
export function readTensor(tensor: OnnxTensor, file: string): TensorValue {
  const where = `${file}: tensor ${quoted(tensor.name)}`;
  const dtype = dtypeOf(tensor.dataType);
  if (dtype === undefined) throw failure(where, `it has ${describeDataType(tensor.dataType)}`);
  switch (tensor.stored) {
    case "here":
      break;
    case "external":
      throw failure(
        where,
        "its elements are in another file, which tilec does not open",
        "save the model with its data inside: onnx.save_model(model, path, save_as_external_data=False)",
      );
    case "in segments":
      throw failure(where, "its elements are in segments, which tilec does not join");
  }
  const count = countOf(tensor.dims);
  const type: TensorType = { dtype, shape: tensor.dims };
  if (!Number.isSafeInteger(count)) throw failure(where, `${formatType(type)} has more than 2^53 elements`);
  return elements(tensor, type, count, where);
}

/** Exact: a zero makes it zero, however large the other extents are. */
const countOf = (dims: readonly number[]): number =>
  dims.includes(0) ? 0 : dims.reduce((product, extent) => product * extent, 1);

function elements(tensor: OnnxTensor, type: TensorType, count: number, where: string): TensorValue {
  const found = survey(tensor, fieldOf(type.dtype), where);
  const shown = formatType(type);
  if (found.raw !== undefined && found.raw.byteLength > 0) {
    if (found.count > 0) throw failure(where, "it has both raw_data and typed elements");
    if (type.dtype === "string") throw failure(where, "strings cannot be in raw_data");
    const bytes = bytesFor(count, type.dtype);
    if (found.raw.byteLength !== bytes) {
      throw failure(where, `${shown} takes ${bytes} bytes; raw_data holds ${found.raw.byteLength}`);
    }
    // A copy: the tensor must neither keep the file in memory nor start at an odd address.
    return { type, bytes: new Uint8Array(found.raw) };
  }
  const parts = type.dtype === "c64" || type.dtype === "c128" ? 2 : 1;
  if (found.count !== count * parts) {
    const name = elementFields.get(fieldOf(type.dtype)) ?? "";
    throw failure(where, `${shown} takes ${count * parts} numbers; ${name} holds ${found.count}`);
  }
  if (type.dtype === "string" && count > maxStrings) {
    throw failure(where, `${shown} is ${count} strings; tilec reads ${maxStrings} at most`);
  }
  return typed(tensor, type, count, where);
}

/** Where the elements are, and how many the typed field `field` holds. */
function survey(
  tensor: OnnxTensor,
  field: number,
  where: string,
): { readonly raw?: Uint8Array; readonly count: number } {
  const message = new Message(new Source(where), "TensorProto", tensor.message);
  let raw: Uint8Array | undefined;
  let count = 0;
  while (message.next()) {
    const name = elementFields.get(message.field);
    if (message.field === rawData) raw = message.payload();
    else if (name === undefined) message.skip();
    else {
      const held = countField(message);
      if (held > 0 && message.field !== field) {
        const right = elementFields.get(field) ?? "";
        throw failure(where, `its elements are in ${name}; those of its type go in ${right} or raw_data`);
      }
      count += held;
    }
  }
  return raw === undefined ? { count } : { raw, count };
}

function countField(message: Message): number {
  switch (message.field) {
    case 4:
      return message.fixed(4).byteLength / 4;
    case 10:
      return message.fixed(8).byteLength / 8;
    case stringData:
      message.skip();
      return 1;
    default:
      return message.countInts();
  }
}

/** The elements of the typed field, which `survey` has counted. */
function typed(tensor: OnnxTensor, type: TensorType, count: number, where: string): TensorValue {
  const { dtype } = type;
  const message = new Message(new Source(where), "TensorProto", tensor.message);
  const field = fieldOf(dtype);
  const strings: string[] = [];
  const bytes = allocate(dtype === "string" ? 0 : bytesFor(count, dtype), where);
  const view = new DataView(bytes.buffer);
  let place = 0;
  let k = 0;
  while (message.next()) {
    if (message.field !== field) {
      message.skip();
    } else if (dtype === "string") {
      strings.push(decoded(message.payload(), strings.length, where));
    } else if (field === 4 || field === 10) {
      const part = message.fixed(field === 4 ? 4 : 8);
      bytes.set(part, place);
      place += part.byteLength;
    } else {
      message.ints((value) => {
        writeInt(view, dtype, k, value, where);
        k++;
      });
    }
  }
  return dtype === "string" ? { type, bytes, strings } : { type, bytes };
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Strict, as a string that is changed on the way is a wrong answer. */
function decoded(bytes: Uint8Array, k: number, where: string): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw failure(where, `string ${k} is not UTF-8`);
  }
}

type IntDType = Exclude<DType, "f32" | "f64" | "c64" | "c128" | "string">;

/** An element of int32_data, int64_data or uint64_data; one that its type cannot hold is an error, not a wrap. */
function writeInt(view: DataView, dtype: DType, k: number, value: bigint, where: string): void {
  const within = (low: number, high: number): number => {
    const number = Number(BigInt.asIntN(32, value));
    if (number < low || number > high) {
      throw failure(where, `element ${k} is ${number}, which no ${dtype} holds`);
    }
    return number;
  };
  switch (dtype as IntDType) {
    case "bool":
      view.setUint8(k, within(0, 1));
      return;
    case "i8":
      view.setInt8(k, within(-0x80, 0x7f));
      return;
    case "u8":
      view.setUint8(k, within(0, 0xff));
      return;
    case "i16":
      view.setInt16(2 * k, within(-0x8000, 0x7fff), true);
      return;
    case "u16":
    case "f16":
    case "bf16":
      view.setUint16(2 * k, within(0, 0xffff), true);
      return;
    case "i32":
      view.setInt32(4 * k, within(-0x80000000, 0x7fffffff), true);
      return;
    case "u32":
      if (BigInt.asUintN(64, value) > 0xffffffffn) {
        throw failure(
          where,
          `element ${k} is ${BigInt.asUintN(64, value).toString()}, which no ${dtype} holds`,
        );
      }
      view.setUint32(4 * k, Number(value), true);
      return;
    case "i64":
    case "u64":
      view.setBigInt64(8 * k, value, true);
      return;
  }
}
