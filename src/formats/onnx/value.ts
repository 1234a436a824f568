/** Facts about a value in a graph that are known before the graph runs. */
import { defined, bytesFor, CompileError, elementCount, type DType } from "../../../ir/index.js";
import { fromHost } from "../../../backends/index.js";
import type { TensorValue } from "../tensor.js";
import { isReal } from "../nonzero.js";
import { writeNumber } from "../numbers.js";
import { dataType, dtypeOf } from "./data-type.js";
import type { Dim } from "./model.js";

/** Known facts of a value in a graph before execution: its data type, dims and elements. */
export interface TrackedValue {
  /** TensorProto.DataType. */
  readonly dataType?: number;
  /** Absent: not even the rank is known. */
  readonly dims?: readonly Dim[];
  /**
   * The elements of a small tensor of i32, i64 or bool, row-major, undefined where one is not known: a shape,
   * or a condition on it, on its way through a model.
   */
  readonly elements?: readonly (bigint | undefined)[];
  /** Positions that inference found in a constant: `elements` follows small tensors alone. */
  readonly positions?: Positions;
  /** The whole tensor, of a constant. Throws a CompileError when it cannot be read. */
  readonly constant?: () => TensorValue;
  /** Reason why nothing is known: the value is not a tensor, or is one that tilec does not read. */
  readonly problem?: string;
}

/** Constant tensor of i64 that NonZero and views derive from a constant. */
export interface Positions {
  readonly tensor: TensorValue;
  /**
   * Number of times that views have copied the tensor. Each copy takes time and memory, and a model may have
   * any number of views.
   */
  readonly copies: number;
}

/** Largest number of elements that shape inference tracks in a tensor; also the largest rank. */
export const maxFollowed = 64;

/** True if all dims have numeric extents. */
export const isStatic = (dims: readonly Dim[]): dims is readonly number[] =>
  dims.every((dim) => typeof dim === "number");

/**
 * Returns the elements of a small i32, i64 or bool value. Undefined if they are not known or the value has
 * another type.
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
 * Returns the numbers of a small value; undefined unless all its elements are known and the host has a number
 * type for them.
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
 * Returns the tensor of a constant value, or of a value whose elements are all known. Undefined if there is
 * none or it cannot be read.
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
 * Returns the tensor of a value whose elements are all known, as computed by inference; undefined otherwise.
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
 * Returns what a model declares of a value, completed by what follows from its nodes. A constant is returned
 * as it is, whatever is declared.
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
 * Returns the declared dims with symbols replaced by the inferred ones where these are known. If the ranks
 * differ or one of them is undefined, the declared dims are returned, or else the inferred ones.
 */
function mergedDims(
  declared: readonly Dim[] | undefined,
  inferred: readonly Dim[] | undefined,
): readonly Dim[] | undefined {
  if (declared === undefined || inferred?.length !== declared.length) return declared ?? inferred;
  return declared.map((dim, k) => (typeof dim === "number" ? dim : orElse(inferred[k], dim)));
}

const orElse = (dim: Dim | undefined, otherwise: Dim): Dim => (typeof dim === "number" ? dim : otherwise);

/** True if no tensor can be both what a model declares and what its nodes make. */
export function contradict(declared: TrackedValue, inferred: TrackedValue): boolean {
  const types = [declared.dataType, inferred.dataType];
  if (!types.includes(undefined) && types[0] !== types[1]) return true;
  const [left, other] = [declared.dims, inferred.dims];
  if (left === undefined || other === undefined) return false;
  const differ = (dim: Dim, k: number): boolean =>
    typeof dim === "number" && typeof other[k] === "number" && dim !== other[k];
  return left.length !== other.length || left.some(differ);
}

/** Returns what holds of both values: the output of an If. */
export function common(a: TrackedValue | undefined, b: TrackedValue | undefined): TrackedValue {
  if (a === undefined || b === undefined) return {};
  const type = a.dataType === b.dataType ? a.dataType : undefined;
  const dims =
    a.dims === undefined || a.dims.length !== b.dims?.length
      ? undefined
      : a.dims.map((dim, k) => (dim === b.dims?.[k] ? dim : ""));
  return { ...defined({ dataType: type, dims }) };
}

/** Formats dims: `[batch, 3, ?]`. */
export const showDims = (dims: readonly Dim[]): string =>
  `[${dims.map((dim) => (typeof dim === "number" ? String(dim) : dim === "" ? "?" : dim.slice(0, 40))).join(", ")}]`;
