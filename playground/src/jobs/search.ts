/** Searches over schedules: the space as a map, and `tune`. */
import type { TuneResult } from "../../../src/tune/result.js";
import {
  unscheduled,
  CompileError,
  error,
  formatRoofline,
  printSchedule,
  ratesOf,
  suggestionText,
  type Func,
} from "../../../ir/index.js";
import { tune } from "../../../src/tune/tune.js";
import { gpuMeasurer } from "../../../src/tune/gpu-measurer.js";
import { definedInputs } from "./inputs.js";
import type { Context, Tuned, Work } from "./messages.js";
import { boundFunc, funcOf, type Asked } from "./program.js";
import { acquire } from "./gpu.js";

/** Costings behind the map of a space: its best cells are exact, the others estimates. */
const mapBudget = 24;

/**
 * Searches the tiles of a program for the fewest estimated cycles, for the page's map of tiles. The program's
 * tile is ignored, and symbols have the upper bounds as sizes.
 */
export const spaceFor = (asked: Asked, { signal }: Context): Promise<TuneResult> =>
  tune(withoutTile(funcOf(asked)), { objective: "cycles", budget: mapBudget, signal });

/**
 * Searches for the schedule with the fewest cycles, bytes moved or milliseconds, as `objective` says.
 * Milliseconds are measured on the visitor's GPU. Rejects with a CompileError (TC503) if milliseconds are
 * requested and no GPU is available.
 */
export async function searchFor(
  { objective, budget, inputs, seed, ...asked }: Work["tune"]["ask"],
  { signal, onProgress }: Context,
): Promise<Tuned> {
  const program = withoutTile(boundFunc(asked));
  const options = { objective, budget, seed, signal, onProgress };
  if (objective !== "ms") return tunedOf(await tune(program, options));
  const gpu = await acquire();
  if (!gpu.ok) throw new CompileError([error("TC503", gpu.reason)]);
  const { runner, description } = gpu;
  const result = await tune(unscheduled(program), {
    ...options,
    target: runner.target,
    inputs: definedInputs(program, inputs, seed),
    measure: { backend: "webgpu", open: (task) => gpuMeasurer(runner, description, task) },
  });
  return tunedOf(result);
}

function withoutTile(func: Func): Func {
  const { tile: _, ...schedule } = func.schedule;
  return { ...func, schedule };
}

const tunedOf = (result: TuneResult): Tuned => ({
  result,
  schedule: printSchedule(result.best.schedule),
  standing: formatRoofline(result.best, ratesOf(result.target)),
  flags: suggestionText(result.gather.schedule, result.best.schedule),
});
