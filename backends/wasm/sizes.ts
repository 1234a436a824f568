/** The numbers that the sizes of symbols tell the code of a program over them: parameters of its function. */
import { runtimeParamNames, runtimeParamValues } from "../../ir/symbols/dynamic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { hasDynamicTrips, type ParallelNest } from "../../ir/task/index.js";
import type { WasmLayout } from "./layout.js";

/**
 * Returns the name of the runtime parameter for the byte address of an operand's tensor in memory. `operand`:
 * index of the operand.
 */
export const startName = (operand: number): string => `start${operand}`;
/**
 * Returns the name of the runtime parameter for the trip count of a parallel loop. `loop`: index of the loop.
 */
export const tripsName = (loop: number): string => `trips${loop}`;

/**
 * Returns the names of the runtime parameters of a program's code, in order; an empty list for a program
 * without dynamic sizes.
 */
export function sizeParameters(func: TileFunc, { loops }: ParallelNest): readonly string[] {
  if (func.symbolic === undefined) return [];
  return [
    ...runtimeParamNames(func),
    ...func.operands.map((_, k) => startName(k)),
    ...loops.flatMap((loop, k) => (hasDynamicTrips(loop) ? [tripsName(k)] : [])),
  ];
}

/**
 * Returns the values of the runtime parameters `names` for one set of sizes, in order. `params`: values that
 * depend on symbols. `loops`: parallel loops, for trip counts.
 */
export function argumentsOf(
  names: readonly string[],
  params: Env,
  { operands }: WasmLayout,
  { loops }: ParallelNest,
): readonly number[] {
  const values = new Map([
    ...params,
    ...operands.map((start, k): [string, number] => [startName(k), start]),
    ...loops.map(({ trips }, k): [string, number] => [tripsName(k), trips]),
  ]);
  return runtimeParamValues(names, values);
}
