/** tilec tune --sizes: the best schedule of each size of a family, and a table of few ranges. */
import { defined, formatShape, printSchedule, type ResolvedSchedule } from "../../ir/index.js";
import { isDefaultPipeline } from "../../passes/index.js";
import { version } from "../device/package-files.js";
import { openRecords } from "../formats/record-file.js";
import { table } from "../report/table.js";
import type { Budget } from "../tune/cut.js";
import { tableRecord, taskHash, taskRecord } from "../tune/records/record.js";
import { defaultPieces, tuneSizes, type SizesResult } from "../tune/sizes/tune-sizes.js";
import { taskOf } from "../tune/tune.js";
import type { LoadedProgram } from "./loaded-program.js";
import { parseCount, parseCountFrom, parseSeed, targeting, type ProgramFlags } from "./options.js";
import { pipelineOf, type PipelineFlags } from "./pipeline-flags.js";
import { progressBar } from "./progress.js";
import { Outputs } from "./outputs.js";
import { tellTorn } from "./tell-torn.js";
import { printJson, printReport } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Values of the flags of `tilec tune` that apply to a search over sizes (`--sizes`). */
export interface SizesFlags extends Pick<ProgramFlags, "target">, PipelineFlags {
  readonly sizes: string;
  readonly pieces?: string;
  readonly seed: string;
  readonly records?: string;
  readonly json?: boolean;
}

/**
 * Parses the value of `--sizes`, for example `N=1,16,64..4096`: a symbol and a list of sizes of at least 1. A
 * range doubles from the first size and includes the last. Throws a UsageError for any other text.
 */
function parseSizes(text: string): { readonly symbol: string; readonly sizes: readonly number[] } {
  const [, symbol, list] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const sizes = list?.split(",").flatMap((entry) => {
    const [, first, last = first] = /^(\d+)(?:\.\.(\d+))?$/.exec(entry) ?? [];
    if (first === undefined || last === undefined) return [NaN];
    const [from, to] = [parseCount(first, "sizes"), parseCount(last, "sizes")];
    if (from < 1 || to < from) return [NaN];
    const doubled: number[] = [];
    for (let size = from; size < to; size *= 2) doubled.push(size);
    return [...doubled, to];
  });
  if (symbol !== undefined && sizes?.every(Number.isSafeInteger) === true) return { symbol, sizes };
  throw new UsageError(
    `--sizes ${text} must be a symbol and a list of sizes, each 1 or more`,
    "--sizes N=1,16,64..4096",
  );
}

/**
 * Searches for the best schedule of each size in `--sizes`, and prints these schedules and one schedule for
 * each range of sizes. Resolves to the exit code. Rejects with a UsageError, a CompileError or a RunError.
 */
export async function tuneFamily(
  { func }: LoadedProgram,
  flags: SizesFlags,
  budget: Budget,
): Promise<number> {
  const { symbol, sizes } = parseSizes(flags.sizes);
  const pieces =
    flags.pieces === undefined ? defaultPieces : parseCountFrom(flags.pieces, "pieces", 1, defaultPieces);
  const seed = parseSeed(flags.seed);
  const { passes } = await pipelineOf(flags);
  if (passes !== undefined && !isDefaultPipeline(passes) && flags.records !== undefined)
    throw new UsageError(
      "--records cannot be used with --pipeline: it keeps tables of the built-in pipeline only",
      "leave --records or --pipeline out",
    );
  const options = { ...targeting(flags), ...defined({ passes }) };
  const outputs = new Outputs("tune", {});
  const log = flags.records === undefined ? undefined : openRecords(flags.records);
  if (flags.records !== undefined && log !== undefined) tellTorn(flags.records, log.torn);
  const bar = progressBar("candidates");
  try {
    const result = await tuneSizes(func, {
      ...options,
      sizes: { [symbol]: sizes },
      pieces,
      budget,
      seed,
      onProgress(_, total, label) {
        bar.step(label, total);
      },
    });
    bar.stop();
    outputs.attempt(() => {
      const task = taskOf(func, options);
      log?.append(taskRecord(task, seed, version));
      log?.append(tableRecord(taskHash(task), result));
    });
    if (flags.json === true) printJson({ ...document(result), diagnostics: outputs.diagnostics });
    else printFamily(result);
    return outputs.status(0);
  } finally {
    bar.stop();
    log?.close();
  }
}

const document = ({ name, target, symbol, sizes, pieces, single }: SizesResult) => ({
  command: "tune",
  name,
  target: target.name,
  symbol: symbol.name,
  sizes,
  pieces,
  single,
});

const times = (cycles: number, best: number): string => `${(cycles / best).toFixed(2)}x`;

/**
 * Returns the text of the schedule entries that the search varies: tile, order, buffers, residency and, if
 * present, lowering.
 */
const searched = ({ tile, order, buffers, residency, lowering }: ResolvedSchedule): string =>
  printSchedule({ tile, order, buffers, residency, ...defined({ lowering }) });

/**
 * Prints the result of a search over sizes: the best schedule of each size, of all sizes together, and of
 * each range of sizes.
 */
function printFamily({ name, target, symbol, sizes, pieces, single }: SizesResult): void {
  printReport(
    `@${name} on ${target.name}, ${symbol.name} from 1 to ${symbol.most}: cycles of the best schedule of each size, and how many times as many others take`,
  );
  printReport(
    table(
      [symbol.name, "best", "tile", "table", "one for all", "worst winner of another size"],
      sizes.map(({ size, best, table: byTable, single: one, others }) => {
        const worst = others.reduce((max, other) => Math.max(max, other.cycles ?? Infinity), 0);
        return [
          size,
          best.cycles,
          formatShape(best.schedule.tile),
          times(byTable.cycles, best.cycles),
          times(one.cycles, best.cycles),
          others.length === 0 ? "" : worst === Infinity ? "not legal" : times(worst, best.cycles),
        ];
      }),
    ),
  );
  printReport(
    `one schedule for all: at worst ${single.worst.toFixed(2)}x, ${single.mean.toFixed(2)}x in the mean; ${searched(single.schedule)}`,
  );
  printReport(
    table(
      [symbol.name, "schedule"],
      pieces.map(({ from, to, schedule }) => [`${from} to ${to}`, searched(schedule)]),
    ),
  );
}
