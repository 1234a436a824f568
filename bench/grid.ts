/** The whole grid of candidates of a gather, which the compiler's search only samples. */
import {
  formatEntry,
  gmAllowed,
  type AccessFunc,
  type Schedule,
  type Shape,
  type Target,
  type Tiling,
} from "../ir/index.js";
import { gridOf, ScheduleSpace, withDefaults } from "../passes/index.js";

/**
 * Yields the candidate schedules of a gather for a residency (memory in which an operand is kept: `ub` or
 * `gm`). Only candidates whose buffers fit the target's unified buffer (UB) are yielded.
 */
export function* grid(gather: AccessFunc, residency: "ub" | "gm", target: Target): Generator<Tiling> {
  const space = new ScheduleSpace(withDefaults(gather, residency, target), target.ubSafeBytes);
  const { start } = space;
  const fits = (tile: Shape): boolean => space.fits(start.with({ tile }));
  for (const tile of gridOf(start.schedule.tile, space.axes(), fits))
    yield* space.schedulesInEveryOrder(start.with({ tile }));
}

/**
 * Returns the residencies (memory in which an operand is kept) that a gather may have on a target: `ub`, and
 * `gm` if permitted.
 */
export const residenciesOf = (gather: AccessFunc, target: Target): readonly ("ub" | "gm")[] =>
  gmAllowed(gather, target) ? ["ub", "gm"] : ["ub"];

/** Formats a schedule as one line of text for a table. */
export const shown = ({ residency, tile, buffers, order, view }: Schedule): string =>
  `${residency === undefined ? "" : formatEntry(residency)} [${tile?.join()}] x${buffers === undefined ? "" : formatEntry(buffers)} order ${order?.join("")} view ${view?.join()}`;
