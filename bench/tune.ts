/**
 * npm run bench:tune: what `tune` finds by cycles within 50 full costings, beside the default and the best of
 * the whole grid of candidates: the twenty gathers of bench:default.
 */
import { tune } from "../src/tune/index.js";
import { clockOf } from "../passes/index.js";
import { accessOf } from "../src/api/access.js";
import { targets, type SourceFunc } from "../src/index.js";
import { shownSchedule } from "./five-programs.js";
import { gathers } from "./gathers.js";
import { grid, residenciesOf } from "./grid.js";
import type { Rows } from "./markdown-table.js";

const target = targets.ascendA2;

/**
 * Returns the fewest estimated cycles over all candidate schedules of a gather, and the number of candidates
 * (`looked`). The cycles are Infinity if there is no candidate.
 */
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

/**
 * Computes the documentation table of schedule searches that estimate 50 schedules each. Each row compares
 * the best schedule found, the best of all candidates, and the default schedule.
 */
export async function tuneTable(): Promise<Rows> {
  const rows: (readonly (string | number)[])[] = [];
  for (const [name, func] of gathers) {
    const { best, default: standard, space } = await tune(func, { target, residency: "auto", budget });
    const whole = bestOfGrid(name, func);
    const over = (cycles: number): string => (100 * (cycles / whole.best - 1)).toFixed(2);
    rows.push([
      ...[
        name,
        shownSchedule(best.schedule),
        best.cycles,
        whole.best,
        over(best.cycles),
        over(standard.cycles),
      ],
      ...[`${budget} of ${space.schedules}`, whole.looked],
    ]);
  }
  const head = ["gather", "best found", "cycles", "grid's best", "over it, %", "default over it, %"];
  return [[...head, "costed", "grid"], ...rows];
}

/** Measures schedule searches with 50 estimated schedules, and returns a table of seconds for each gather. */
export async function tuneTimesTable(): Promise<Rows> {
  const rows: (readonly string[])[] = [];
  for (const [name, func] of gathers) {
    const start = performance.now();
    await tune(func, { target, residency: "auto", budget });
    rows.push([name, ((performance.now() - start) / 1000).toFixed(1)]);
  }
  return [["gather", "s"], ...rows];
}
