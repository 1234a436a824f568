/** Bytes in whole cache lines: what in-place reads and writes of a CPU or a GPU really move. */
import { dataFollows, gatherDims, indicesFollow, rowElements } from "../../ir/access.js";
import { clipTile, type Gather } from "../../ir/footprint.js";
import type { ResolvedSchedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { alignUp, at, contiguousRun, dtypeBytes, elementCount } from "../../ir/types.js";

/** Whether neighbours along the innermost output dim read different rows of the data. */
export function readsAcrossRows({ map }: Gather): boolean {
  const last = map.results[map.results.length - 1];
  const innermost = map.outRank - 1;
  return last?.kind === "direct" && last.dim === innermost && indicesFollow(map).has(innermost);
}

/** The output's bytes, each run of a tile in whole lines. */
export function writtenLines(gather: Gather, schedule: ResolvedSchedule, target: Target): number {
  const { output } = gather;
  const tile = clipTile(schedule.tile, schedule.view, output.shape);
  const size = dtypeBytes[output.dtype];
  const run = contiguousRun(tile, output.shape) * size;
  return ((elementCount(output.shape) * size) / run) * alignUp(run, target.burstBytes);
}

/**
 * The data's bytes as a gather in place reads them: a line for each row that an index names, but no tile reads the slab
 * that its indices share more than once.
 */
export function readLines(gather: Gather, schedule: ResolvedSchedule, target: Target): number {
  const { map, data, output } = gather;
  const tile = clipTile(schedule.tile, schedule.view, output.shape);
  const size = dtypeBytes[data.dtype];
  const line = target.burstBytes;
  const rows = elementCount(output.shape) / rowElements(map, tile, data.shape);
  const row = rowElements(map, tile, data.shape) * size;
  const follows = dataFollows(map);
  const across = readsAcrossRows(gather);
  const wide = across ? at(tile, map.outRank - 1) : 1;
  const sharing = tile.reduce((product, extent, d) => (follows.has(d) ? product : product * extent), wide);
  const extent = gatherDims(map).reduce((product, k) => product * at(data.shape, k), 1);
  const slab = extent * (across ? alignUp(wide * size, line) : row);
  return (rows / sharing) * Math.min(sharing * alignUp(row, line), slab);
}
