/**
 * The tile program that a tiling stands for, and how long it takes: what the pipeline makes of it, without
 * the judgement of its rules. So every report and every choice reads the clock of the program that would run.
 */
import { cyclesOf, type ClockResult } from "../ir/clock/index.js";
import type { Func, DynamicTile, TileFunc } from "../ir/func.js";
import { targetFacts } from "../ir/target.js";
import type { Symbolic } from "../ir/symbols/symbols.js";
import type { Tiling } from "../ir/tiling/index.js";
import { InternalError, invariant } from "../ir/types.js";
import { allocateUb } from "./allocate-ub.js";
import { hoistLoads } from "./hoist-loads.js";
import { insertSync } from "./insert-sync.js";
import { dynamicTileProgram, tileProgram } from "./tile-program.js";
import { contextFor } from "./pass.js";

/** Returns the final tile program of a tiling, with addresses, syncs and hoisted loads. */
export const lowered = (tiling: Tiling): TileFunc => finished(tileProgram(decided(tiling)), tiling);

/**
 * Returns one tile program for all sizes of a program's symbols (dynamic extents). The tiling's schedule must
 * be for the largest sizes. Undefined for a scatter whose domain has no points, or a dynamic size after
 * the outermost.
 */
export function dynamicLowered(tiling: Tiling, symbolic: Symbolic): DynamicTile | undefined {
  const program = dynamicTileProgram(decided(tiling), symbolic);
  return program === undefined ? undefined : { ...finished(program, tiling), symbolic };
}

/**
 * Returns a tile program after the passes that hoist loads, allocate addresses and insert syncs. Diagnostics
 * are discarded.
 */
function finished(program: TileFunc, { target }: Tiling): TileFunc {
  // A tile over its budget has cycles too: explain shows them beside the refusal.
  const context = contextFor(target);
  const func = [hoistLoads, allocateUb, insertSync].reduce<Func>(
    (before, pass) => pass.run(before, context),
    program,
  );
  if (func.level !== "tile") throw new InternalError("a lowered tiling is a tile program");
  return func;
}

/**
 * Clocks of tilings, and of what they became once a lowering was decided: a tiling knows no pass. Weak:
 * searches drop tilings.
 */
const clocks = new WeakMap<Tiling, ClockResult>();

/**
 * Returns the simulated timing of the program of a tiling, in cycles. Executing the program reports the same
 * cycles. Results are cached by tiling.
 */
export function clockOf(tiling: Tiling): ClockResult {
  const clock = clocks.get(tiling) ?? cyclesOf(finished(tileProgram(tiling), tiling), tiling.target);
  clocks.set(tiling, clock);
  return clock;
}

/**
 * Returns the tiling with the lowering that has the fewest simulated cycles. The footprint of the result
 * includes the bytes that the lowering adds in the unified buffer (UB).
 */
export function decided(tiling: Tiling): Tiling {
  const lowering = tiling.decided(() => {
    // Elsewhere there is one way.
    if (!targetFacts[tiling.target.kind].vectorUnit || tiling.scatter !== undefined) return tiling.lowering;
    const { lowering } = clockOf(tiling);
    invariant(lowering !== undefined, "a program with elements has a gather");
    return lowering;
  });
  const clock = clocks.get(tiling);
  if (clock !== undefined) clocks.set(lowering, clock);
  return lowering;
}
