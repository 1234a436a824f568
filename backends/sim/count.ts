/**
 * What a tile program moves, counted without moving it, at a cost that does not depend on the trips of its loops: equal
 * iterations are one. Only what index values lead to in global memory is looked up one by one. The checked executor counts the
 * same as it runs.
 */
import { operandNamed, type TileFunc } from "../../ir/func.js";
import { isParam, ubBuffers } from "../../ir/regions.js";
import type { Target } from "../../ir/target.js";
import { statementsOf, taskOfTile } from "../../ir/task/index.js";
import type { ForStmt, Region, Stmt } from "../../ir/tile.js";
import { assertNever, at, invariant, meanBytes, strides } from "../../ir/types.js";
import type { HostInputs } from "../memory.js";
import { countGather } from "./count-gather.js";
import { forEachGroup, iterationsOf } from "./iteration-groups.js";
import { Runs } from "./runs.js";
import { counterOf, newCounters, type Counters, type Counts } from "./summary.js";
import { peakOf } from "./ub-arena.js";

export function countTraffic(func: TileFunc, inputs: HostInputs, target: Target): Counts {
  const counters = newCounters(func, target);
  let [gathers, syncs] = [0, 0];
  const task = taskOfTile(func);
  for (const { stmt, loops } of statementsOf(func)) {
    switch (stmt.op) {
      case "load":
        countBox(func, stmt.from, loops, counters);
        break;
      case "store":
        countBox(func, stmt.to, loops, counters);
        break;
      case "gather":
        gathers += iterationsOf(loops);
        countGather(func, task, stmt, loops, inputs, counters);
        if (isParam(func, stmt.to.buffer)) {
          // The last run of a gather's terms writes.
          const writing = stmt.part === undefined ? loops : loops.slice(0, -1);
          countBox(func, stmt.to, writing, counters);
        }
        break;
      case "sync":
        syncs += iterationsOf(loops);
        break;
      case "for":
      case "alloc":
        break;
      default:
        assertNever(stmt);
    }
  }
  const ubPeak = peakOf(ubBuffers(func).values());
  return { counters, tasks: tasksOf(func.body), gathers, syncs, ubPeak };
}

/** Iterations of the innermost parallel loop. */
function tasksOf(body: readonly Stmt[], loops: readonly ForStmt[] = []): number {
  if (body.length === 0 && loops.length === 0) return 0;
  const parallel = body.flatMap((stmt) => (stmt.op === "for" && stmt.mode === "parallel" ? [stmt] : []));
  if (parallel.length === 0) return iterationsOf(loops);
  return parallel.reduce((sum, loop) => sum + tasksOf(loop.body, [...loops, loop]), 0);
}

/** A region of a tensor, whole. */
function countBox(
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
