/** Element memory as machine units, and index values read exactly. Little-endian, row-major, as every host array here. */
import { CompileError, error, RunError } from "../ir/diagnostic.js";
import type { AccessMap } from "../ir/access.js";
import { addressOf } from "../ir/addressing.js";
import { keyOf, type Operand, type TileFunc } from "../ir/func.js";
import { iterationWriting } from "../ir/iteration.js";
import { constant, evaluate, sitesOf, type Env } from "../ir/linear.js";
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

/** Some engines make longer arrays, and the process dies when they are written. */
export const maxArrayBytes = 2 ** 32;

/** Zeroed bytes. Throws a CompileError (TC502) for more than 4 GiB or than the machine has; `what` names them. */
export function allocate(bytes: number, what: string): Uint8Array<ArrayBuffer> {
  const refused = (most: string): CompileError =>
    new CompileError([
      error("TC502", `${what} takes ${bytes} B, more than ${most}`, {
        hint: "split the tensors",
        data: { bytes },
      }),
    ]);
  if (bytes > maxArrayBytes) throw refused(`the ${maxArrayBytes} B of one array`);
  try {
    return new Uint8Array(bytes);
  } catch (thrown) {
    throw thrown instanceof RangeError ? refused("there is") : thrown;
  }
}

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
  /** The value of any 64-bit index. */
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
export interface SiteAt {
  readonly site: number;
  /** The data dim that it picks along. */
  readonly axis: number;
  readonly table: Operand;
  /** Row-major, in elements of the table. */
  readonly position: number;
  readonly rule: IndexRule;
  /** Coordinates of the output element. */
  readonly point: readonly number[];
}

/** The sites of one output element, by its row-major number, in the order in which they are evaluated. */
export function sitesAt({ map, operands, tile }: MappedOperands, outputElement: number): readonly SiteAt[] {
  const output = at(operands, operands.length - 1).type.shape;
  const point = coordinates(outputElement, output);
  const ran = tile === undefined ? undefined : iterationWriting(tile, point);
  return map.sites.map((site, number) => {
    const table = at(operands, site.value.table);
    const { shape, dtype } = table.type;
    const origin = ran?.gather.origins[site.value.table - 1] ?? shape.map(() => constant(0));
    const place = { offsets: origin, strides: strides(shape) };
    const dims = ran?.dims ?? point;
    const position = evaluate(addressOf(site.value.at, place), ran?.env ?? noLoops, { dims, sites: [] });
    const axis = map.results.findIndex((result) => sitesOf(result).includes(number));
    return { site: number, axis, table, position, rule: indexRule(site, dtype), point };
  });
}

const noLoops: Env = new Map();

/** Whether a value is one that its policy rejects. */
export const isRejected = (rule: IndexRule, value: bigint): boolean =>
  resolveIndex(rule, Number(value), () => value) === outOfRange;

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
  for (const found of sitesAt(mapped, outputElement)) {
    const { bytes } = tensorOf(mapped.inputs, found.table);
    const value = indexReader(bytes, found.table.type.dtype).exact(found.position);
    if (isRejected(found.rule, value)) return badIndex(found, value);
  }
  throw new InternalError(`output element ${outputElement} was reported, and its indices are in range`);
}

/** TC601 for the value that stood at a site. */
export function badIndex({ table, position, rule, axis, point, site }: SiteAt, value: bigint): RunError {
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
