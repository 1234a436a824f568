/**
 * Outputs without elements: index values are looked up all the same where only dims that no index follows are
 * empty (`indexPoints`), and one out of range is reported as in any run. The host does so, whatever runs the
 * rest: no element is written that a kernel could report it for.
 */
import { indexPoints } from "../ir/access.js";
import { mapOverTensors } from "../ir/addressing.js";
import { outputOf, type TileFunc } from "../ir/func.js";
import { outOfRange } from "../ir/policy.js";
import { taskOfTile } from "../ir/task/index.js";
import { elementCount } from "../ir/types.js";
import { pointsOf } from "./region-points.js";
import { mapAddresses, type MapAddresses } from "./map-addresses.js";
import type { HostInputs } from "./memory.js";
import { badIndexAt, type MappedInputs } from "./resolved-indices.js";

/** Points between two steps. */
const pointsAtOnce = 2 ** 12;

/**
 * Checks the index values of a map with an empty output; yields 0 regularly. Throws a RunError (TC601) for
 * the first index out of range.
 */
export function* indexPointSteps(mapped: MappedInputs, addresses: MapAddresses): Generator<number, void> {
  const { map } = mapped;
  const points = indexPoints(map);
  let done = 0;
  for (const point of pointsOf(points)) {
    if (done++ % pointsAtOnce === 0) yield 0;
    const ended = addresses.to(point);
    if (ended === outOfRange) throw badIndexAt(mapped, point);
    if (ended < 0) continue;
    for (const address of addresses.reduction?.() ?? [])
      if (address === outOfRange) throw badIndexAt(mapped, point);
  }
}

/**
 * Checks the index values of a gather's tile program with an empty output; yields 0 regularly. Does nothing
 * for a program with output elements, for a scatter, and if the map differs between tiles. Throws a RunError
 * (TC601) for the first index out of range.
 */
export function* emptyOutputSteps(tile: TileFunc, inputs: HostInputs): Generator<number, void> {
  if (elementCount(outputOf(tile).type.shape) > 0) return;
  const map = mapOverTensors(tile, taskOfTile(tile));
  if (map === undefined) return;
  const mapped = { map, operands: tile.operands, inputs };
  yield* indexPointSteps(mapped, mapAddresses(mapped));
}
