/**
 * npm run bench:default: the compiler's own schedule beside the best of the whole grid of candidates, in
 * cycles of ascend-a2 under residency auto: the ten workloads of the benchmarks and ten other gathers, or
 * with `--random 60` so many of random sizes, each beside the grid of the residency that it got.
 */
import { cyclesOf, outputOf, type AccessFunc, type Tiling } from "../ir/index.js";
import { clockOf } from "../passes/index.js";
import { accessOf } from "../src/api/access.js";
import { compile, targets, type SourceFunc } from "../src/index.js";
import { table } from "../src/report/table.js";
import { countOf, parseFlags, shared } from "./flags.js";
import { gathers } from "./gathers.js";
import { grid, residenciesOf, shown } from "./grid.js";
import { sizedGathers } from "./sized-gathers.js";
import { count } from "./workloads.js";

const target = targets.ascendA2;

/**
 * Returns the candidate schedule with the fewest estimated cycles for a residency (memory in which an operand
 * is kept), and the number of candidates. `best` is undefined if there is no candidate.
 */
function bestOf(gather: AccessFunc, residency: "ub" | "gm") {
  let best: { readonly cycles: number; readonly tiling: Tiling } | undefined;
  let looked = 0;
  for (const tiling of grid(gather, residency, target)) {
    looked++;
    const { cycles } = clockOf(tiling);
    if (best === undefined || cycles < best.cycles) best = { cycles, tiling };
  }
  return { best, looked };
}

/**
 * Returns a row of the bench:default table: estimated cycles of the default schedule and of the best
 * candidate. If `inItsResidency` is true, only candidates with the residency of the default schedule are
 * considered.
 */
function rowOf(name: string, func: SourceFunc, inItsResidency: boolean) {
  const { tile } = compile(func, { target, residency: "auto" });
  const chosen = cyclesOf(tile, target).cycles;
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error(`${name} has an access level`);
  const residencies = residenciesOf(gather, target).filter(
    (residency) => !inItsResidency || residency === tile.schedule.residency,
  );
  const all = residencies.map((residency) => bestOf(gather, residency));
  const best = Math.min(...all.map((found) => found.best?.cycles ?? Infinity));
  const fastest = all.find((found) => found.best?.cycles === best)?.best?.tiling.schedule;
  const looked = all.reduce((sum, found) => sum + found.looked, 0);
  return {
    name,
    elements: count(outputOf(func).type.shape),
    chosen,
    best,
    looked,
    of: shown(tile.schedule),
    fastest: fastest === undefined ? "" : shown(fastest),
  };
}

const { json, random } = parseFlags(
  "bench:default",
  "the default schedule beside the best of the whole grid, in cycles",
  {
    json: shared.json,
    random: { type: "string", help: "this many gathers of random sizes instead of the twenty" },
  },
);
const subjects: readonly (readonly [name: string, func: SourceFunc])[] =
  random === undefined
    ? gathers
    : sizedGathers(countOf("random", random), 32).map((func, k) => [`${k + 1} ${func.name}`, func]);
const rows = subjects.map(([name, func], k) => {
  const start = performance.now();
  const row = rowOf(name, func, random !== undefined);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.error(`${k + 1} of ${subjects.length}: ${name}, ${row.looked} candidates in ${seconds} s`);
  return row;
});

if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else {
  console.log(
    table(
      ["gather", "default", "best", "over %", "candidates", "schedule", "the best's"],
      rows.map((r) => [
        r.name,
        r.chosen,
        r.best,
        Number((100 * (r.chosen / r.best - 1)).toFixed(2)),
        r.looked,
        r.of,
        r.fastest,
      ]),
    ),
  );
}
