/**
 * Random inputs from a seed: any bits for the data, indices in range. The same seed gives the same tensors.
 */
import { gatherOver, readData } from "../../ir/access.js";
import {
  at,
  bitsOf,
  byteCount,
  bytesOf,
  CompileError,
  elementCount,
  elementTypes,
  error,
  formatType,
  inputsOf,
  keyOf,
  mapOverTensors,
  taskOfTile,
  byteAligned,
  type DType,
  type Operand,
  type TensorType,
  type TileFunc,
} from "../../ir/index.js";
import { allocateArray, indexInputs, maxStrings, type HostValue } from "../../backends/index.js";
import { checkArrayBytes } from "../../backends/memory.js";
import type { DefinedMap } from "../../backends/reference/defined-map.js";
import type { Kernel } from "../api/compile.js";
import { asHost, type TensorValue } from "../formats/tensor.js";
import { indexLimits, indexRanges, type IndexRange } from "./index-ranges.js";

/**
 * Returns a random tensor for a kernel's operand, determined by `seed`. Index values are in range; elements
 * of other operands may have any bits. Throws a CompileError (TC502) if the tensor exceeds memory.
 */
export const randomValue = (operand: Operand, tile: TileFunc, seed: number): TensorValue =>
  indexInputs(tile).some((input) => keyOf(input) === keyOf(operand))
    ? randomIndices(operand.type, tile, seed, tableOf(tile, operand))
    : randomData(operand.type, seed);

/** Returns the number of an operand in the map, by its key: the source's operand has other shapes. */
const tableOf = (tile: TileFunc, operand: Operand): number =>
  inputsOf(tile).findIndex((input) => keyOf(input) === keyOf(operand));

/**
 * Throws a CompileError (TC502) for the first operand that does not fit in one array. String operands are not
 * checked.
 */
export function checkSizes(operands: readonly Operand[]): void {
  for (const { type, ...operand } of operands) {
    if (type.dtype === "string") continue;
    const hint = "run the program on smaller sizes, or on parts of its tensors";
    checkArrayBytes(byteCount(type), `${keyOf(operand)}, ${formatType(type)},`, hint);
  }
}

/**
 * Returns a random tensor for every input of a kernel, by key, determined by `seed`. Index values are in
 * range. Throws a CompileError (TC502) if a tensor exceeds memory.
 */
export function randomInputs({ source, tile }: Kernel, seed: number): Readonly<Record<string, HostValue>> {
  checkSizes(inputsOf(source ?? tile));
  return Object.fromEntries(
    inputsOf(source ?? tile).map((operand) => {
      const key = keyOf(operand);
      return [key, asHost(key, randomValue(operand, tile, seed))];
    }),
  );
}

/**
 * Returns a tensor of random bits, determined by `seed`. Throws a CompileError (TC502) if the tensor exceeds
 * memory.
 */
export function randomData(type: TensorType, seed: number): TensorValue {
  const draw = words(seed);
  if (type.dtype === "string") {
    const length = elementCount(type.shape);
    if (length > maxStrings) {
      const message = `the data is ${length} strings; one array holds at most ${maxStrings}`;
      throw new CompileError([error("TC502", message, { hint: "split the data" })]);
    }
    const pool = Array.from({ length: 1000 }, (_, k) => `s${k}`);
    const strings = Array.from({ length }, () => at(pool, (draw() >>> 0) % pool.length));
    return { type, bytes: new Uint8Array(), strings };
  }
  const bytes = zeroBytes(type);
  const mask = elementTypes[type.dtype].class === "bool" ? 0x01010101 : 0xffffffff;
  const list = new Uint32Array(bytes.buffer);
  for (let k = 0; k < list.length; k++) list[k] = draw() & mask;
  return { type, bytes: bytes.subarray(0, byteCount(type)) };
}

/**
 * Returns a tensor of special float values: NaNs, infinities, zeros, subnormals and the largest finite
 * values. `seed`, an integer, selects the special value of the first element. Returns undefined if the type
 * is not a float of 16, 32 or 64 bits.
 */
export function endsOfType(type: TensorType, seed: number): TensorValue | undefined {
  const bits = bitsOf(type.dtype);
  const fraction = { f16: 10, bf16: 7, f32: 23, f64: 52 }[type.dtype as string];
  if (fraction === undefined) return undefined;
  const sign = 1n << BigInt(bits - 1);
  const infinity = sign - (1n << BigInt(fraction));
  const quiet = 1n << BigInt(fraction - 1);
  const magnitudes = [infinity | 1n, infinity | quiet | 3n, infinity, 0n, 1n, quiet, infinity - 1n];
  const values = magnitudes.flatMap((magnitude) => [magnitude, magnitude | sign]);
  const bytes = zeroBytes(type);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < elementCount(type.shape); k++) {
    const value = at(values, (k + Math.floor(k / values.length) + seed) % values.length);
    for (let byte = 0; byte < bits / 8; byte++)
      view.setUint8(k * (bits / 8) + byte, Number((value >> BigInt(8 * byte)) & 0xffn));
  }
  return { type, bytes: bytes.subarray(0, byteCount(type)) };
}

/**
 * Returns random index values for input number `table` (0-based) of a kernel, determined by `seed`. The
 * values are in range for every index operand that reads the input. Throws a CompileError (TC502) if the
 * tensor exceeds memory.
 */
export const randomIndices = (type: TensorType, func: TileFunc, seed: number, table = 1): TensorValue =>
  drawnIndices(type, indexProgram(func), { seed, table });

/** Options of {@link drawnIndices}, which returns a tensor of index values for one input. */
export interface IndexDraw {
  readonly seed: number;
  /** Position of the input among the program's inputs, from 0. */
  readonly table: number;
  /**
   * Returns the index value of the element at the row-major `position`, chosen from `range`, the values that
   * are valid for the element. `random` returns a random number from 0 to below 1. Default: a random value of
   * `range`.
   */
  readonly choose?: (range: IndexRange, position: number, random: () => number) => number;
}

/**
 * Returns a tensor of index values for one input. `choose` selects the value of each element from the values
 * that are valid for the element; by default at random. Throws a CompileError (TC502) if the tensor exceeds
 * memory.
 */
export function drawnIndices(
  type: TensorType,
  program: DefinedMap,
  { seed, table, choose = anyOf }: IndexDraw,
): TensorValue {
  const { dtype, shape } = type;
  const bytes = allocateArray(byteCount(type), formatType(type));
  const rangeAt = indexRanges(program, table);
  const random = fractions(Math.imul(seed, 0x9e3779b1) + table);
  const put = indexWriter(bytes, dtype);
  for (let k = 0; k < elementCount(shape); k++) put(k, choose(rangeAt(k), k, random));
  return { type, bytes };
}

const anyOf = ({ least, max }: IndexRange, _: number, random: () => number): number =>
  least + Math.floor(random() * (max - least + 1));

/**
 * Returns a function that writes a whole number as an index value at an element position of `bytes`. The
 * number is clamped to the range of `dtype`.
 */
export function indexWriter(bytes: Uint8Array, dtype: DType): (position: number, value: number) => void {
  const [lowest, highest] = indexLimits(dtype);
  const size = bytesOf(byteAligned(dtype));
  const { buffer } = bytes;
  const units =
    size === 1 ? new Uint8Array(buffer) : size === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
  const step = Math.max(1, size / 4);
  return (position, value) => {
    const clamped = Math.min(highest, Math.max(lowest, value));
    units[position * step] = clamped;
    if (size === 8) units[position * step + 1] = Math.floor(clamped / 2 ** 32);
  };
}

/**
 * Access map and operands of a program, from which tests draw valid index values. If the access map differs
 * between tiles, `tile` is present and `map` is the access map of one tile.
 */
export interface IndexProgram extends DefinedMap {
  readonly tile?: TileFunc;
}

/**
 * Returns the access map and the operands of a tile program, from which index values for tests are drawn. If
 * the output is empty, the map has no index operands.
 */
export function indexProgram(tile: TileFunc): IndexProgram {
  const task = taskOfTile(tile);
  const { operands } = tile;
  const map = mapOverTensors(tile, task);
  if (map !== undefined) return { map, operands };
  const none = gatherOver([], operands.length - 1, { indices: [], ...readData([]) });
  return { map: task.gather?.stmt.map ?? none, operands, tile };
}

/**
 * Returns a function that returns the next pseudo-random number in [0, 1) at each call. `seed` determines the
 * sequence.
 */
export function fractions(seed: number): () => number {
  const draw = words(seed);
  return () => (draw() >>> 0) / 2 ** 32;
}

/** Returns whole words: room for the type, and up to three bytes more. */
const zeroBytes = (type: TensorType): Uint8Array =>
  allocateArray(4 * Math.ceil(byteCount(type) / 4), formatType(type));

/**
 * Returns a function that returns the next 32 pseudo-random bits at each call, as a signed number. `seed`
 * determines the sequence.
 */
function words(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 747796405) + 2891336453) | 0;
    const mixed = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737);
    return (mixed >>> 22) ^ mixed;
  };
}
