/**
 * TensorProto to a tensor. Elements are in `raw_data` (9), little-endian, or in the typed field that
 * onnx.proto gives to their type. They are counted before anything is allocated, so dims alone never take
 * memory.
 */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { checkArgument } from "../../../ir/argument.js";
import {
  bitsOf,
  bytesFor,
  bytesOf,
  elementTypes,
  formatType,
  isComplex,
  invariant,
  isFloat,
  isPacked,
  shownAmount,
  type DType,
  type FloatType,
  type IntegerType,
  type OnnxField,
  type PackedType,
  type TensorType,
} from "../../../ir/index.js";
import { allocateArray, maxStrings } from "../../../backends/index.js";
import { integerRange, writeInteger } from "../numbers.js";
import type { TensorValue } from "../tensor.js";
import { describeDataType, dtypeOf } from "./data-type.js";
import { modelError, quoted } from "./fail.js";
import type { OnnxTensor } from "./model.js";
import { readTensorHeader } from "./read-model.js";
import { Message, Source } from "./wire.js";

const rawData = 9;
const elementFields: ReadonlyMap<number, OnnxField> = new Map([
  [4, "float_data"],
  [5, "int32_data"],
  [6, "string_data"],
  [7, "int64_data"],
  [10, "double_data"],
  [11, "uint64_data"],
]);

/** Returns the field for a type's elements that are not in `raw_data`. */
function fieldOf(dtype: DType): OnnxField {
  const { onnx } = elementTypes[dtype];
  invariant(onnx !== undefined, `ONNX has no ${dtype}`);
  return onnx[2];
}

/**
 * Parses a file with one TensorProto, for example `input_0.pb` of a backend test, and returns the name and
 * the value. Throws a CompileError (TC014) if the tensor cannot be read.
 */
export function readTensorFile(
  bytes: Uint8Array,
  file: string,
): { readonly name: string; readonly value: TensorValue } {
  checkArgument("readTensorFile", "bytes", bytes);
  const tensor = readTensorHeader(new Source(file), bytes);
  return { name: tensor.name, value: readTensor(tensor, file) };
}

/**
 * Decodes the elements of a tensor of a model. Throws a CompileError (TC014) if the elements are stored in
 * another file, have an unsupported type, or do not fit the dims.
 */
export function readTensor(tensor: OnnxTensor, file: string): TensorValue {
  checkApiArgument("readTensor", "tensor of a model", tensor);
  if (tensor.problem !== undefined)
    throw modelError(file, `tensor ${quoted(tensor.name)} has ${tensor.problem}`);
  const where = `${file}: tensor ${quoted(tensor.name)}`;
  const dtype = dtypeOf(tensor.dataType);
  if (dtype === undefined) throw modelError(where, `it has ${describeDataType(tensor.dataType)}`);
  switch (tensor.stored) {
    case "here":
      break;
    case "external":
      throw modelError(
        where,
        "its elements are in another file, which tilec does not open",
        "save the model with its data inside: onnx.save_model(model, path, save_as_external_data=False)",
      );
    case "in segments":
      throw modelError(where, "its elements are in segments, which tilec does not join");
  }
  const count = countOf(tensor.dims);
  const type: TensorType = { dtype, shape: tensor.dims };
  if (!Number.isSafeInteger(count))
    throw modelError(where, `${formatType(type)} has more than 2^53 elements`);
  return elements(tensor, type, count, where);
}

/**
 * Returns the number of elements of a shape. The number is exactly 0 if one extent is 0, however large the
 * other extents are.
 */
const countOf = (dims: readonly number[]): number =>
  dims.includes(0) ? 0 : dims.reduce((product, extent) => product * extent, 1);

/**
 * Decodes the elements of a tensor from `raw_data` or from the field for the element type, for example
 * `int32_data`. Throws a CompileError (TC014) if the number of elements does not match `type`, if two fields
 * have elements, or for more than 2^24 strings.
 */
function elements(tensor: OnnxTensor, type: TensorType, count: number, where: string): TensorValue {
  const fields = survey(tensor, fieldOf(type.dtype), where);
  const shown = formatType(type);
  if (fields.raw !== undefined && fields.raw.byteLength > 0) {
    if (fields.count > 0) throw modelError(where, "it has both raw_data and typed elements");
    if (type.dtype === "string") throw modelError(where, "strings cannot be in raw_data");
    const bytes = bytesFor(count, type.dtype);
    if (fields.raw.byteLength !== bytes) {
      throw modelError(
        where,
        `${shown} takes ${shownAmount(bytes)} bytes; raw_data holds ${fields.raw.byteLength}`,
      );
    }
    // A copy: the tensor must neither keep the file in memory nor start at an odd address.
    return { type, bytes: new Uint8Array(fields.raw) };
  }
  // onnx.proto: packed elements lie in `int32_data` as in `raw_data`, a byte an entry.
  const numbers = isPacked(type.dtype)
    ? bytesFor(count, type.dtype)
    : count * (isComplex(type.dtype) ? 2 : 1);
  if (fields.count !== numbers) {
    throw modelError(
      where,
      `${shown} takes ${numbers} numbers; ${fieldOf(type.dtype)} holds ${fields.count}`,
    );
  }
  if (type.dtype === "string" && count > maxStrings) {
    throw modelError(where, `${shown} is ${count} strings; tilec reads ${maxStrings} at most`);
  }
  return typed(tensor, type, count, where);
}

/**
 * Returns the bytes of `raw_data`, if present, and the number of values in the element field `field`, for
 * example `float_data`. Throws a CompileError (TC014) if the values are in another element field.
 */
function survey(
  tensor: OnnxTensor,
  field: OnnxField,
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
      const elements = countField(message, name);
      if (elements > 0 && name !== field) {
        throw modelError(where, `its elements are in ${name}; those of its type go in ${field} or raw_data`);
      }
      count += elements;
    }
  }
  return raw === undefined ? { count } : { raw, count };
}

/**
 * Reads one element field of a tensor, for example `float_data`, and returns the number of values in the
 * field.
 */
function countField(message: Message, field: OnnxField): number {
  switch (field) {
    case "float_data":
      return message.fixed(4).byteLength / 4;
    case "double_data":
      return message.fixed(8).byteLength / 8;
    case "string_data":
      message.skip();
      return 1;
    case "int32_data":
    case "int64_data":
    case "uint64_data":
      return message.countInts();
  }
}

/**
 * Decodes the elements of a tensor from the field for the element type, for example `float_data`. The field
 * must have `count` values.
 */
function typed(tensor: OnnxTensor, type: TensorType, count: number, where: string): TensorValue {
  const { dtype } = type;
  const message = new Message(new Source(where), "TensorProto", tensor.message);
  const field = fieldOf(dtype);
  const strings: string[] = [];
  const bytes = allocateArray(dtype === "string" ? 0 : bytesFor(count, dtype), where);
  const view = new DataView(bytes.buffer);
  let place = 0;
  let k = 0;
  while (message.next()) {
    if (elementFields.get(message.field) !== field) {
      message.skip();
      continue;
    }
    switch (field) {
      case "string_data":
        strings.push(decoded(message.payload(), strings.length, where));
        break;
      case "float_data":
      case "double_data": {
        const chunk = message.fixed(field === "float_data" ? 4 : 8);
        bytes.set(chunk, place);
        place += chunk.byteLength;
        break;
      }
      case "int32_data":
      case "int64_data":
      case "uint64_data":
        message.ints((value) => {
          // onnx.proto gives these fields to no other types.
          writeInt(view, (isPacked(dtype) ? "u8" : dtype) as NumberType, k, storedIn(field, value), where);
          k++;
        });
    }
  }
  return dtype === "string" ? { type, bytes, strings } : { type, bytes };
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes the bytes of string element `k` as UTF-8. Throws an error for bytes that are not valid UTF-8. */
function decoded(bytes: Uint8Array, k: number, where: string): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw modelError(where, `string ${k} is not UTF-8`);
  }
}

/** Returns a value as its field holds it: varints are 64 bits wide. */
function storedIn(field: "int32_data" | "int64_data" | "uint64_data", value: bigint): bigint {
  if (field === "uint64_data") return BigInt.asUintN(64, value);
  return field === "int32_data" ? BigInt.asIntN(32, value) : value;
}

type NumberType = Exclude<IntegerType | FloatType, PackedType>;

/**
 * Writes an integer, or the bits of a float, as element `k` of a tensor. Throws an error for a value outside
 * the range of the type.
 */
function writeInt(view: DataView, dtype: NumberType, k: number, value: bigint, where: string): void {
  const [lowest, highest] = isFloat(dtype) ? [0n, 2n ** BigInt(bitsOf(dtype)) - 1n] : integerRange(dtype);
  if (value < lowest || value > highest) {
    throw modelError(where, `element ${k} is ${value.toString()}, which no ${dtype} holds`);
  }
  const bytes = bytesOf(dtype);
  writeInteger(view, k * bytes, bytes, value);
}
