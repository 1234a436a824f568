/**
 * npm run bench:default: the compiler's own schedule beside the best of the whole grid of candidates, in cycles of ascend-a2
 * under residency auto: the ten workloads of the benchmarks and ten other gathers.
 */
import { cyclesOf, outputOf } from "../ir/index.js";
import { compile, type SourceFunc } from "../src/index.js";
import { table } from "../src/report/table.js";
import { bestOfGrid, gathers, target } from "./grid.js";
import { count } from "./workloads.js";

const rows = gathers.map(([name, func]) => {
  const { tile } = compile(func, { target, residency: "auto" });
  const chosen = clockOfProgram(func);
  const { best, fastest, looked } = bestOfGrid(name, func);
  const { schedule } = tile;
  const shown = (s: typeof schedule | undefined): string =>
    s === undefined
      ? ""
      : `${s.residency} [${s.tile?.join()}] x${s.buffers} order ${s.order?.join("")} view ${s.view?.join()}`;
  return {
    name,
    elements: count(outputOf(func).type.shape),
    chosen,
    best,
    looked,
    of: shown(schedule),
    fastest: shown(fastest),
  };
});

function clockOfProgram(func: SourceFunc): number {
  const { tile } = compile(func, { target, residency: "auto" });
  return cyclesOf(tile, target).cycles;
}

if (process.argv.includes("--json")) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
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
