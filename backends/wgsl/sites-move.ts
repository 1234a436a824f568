/**
 * How a kernel moves the elements of a gather whose map is beyond the three operators' kind: the sites in order, then 16 bytes of
 * a row that shares them, or an element. Everything is read and written where it lies in global memory.
 */
import {
  countsFromBound,
  fillBytes,
  gatheredTable,
  isRead,
  type AccessMap,
  type OpenBounds,
} from "../../ir/access.js";
import { gatherAddresses, tensorPlace, type GatherAddresses } from "../../ir/addressing.js";
import { elementsOf, inputOf, inputsOf, outputOf, type TileFunc } from "../../ir/func.js";
import { dimRanges, imageOf, rangesOf, type Ranges } from "../../ir/image.js";
import {
  atomsOf,
  dim,
  dimsOf,
  isConstant,
  iv,
  largestValue,
  mod,
  stepAlong,
  sub,
  type Linear,
} from "../../ir/linear.js";
import { pageAlong, type Page } from "../../ir/page.js";
import { siteRule, type IndexRule } from "../../ir/policy.js";
import { boundsOf, residue } from "../../ir/ranges.js";
import { sizeRanges } from "../../ir/symbols/symbols.js";
import type { Located, Task } from "../../ir/task/index.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, bytesOf, type DType, type Shape } from "../../ir/types.js";
import { readsAlone, startsAtMultiples, vectorBytes, type Width } from "./gather-move.js";
import { joinedDims } from "./joined-dims.js";
import { rowDim } from "./row-dim.js";

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
  /** What of the numbers sizes tell. */
  readonly open?: OpenBounds;
  /** In 128 bits, which no sum of products leaves; else the value is resolved as it is read, to 32 bits. */
  readonly wide: boolean;
}

/** What a lane moves at a time: elements of the innermost dim, by accesses of so many words. */
export interface Unit {
  readonly group: number;
  readonly width: Width;
}

/** Rows along a dim that lie end to end in a page of the data and in the output. */
export interface PageRun extends Page {
  readonly dim: number;
  /** Whether a page begins where the tile does, in every iteration. */
  readonly aligned: boolean;
}

export interface SitesMove {
  readonly kind: "sites";
  readonly stmt: GatherStmt;
  /** Sizes of this tile as lanes walk it, and extents of a whole one. */
  readonly sizes: readonly Linear[];
  readonly tile: Shape;
  readonly addresses: GatherAddresses;
  readonly sites: readonly SiteMove[];
  /** What dims, sites and loop variables can be. */
  readonly ranges: Ranges;
  /** Absent where elements share a word with those of other lanes. */
  readonly unit?: Unit;
  /** Whether a lane copies rows, by the unit's accesses: where a row starts is found once. */
  readonly inRows: boolean;
  /** Rows that are copied by the page, as long as they lie end to end. */
  readonly page?: PageRun;
  /** Output dims that a site, or a div or mod of the data's address, follows, and those that share what was resolved. */
  readonly resolved: readonly number[];
  readonly sharing: readonly number[];
  /** The bytes of an element that has none. */
  readonly fill: Uint8Array;
}

/** `laneBytes`: see the target's figure. */
export function sitesMove(
  func: TileFunc,
  task: Task,
  { stmt, loops }: Located<GatherStmt>,
  laneBytes: number,
): SitesMove {
  const { map } = stmt;
  const inTensor = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  const ownTile = stmt.to.sizes.map((size) => largestValue(size) ?? 0);
  const follows = new Set(
    [...inTensor.sites, { at: 0, terms: inTensor.data.terms.filter(({ of }) => of.kind !== "dim") }].flatMap(
      dimsOf,
    ),
  );
  const dims = ownTile.map((_, d) => d);
  const { sizes, tile, addresses } = joinedDims(
    { sizes: stmt.to.sizes, tile: ownTile, addresses: inTensor },
    dims.map((d) => follows.has(d)),
  );
  const sharing = dims.filter((d) => !follows.has(d));
  const last = tile.length - 1;
  const unit = unitOf(func, map, { sizes, addresses }, loops, sharing);
  const inRows =
    unit !== undefined &&
    sharing.includes(last) &&
    stepAlong(addresses.data, "dim", last) === 1 &&
    bytesOf(inputOf(func, gatheredTable).type.dtype) <= 4 * unit.width;
  const own = rangesOf(
    map,
    inputsOf(func).map(({ type }) => type),
    ownTile,
    {
      loops: (name) => boundsOf(iv(name), loops),
      symbols: sizeRanges(func.symbolic?.symbols ?? []),
    },
  );
  const ranges = { ...own, dims: dimRanges(tile) };
  const page =
    inRows && readsAlone(laneBytes) ? pageRun({ sizes, tile, addresses, ranges }, loops) : undefined;
  return {
    kind: "sites",
    stmt,
    sizes,
    tile,
    addresses,
    sites: map.sites.map((site, s): SiteMove => {
      const { value, fromEnd, open } = site;
      const rule = siteRule(site, func.operands);
      const read = isRead(value)
        ? { table: value.table, dtype: inputOf(func, value.table).type.dtype }
        : undefined;
      return {
        form: at(addresses.sites, s),
        ...(read === undefined ? {} : { read }),
        ...(rule === undefined ? {} : { rule }),
        ...(rule === undefined && fromEnd !== undefined ? { fromEnd } : {}),
        ...(open === undefined ? {} : { open }),
        wide: read === undefined || rule === undefined || !countsFromBound(site),
      };
    }),
    ranges,
    ...(unit === undefined ? {} : { unit }),
    inRows,
    ...(page === undefined ? {} : { page }),
    resolved: dims.filter((d) => follows.has(d)),
    sharing,
    fill: fillBytes(map, outputOf(func).type.dtype),
  };
}

/**
 * The most that a lane can move at once. An element of whole words always can be; of rows that share their sites, what starts and
 * ends at multiples of an access in the data and in the output.
 */
function unitOf(
  func: TileFunc,
  map: AccessMap,
  { sizes, addresses: { data, output } }: Pick<SitesMove, "sizes" | "addresses">,
  loops: readonly ForStmt[],
  sharing: readonly number[],
): Unit | undefined {
  const { type } = inputOf(func, gatheredTable);
  const size = bytesOf(type.dtype);
  const last = sizes.length - 1;
  const whole = (group: number): boolean =>
    group === 1 ||
    (sharing.includes(last) &&
      [data, output].every((address) => startsAtMultiples(address, last, group, loops)) &&
      [inputOf(func, gatheredTable), outputOf(func)].every(
        (operand) => residue(elementsOf(func, operand), group, loops) === 0,
      ) &&
      residue(at(sizes, last), group, loops) === 0);
  // Index values are read by single words.
  const isTable = map.sites.some(({ value }) => isRead(value) && value.table === gatheredTable);
  for (const bytes of [vectorBytes, vectorBytes / 2, vectorBytes / 4]) {
    if (bytes < size || !whole(bytes / size)) continue;
    return { group: bytes / size, width: isTable ? 1 : ((bytes / 4) as Width) };
  }
  return undefined;
}

/**
 * Rows that lanes take by the page: those of the dim that lanes along y share, so that each has a run of them, whose index values
 * follow it by the page alone.
 */
function pageRun(
  { sizes, tile, addresses, ranges }: Pick<SitesMove, "sizes" | "tile" | "addresses" | "ranges">,
  loops: readonly ForStmt[],
): PageRun | undefined {
  const d = rowDim(tile);
  const row = at(sizes, sizes.length - 1);
  if (d === undefined || !isConstant(row)) return undefined;
  const { data, sites, output } = addresses;
  const page = pageAlong(d, data, sites);
  const endToEnd = [page?.step, stepAlong(output, "dim", d)].every((step) => step === row.at);
  if (page === undefined || !endToEnd || isLarge(mod(page.form, page.by), { ranges })) return undefined;
  const start = sub(page.form, dim(d));
  return { ...page, dim: d, aligned: residue(start, page.by, loops) === 0 };
}

/** Whether a div or a mod is of what may leave u32. */
export const isLarge = (form: Linear, { ranges }: Pick<SitesMove, "ranges">): boolean =>
  atomsOf(form).some(
    (of) => (of.kind === "div" || of.kind === "mod") && imageOf(of.of, ranges)[1] >= 2 ** 32,
  );
