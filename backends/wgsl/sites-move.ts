/**
 * How a kernel moves the elements of a gather whose map is beyond the three operators' kind: one at a time, each with its sites
 * in order. Everything is read and written where it lies in global memory.
 */
import { fillBytes, isRead } from "../../ir/access.js";
import { gatherAddresses, tensorPlace, type GatherAddresses } from "../../ir/addressing.js";
import { inputOf, outputOf, type TileFunc } from "../../ir/func.js";
import { largestValue, type Linear } from "../../ir/linear.js";
import { siteRule, type IndexRule } from "../../ir/policy.js";
import type { Feeding } from "../../ir/regions.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, type DType, type Shape } from "../../ir/types.js";

/** One site, and how its value is held. */
export interface SiteMove {
  /** Absent for a sum. */
  readonly read?: { readonly table: number; readonly dtype: DType };
  /** Where the value lies in its table; the sum itself. */
  readonly form: Linear;
  /** Absent under `any`. */
  readonly rule?: IndexRule;
  /** Under `any`: negative values count from this number. */
  readonly fromEnd?: number;
  /** In 128 bits, which no sum of products leaves; else the value is resolved as it is read, to 32 bits. */
  readonly wide: boolean;
}

export interface SitesMove {
  readonly kind: "sites";
  readonly stmt: GatherStmt;
  /** Extents of a whole tile. */
  readonly tile: Shape;
  readonly addresses: GatherAddresses;
  readonly sites: readonly SiteMove[];
  /** 32-bit words of an element that has none; of a packed one its bits. */
  readonly fill: readonly number[];
}

export function sitesMove(func: TileFunc, stmt: GatherStmt, feeding: Feeding): SitesMove {
  const addresses = gatherAddresses(stmt, (region) => tensorPlace(func, feeding, region));
  const bytes = fillBytes(stmt.map, outputOf(func).type.dtype);
  const words = Math.max(1, bytes.length / 4);
  return {
    kind: "sites",
    stmt,
    tile: stmt.to.sizes.map((size) => largestValue(size) ?? 0),
    addresses,
    sites: stmt.map.sites.map((site, s): SiteMove => {
      const { value, fromEnd } = site;
      const rule = siteRule(site, func.operands);
      const read = isRead(value)
        ? { table: value.table, dtype: inputOf(func, value.table).type.dtype }
        : undefined;
      return {
        form: at(addresses.sites, s),
        ...(read === undefined ? {} : { read }),
        ...(rule === undefined ? {} : { rule }),
        ...(rule === undefined && fromEnd !== undefined ? { fromEnd } : {}),
        wide: read === undefined || rule === undefined || (fromEnd ?? rule.below) !== rule.below,
      };
    }),
    fill: Array.from({ length: words }, (_, word) =>
      bytes.slice(4 * word, 4 * word + 4).reduceRight((bits, byte) => bits * 256 + byte, 0),
    ),
  };
}
