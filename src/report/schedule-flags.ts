/** Flags that give a schedule again. */
import { suggestionText } from "../../ir/tiling/index.js";
import type { Schedule, Shape } from "../../ir/index.js";

/**
 * Returns the command-line flags that set a schedule's tile, residency, buffers, view and order. An entry has
 * no flag if it equals the entry in `plain` or, without an entry in `plain`, the default. `shape`: shape of
 * the output, in elements.
 */
export function scheduleFlags(schedule: Schedule, shape: Shape, plain: Schedule = {}): string {
  const { residency: _, buffers: __, ...given } = schedule;
  return suggestionText({ ...given, view: shape, order: shape.map((_, k) => k), ...plain }, schedule);
}
