/** Facts about a value in a graph that are known before the graph runs. */
import { defined, bytesFor, CompileError, elementCount, type DType } from "../../../ir/index.js";
import { fromHost } from "../../../backends/index.js";
import type { TensorValue } from "../tensor.js";
import { isReal } from "../nonzero.js";
import { writeNumber } from "../numbers.js";
import { dataType, dtypeOf } from "./data-type.js";
import type { Dim } from "./model.js";

/**
 * Facts about a value of a graph before execution: data type, dims and elements. The field of an unknown fact
 * is absent.
 */
export interface TrackedValue {
  /** Element type, as an ONNX code (TensorProto.DataType). */
  readonly dataType?: number;
  /** Extents of the dims; absent if not even the rank is known. */
  readonly dims?: readonly Dim[];
  /**
   * Elements of a small i32, i64 or bool tensor in row-major order, for example a shape. An unknown element
   * is undefined.
   */
  readonly elements?: readonly (bigint | undefined)[];
  /** Positions that inference found in a constant: `elements` follows small tensors alone. */
  readonly positions?: Positions;
  /** The whole tensor, of a constant. Throws a CompileError when it cannot be read. */
  readonly constant?: () => TensorValue;
  /** Reason why nothing is known: the value is not a tensor, or is one that tilec does not read. */
  readonly problem?: string;
}

/**
 * Element positions that shape inference computed from a constant, as an i64 tensor, for example the output
 * of NonZero.
 */
export interface Positions {
  readonly tensor: TensorValue;
  /**
   * Number of times that views have copied the tensor. Each copy takes time and memory, and a model may have
   * any number of views.
   */
  readonly copies: number;
}

/**
 * Upper limit of the number of elements that shape inference tracks in a tensor, and of the rank of a tensor.
 */
export const maxFollowed = 64;

/** True if all dims have numeric extents. */
export const isStatic = (dims: readonly Dim[]): dims is readonly number[] =>
  dims.every((dim) => typeof dim === "number");

/**
 * Returns the elements of a small i32, i64 or bool value; an unknown element is undefined. Returns undefined
 * if no elements are known or the value has another type.
 */
export function constantElements(
  value: TrackedValue | undefined,
): readonly (bigint | undefined)[] | undefined {
  if (value?.elements !== undefined) return value.elements;
  const { dataType: type } = value ?? {};
  if (type !== dataType.i32 && type !== dataType.i64 && type !== dataType.bool) return undefined;
  const tensor = smallConstant(value);
  return tensor === undefined ? undefined : integers(tensor);
}

/**
 * Returns the elements of a small value as JavaScript numbers. Returns undefined if an element is unknown, or
 * if the elements are f16, bf16 or not real numbers.
 */
export function constantNumbers(value: TrackedValue | undefined): readonly number[] | undefined {
  const elements = constantElements(value);
  if (elements !== undefined)
    return elements.every((element) => element !== undefined) ? elements.map(Number) : undefined;
  const { type, bytes } = smallConstant(value) ?? {};
  if (type === undefined || bytes === undefined || !isNumber(type.dtype)) return undefined;
  return Array.from(fromHost(type, bytes) as ArrayLike<number | bigint>, Number);
}

/** True if the host's arrays hold the type's numbers themselves. */
const isNumber = (dtype: DType): boolean => isReal(dtype) && dtype !== "f16" && dtype !== "bf16";

/**
 * Returns the tensor of a constant that is small enough to be followed; undefined where it cannot be read.
 */
function smallConstant(value: TrackedValue | undefined): TensorValue | undefined {
  const { dims } = value ?? {};
  if (dims === undefined || !isStatic(dims) || elementCount(dims) > maxFollowed) return undefined;
  return constantOf(value);
}

/**
 * Returns the tensor of a constant, or of a value whose elements are all known. Returns undefined for any
 * other value, and for a constant that cannot be read.
 */
export function constantOf(value: TrackedValue | undefined): TensorValue | undefined {
  try {
    return value?.constant?.() ?? (value === undefined ? undefined : tensorValue(value));
  } catch (thrown) {
    // Whatever needs the tensor itself reports what is wrong with it.
    if (thrown instanceof CompileError) return undefined;
    throw thrown;
  }
}

/** Returns the elements of a tensor of i32, i64 or bool. */
const integers = ({ type, bytes }: TensorValue): bigint[] =>
  Array.from(fromHost(type, bytes) as ArrayLike<number | bigint>, BigInt);

/**
 * Returns the tensor of a value whose elements shape inference has computed. Returns undefined if an element,
 * an extent or the data type is unknown.
 */
export function tensorValue(value: TrackedValue): TensorValue | undefined {
  if (value.positions !== undefined) return value.positions.tensor;
  const { elements, dims } = value;
  const dtype = dtypeOf(value.dataType ?? 0);
  if (elements === undefined || dims === undefined || !isStatic(dims) || dtype === undefined)
    return undefined;
  const bytes = new Uint8Array(bytesFor(elements.length, dtype));
  const view = new DataView(bytes.buffer);
  for (const [k, element] of elements.entries()) {
    if (element === undefined) return undefined;
    writeNumber(view, dtype, k, element);
  }
  return { type: { dtype, shape: dims }, bytes };
}

/**
 * Returns the facts that a model declares about a value, completed by the inferred facts. If the value has
 * inferred elements, returns the inferred facts alone.
 */
export function merged(declared: TrackedValue | undefined, inferred: TrackedValue): TrackedValue {
  const isFixed =
    inferred.constant !== undefined || inferred.elements !== undefined || inferred.positions !== undefined;
  if (declared === undefined || isFixed) return inferred;
  const type = declared.dataType ?? inferred.dataType;
  const dims = mergedDims(declared.dims, inferred.dims);
  return {
    ...inferred,
    ...defined({ dataType: type, dims }),
  };
}

/**
 * Returns the declared dims, with symbolic dims replaced by inferred extents if known; unchanged if the ranks
 * differ. Returns the inferred dims if no dims are declared.
 */
function mergedDims(
  declared: readonly Dim[] | undefined,
  inferred: readonly Dim[] | undefined,
): readonly Dim[] | undefined {
  if (declared === undefined || inferred?.length !== declared.length) return declared ?? inferred;
  return declared.map((dim, k) => (typeof dim === "number" ? dim : orElse(inferred[k], dim)));
}

const orElse = (dim: Dim | undefined, otherwise: Dim): Dim => (typeof dim === "number" ? dim : otherwise);

/** True if the declared data type or dims of a value contradict the inferred data type or dims. */
export function contradict(declared: TrackedValue, inferred: TrackedValue): boolean {
  const types = [declared.dataType, inferred.dataType];
  if (!types.includes(undefined) && types[0] !== types[1]) return true;
  const [left, other] = [declared.dims, inferred.dims];
  if (left === undefined || other === undefined) return false;
  const differ = (dim: Dim, k: number): boolean =>
    typeof dim === "number" && typeof other[k] === "number" && dim !== other[k];
  return left.length !== other.length || left.some(differ);
}

/**
 * Returns the data type and dims that two values have in common, for example the outputs of the two branches
 * of an If. An extent that differs becomes unknown ("").
 */
export function common(a: TrackedValue | undefined, b: TrackedValue | undefined): TrackedValue {
  if (a === undefined || b === undefined) return {};
  const type = a.dataType === b.dataType ? a.dataType : undefined;
  const dims =
    a.dims === undefined || a.dims.length !== b.dims?.length
      ? undefined
      : a.dims.map((dim, k) => (dim === b.dims?.[k] ? dim : ""));
  return { ...defined({ dataType: type, dims }) };
}

/**
 * Formats dims for messages: `[batch, 3, ?]`, where `?` is an unknown extent. Names are cut to 40 characters.
 */
export const showDims = (dims: readonly Dim[]): string =>
  `[${dims.map((dim) => (typeof dim === "number" ? String(dim) : dim === "" ? "?" : dim.slice(0, 40))).join(", ")}]`;
