/** Bytes in whole cache lines: what in-place reads and writes of a CPU or a GPU really move. */
import { followedBy, gatheredTable, gatherDims, indexed, rowElements } from "../../ir/access.js";
import { inputOf, outputOf } from "../../ir/func.js";
import { soleAtom } from "../../ir/linear.js";
import type { Tiling } from "../../ir/tiling/index.js";
import { alignUp, at, contiguousRun, dtypeBytes, elementCount } from "../../ir/types.js";

/** Whether neighbours along the innermost output dim read different rows of the data. */
export function readsAcrossRows({ gather: { map } }: Tiling): boolean {
  const last = soleAtom(at(map.results, map.results.length - 1));
  const innermost = map.outRank - 1;
  return last?.kind === "dim" && last.dim === innermost && indexed(map).has(innermost);
}

/** The output's bytes, each run of a tile in whole lines. */
export function writtenLines({ gather, tile, extents, target }: Tiling): number {
  const size = dtypeBytes[outputOf(gather).type.dtype];
  const run = contiguousRun(tile, extents) * size;
  return ((elementCount(extents) * size) / run) * alignUp(run, target.burstBytes);
}

/**
 * The data's bytes as a gather in place reads them: a line for each row that an index names, but no tile reads the slab
 * that its indices share more than once.
 */
export function readLines(tiling: Tiling): number {
  const { gather, tile, extents, target } = tiling;
  const { map } = gather;
  const { dtype, shape } = inputOf(gather, gatheredTable).type;
  const size = dtypeBytes[dtype];
  const line = target.burstBytes;
  const inRow = rowElements(map, tile, shape);
  const rows = elementCount(extents) / inRow;
  const row = inRow * size;
  const follows = followedBy(map, gatheredTable);
  const across = readsAcrossRows(tiling);
  const wide = across ? at(tile, map.outRank - 1) : 1;
  const sharing = tile.reduce((product, extent, d) => (follows.has(d) ? product : product * extent), wide);
  const extent = gatherDims(map).reduce((product, k) => product * at(shape, k), 1);
  const slab = extent * (across ? alignUp(wide * size, line) : row);
  return (rows / sharing) * Math.min(sharing * alignUp(row, line), slab);
}
