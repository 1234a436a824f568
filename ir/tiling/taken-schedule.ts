/** Tiles of more entries than the points have dims, or of fewer, as PyPTO takes them. */
import type { AccessFunc } from "../func.js";
import { profileOf } from "../profile.js";
import type { Schedule } from "../schedule.js";
import type { Shape } from "../types.js";
import { writeRulesOf } from "./pypto-writes.js";

/**
 * True if a tile has more extents than the output (the domain, for a scatter) has dims, and the PyPTO rule
 * profile accepts surplus extents. False for programs that are not from a framework, and for reductions.
 */
export const isLongerTile = <S extends Schedule>(
  gather: AccessFunc,
  schedule: S,
): schedule is S & { readonly tile: Shape } =>
  schedule.tile !== undefined &&
  gather.framework !== undefined &&
  gather.map.reduced === undefined &&
  profileOf(schedule).longerTiles !== undefined &&
  schedule.tile.length > gather.map.domain.length;

/**
 * True if a tile or view has at least one extent but fewer extents than the domain has dims, and the PyPTO
 * operator accepts missing extents. Always false for a gather: only scatters have such operators.
 */
export const isShorterTile = (gather: AccessFunc, schedule: Schedule, name: "tile" | "view"): boolean => {
  const { length } = schedule[name] ?? gather.map.domain;
  return length > 0 && length < gather.map.domain.length && writeRulesOf(gather)?.shorterTiles === true;
};

/**
 * Returns a schedule whose tile and view have one extent for each dim, if the PyPTO rules allow the
 * correction; else the schedule unchanged. Surplus extents of a tile are dropped. Missing extents, which only
 * scatters may have, become the full extents of the domain.
 */
export function takenSchedule<S extends Schedule>(gather: AccessFunc, schedule: S): S {
  const { domain } = gather.map;
  const isFull = ({ length }: Shape = domain): boolean => length === domain.length;
  if (isFull(schedule.tile) && isFull(schedule.view)) return schedule;
  if (isLongerTile(gather, schedule)) return { ...schedule, tile: schedule.tile.slice(0, domain.length) };
  const filled = (["tile", "view"] as const).filter((name) => isShorterTile(gather, schedule, name));
  return filled.reduce<S>((taken, name) => {
    const stated = taken[name] ?? [];
    return { ...taken, [name]: domain.map((extent, d) => stated[d] ?? Math.max(1, extent)) };
  }, schedule);
}
