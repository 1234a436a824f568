/**
 * A bound from below on the clock of a gather whose data is staged, on a machine that could gather it in place, whatever tile,
 * view and order it gets: what a search need not look at where something else is known to take no longer.
 */
import { gatheredTable, inputTile } from "../access.js";
import { targetFacts } from "../target.js";
import type { Tiling } from "../tiling/index.js";
import { at, byteCount, dtypeBytes, elementCount } from "../types.js";
import { cyclesOfWork, granule, noWork } from "./statement.js";

/**
 * Cycles that no schedule with the residency of this one is under; 0 where no bound is known. Each task starts one run of memory
 * for each operand, fills one cache line of it and gathers one row. All of them together move every byte that the gather reaches
 * and gather every element, and the busiest core does no less than the mean. More tasks share that, and take longer to start.
 */
export function leastCycles({ gather, residency, extents, schedule, target }: Tiling): number {
  const { gathersInPlace } = targetFacts[target.kind];
  if (!gathersInPlace || residency !== "ub" || gather.operands.some(({ type }) => byteCount(type) === 0))
    return 0;
  const { operands } = gather;
  const size = dtypeBytes[at(operands, gatheredTable).type.dtype];
  const elements = elementCount(extents);
  let bytes = 0;
  operands.forEach(({ role, type }, table) => {
    const reached = role === "output" ? extents : inputTile(gather.map, table, extents, type.shape);
    bytes += elementCount(reached) * dtypeBytes[type.dtype];
  });
  const rows = elements / (extents[extents.length - 1] ?? 1);
  const repeats = (elements * Math.min(1, size / target.vectorBytes)) / target.lanes;
  /** Of a core that does so much of the work, while so many are busy. */
  const busy = (share: number, cores: number): number =>
    cyclesOfWork(
      {
        ...noWork,
        instructions: operands.length,
        padded: Math.max(operands.length * granule(target), bytes * share),
        rows: Math.max(1, rows * share),
        repeats: Math.max(1, repeats * share),
      },
      "V",
      target,
      cores,
    );
  // Loads may run beside the gather of another task, but each gather waits for its own.
  if (target.overlaps) return busy(0, 1) + Math.ceil(target.syncCycles) + Math.ceil(target.taskCycles);
  let least = Infinity;
  for (let tasks = 1; tasks <= schedule.cores && tasks * target.taskCycles < least; tasks++)
    least = Math.min(least, busy(1 / tasks, tasks) + Math.ceil(tasks * target.taskCycles));
  return least;
}
