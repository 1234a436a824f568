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
 * Treatment of an index value outside [0, extent). `report`: execution fails. `promised`: the caller
 * guarantees that all values are in range. `none`: a read gives the fill bits, and a write is skipped.
 * `nearest`: the first or last element is used. `remainder`: the value modulo `extent` is used.
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

/** Size of an index value in bytes: 1, 2, 4 or 8. */
export type IndexBytes = ReturnType<typeof bytesOf<IndexDType>>;

/**
 * Rule that determines which element an index value selects: the index operand's policy, and the signedness
 * and size of the value.
 */
export interface IndexRule {
  readonly extent: number;
  /**
   * Number added to a negative value before the range check. Absent if values are unsigned, or if negative
   * values are out of range.
   */
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

/** Bounded index operand, which has an extent and a policy other than `any`. */
export interface Bounded {
  readonly outOfRange: OutOfBounds;
  readonly extent: number;
  readonly wrapNegativeBy?: number;
  readonly excluded?: number;
  readonly dynamic?: DynamicBounds;
}

/** True if an index operand is bounded, with an extent and a policy other than `any`. */
export function isBounded(index: IndexOperand): index is IndexOperand & Bounded {
  checkArgument("isBounded", "object", index);
  return index.outOfRange !== "any" && index.extent !== undefined;
}

/**
 * Returns the rule by which the values of an index operand select elements. Undefined for an unbounded index
 * operand, such as one with policy `any`.
 */
export function ruleOfIndex(
  index: IndexOperand,
  inputs: readonly { readonly type: TensorType }[],
): IndexRule | undefined {
  if (!isBounded(index)) return undefined;
  return indexRule(index, isRead(index.value) ? at(inputs, index.value.table).type.dtype : "i64");
}

/**
 * Returns the size in bytes of a value of an index type. Throws an InternalError if `dtype` is not an index
 * type.
 */
export function indexBytes(dtype: DType): IndexBytes {
  if (!isIndexDType(dtype)) throw new InternalError(`${dtype} is no index type`);
  return bytesOf(dtype);
}

/**
 * Returns the rule by which the values of an index operand select elements. `dtype`: element type of the
 * values. Throws an InternalError if `dtype` is not an index type.
 */
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
 * True if an execution may report an index error. That is so if some index operand has policy `error`, or if
 * the map has a reduction with segments.
 */
export const mayReport = ({ indices, reduced }: Pick<AccessMap, "indices" | "reduced">): boolean =>
  indices.some(({ outOfRange }) => outOfRange !== "any" && outside[outOfRange] === "report") ||
  reduced?.segment !== undefined;

/** True if an index value may select no element; fill bits are then read. */
export const mayBeNone = ({ outOfRange, extent, excluded }: Bounded): boolean =>
  outside[outOfRange] === "none" || extent === 0 || excluded !== undefined;

/**
 * True if an execution may fail because of an index value. That is so if some index operand has policy
 * `error` or `unchecked`, or if the map has a reduction with segments.
 */
export const mayReject = ({ indices, reduced }: Pick<AccessMap, "indices" | "reduced">): boolean =>
  reduced?.segment !== undefined ||
  indices.some(
    ({ outOfRange }) => outOfRange !== "any" && ["report", "promised"].includes(outside[outOfRange]),
  );

/**
 * Result of {@link resolveIndex} for an index value that selects no element: fill bits are read, and nothing
 * is written.
 */
export const noElement = -1;
/** Result of {@link resolveIndex} for an index value that is out of range under `error` or `unchecked`. */
export const outOfRange = -2;
/**
 * Value that replaces the position of an element if an index value selects no element; positions are never
 * negative. The output element, or the value of the point, then has the fill bits.
 */
export const fillValue = -3;

/**
 * Returns the position of the element that an index value selects, or `noElement`, or `outOfRange`. `exact`:
 * returns the exact index value, used if `value` exceeds 2^53.
 */
export function resolveIndex(rule: IndexRule, value: number, exact: () => bigint): number {
  checkArgument("resolveIndex", "index rule", rule);
  return elementNamedBy(rule, value, exact);
}

/** Part of an index rule that determines which element an index value selects. */
export interface NamingRule extends Pick<IndexRule, "extent" | "outside"> {
  readonly wrapNegativeBy?: number | undefined;
  readonly excluded?: number | undefined;
}

/**
 * Returns the position of the element that an index value selects, or `noElement`, or `outOfRange`. Same as
 * {@link resolveIndex} without checks of the arguments.
 */
export function elementNamedBy(rule: NamingRule, value: number, exact: () => bigint): number {
  const element = elementOf(rule, value, exact);
  return element === rule.excluded ? noElement : element;
}

/**
 * Returns the position of the element that an index value selects, or `noElement`, or `outOfRange`. Ignores
 * `rule.excluded`, the element whose selection counts as `noElement` in {@link elementNamedBy}.
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
