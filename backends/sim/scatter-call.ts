/** A call of a scatter on the fast executor: in the caller's memory where that is written in place. */
import type { TileFunc } from "../../ir/func.js";
import { directPlanOf } from "../direct/plan.js";
import { runDirect } from "../direct/run.js";
import type { ScatterPlan } from "../direct/scatter-plan.js";
import { scatterSteps } from "../direct/scatter-run.js";
import { allocateArray, type HostInputs } from "../memory.js";
import { byteCount } from "../../ir/types.js";
import { outputOf } from "../../ir/func.js";
import { keptExecutors } from "../wasm/cached-executors.js";
import type { FastExecutor } from "../wasm/executor.js";
import { runCopied } from "./copied-call.js";

/**
 * Executes a scatter and returns the output's bytes; yields regularly. If the fast executor computes the
 * updates, they stay in its memory until the scatter ends.
 */
export function* scatterCall(plan: ScatterPlan, inputs: HostInputs): Generator<number, Uint8Array> {
  const taken: { tile: TileFunc; executor: FastExecutor }[] = [];
  try {
    return yield* scatterSteps(plan, inputs, function* (tile, given) {
      yield 0;
      const direct = directPlanOf(tile);
      if (direct !== undefined) {
        const updates = allocateArray(byteCount(outputOf(tile).type), "the updates");
        runDirect(direct, given, updates);
        return updates;
      }
      const executor = keptExecutors.take(tile);
      // The updates lie in its memory: it is given back behind the last use of them.
      taken.push({ tile, executor });
      return runCopied(tile, executor, given).output;
    });
  } finally {
    for (const { tile, executor } of taken) keptExecutors.giveBack(tile, executor);
  }
}
