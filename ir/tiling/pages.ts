/**
 * Tiles that straddle pages: an output dim that a map divides by a page size, cut at other places than the
 * pages are.
 */
import { formsOf, type AccessMap } from "../access.js";
import { atomsOf, dimsOf, stepAlong, type Linear } from "../linear.js";
import { at } from "../types.js";
import { limitOf } from "./packed.js";
import { isLegal } from "./rules/index.js";
import { replaced } from "./smallest.js";
import type { Tiling } from "./tiling.js";

/**
 * Tile extent (`entry`, in elements) along one dim of the output (of the domain, for a scatter) that makes
 * tiles cross page boundaries. Pages are the blocks into which a `div` or `mod` in a coordinate divides a
 * dim.
 */
export interface Straddled {
  readonly dim: number;
  readonly entry: number;
  /** Page sizes along the dim, in elements. There are several if coordinates divide the dim differently. */
  readonly pages: readonly number[];
  /** Nearest legal extents whose tiles do not cross page boundaries, the smaller first. */
  readonly instead: readonly number[];
}

/**
 * Returns the page sizes along each dim of the output (of the domain, for a scatter), in elements; dims
 * without pages are omitted. A `div` or `mod` by n in a coordinate divides a dim into pages of n elements.
 */
function pagesOf(map: AccessMap): ReadonlyMap<number, readonly number[]> {
  const blocks = new Map<number, number[]>();
  for (const form of formsOf(map)) {
    for (const of of atomsOf(form)) {
      if (of.kind !== "div" && of.kind !== "mod") continue;
      const dim = countedFrom(of.of, of.by);
      const rows = dim === undefined ? undefined : (blocks.get(dim) ?? []);
      if (dim !== undefined && rows !== undefined && !rows.includes(of.by)) blocks.set(dim, [...rows, of.by]);
    }
  }
  return blocks;
}

/**
 * Returns the dim that a linear expression counts from the start of a page: the dim itself plus a multiple of
 * `page`. Undefined for any other expression.
 */
function countedFrom(form: Linear, page: number): number | undefined {
  const [only] = form.terms;
  const [dim] = dimsOf(form);
  if (form.terms.length !== 1 || only?.of.kind !== "dim" || dim === undefined) return undefined;
  return stepAlong(form, "dim", dim) === 1 && form.at % page === 0 ? dim : undefined;
}

/**
 * Returns the dims of the output (of the domain, for a scatter) along which tiles cross page boundaries. Each
 * has the tile's extent, the page sizes, and the nearest legal extents without crossing: at most one smaller
 * and one larger.
 */
export function straddledPages(tiling: Tiling): readonly Straddled[] {
  const { gather, tile, schedule } = tiling;
  return [...pagesOf(gather.map)].flatMap(([dim, pages]): Straddled[] => {
    const entry = at(tile, dim);
    const limit = limitOf(tiling, dim);
    const isBlocked = (n: number): boolean =>
      n >= limit || pages.every((page) => n % page === 0 || page % n === 0);
    if (entry === 0 || isBlocked(entry)) return [];
    const candidates = pages.flatMap((page) =>
      entry > page
        ? [page * Math.floor(entry / page), page * Math.ceil(entry / page)]
        : [largestDivisor(page, entry), page],
    );
    const fine = candidates
      .filter((n) => n <= limit && isBlocked(n))
      .filter((n) => isLegal(tiling.with({ tile: replaced(schedule.tile, dim, n) })));
    const [less, more] = [fine.filter((n) => n < entry), fine.filter((n) => n > entry)];
    const instead = [
      ...(less.length === 0 ? [] : [Math.max(...less)]),
      ...(more.length === 0 ? [] : [Math.min(...more)]),
    ];
    return [{ dim, entry, pages, instead }];
  });
}

/** Returns the largest divisor of `value` that is at most `max`; `value` and `max` are positive integers. */
function largestDivisor(value: number, max: number): number {
  let best = 1;
  for (let n = 1; n * n <= value; n++) {
    if (value % n !== 0) continue;
    for (const divisor of [n, value / n]) if (divisor <= max) best = Math.max(best, divisor);
  }
  return best;
}
