/** Flags that give a schedule again. */
import { suggestionText } from "../../ir/tiling/index.js";
import type { Schedule, Shape } from "../../ir/index.js";

/**
 * Returns the flags of the entries that a search chooses: the tile, the residency, the buffers, and the view and the
 * order where those are not the plain ones, a view of the whole output and its dims in order. `shape`: the
 * output's. `plain`: further entries that are left out.
 */
export function scheduleFlags(schedule: Schedule, shape: Shape, plain: Schedule = {}): string {
  const { residency: _, buffers: __, ...given } = schedule;
  return suggestionText({ ...given, view: shape, order: shape.map((_, k) => k), ...plain }, schedule);
}
