/** Flags that give a schedule again. */
import { suggestionText } from "../../ir/tiling/index.js";
import type { Schedule, Shape } from "../../ir/index.js";

/**
 * Returns the command-line flags that set a schedule's tile, residency (memory of the operands) and buffers,
 * and its view and order unless they are the defaults. The default view is the whole output, whose shape is
 * `shape`; the default order is the output dims in ascending order. Entries equal to those of `plain` are
 * left out, too.
 */
export function scheduleFlags(schedule: Schedule, shape: Shape, plain: Schedule = {}): string {
  const { residency: _, buffers: __, ...given } = schedule;
  return suggestionText({ ...given, view: shape, order: shape.map((_, k) => k), ...plain }, schedule);
}
