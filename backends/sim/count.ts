/**
 * Traffic counts of a tile program, found without moving data. The cost does not depend on the trip counts of
 * its loops: equal iterations are counted as one. Only the elements in global memory that index values name
 * are looked up one by one. The checked executor counts the same while it runs. A program with a scatter is
 * executed to count its traffic.
 */
import { operandNamed, type TileFunc } from "../../ir/func.js";
import { isParam, ubBuffers } from "../../ir/regions.js";
import type { Target } from "../../ir/target.js";
import { statementsOf, taskOfTile } from "../../ir/task/index.js";
import { accessesOf, hasScatter, ubEnd, type ForStmt, type Region, type Stmt } from "../../ir/tile.js";
import { at, invariant, meanBytes, strides } from "../../ir/types.js";
import type { HostInputs } from "../memory.js";
import { countScatter } from "./checked.js";
import { countGather } from "./count-gather.js";
import { forEachGroup, iterationsOf } from "./iteration-groups.js";
import { Runs } from "./runs.js";
import { counterOf, newCounters, type Counters, type Counts } from "./summary.js";

/**
 * Returns the counts of an execution of a tile program, derived from index values. The counts are traffic,
 * tasks, gathers, syncs, and peak bytes of unified buffer (UB).
 */
export function countTraffic(func: TileFunc, inputs: HostInputs, target: Target): Counts {
  if (hasScatter(func.body)) return countScatter(func, inputs, target);
  const counters = newCounters(func, target);
  let [gathers, syncs] = [0, 0];
  const task = taskOfTile(func);
  for (const { stmt, loops } of statementsOf(func)) {
    if (stmt.op === "sync") syncs += iterationsOf(loops);
    if (stmt.op === "gather") {
      gathers += iterationsOf(loops);
      countGather(func, task, stmt, loops, inputs, counters);
    }
    for (const { region, write } of accessesOf(stmt)) {
      // A gather's reads are counted by its indices.
      if (region === undefined || !isParam(func, region.buffer) || (stmt.op === "gather" && !write)) continue;
      // The last run of a gather's terms writes.
      const isChunked = stmt.op === "gather" && stmt.chunk !== undefined;
      countRegion(func, region, isChunked ? loops.slice(0, -1) : loops, counters);
    }
  }
  const ubPeak = ubEnd(ubBuffers(func).values());
  return { counters, tasks: tasksOf(func.body), gathers, syncs, ubPeak };
}

/** Iterations of the innermost parallel loop. */
function tasksOf(body: readonly Stmt[], loops: readonly ForStmt[] = []): number {
  if (body.length === 0 && loops.length === 0) return 0;
  const parallel = body.flatMap((stmt) => (stmt.op === "for" && stmt.mode === "parallel" ? [stmt] : []));
  if (parallel.length === 0) return iterationsOf(loops);
  return parallel.reduce((sum, loop) => sum + tasksOf(loop.body, [...loops, loop]), 0);
}

/** Adds the traffic of a region, over all iterations of `loops`, to the counter of the region's operand. */
function countRegion(
  func: TileFunc,
  { buffer, sizes }: Region,
  loops: readonly ForStmt[],
  counters: Counters,
): void {
  const operand = operandNamed(func, buffer);
  invariant(operand !== undefined, `%${buffer} is no parameter`);
  const counter = counterOf(counters, operand);
  const by = strides(operand.type.shape);
  forEachGroup(loops, sizes, (values, times) => {
    counter.transfers += times;
    if (values.includes(0)) return;
    const runs = new Runs();
    runs.add(0, 1);
    for (let d = by.length - 1; d >= 0; d--) runs.repeat(at(values, d), at(by, d));
    runs.report(counter, meanBytes(operand.type.dtype), times);
  });
}
