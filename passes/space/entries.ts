/** The tile entries worth trying along an output dim: some three for each doubling of its extent. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import { targetFacts } from "../../ir/target.js";
import { leastEntry, type Tiling } from "../../ir/tiling/index.js";
import { alignUp, meanBytes } from "../../ir/types.js";

/** Whole blocks along the last dim, by what they hold of the data. */
const someBlocks = [1, 2, 3, 4, 6, 8];

/**
 * Returns candidate tile sizes along dim `d` of the output (of the domain, for a scatter), in elements,
 * ascending. The last size is `limit`.
 */
export function entriesOf(d: number, limit: number, tiling: Tiling): number[] {
  const { gather, schedule, target, extents } = tiling;
  const entries = new Set<number>();
  for (let n = 1; n < limit; n *= 2) {
    entries.add(n);
    entries.add(3 * n);
  }
  if (d === extents.length - 1) {
    const lanes = Math.max(1, target.blockBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype));
    for (const blocks of someBlocks) entries.add(blocks * lanes);
  }
  // As many tiles as cores, or a few times as many, and a few tiles.
  for (const rounds of [1, 2, 3, 4]) {
    entries.add(shareOf(d, limit, rounds * schedule.cores, tiling));
    entries.add(shareOf(d, limit, rounds + 1, tiling));
  }
  // Rows that are fetched take about as long in each tile: what counts is that no core has one more than
  // others.
  if (tiling.residency === "gm" && targetFacts[target.kind].dmaEngine)
    for (const rounds of [5, 6, 8]) entries.add(shareOf(d, limit, rounds * schedule.cores, tiling));
  const [least, multiple] = [leastRow(d, tiling), laneMultiple(d, tiling)];
  const cut = [...entries].filter((n) => n < limit && n >= least && n % multiple === 0);
  return [...cut.sort((a, b) => a - b), limit];
}

/**
 * Returns the number of elements that must divide the tile extents along dim `d` of the output (of the
 * domain, for a scatter). Tiles then begin at whole bytes and at whole vector accesses.
 */
export function laneMultiple(d: number, { gather, target, extents }: Tiling): number {
  const least = leastEntry(gather, d);
  if (target.lanes === 1 || d < extents.length - 1) return least;
  return Math.max(4, least, target.vectorBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype));
}

/**
 * Returns the elements of a row that lanes read together along the last dim. Returns 1 for other dims, for
 * targets with one lane, and for staged data, of which the budget may leave less.
 */
function leastRow(d: number, { gather, residency, target, extents }: Tiling): number {
  if (target.lanes === 1 || residency === "ub" || d < extents.length - 1) return 1;
  return target.laneBytes / meanBytes(inputOf(gather, gatheredTable).type.dtype);
}

/**
 * Returns the tile size along dim `d` of the output (of the domain, for a scatter), in elements, that splits
 * `limit` elements into at most `count` tiles. The size is rounded up to a multiple of {@link laneMultiple},
 * and is at most `limit`.
 */
export function shareOf(d: number, limit: number, count: number, tiling: Tiling): number {
  const share = Math.max(leastRow(d, tiling), Math.ceil(limit / count));
  if (tiling.target.lanes === 1) return Math.min(limit, alignUp(share, laneMultiple(d, tiling)));
  return Math.min(limit, alignUp(share, Math.max(4, laneMultiple(d, tiling))));
}
