/**
 * What a gather beyond the three operators' kind reads and writes in place, by a walk over its elements: which rows it fetches and
 * which index values it looks at, the values themselves say.
 */
import { gatheredTable, isRead } from "../../ir/access.js";
import { gatherAddresses, stepsOf, tensorPlace } from "../../ir/addressing.js";
import { inputOf, inputsOf, outputOf, type TileFunc } from "../../ir/func.js";
import { evaluate, isAffine, sitesOf } from "../../ir/linear.js";
import { iterations } from "../../ir/intervals/loop-bounds.js";
import { isParam } from "../../ir/regions.js";
import type { Task } from "../../ir/task/index.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, bytesOf } from "../../ir/types.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";
import { SiteWalk, siteSteps } from "../site-values.js";
import { box } from "../box.js";
import { BurstRun } from "./counter.js";
import { counterOf, type Counters } from "./summary.js";

export function countSites(
  func: TileFunc,
  task: Task,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  inputs: HostInputs,
  counters: Counters,
): void {
  const { map } = stmt;
  const rank = stmt.to.sizes.length;
  const elementBytes = bytesOf(outputOf(func).type.dtype);
  const inGm = [...stmt.from, stmt.to].map(({ buffer }) => isParam(func, buffer));
  const outputInGm = at(inGm, inGm.length - 1);
  const addresses = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  const walk = new SiteWalk(siteSteps(map, addresses.sites, func.operands));
  const tables = inputsOf(func).map((operand, table) => {
    const { dtype } = operand.type;
    const isIndex = map.sites.some(({ value }) => isRead(value) && value.table === table);
    return isIndex
      ? {
          read: indexReader(tensorOf(inputs, operand).bytes, dtype),
          bytes: bytesOf(dtype),
          run: new BurstRun(counterOf(counters, operand)),
          seen: new Set<number>(),
        }
      : undefined;
  });
  const [fetched, put] = [
    new BurstRun(counterOf(counters, inputOf(func, gatheredTable))),
    new BurstRun(counterOf(counters, outputOf(func))),
  ];
  // Elements of a line that share their sites and lie together are one row.
  const forms = [addresses.data, ...addresses.sites];
  const shared =
    forms.every(isAffine) && addresses.sites.every((form) => (stepsOf(form, rank)[rank - 1] ?? 0) === 0);
  const isRow = shared && stepsOf(addresses.data, rank)[rank - 1] === 1;
  for (const env of iterations(loops)) {
    stmt.from.forEach((_, table) => {
      if (at(inGm, table)) counterOf(counters, inputOf(func, table)).transfers++;
    });
    if (outputInGm) counterOf(counters, outputOf(func)).transfers++;
    for (const found of tables) found?.seen.clear();
    const sizes = stmt.to.sizes.map((size) => evaluate(size, env));
    const length = isRow ? at(sizes, rank - 1) : 1;
    if (sizes.includes(0)) continue;
    for (const dims of box(isRow ? [...sizes.slice(0, -1), 1] : sizes)) {
      let ended = 0;
      for (const step of walk.steps) {
        // What is read at dims alone is read whatever the others name.
        if (ended < 0 && (step.table === undefined || sitesOf(step.form).length > 0)) continue;
        const found = step.table === undefined ? undefined : at(tables, step.table);
        let element: number;
        if (found === undefined) {
          element = walk.takeSum(step, dims, env);
        } else {
          const { read, bytes, run, seen } = found;
          const position = walk.position(step, dims, env);
          if (at(inGm, step.table ?? gatheredTable) && !seen.has(position)) {
            seen.add(position);
            run.add(position * bytes, bytes);
          }
          element = walk.take(step, read(position), read, position);
        }
        if (ended === 0) ended = element;
      }
      if (ended === 0 && at(inGm, gatheredTable)) {
        const element = evaluate(addresses.data, env, { dims, sites: walk.sites });
        fetched.add(element * elementBytes, length * elementBytes);
      }
      if (outputInGm) {
        const element = evaluate(addresses.output, env, { dims, sites: [] });
        put.add(element * elementBytes, length * elementBytes);
      }
    }
    for (const run of [fetched, put, ...tables.map((table) => table?.run)]) run?.end();
  }
}
