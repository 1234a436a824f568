/** Flags that give a schedule again. */
import { suggestionText } from "../../ir/tiling/index.js";
import type { Schedule, Shape } from "../../ir/index.js";

/**
 * Returns the command-line flags of the schedule entries that a search chooses: tile, residency and buffers.
 * View and order are added unless they are the defaults: a view of the whole output, and its dims in order.
 * `shape` is the output's shape. `plain` has further default entries to leave out.
 */
export function scheduleFlags(schedule: Schedule, shape: Shape, plain: Schedule = {}): string {
  const { residency: _, buffers: __, ...given } = schedule;
  return suggestionText({ ...given, view: shape, order: shape.map((_, k) => k), ...plain }, schedule);
}
