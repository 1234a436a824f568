/** Random inputs from a seed: any bits for the data, indices in range. The same seed gives the same tensors. */
import {
  isRead,
  at,
  bitsOf,
  byteCount,
  CompileError,
  bytesOf,
  elementCount,
  elementTypes,
  error,
  formatType,
  inputOf,
  inputsOf,
  isConstant,
  isSigned,
  keyOf,
  strides,
  taskOfTile,
  type Operand,
  type TensorType,
  type TileFunc,
} from "../../ir/index.js";
import { allocate, indexInputs, maxStrings, type HostValue } from "../../backends/index.js";
import type { Kernel } from "../api/compile.js";
import { asHost, type TensorValue } from "../formats/tensor.js";

/** What an operand of a kernel is given from a seed: any bits for the data, in range what index values are read from. Throws a CompileError (TC502) for more than memory holds. */
export const randomValue = (operand: Operand, tile: TileFunc, seed: number): TensorValue =>
  indexInputs(tile).some((own) => keyOf(own) === keyOf(operand))
    ? randomIndices(operand.type, tile, seed, tableOf(tile, operand))
    : randomData(operand.type, seed);

/** The number of an operand in the map, by its key: the source's operand has other shapes. */
const tableOf = (tile: TileFunc, operand: Operand): number =>
  inputsOf(tile).findIndex((own) => keyOf(own) === keyOf(operand));

/** Every input of a kernel from a seed, by its key. */
export function randomInputs({ source, tile }: Kernel, seed: number): Readonly<Record<string, HostValue>> {
  return Object.fromEntries(
    inputsOf(source ?? tile).map((operand) => {
      const key = keyOf(operand);
      return [key, asHost(key, randomValue(operand, tile, seed))];
    }),
  );
}

/** Throws a CompileError (TC502) for more than memory holds. */
export function randomData(type: TensorType, seed: number): TensorValue {
  const draw = words(seed);
  if (type.dtype === "string") {
    const length = elementCount(type.shape);
    if (length > maxStrings) {
      const message = `the data is ${length} strings; ${maxStrings} are the most of one array`;
      throw new CompileError([error("TC502", message, { hint: "split the data" })]);
    }
    const pool = Array.from({ length: 1000 }, (_, k) => `s${k}`);
    const strings = Array.from({ length }, () => at(pool, (draw() >>> 0) % pool.length));
    return { type, bytes: new Uint8Array(), strings };
  }
  const bytes = room(type);
  const mask = elementTypes[type.dtype].class === "bool" ? 0x01010101 : 0xffffffff;
  const list = new Uint32Array(bytes.buffer);
  for (let k = 0; k < list.length; k++) list[k] = draw() & mask;
  return { type, bytes: bytes.subarray(0, byteCount(type)) };
}

/** In range along the data dims that each index names: `type` has the elements of the function's indices. Throws a CompileError (TC502) for more than memory holds. */
export function randomIndices(type: TensorType, func: TileFunc, seed: number, table = 1): TensorValue {
  const { dtype, shape } = type;
  const extentAt = extentsOf(func, table);
  const draw = words(seed + table);
  const size = bytesOf(dtype);
  const bits = bitsOf(dtype) - (isSigned(dtype) ? 1 : 0);
  const bytes = allocate(byteCount(type), formatType(type));
  // An index below 2^31 leaves the upper half of a 64-bit one zero.
  const units =
    size === 1 ? bytes : size === 2 ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
  const step = Math.max(1, size / 4);
  for (let k = 0; k < elementCount(shape); k++) {
    units[k * step] = Math.floor(((draw() >>> 0) / 2 ** 32) * Math.min(extentAt(k), 2 ** bits));
  }
  return { type, bytes };
}

/** Whole words: room for the type, and up to three bytes more. */
const room = (type: TensorType): Uint8Array => allocate(4 * Math.ceil(byteCount(type) / 4), formatType(type));

/** The extent that the index at a row-major position stays below: the least of the sites that may read it; a part of a sum is 0. */
function extentsOf(func: TileFunc, table: number): (position: number) => number {
  const map = taskOfTile(func).gather?.stmt.map;
  // An empty output asks for no index.
  if (map === undefined) return () => 1;
  const { shape } = inputOf(func, table).type;
  const by = strides(shape);
  const reads = map.sites.flatMap(({ value, below = 1 }) =>
    isRead(value) && value.table === table
      ? [
          {
            below,
            fixed: value.at.flatMap((coord, k) =>
              isConstant(coord) ? [{ stride: at(by, k), extent: at(shape, k), value: coord.at }] : [],
            ),
          },
        ]
      : [],
  );
  return (position) => {
    let least = Infinity;
    for (const { below, fixed } of reads) {
      const named = fixed.every(
        ({ stride, extent, value }) => Math.floor(position / stride) % extent === value,
      );
      if (named) least = Math.min(least, below);
    }
    return least === Infinity ? 1 : least;
  };
}

/**
 * 32 random bits a call as a signed number, every bit as random as the others: PCG RXS-M-XS 32 (O'Neill 2014, section
 * 6.3.4). Signed, because an engine boxes larger numbers that outlive a call.
 */
function words(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 747796405) + 2891336453) | 0;
    const mixed = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737);
    return (mixed >>> 22) ^ mixed;
  };
}
