/**
 * What a tile program moves, counted without moving it, at a cost that does not depend on the trips of its loops: equal
 * iterations are one. Only rows that indices fetch from global memory are looked up one by one, and the elements of a gather
 * beyond the three operators' kind. The checked executor counts the same as it runs.
 */
import { followedBy, isPlain, plainSites, gatheredTable } from "../../ir/access.js";
import { addressOf, stepsOf, type Place } from "../../ir/addressing.js";
import { inputOf, operandNamed, type Operand, type TileFunc } from "../../ir/func.js";
import { loopPart } from "../../ir/linear.js";
import { isParam, ubBuffers } from "../../ir/regions.js";
import type { Target } from "../../ir/target.js";
import { statementsOf, taskOfTile, type Task } from "../../ir/task/index.js";
import type { ForStmt, GatherStmt, Region, Stmt } from "../../ir/tile.js";
import { assertNever, at, bytesOf, invariant, strides } from "../../ir/types.js";
import type { HostInputs } from "../memory.js";
import { countRows } from "./count-rows.js";
import { countSites } from "./count-sites.js";
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
  const by = strides(operand.type.shape);
  forEachGroup(loops, sizes, (values, times) => {
    count(operand, counters, times, values, (runs) => {
      runs.add(0, 1);
      for (let d = by.length - 1; d >= 0; d--) runs.repeat(at(values, d), at(by, d));
    });
  });
}

/** A statement that runs so many times, and what it touches if its tile is not empty. */
function count(
  operand: Operand,
  counters: Counters,
  times: number,
  sizes: readonly number[],
  touch: (runs: Runs) => void,
): void {
  const counter = counterOf(counters, operand);
  counter.transfers += times;
  if (sizes.includes(0)) return;
  const runs = new Runs();
  touch(runs);
  runs.report(counter, bytesOf(operand.type.dtype), times);
}

/** What a gather reads and writes in place. */
function countGather(
  func: TileFunc,
  task: Task,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  inputs: HostInputs,
  counters: Counters,
): void {
  const inGm = (region: Region): boolean => isParam(func, region.buffer);
  if (!isPlain(stmt.map)) {
    if ([...stmt.from, stmt.to].some(inGm)) countSites(func, task, stmt, loops, inputs, counters);
    return;
  }
  stmt.from.forEach((region, table) => {
    if (!inGm(region)) return;
    if (table !== gatheredTable) countIndices(func, stmt, table, loops, counters);
    else countRows(func, stmt, loops, inputs, counterOf(counters, inputOf(func, table)));
  });
  if (inGm(stmt.to)) countBox(func, stmt.to, loops, counters);
}

/** Each index of the tile once, in the order in which the output first needs it. */
function countIndices(
  func: TileFunc,
  stmt: GatherStmt,
  table: number,
  loops: readonly ForStmt[],
  counters: Counters,
): void {
  const operand = inputOf(func, table);
  const place: Place = { offsets: at(stmt.origins, table - 1), strides: strides(operand.type.shape) };
  const addresses = plainSites(stmt.map).flatMap(({ value }) =>
    value.table === table ? [addressOf(value.at, place)] : [],
  );
  const follows = followedBy(stmt.map, table);
  const rank = stmt.to.sizes.length;
  const by = stepsOf(at(addresses, 0), rank);
  const components = [...new Set(addresses.map((address) => loopPart(address).at))];
  forEachGroup(loops, stmt.to.sizes, (sizes, times) => {
    count(operand, counters, times, sizes, (runs) => {
      for (const component of components) runs.add(component, 1);
      for (let d = rank - 1; d >= 0; d--) if (follows.has(d)) runs.repeat(at(sizes, d), at(by, d));
    });
  });
}
