/** Meaning of index values: one definition that is executed here and printed by each code generator. */
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
 * Treatment of an index value outside [0, extent). `report`: the run is rejected. `promised`: the caller
 * guarantees that no such value occurs. A backend may report such a value, or read anything inside the
 * tensor's memory. `none`: the element reads as fill bits; a point that needs the value for its write
 * coordinates writes nothing. `nearest`: the first or the last element. `remainder`: the value modulo
 * `extent`, never negative.
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

/** Width of an index value in bytes. */
export type IndexBytes = ReturnType<typeof bytesOf<IndexDType>>;

/**
 * Rule by which an index value of some type selects an element: the policy of its index operand, with the
 * type's signedness and width.
 */
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
  /**
   * True if a value may name no element: by the policy, because the element is excluded, or because the
   * extent is 0.
   */
  readonly mayBeNone: boolean;
  /** Names of the bounds that depend on symbol sizes, in a program over symbols. */
  readonly dynamic?: DynamicBounds;
}

/** Index operand with a policy other than `any`, and so with an extent. */
export interface Bounded {
  readonly outOfRange: OutOfBounds;
  readonly extent: number;
  readonly wrapNegativeBy?: number;
  readonly excluded?: number;
  readonly dynamic?: DynamicBounds;
}

/** True if an index operand is bounded: it has an extent and a policy other than `any`. */
export function isBounded(index: IndexOperand): index is IndexOperand & Bounded {
  checkArgument("isBounded", "object", index);
  return index.outOfRange !== "any" && index.extent !== undefined;
}

/**
 * Returns the rule of an index operand. The value of a sum has the rule of an i64. Undefined under `any`,
 * which leaves the value unbounded.
 */
export function ruleOfIndex(
  index: IndexOperand,
  inputs: readonly { readonly type: TensorType }[],
): IndexRule | undefined {
  if (!isBounded(index)) return undefined;
  return indexRule(index, isRead(index.value) ? at(inputs, index.value.table).type.dtype : "i64");
}

/** Returns the bytes of a value of an index type. Throws an InternalError for another type. */
export function indexBytes(dtype: DType): IndexBytes {
  if (!isIndexDType(dtype)) throw new InternalError(`${dtype} is no index type`);
  return bytesOf(dtype);
}

/** Returns the rule by which the values of an index operand name elements. */
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

/**
 * True if an index value may end a run and be reported: under `error`, or where a segment may be too long.
 */
export const mayReport = ({ indices, reduced }: Pick<AccessMap, "indices" | "reduced">): boolean =>
  indices.some(({ outOfRange }) => outOfRange !== "any" && outside[outOfRange] === "report") ||
  reduced?.segment !== undefined;

/** True if an index value may select no element, so that fill bits are read instead. */
export const mayBeNone = ({ outOfRange, extent, excluded }: Bounded): boolean =>
  outside[outOfRange] === "none" || extent === 0 || excluded !== undefined;

/**
 * True if a run of a map may be rejected because of an index value. Such a value is out of range, or bounds a
 * segment wrongly.
 */
export const mayReject = ({ indices, reduced }: Pick<AccessMap, "indices" | "reduced">): boolean =>
  reduced?.segment !== undefined ||
  indices.some(
    ({ outOfRange }) => outOfRange !== "any" && ["report", "promised"].includes(outside[outOfRange]),
  );

/** Result of resolving an index value that selects no element: fill bits are read, and nothing is written. */
export const noElement = -1;
/** Result of resolving an index value that is out of range under `error` or `unchecked`. */
export const outOfRange = -2;
/**
 * Result for a point of a scatter that writes the fill bits: an index value that only the point's reads need
 * selects no element.
 */
export const fillValue = -3;

/**
 * Returns the element that an index value selects, or `noElement` or `outOfRange`. `value` is exact up to
 * 2^53, and beyond that at least outside every extent. `exact` returns the exact value.
 */
export function resolveIndex(rule: IndexRule, value: number, exact: () => bigint): number {
  checkArgument("resolveIndex", "index rule", rule);
  return elementNamedBy(rule, value, exact);
}

/** Part of an index rule that decides which element a value selects. */
export interface NamingRule extends Pick<IndexRule, "extent" | "outside"> {
  readonly wrapNegativeBy?: number | undefined;
  readonly excluded?: number | undefined;
}

/**
 * Returns the element that an index value selects, or `noElement` or `outOfRange`, as {@link resolveIndex}
 * does. It does not check its arguments.
 */
export function elementNamedBy(rule: NamingRule, value: number, exact: () => bigint): number {
  const element = elementOf(rule, value, exact);
  return element === rule.excluded ? noElement : element;
}

/**
 * Returns the element that an index value selects, before the excluded element is left out. The result may be
 * `noElement` or `outOfRange`.
 */
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
