/** The whole grid of candidates of a gather, which the compiler's search only samples. */
import {
  formatEntry,
  gmAllowed,
  type AccessFunc,
  type Schedule,
  type Target,
  type Tiling,
} from "../ir/index.js";
import { candidates, fits, variantsInEveryOrder, withDefaults } from "../passes/index.js";

/** Every schedule of a residency that fits the target's safe size. */
export function* grid(gather: AccessFunc, residency: "ub" | "gm", target: Target): Generator<Tiling> {
  const { start, free, entries } = candidates(withDefaults(gather, residency, target));
  function* from(tiling: Tiling, k: number): Generator<Tiling> {
    // Larger entries only take more.
    if (!fits(tiling, target.ubSafeBytes)) return;
    const d = free[k];
    if (d === undefined) {
      yield* variantsInEveryOrder(tiling, target.ubSafeBytes);
      return;
    }
    for (const entry of entries.get(d) ?? [])
      yield* from(
        tiling.with({ tile: tiling.schedule.tile.map((old, e) => (e === d ? entry : old)) }),
        k + 1,
      );
  }
  yield* from(start, 0);
}

/** Residencies that a gather may have on a target. */
export const residenciesOf = (gather: AccessFunc, target: Target): readonly ("ub" | "gm")[] =>
  gmAllowed(gather, target) ? ["ub", "gm"] : ["ub"];

/** A schedule in one line of a table. */
export const shown = ({ residency, tile, buffers, order, view }: Schedule): string =>
  `${residency === undefined ? "" : formatEntry(residency)} [${tile?.join()}] x${buffers === undefined ? "" : formatEntry(buffers)} order ${order?.join("")} view ${view?.join()}`;
