/**
 * npm run bench:tune: what `tune` finds by cycles within 50 full costings, beside the default and the best of the whole grid of
 * candidates: the twenty gathers of bench:default. `--write` puts the table into docs/tuning.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { formatEntry, formatShape } from "../ir/index.js";
import { tune } from "../src/tune/index.js";
import { clockOf } from "../passes/index.js";
import { packageFile } from "../src/device/package-files.js";
import { accessOf } from "../src/api/access.js";
import { targets, type SourceFunc } from "../src/index.js";
import { gathers } from "./gathers.js";
import { grid, residenciesOf } from "./grid.js";

const target = targets.ascendA2;

/** The fewest cycles of the grid, and how many schedules it holds. */
function bestOfGrid(name: string, func: SourceFunc) {
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error(`${name} has an access level`);
  let [best, looked] = [Infinity, 0];
  for (const residency of residenciesOf(gather, target)) {
    for (const tiling of grid(gather, residency, target)) {
      looked++;
      best = Math.min(best, clockOf(tiling).cycles);
    }
  }
  return { best, looked };
}

const budget = 50;
const rows: string[][] = [];
for (const [name, func] of gathers) {
  const start = performance.now();
  const found = await tune(func, { target, residency: "auto", budget });
  const seconds = (performance.now() - start) / 1000;
  const whole = bestOfGrid(name, func);
  const { best, default: own, space } = found;
  const over = (cycles: number): string => (100 * (cycles / whole.best - 1)).toFixed(2);
  rows.push([
    name,
    `${formatEntry(best.schedule.residency)} ${formatShape(best.schedule.tile)}`,
    String(best.cycles),
    String(whole.best),
    over(best.cycles),
    over(own.cycles),
    `${budget} of ${space.schedules}`,
    String(whole.looked),
    seconds.toFixed(1),
  ]);
  console.error(rows.at(-1)?.join("  "));
}

const head = [
  "gather",
  "best found",
  "cycles",
  "grid's best",
  "over it, %",
  "default over it, %",
  "costed",
  "grid",
  "s",
];
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const text = [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
if (process.argv.includes("--write")) {
  const file = packageFile("docs/tuning.md");
  const page = readFileSync(file, "utf8");
  const [begin, end] = ["<!-- bench:tune -->", "<!-- /bench:tune -->"];
  const [before = "", rest = ""] = page.split(begin);
  writeFileSync(file, `${before}${begin}\n\n${text}\n\n${end}${rest.split(end)[1] ?? ""}`);
} else console.log(text);
