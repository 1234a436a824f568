/** Tiles of more entries than the output has dims, as PyPTO's code takes them. */
import { outputOf, type AccessFunc } from "../func.js";
import { profileOf } from "../profile.js";
import type { Schedule } from "../schedule.js";
import type { Shape } from "../types.js";

/**
 * True if a tile has more entries than the output has dims, of an operator whose framework shares a tile among operators, under a profile
 * that reads the first entries of such a tile.
 */
export const isLongerTile = <S extends Schedule>(
  gather: AccessFunc,
  schedule: S,
): schedule is S & { readonly tile: Shape } =>
  schedule.tile !== undefined &&
  gather.framework !== undefined &&
  gather.map.reduced === undefined &&
  profileOf(schedule).longerTiles !== undefined &&
  schedule.tile.length > outputOf(gather).type.shape.length;

/** Returns a schedule with the entries of its tile that the output has dims for, where the profile leaves out the others. */
export const takenSchedule = <S extends Schedule>(gather: AccessFunc, schedule: S): S =>
  isLongerTile(gather, schedule)
    ? { ...schedule, tile: schedule.tile.slice(0, outputOf(gather).type.shape.length) }
    : schedule;
