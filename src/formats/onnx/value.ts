/** What is known of a value in a graph, before anything runs. */
import { CompileError, elementCount } from "../../../ir/index.js";
import type { TensorValue } from "../tensor.js";
import { dataType } from "./data-type.js";
import type { Dim } from "./model.js";

export interface TrackedValue {
  /** TensorProto.DataType. */
  readonly dataType?: number;
  /** Absent: not even the rank is known. */
  readonly dims?: readonly Dim[];
  /**
   * The elements of a small tensor of i32, i64 or bool, row-major, undefined where one is not known: a shape, or a
   * condition on it, on its way through a model.
   */
  readonly elements?: readonly (bigint | undefined)[];
  /** The whole tensor, of a constant. Throws a CompileError when it cannot be read. */
  readonly constant?: () => TensorValue;
  /** Why nothing is known: the value is no tensor, or one that tilec does not read. */
  readonly problem?: string;
}

/** Elements are followed in tensors up to this size: a shape has no more. */
export const maxFollowed = 64;

export const isStatic = (dims: readonly Dim[]): dims is readonly number[] =>
  dims.every((dim) => typeof dim === "number");

/** The elements of a small value of i32, i64 or bool, if it is one. */
export function knownElements(value: TrackedValue | undefined): readonly (bigint | undefined)[] | undefined {
  if (value?.elements !== undefined) return value.elements;
  if (value?.constant === undefined || value.dims === undefined || !isStatic(value.dims)) return undefined;
  const { dataType: type } = value;
  if (type !== dataType.i32 && type !== dataType.i64 && type !== dataType.bool) return undefined;
  if (elementCount(value.dims) > maxFollowed) return undefined;
  try {
    return integers(value.constant());
  } catch (thrown) {
    // Whatever needs the tensor itself reports what is wrong with it.
    if (thrown instanceof CompileError) return undefined;
    throw thrown;
  }
}

/** The elements of a tensor of i32, i64 or bool. */
function integers(tensor: TensorValue): bigint[] {
  const { bytes, type } = tensor;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = (k: number): bigint => {
    if (type.dtype === "i64") return view.getBigInt64(8 * k, true);
    return BigInt(type.dtype === "bool" ? view.getUint8(k) : view.getInt32(4 * k, true));
  };
  return Array.from({ length: elementCount(type.shape) }, (_, k) => read(k));
}

/** A tensor of elements that are all known: a constant that inference computed. */
export function tensorValue(value: TrackedValue): TensorValue | undefined {
  const { elements, dims } = value;
  if (elements === undefined || dims === undefined || !isStatic(dims)) return undefined;
  const wide = value.dataType === dataType.i64;
  if (!wide && value.dataType !== dataType.i32) return undefined;
  const bytes = new Uint8Array(elements.length * (wide ? 8 : 4));
  const view = new DataView(bytes.buffer);
  for (const [k, element] of elements.entries()) {
    if (element === undefined) return undefined;
    if (wide) view.setBigInt64(8 * k, element, true);
    else view.setInt32(4 * k, Number(BigInt.asIntN(32, element)), true);
  }
  return { type: { dtype: wide ? "i64" : "i32", shape: dims }, bytes };
}

/** What a model declares, completed by what follows from its nodes. A constant is what it is, whatever is declared. */
export function merged(declared: TrackedValue | undefined, inferred: TrackedValue): TrackedValue {
  if (declared === undefined || inferred.constant !== undefined || inferred.elements !== undefined)
    return inferred;
  const type = declared.dataType ?? inferred.dataType;
  const dims = mergedDims(declared.dims, inferred.dims);
  return {
    ...inferred,
    ...(type === undefined ? {} : { dataType: type }),
    ...(dims === undefined ? {} : { dims }),
  };
}

function mergedDims(
  declared: readonly Dim[] | undefined,
  inferred: readonly Dim[] | undefined,
): readonly Dim[] | undefined {
  if (declared === undefined || inferred?.length !== declared.length) return declared ?? inferred;
  return declared.map((dim, k) => (typeof dim === "number" ? dim : known(inferred[k], dim)));
}

const known = (dim: Dim | undefined, otherwise: Dim): Dim => (typeof dim === "number" ? dim : otherwise);

/** Whether no tensor is both what a model declares and what its nodes make. */
export function contradict(declared: TrackedValue, inferred: TrackedValue): boolean {
  const types = [declared.dataType, inferred.dataType];
  if (!types.includes(undefined) && types[0] !== types[1]) return true;
  const [own, other] = [declared.dims, inferred.dims];
  if (own === undefined || other === undefined) return false;
  const differ = (dim: Dim, k: number): boolean =>
    typeof dim === "number" && typeof other[k] === "number" && dim !== other[k];
  return own.length !== other.length || own.some(differ);
}

/** What holds of both: the output of an If. */
export function common(a: TrackedValue | undefined, b: TrackedValue | undefined): TrackedValue {
  if (a === undefined || b === undefined) return {};
  const type = a.dataType === b.dataType ? a.dataType : undefined;
  const dims =
    a.dims === undefined || a.dims.length !== b.dims?.length
      ? undefined
      : a.dims.map((dim, k) => (dim === b.dims?.[k] ? dim : ""));
  return { ...(type === undefined ? {} : { dataType: type }), ...(dims === undefined ? {} : { dims }) };
}

/** `[batch, 3, ?]` */
export const showDims = (dims: readonly Dim[]): string =>
  `[${dims.map((dim) => (typeof dim === "number" ? String(dim) : dim === "" ? "?" : dim.slice(0, 40))).join(", ")}]`;
