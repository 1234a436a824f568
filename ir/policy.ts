/** What an index value means: one definition, executed here and printed by each code generator. */
import { checkArgument } from "./argument.js";
import { defined } from "./defined.js";
import { isRead, type AccessMap, type OpenBounds, type OutOfBounds, type Site } from "./access.js";
import {
  assertNever,
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
 * backend may report it or read anything inside the tensor's memory. `none`: the element reads as zero bits. `nearest`:
 * the first or the last element. `remainder`: the value modulo `below`, never negative.
 */
export type Outside = "report" | "promised" | "none" | "nearest" | "remainder";

const outside = {
  error: "report",
  unchecked: "promised",
  zero: "none",
  clamp: "nearest",
  wrap: "remainder",
} as const satisfies Readonly<Record<OutOfBounds, Outside>>;

/** Bytes of an index value. */
export type IndexBytes = ReturnType<typeof bytesOf<IndexDType>>;

/** A site's policy for index values of a type. */
export interface IndexRule {
  readonly below: number;
  /** Added to a negative value first; absent where none can be, or where none may. */
  readonly fromEnd?: number;
  readonly outside: Outside;
  readonly signed: boolean;
  /** Bytes of a value: 8 are two words wide, 1 and 2 share a word with their neighbours. */
  readonly bytes: IndexBytes;
  /** The element that is left out: a value that names it has none. */
  readonly but?: number;
  /** Whether a value can come out as no element at all: by its policy, as the one left out, or because there is none to name. */
  readonly mayBeNone: boolean;
  /** What of the numbers sizes tell, in a program over symbols. */
  readonly open?: OpenBounds;
}

/** A site's policy with its bound: every site's but those under `any`. */
export interface Bounded {
  readonly keep: OutOfBounds;
  readonly below: number;
  readonly fromEnd?: number;
  readonly but?: number;
  readonly open?: OpenBounds;
}

/** Whether a site has a policy that bounds it. */
export function isBounded(site: Site): site is Site & Bounded {
  checkArgument("isBounded", "object", site);
  return site.keep !== "any" && site.below !== undefined;
}

/** The rule of a site: a sum may be negative and as wide as any. Undefined under `any`, which takes a value as it is. */
export function siteRule(
  site: Site,
  inputs: readonly { readonly type: TensorType }[],
): IndexRule | undefined {
  if (!isBounded(site)) return undefined;
  return indexRule(site, isRead(site.value) ? at(inputs, site.value.table).type.dtype : "i64");
}

/** Bytes of the values of an index type. */
export function indexBytes(dtype: DType): IndexBytes {
  if (!isIndexDType(dtype)) throw new InternalError(`${dtype} is no index type`);
  return bytesOf(dtype);
}

/** What becomes of the values of a site's index. */
export function indexRule(site: Bounded, dtype: DType): IndexRule {
  checkArgument("indexRule", "object", site);
  checkArgument("indexRule", "dtype", dtype);
  const { below, fromEnd, keep, but, open } = site;
  const signed = isSigned(dtype);
  return {
    below,
    ...(fromEnd === undefined || !signed ? {} : { fromEnd }),
    outside: outside[keep],
    signed,
    bytes: indexBytes(dtype),
    ...defined({ but }),
    mayBeNone: mayBeNone(site),
    ...defined({ open }),
  };
}

/** Whether a run of a map may end at an index value, which is then reported: under `error`, and where a bag is longer than it may be. */
export const mayReport = ({ sites, reduced }: Pick<AccessMap, "sites" | "reduced">): boolean =>
  sites.some(({ keep }) => keep !== "any" && outside[keep] === "report") || reduced?.bag !== undefined;

/** Whether a site may give no coordinate, and its elements be fill. */
export const mayBeNone = ({ keep, below, but }: Bounded): boolean =>
  outside[keep] === "none" || below === 0 || but !== undefined;

/** True if a run of a map may end at an index value: one out of range, or the bounds of a bag. */
export const mayReject = ({ sites, reduced }: Pick<AccessMap, "sites" | "reduced">): boolean =>
  reduced?.bag !== undefined ||
  sites.some(({ keep }) => keep !== "any" && ["report", "promised"].includes(outside[keep]));

/** The element reads as zero bits. */
export const noElement = -1;
/** The value is out of range and the policy says that this matters. */
export const outOfRange = -2;

/**
 * The element that a value names, `noElement` or `outOfRange`. `value` is exact up to 2^53 and outside every extent
 * beyond; `exact` is exact always.
 */
export function resolveIndex(rule: IndexRule, value: number, exact: () => bigint): number {
  checkArgument("resolveIndex", "index rule", rule);
  const element = elementOf(rule, value, exact);
  return element === rule.but ? noElement : element;
}

/** The same with the element that is left out. */
function elementOf(rule: IndexRule, value: number, exact: () => bigint): number {
  const { below, fromEnd } = rule;
  if (value >= 0 && value < below) return value;
  const shift = fromEnd !== undefined && value < 0 ? fromEnd : 0;
  const counted = value + shift;
  if (counted >= 0 && counted < below) return counted;
  switch (rule.outside) {
    case "report":
    case "promised":
      return outOfRange;
    case "none":
      return noElement;
    case "nearest":
      return below === 0 ? noElement : counted < 0 ? 0 : below - 1;
    case "remainder": {
      if (below === 0) return noElement;
      const n = BigInt(below);
      return Number((((exact() + BigInt(shift)) % n) + n) % n);
    }
    default:
      return assertNever(rule.outside);
  }
}
