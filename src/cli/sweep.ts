/** tilec tune --sweep: the best schedule and the default over a figure of the target. */
import { defined, type Func, type Schedule } from "../../ir/index.js";
import { resolveTargetOf } from "../api/compile.js";
import { outputFormats } from "../output/mark.js";
import {
  entryKeys,
  figureCells,
  figureLabels,
  figureTexts,
  inTableOrder,
  type ScheduleFigures,
} from "../report/figures.js";
import { table } from "../report/table.js";
import { sweep, type Sweep, type SweepPoint } from "../tune/sweep.js";
import { parseSeed, targeting } from "./options.js";
import { pipelineOf } from "./pipeline-flags.js";
import { progressBar } from "./progress.js";
import { parseSweep } from "./sweep-values.js";
import type { Outputs } from "./outputs.js";
import { note, print, printJson, printReport } from "./terminal.js";
import { parseBudget, refuseWith, type TuneFlags } from "./tune-flags.js";
import { UsageError } from "./usage-error.js";

/**
 * Searches for the best schedule at each value of one target parameter, for example `cores`, and prints the
 * results. `written`: value of `--sweep`. Resolves to the exit code: 1 if no schedule is legal or a file
 * cannot be written, else 0. Rejects with a UsageError for a parameter that the schedule sets, or a flag
 * without effect.
 */
export async function sweepOne(
  func: Func,
  written: string,
  flags: TuneFlags,
  outputs: Outputs,
): Promise<number> {
  refuseWith("sweep", flags, ["records"]);
  const target = resolveTargetOf(func, targeting(flags));
  const { figure, values } = parseSweep(written, target);
  const { schedule }: { readonly schedule: Schedule } = func;
  if ((figure === "cores" || figure === "ubBytes") && schedule[figure] !== undefined)
    throw new UsageError(
      `--sweep ${figure} cannot be used with a schedule that fixes ${figure}`,
      "leave one of the two out",
    );
  const bar = progressBar("values");
  const pipeline = await pipelineOf(flags);
  const result = await sweep(func, {
    ...pipeline,
    figure,
    values,
    target,
    findTarget: flags.project.findTarget,
    budget: parseBudget(flags.budget),
    seed: parseSeed(flags.seed),
    onValue(value, done, total) {
      if (done > 0) bar.step(`${figure} ${value}`, total);
    },
  });
  bar.stop();
  if (flags.html !== undefined || flags.svg !== undefined) {
    const { sweepPage, sweepSvg } = await import("../report/sweep.js");
    if (flags.html !== undefined) outputs.write(flags.html, sweepPage(result), outputFormats.markup);
    const image = sweepSvg(result);
    if (flags.svg !== undefined && image === undefined)
      note(`${flags.svg} is not written: no schedule is legal`);
    else if (flags.svg !== undefined && image !== undefined)
      outputs.write(flags.svg, image, outputFormats.markup);
  }
  const { name, points } = result;
  if (typeof flags.csv === "string") outputs.write(flags.csv, await csvOf(result), outputFormats.csv);
  if (flags.json === true)
    printJson({
      command: "tune",
      name,
      target: target.name,
      ...defined({ passes: pipeline.passes?.map((pass) => pass.name) }),
      figure,
      sweep: points,
      ...outputs.refusals(),
    });
  else if (flags.csv === true) print(await csvOf(result));
  else printTable(result);
  return outputs.status(points.some(({ best }) => best !== null) ? 0 : 1);
}

const figuresOf = ({ best, default: standard }: SweepPoint): ScheduleFigures => ({
  ...best,
  ...defined({ ofDefault: standard?.cycles }),
});

const shownColumns = ["cycles", "default_cost", "tile", "residency", "buffers"] as const;
const listedColumns = inTableOrder([...entryKeys, "cycles", "default_cost"]);

/**
 * Prints a sweep over a target parameter: one row per value, with the cycles of the best schedule and of the
 * default schedule.
 */
function printTable({ name, target, figure, points }: Sweep): void {
  printReport(`@${name} on ${target}: the best schedule over ${figure}`);
  const rows = points.map((point) => [point.value, ...figureTexts(shownColumns, figuresOf(point))]);
  printReport(table([figure, ...figureLabels(shownColumns)], rows));
  for (const { value, reason } of points)
    if (reason !== undefined) printReport(`${figure} ${value}: ${reason}`);
}

/** Resolves to a sweep as comma-separated values, with one row per value of the target parameter. */
async function csvOf({ figure, points }: Sweep): Promise<string> {
  const { csvTable } = await import("../report/csv.js");
  return csvTable(
    [figure, ...listedColumns, "reason"],
    points.map((point) => ({
      [figure]: point.value,
      ...figureCells(listedColumns, figuresOf(point)),
      ...defined({ reason: point.reason }),
    })),
  );
}
