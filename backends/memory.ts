/** Element memory as machine units, and index values read exactly. Little-endian, row-major, as every host array here. */
import { error, RunError } from "../ir/diagnostic.js";
import type { AccessMap } from "../ir/access.js";
import { keyOf, type Operand } from "../ir/func.js";
import { evaluate, sitesOf, type Env } from "../ir/linear.js";
import { indexRule, outOfRange, resolveIndex, type IndexRule } from "../ir/policy.js";
import {
  at,
  dtypeBytes,
  formatShape,
  InternalError,
  strides,
  type DType,
  type IndexDType,
  type Shape,
  type TensorType,
} from "../ir/types.js";

/** A tensor's elements as bytes; strings are u32 handles. */
export interface HostTensor {
  readonly type: TensorType;
  readonly bytes: Uint8Array;
}

/** A program's inputs by their keys. */
export type HostInputs = Readonly<Record<string, HostTensor>>;

export type UnitArray = Uint8Array | Uint16Array | Uint32Array;

/** The largest unit that moves an element of this type whole: 1, 2 or 4 bytes, so `per` units an element. */
export function unitsOf(
  bytes: Uint8Array,
  dtype: DType,
): { readonly units: UnitArray; readonly per: number } {
  const size = dtypeBytes[dtype];
  if (size === 1) return { units: bytes, per: 1 };
  const unit = size === 2 ? 2 : 4;
  const aligned = bytes.byteOffset % unit === 0 ? bytes : bytes.slice();
  const length = Math.floor(bytes.byteLength / unit);
  return {
    units:
      unit === 2
        ? new Uint16Array(aligned.buffer, aligned.byteOffset, length)
        : new Uint32Array(aligned.buffer, aligned.byteOffset, length),
    per: size / unit,
  };
}

/** Reads index values. A number is exact up to 2^53 and out of every extent beyond; `exact` is always exact. */
export interface IndexReader {
  (position: number): number;
  readonly exact: (position: number) => bigint;
}

export function indexReader(bytes: Uint8Array, dtype: DType): IndexReader {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset, byteLength } = aligned;
  const words = Math.floor(byteLength / 4);
  const narrow = (list: Int32Array | Uint32Array): IndexReader =>
    Object.assign((p: number) => at(list, p), { exact: (p: number) => BigInt(at(list, p)) });
  const wide = (list: BigInt64Array | BigUint64Array, high: Int32Array | Uint32Array): IndexReader => {
    const low = new Uint32Array(buffer, byteOffset, words);
    const read = (p: number): number => at(high, 2 * p + 1) * 2 ** 32 + at(low, 2 * p);
    return Object.assign(read, { exact: (p: number) => at(list, p) });
  };
  switch (dtype as IndexDType) {
    case "i32":
      return narrow(new Int32Array(buffer, byteOffset, words));
    case "u32":
      return narrow(new Uint32Array(buffer, byteOffset, words));
    case "i64":
      return wide(
        new BigInt64Array(buffer, byteOffset, Math.floor(words / 2)),
        new Int32Array(buffer, byteOffset, words),
      );
    case "u64":
      return wide(
        new BigUint64Array(buffer, byteOffset, Math.floor(words / 2)),
        new Uint32Array(buffer, byteOffset, words),
      );
    default:
      throw new InternalError(`${dtype} is no index type`);
  }
}

/** Coordinates of a row-major position. */
export function coordinates(position: number, shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(0);
  let rest = position;
  for (let k = shape.length - 1; k >= 0; k--) {
    result[k] = rest % at(shape, k);
    rest = Math.floor(rest / at(shape, k));
  }
  return result;
}

/** A map with the tensors it relates: what a bad index is looked up in. */
export interface MappedInputs {
  readonly map: AccessMap;
  readonly operands: readonly Operand[];
  readonly inputs: HostInputs;
}

/** The index value of a site at an output point, and its flat position in its table. */
export function readSite(
  { map, operands, inputs }: MappedInputs,
  number: number,
  dims: readonly number[],
): { readonly position: number; readonly value: number; readonly exact: bigint; readonly rule: IndexRule } {
  const site = at(map.sites, number);
  const operand = at(operands, site.value.table);
  const { shape, dtype } = operand.type;
  const point = { dims, sites: [] };
  const by = strides(shape);
  const position = site.value.at.reduce(
    (sum, coord, k) => sum + evaluate(coord, noLoops, point) * at(by, k),
    0,
  );
  const read = indexReader(tensorOf(inputs, operand).bytes, dtype);
  return { position, value: read(position), exact: read.exact(position), rule: indexRule(site, dtype) };
}

const noLoops: Env = new Map();

/** The host's tensor of an operand. */
export function tensorOf(inputs: HostInputs, operand: Operand): HostTensor {
  const found = inputs[keyOf(operand)];
  if (found === undefined) throw new InternalError(`input ${keyOf(operand)} is missing`);
  return found;
}

/**
 * The run failed: an index out of range, found at the lexicographically first output element (its row-major number). Every
 * backend reports the same one in the same words: the first site of that element that is out of range.
 */
export function indexOutOfRange(mapped: MappedInputs, outputElement: number): RunError {
  const { map, operands } = mapped;
  const output = at(operands, operands.length - 1).type.shape;
  const point = coordinates(outputElement, output);
  for (const [number] of map.sites.entries()) {
    const { position, value, exact, rule } = readSite(mapped, number, point);
    if (resolveIndex(rule, value, () => exact) !== outOfRange) continue;
    const table = at(operands, at(map.sites, number).value.table);
    const axis = map.results.findIndex((result) => sitesOf(result).includes(number));
    return badIndex({ table, position, value: exact, rule, axis, point, site: number });
  }
  throw new InternalError(`output element ${outputElement} was reported, and its indices are in range`);
}

function badIndex(found: {
  readonly table: Operand;
  readonly position: number;
  readonly value: bigint;
  readonly rule: IndexRule;
  readonly axis: number;
  readonly point: readonly number[];
  readonly site: number;
}): RunError {
  const { table, position, value, rule, axis, point, site } = found;
  const where = coordinates(position, table.type.shape);
  const lowest = rule.fromEnd === undefined ? 0 : -rule.fromEnd;
  const range = rule.below === 0 ? "which has no elements" : `which takes [${lowest}, ${rule.below - 1}]`;
  return new RunError([
    error(
      "TC601",
      `index ${value} at ${keyOf(table)}${formatShape(where)} is out of range for data dim ${axis}, ${range}`,
      {
        hint: "mend the index, or choose what it means with --oob clamp, zero or wrap",
        data: {
          position,
          value: value.toString(),
          axis,
          extent: rule.below,
          coordinates: where,
          point,
          site,
        },
      },
    ),
  ]);
}
