/** Flags that give a schedule again. */
import { suggestionText } from "../../ir/tiling/index.js";
import { outputOf, type Schedule, type Shape } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";

/**
 * Returns the command-line flags that set a schedule's tile, residency, buffers, view and order. An entry has
 * no flag if it equals the entry in `plain` or, without an entry in `plain`, the default. `extents`: elements
 * that the schedule splits into tiles, along each dim.
 */
export function scheduleFlags(schedule: Schedule, extents: Shape, plain: Schedule = {}): string {
  const { residency: _, buffers: __, ...given } = schedule;
  return suggestionText({ ...given, view: extents, order: extents.map((_, k) => k), ...plain }, schedule);
}

/**
 * Returns the extents that a kernel's schedule splits into tiles: the output of a gather, or the domain of a
 * scatter.
 */
export const tiledExtents = ({ access, tile }: Pick<Kernel, "access" | "tile">): Shape =>
  access === undefined ? outputOf(tile).type.shape : access.map.domain;
