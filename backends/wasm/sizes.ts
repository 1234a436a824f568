/** The numbers that the sizes of symbols tell the code of a program over them: parameters of its function. */
import { runtimeParamNames, runtimeParamValues } from "../../ir/symbols/dynamic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { hasDynamicTrips, type ParallelNest } from "../../ir/task/index.js";
import type { WasmLayout } from "./layout.js";

/** Where an operand starts in memory. */
export const startName = (operand: number): string => `start${operand}`;
/** Iterations of a parallel loop. */
export const tripsName = (loop: number): string => `trips${loop}`;

/** Names of the parameters, in their order; none for a program of numbers. */
export function sizeParameters(func: TileFunc, { loops }: ParallelNest): readonly string[] {
  if (func.symbolic === undefined) return [];
  return [
    ...runtimeParamNames(func),
    ...func.operands.map((_, k) => startName(k)),
    ...loops.flatMap((loop, k) => (hasDynamicTrips(loop) ? [tripsName(k)] : [])),
  ];
}

/** What they are for one size, whose layout and loops are given. */
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
