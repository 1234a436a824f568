/** What an index value means: one definition, executed here and printed by each code generator. */
import { checkArgument } from "./argument.js";
import { defined } from "./defined.js";
import { isRead, type AccessMap, type DynamicBounds, type OutOfBounds, type IndexOperand } from "./access.js";
import {
  at,
  bytesOf,
  InternalError,
  isIndexDType,
  isSigned,
  type DType,
  type IndexDType,
  type TensorType,
} from "./types.js";

/**
 * What a value outside [0, below) becomes. `report`: the run is rejected. `promised`: the caller said that there is none; a
 * backend may report it or read anything inside the tensor's memory. `none`: the element reads as fill bits, and a point that needs the
 * value for what it writes writes nothing. `nearest`:
 * the first or the last element. `remainder`: the value modulo `extent`, never negative.
 */
export type Outside = "report" | "promised" | "none" | "nearest" | "remainder";

const outside = {
  error: "report",
  unchecked: "promised",
  zero: "none",
  skip: "none",
  clamp: "nearest",
  wrap: "remainder",
} as const satisfies Readonly<Record<OutOfBounds, Outside>>;

/** Bytes of an index value. */
export type IndexBytes = ReturnType<typeof bytesOf<IndexDType>>;

/** An index operand's policy for index values of a type. */
export interface IndexRule {
  readonly extent: number;
  /** Added to a negative value first; absent where none can be, or where none may. */
  readonly wrapNegativeBy?: number;
  readonly outside: Outside;
  readonly signed: boolean;
  /** Bytes of a value: 8 are two words wide, 1 and 2 share a word with their neighbours. */
  readonly bytes: IndexBytes;
  /** The element that is left out: a value that names it has none. */
  readonly excluded?: number;
  /** Whether a value can come out as no element at all: by its policy, as the one left out, or because there is none to name. */
  readonly mayBeNone: boolean;
  /** What of the numbers sizes tell, in a program over symbols. */
  readonly dynamic?: DynamicBounds;
}

/** An index operand's policy with its bound: every index operand's but those under `any`. */
export interface Bounded {
  readonly outOfRange: OutOfBounds;
  readonly extent: number;
  readonly wrapNegativeBy?: number;
  readonly excluded?: number;
  readonly dynamic?: DynamicBounds;
}

/** True if an index operand has a policy that bounds it. */
export function isBounded(index: IndexOperand): index is IndexOperand & Bounded {
  checkArgument("isBounded", "object", index);
  return index.outOfRange !== "any" && index.extent !== undefined;
}

/** The rule of an index operand: a sum may be negative and as wide as any. Undefined under `any`, which takes a value as it is. */
export function ruleOfIndex(
  index: IndexOperand,
  inputs: readonly { readonly type: TensorType }[],
): IndexRule | undefined {
  if (!isBounded(index)) return undefined;
  return indexRule(index, isRead(index.value) ? at(inputs, index.value.table).type.dtype : "i64");
}

/** Bytes of the values of an index type. */
export function indexBytes(dtype: DType): IndexBytes {
  if (!isIndexDType(dtype)) throw new InternalError(`${dtype} is no index type`);
  return bytesOf(dtype);
}

/** Rule by which the values of an index operand name elements. */
export function indexRule(index: Bounded, dtype: DType): IndexRule {
  checkArgument("indexRule", "object", index);
  checkArgument("indexRule", "dtype", dtype);
  const { extent, wrapNegativeBy, outOfRange, excluded, dynamic } = index;
  const signed = isSigned(dtype);
  return {
    extent,
    ...(wrapNegativeBy === undefined || !signed ? {} : { wrapNegativeBy }),
    outside: outside[outOfRange],
    signed,
    bytes: indexBytes(dtype),
    ...defined({ excluded }),
    mayBeNone: mayBeNone(index),
    ...defined({ dynamic }),
  };
}

/** Whether a run of a map may end at an index value, which is then reported: under `error`, and where a bag is longer than it may be. */
export const mayReport = ({ indices, reduced }: Pick<AccessMap, "indices" | "reduced">): boolean =>
  indices.some(({ outOfRange }) => outOfRange !== "any" && outside[outOfRange] === "report") ||
  reduced?.segment !== undefined;

/** True if an index operand may give no coordinate, and its elements be fill. */
export const mayBeNone = ({ outOfRange, extent, excluded }: Bounded): boolean =>
  outside[outOfRange] === "none" || extent === 0 || excluded !== undefined;

/** True if a run of a map may end at an index value: one out of range, or the bounds of a bag. */
export const mayReject = ({ indices, reduced }: Pick<AccessMap, "indices" | "reduced">): boolean =>
  reduced?.segment !== undefined ||
  indices.some(
    ({ outOfRange }) => outOfRange !== "any" && ["report", "promised"].includes(outside[outOfRange]),
  );

/** The element reads as zero bits. */
export const noElement = -1;
/** The value is out of range and the policy says that this matters. */
export const outOfRange = -2;
/** The value that a point of a scatter writes is the fill bits: an index value that only reads need names no element. */
export const fillValue = -3;

/**
 * The element that a value names, `noElement` or `outOfRange`. `value` is exact up to 2^53 and outside every extent
 * beyond; `exact` is exact always.
 */
export function resolveIndex(rule: IndexRule, value: number, exact: () => bigint): number {
  checkArgument("resolveIndex", "index rule", rule);
  return elementNamedBy(rule, value, exact);
}

/** The part of a rule that says which element a value names. */
export interface NamingRule extends Pick<IndexRule, "extent" | "outside"> {
  readonly wrapNegativeBy?: number | undefined;
  readonly excluded?: number | undefined;
}

/** Returns what `resolveIndex` does, by a rule that needs no check. */
export function elementNamedBy(rule: NamingRule, value: number, exact: () => bigint): number {
  const element = elementOf(rule, value, exact);
  return element === rule.excluded ? noElement : element;
}

/** Returns the same with the element that is left out. */
function elementOf(rule: NamingRule, value: number, exact: () => bigint): number {
  const { extent, wrapNegativeBy = 0 } = rule;
  if (value >= 0 && value < extent) return value;
  const shift = value < 0 ? wrapNegativeBy : 0;
  const counted = value + shift;
  if (counted >= 0 && counted < extent) return counted;
  switch (rule.outside) {
    case "report":
    case "promised":
      return outOfRange;
    case "none":
      return noElement;
    case "nearest":
      return extent === 0 ? noElement : counted < 0 ? 0 : extent - 1;
    case "remainder": {
      if (extent === 0) return noElement;
      const n = BigInt(extent);
      return Number((((exact() + BigInt(shift)) % n) + n) % n);
    }
    default:
      return Number(rule.outside satisfies never);
  }
}
