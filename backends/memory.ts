/** Element memory as machine units, and index values read exactly. Little-endian, row-major, as every host array here. */
import { checkArgument } from "../ir/argument.js";
import { CompileError, error, RunError } from "../ir/diagnostic.js";
import { coordsOf, dataCoords, isRead, type AccessMap } from "../ir/access.js";
import { addressOf } from "../ir/addressing.js";
import { entryOf } from "../ir/entry-of.js";
import { outputOf, keyOf, type Operand, type TileFunc } from "../ir/func.js";
import { iterationWriting } from "../ir/iteration.js";
import { constant, indicesOf, type Env, type Linear } from "../ir/linear.js";
import { outOfRange, type IndexRule } from "../ir/policy.js";
import { joinRuns } from "./plan/join-runs.js";
import { IndexWalk, indexSteps, reductionRange, type IndexStep } from "./index-walk.js";
import {
  at,
  bitsOf,
  bytesOf,
  elementsInByte,
  elementTypes,
  formatShape,
  InternalError,
  invariant,
  isIndexDType,
  isPacked,
  shownAmount,
  strides,
  type DType,
  type IndexDType,
  type PackedType,
  type Shape,
  type TensorType,
} from "../ir/types.js";

/** A tensor's elements as bytes; strings are u32 handles. */
export interface HostTensor {
  readonly type: TensorType;
  readonly bytes: Uint8Array;
  /** Where elements lie that take more bytes than a Uint8Array has; `bytes` is then empty. */
  readonly beyond?: Bytes;
}

/** Bytes of a buffer. */
export type Bytes = Pick<ArrayBufferView, "buffer" | "byteLength" | "byteOffset">;

/** A program's inputs by their keys. */
export type HostInputs = Readonly<Record<string, HostTensor>>;

/** Some engines make longer arrays, and the process dies when they are written. */
export const maxArrayBytes = 2 ** 32;

const tooLong = (bytes: number, what: string, limit: string, hint = "split the tensors"): CompileError =>
  new CompileError([
    error("TC502", `${what} takes ${shownAmount(bytes)} B, more than ${limit}`, {
      hint,
      data: { bytes },
    }),
  ]);

/** Throws a CompileError (TC502) for more bytes than one array holds; `what` names them. */
export function checkArrayBytes(bytes: number, what: string, hint?: string): void {
  if (bytes > maxArrayBytes) throw tooLong(bytes, what, `the ${maxArrayBytes} B of one array`, hint);
}

/** Zeroed bytes. Throws a CompileError (TC502) for more than 4 GiB or than the machine has; `what` names them. */
export function allocateArray(bytes: number, what: string): Uint8Array<ArrayBuffer> {
  checkArrayBytes(bytes, what);
  try {
    return new Uint8Array(bytes);
  } catch (thrown) {
    throw thrown instanceof RangeError ? tooLong(bytes, what, "there is") : thrown;
  }
}

/** Up to so many bytes, one after the other takes less time than a call of the engine's. */
export const fewBytes = 64;

/** Copies bytes between arrays that do not overlap. */
export function copyBytes(
  to: Uint8Array,
  target: number,
  from: Uint8Array,
  source: number,
  length: number,
): void {
  if (length > fewBytes) to.set(from.subarray(source, source + length), target);
  else for (let k = 0; k < length; k++) to[target + k] = from[source + k] ?? 0;
}

export type UnitArray = Uint8Array | Uint16Array | Uint32Array;

/** Bytes that begin at a multiple of `size`, copied where they do not. Not by `slice`, which in a Buffer of Node's copies nothing. */
export const alignedTo = (size: number, bytes: Uint8Array): Uint8Array =>
  bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);

/** The largest unit that moves an element of this type whole: 1, 2 or 4 bytes, so `per` units an element. Of packed elements, the bytes that they share. */
export function unitsOf(
  bytes: Uint8Array,
  dtype: DType,
): { readonly units: UnitArray; readonly per: number } {
  const size = isPacked(dtype) ? 1 : bytesOf(dtype);
  const unit = size === 1 || size === 2 ? size : 4;
  return { units: unitsAt(alignedTo(unit, bytes), unit), per: size / unit };
}

/** The bits of a packed element, counted from the byte number `first`. */
export function packedBits(bytes: ArrayLike<number>, dtype: PackedType, element: number, first = 0): number {
  const [width, each] = [bitsOf(dtype), elementsInByte(dtype)];
  const byte = at(bytes, first + Math.floor(element / each));
  return (byte >> (width * (element % each))) & (2 ** width - 1);
}

/** Puts the low bits of a whole number into their place in the byte that a packed element shares. */
export function putPackedBits(bytes: Uint8Array, dtype: PackedType, element: number, value: number): void {
  const [width, each] = [bitsOf(dtype), elementsInByte(dtype)];
  const [place, shift] = [Math.floor(element / each), width * (element % each)];
  const mask = 2 ** width - 1;
  bytes[place] = (at(bytes, place) & ~(mask << shift)) | ((value & mask) << shift);
}

/** Copies `length` packed elements, of which the first lies `beyond` elements behind the begin of `from`, to the begin of `to`. */
export function shiftPacked(
  to: Uint8Array,
  from: Uint8Array,
  dtype: PackedType,
  { beyond, length }: { readonly beyond: number; readonly length: number },
): void {
  for (let k = 0; k < length; k++) putPackedBits(to, dtype, k, packedBits(from, dtype, beyond + k));
}

/** Whole units in place. The bytes begin at a multiple of one. */
export function unitsAt(bytes: Bytes, unit: 1 | 2 | 4): UnitArray;
export function unitsAt(bytes: Bytes, unit: 1 | 2 | 4 | 8): UnitArray | BigUint64Array;
export function unitsAt(
  { buffer, byteLength, byteOffset }: Bytes,
  unit: 1 | 2 | 4 | 8,
): UnitArray | BigUint64Array {
  const length = Math.floor(byteLength / unit);
  switch (unit) {
    case 1:
      return new Uint8Array(buffer, byteOffset, length);
    case 2:
      return new Uint16Array(buffer, byteOffset, length);
    case 4:
      return new Uint32Array(buffer, byteOffset, length);
    case 8:
      return new BigUint64Array(buffer, byteOffset, length);
  }
}

/** Reads index values. A number is exact up to 2^53 and out of every extent beyond; `exact` is always exact. */
export interface IndexReader {
  (position: number): number;
  /** The value of any 64-bit index. */
  readonly exact: (position: number) => bigint;
}

export function indexReader(bytes: Uint8Array, dtype: DType): IndexReader {
  checkArgument("indexReader", "bytes", bytes);
  checkArgument("indexReader", "dtype", dtype);
  const list = indexList(bytes, dtype);
  if (!(list instanceof BigInt64Array || list instanceof BigUint64Array)) {
    const read = (p: number): number => list[p] ?? beyond(p);
    return Object.assign(read, { exact: (p: number) => BigInt(read(p)) });
  }
  const { buffer, byteOffset, length } = list;
  const low = new Uint32Array(buffer, byteOffset, 2 * length);
  const high = dtype === "i64" ? new Int32Array(buffer, byteOffset, 2 * length) : low;
  const read = (p: number): number => (high[2 * p + 1] ?? beyond(p)) * 2 ** 32 + (low[2 * p] ?? beyond(p));
  return Object.assign(read, { exact: (p: number) => at(list, p) });
}

function beyond(position: number): never {
  throw new InternalError(`index value ${position} lies outside its tensor`);
}

/** The values of an index tensor. */
type IndexList = InstanceType<(typeof elementTypes)[IndexDType]["array"]>;

/** Whole index values in memory, as an array of their type; copied where they are not aligned. */
export function indexList(bytes: Uint8Array, dtype: DType): IndexList {
  if (!isIndexDType(dtype)) throw new InternalError(`${dtype} is no index type`);
  const size = bytesOf(dtype);
  const { buffer, byteOffset, byteLength } = alignedTo(size, bytes);
  return new elementTypes[dtype].array(buffer as ArrayBuffer, byteOffset, Math.floor(byteLength / size));
}

export interface IndexWords {
  readonly words: Exclude<IndexList, BigInt64Array | BigUint64Array>;
  /** Whether a value is two signed words, the low one first. */
  readonly isWide: boolean;
}

/** Index values as words of 32 bits or less; copied where they are not aligned. */
export function indexWords(bytes: Uint8Array, dtype: DType): IndexWords {
  const isWide = dtype === "i64" || dtype === "u64";
  const words = indexList(bytes, isWide ? "i32" : dtype);
  invariant(
    !(words instanceof BigInt64Array || words instanceof BigUint64Array),
    "words have 32 bits or less",
  );
  return { words, isWide };
}

/** Coordinates of a row-major position. */
export function coordinates(position: number, shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(0);
  let rest = position;
  for (let k = shape.length - 1; k >= 0; k--) {
    const extent = shape[k] ?? 1;
    result[k] = rest % extent;
    rest = Math.floor(rest / extent);
  }
  return result;
}

/** A map with the tensors it relates: what a bad index is looked up in. */
export interface MappedOperands {
  readonly map: AccessMap;
  readonly operands: readonly Operand[];
  /** The tile program that ran, whose map relates coordinates inside its regions. */
  readonly tile?: TileFunc;
}

export interface MappedInputs extends MappedOperands {
  readonly inputs: HostInputs;
}

/** An index value that an output element needs: which input holds it where, and what it may be. */
export interface IndexLocation {
  readonly index: number;
  /** Dim that it picks along: of the data, or of an input that another index operand reads. */
  readonly picks: string;
  /** The data dim that it picks along; -1 where it picks along none. */
  readonly axis: number;
  /** Absent for a sum. */
  readonly read?: {
    readonly table: Operand;
    /** Row-major, in elements of the table. */
    readonly position: number;
  };
  /** Absent under `any`. */
  readonly rule?: IndexRule;
  /** Coordinates of the output element. */
  readonly point: readonly number[];
  /** The value of r for the term that needs it. */
  readonly r?: number;
}

/** A value that stood at an index operand, and of its rule the numbers. */
export interface DescribedIndex {
  readonly at: Omit<IndexLocation, "rule"> & { readonly rule?: Pick<IndexRule, "extent" | "wrapNegativeBy"> };
  readonly value: bigint;
  /** Of a bag with more terms than it may have: where they begin, their number, and the most. */
  readonly segment?: { readonly from: number; readonly elements: number; readonly max: number };
}

/** An index operand with its value. */
export interface ResolvedIndex extends DescribedIndex {
  readonly at: IndexLocation;
  /** Whether its policy rejects the value, which ends the element. */
  readonly rejected: boolean;
}

/**
 * The index operands of one output point in the order in which they are evaluated, up to the one that ends it. Yields
 * each with a read, and takes the value that stands there.
 */
export function* indicesAt(
  { map: stated, operands, tile }: MappedOperands,
  point: readonly number[],
): Generator<NonNullable<IndexLocation["read"]>, readonly ResolvedIndex[], bigint> {
  const iteration = tile === undefined ? undefined : iterationWriting(joinRuns(tile), point);
  const map = iteration?.gather.map ?? stated;
  const [env, dims] = [iteration?.env ?? noLoops, iteration?.dims ?? point];
  const forms = map.indices.map(({ value }) => {
    if (!isRead(value)) return value;
    const { shape } = at(operands, value.table).type;
    const origin = iteration?.gather.origins[value.table - 1] ?? shape.map(() => constant(0));
    return addressOf(value.at, { offsets: origin, strides: strides(shape) });
  });
  const walk = new IndexWalk(indexSteps(map, forms, operands));
  const resolved: ResolvedIndex[] = [];
  /** Up to the first that ends the element, or its term at `r`: what that one came to. */
  function* taken(
    steps: readonly IndexStep[],
    r?: number,
  ): Generator<NonNullable<IndexLocation["read"]>, number, bigint> {
    const here = r === undefined ? dims : [...dims, r];
    for (const step of steps) {
      if (walk.lacks(step)) continue;
      const read =
        step.table === undefined
          ? undefined
          : { table: at(operands, step.table), position: walk.position(step, here, env) };
      const value = read === undefined ? walk.sum(step, here, env) : yield read;
      const element = walk.take(step, Number(value), { exact: () => value }, 0);
      const { rule, index, ends } = step;
      const from = ends === undefined ? 0 : at(walk.indices, ends.from);
      const elements = at(walk.indices, index) - from;
      resolved.push({
        at: {
          index,
          ...pickedBy(map, operands, index),
          ...(read === undefined ? {} : { read }),
          ...(rule === undefined ? {} : { rule }),
          point,
          ...(r === undefined ? {} : { r }),
        },
        value,
        rejected: element === outOfRange,
        ...(ends !== undefined && elements > ends.max ? { segment: { from, elements, max: ends.max } } : {}),
      });
      if (walk.endsAt(step, element)) return element;
    }
    return 0;
  }
  walk.begin();
  if ((yield* taken(walk.outerSteps)) < 0 || walk.ended < 0) return resolved;
  const [first, end] = reductionRange(map, walk.indices);
  for (let r = first; r < end; r++) if ((yield* taken(walk.reductionSteps, r)) === outOfRange) break;
  return resolved;
}

/** The dim along which an index operand picks: of the data, else of the first input that is read by it. */
export function pickedBy(
  map: AccessMap,
  operands: readonly Operand[],
  index: number,
): Pick<IndexLocation, "axis" | "picks"> {
  const { segment } = map.reduced ?? {};
  if (segment?.from === index) return { axis: -1, picks: "where a bag begins" };
  if (segment?.to === index) return { axis: -1, picks: "where a bag ends" };
  const along = (coords: readonly Linear[]): number =>
    coords.findIndex((coord) => indicesOf(coord).includes(index));
  const axis = along(dataCoords(map));
  if (axis !== -1) return { axis, picks: `data dim ${axis}` };
  for (const { value } of map.indices) {
    if (!isRead(value)) continue;
    const dim = along(value.at);
    if (dim !== -1) return { axis, picks: `dim ${dim} of ${keyOf(at(operands, value.table))}` };
  }
  // Of a bag, what nothing is read by says where the first one begins.
  const isUsed = map.indices.some((other) => coordsOf(other).some((form) => indicesOf(form).includes(index)));
  return { axis, picks: segment !== undefined && !isUsed ? "where the first bag begins" : "a sum" };
}

const noLoops: Env = new Map();

/**
 * The host's tensor of an operand, as elements of the type that the program reads: bytes of bool may be
 * numbers there.
 */
export function inputTensor(inputs: HostInputs, operand: Operand): HostTensor {
  checkArgument("inputTensor", "object", inputs);
  checkArgument("inputTensor", "operand", operand);
  const given = entryOf(inputs, keyOf(operand));
  if (given === undefined) throw new InternalError(`input ${keyOf(operand)} is missing`);
  const { type } = operand;
  return given.type.dtype === type.dtype ? given : { ...given, type };
}

/**
 * The run failed: an index out of range, found at the lexicographically first output element (its row-major number). Every
 * backend reports the same one in the same words: the first index operand of that element that is out of range.
 */
export function indexOutOfRange(mapped: MappedInputs, outputElement: number): RunError {
  checkArgument("indexOutOfRange", "program", mapped);
  return badIndexAt(mapped, pointOf(mapped, outputElement));
}

/** Returns the error of the first index operand of an output point that is out of range. */
export function badIndexAt(mapped: MappedInputs, point: readonly number[]): RunError {
  const bad = resolvedIndices(mapped, [...point]).find(({ rejected }) => rejected);
  if (bad === undefined)
    throw new InternalError(`output point ${formatShape(point)} was reported, and its indices are in range`);
  return badIndex(bad);
}

/** Returns the coordinates of an output element by its row-major number. */
export const pointOf = ({ operands }: Pick<MappedOperands, "operands">, outputElement: number): number[] =>
  coordinates(outputElement, outputOf({ operands }).type.shape);

/** The index operands of one output point with their values on the host. */
export function resolvedIndices(mapped: MappedInputs, point: readonly number[]): readonly ResolvedIndex[] {
  const walk = indicesAt(mapped, point);
  let step = walk.next();
  while (step.done !== true) {
    const { table, position } = step.value;
    step = walk.next(indexReader(inputTensor(mapped.inputs, table).bytes, table.type.dtype).exact(position));
  }
  return step.value;
}

/** Returns TC607: two points of a scatter write one element, which `duplicates` does not allow. */
export function duplicateWrite(
  { operands }: Pick<MappedOperands, "operands">,
  point: readonly number[],
  earlier: readonly number[],
  element: number,
): RunError {
  const output = outputOf({ operands });
  const coords = coordinates(element, output.type.shape);
  const message =
    `points ${formatShape(earlier)} and ${formatShape(point)} both write ` +
    `${keyOf(output)}${formatShape(coords)}`;
  const hint = "mend the indices, or let the later point win: duplicates = last";
  const data = { point: [...point], earlier: [...earlier], element, coordinates: coords };
  return new RunError([error("TC607", message, { hint, data })]);
}

/** TC601 for the value that stood at an index operand. */
export function badIndex(index: ResolvedIndex): RunError {
  const { segment } = index;
  const hint =
    segment === undefined
      ? "mend the index, or choose what it means with --oob clamp, zero or wrap"
      : `mend the offsets, or state most ${segment.elements}`;
  const { message, data } = describeBadIndex(index);
  return new RunError([error("TC601", message, { hint, data })]);
}

/** Fault of the value that stood at an index operand, in words and numbers. */
export function describeBadIndex({
  at: { read, rule, axis, picks, point, index, r },
  value,
  segment,
}: DescribedIndex) {
  const where = read === undefined ? [] : coordinates(read.position, read.table.type.shape);
  const shown = read === undefined ? "" : ` at ${keyOf(read.table)}${formatShape(where)}`;
  const extent = rule?.extent ?? 0;
  const lowest = rule?.wrapNegativeBy === undefined ? 0 : -rule.wrapNegativeBy;
  const range = extent === 0 ? "which has no elements" : `which takes [${lowest}, ${extent - 1}]`;
  const elementNote = r === undefined ? "" : ` of the term at r = ${r}`;
  const message =
    segment === undefined
      ? `index ${value}${shown}${elementNote} is out of range for ${picks}, ${range}`
      : `the bag from ${segment.from} to ${segment.from + segment.elements}${shown} has ${segment.elements} terms, more than its most, ${segment.max}`;
  return {
    message,
    data: {
      ...(read === undefined ? {} : { table: keyOf(read.table), position: read.position }),
      value: value.toString(),
      axis,
      extent: extent,
      coordinates: where,
      point,
      site: index,
      ...(r === undefined ? {} : { r }),
    },
  };
}
