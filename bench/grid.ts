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

/** Every schedule of a residency that fits the target's safe size. */
export function* grid(gather: AccessFunc, residency: "ub" | "gm", target: Target): Generator<Tiling> {
  const space = new ScheduleSpace(withDefaults(gather, residency, target), target.ubSafeBytes);
  const { start } = space;
  const fits = (tile: Shape): boolean => space.fits(start.with({ tile }));
  for (const tile of gridOf(start.schedule.tile, space.axes(), fits))
    yield* space.schedulesInEveryOrder(start.with({ tile }));
}

/** Residencies that a gather may have on a target. */
export const residenciesOf = (gather: AccessFunc, target: Target): readonly ("ub" | "gm")[] =>
  gmAllowed(gather, target) ? ["ub", "gm"] : ["ub"];

/** A schedule in one line of a table. */
export const shown = ({ residency, tile, buffers, order, view }: Schedule): string =>
  `${residency === undefined ? "" : formatEntry(residency)} [${tile?.join()}] x${buffers === undefined ? "" : formatEntry(buffers)} order ${order?.join("")} view ${view?.join()}`;
