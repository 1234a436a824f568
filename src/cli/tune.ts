/**
 * tilec tune: searches the schedules of a gather, keeps a record of each candidate, and names the best beside
 * the default.
 */
import { Option, type Command } from "commander";
import {
  defined,
  cyclesOf,
  error,
  formatEntry,
  formatShape,
  formatRoofline,
  hasErrors,
  hint,
  inputsOf,
  printSchedule,
  ratesOf,
  targetFacts,
  targets,
  warning,
  type Code,
  type Diagnostic,
  type Func,
  type TileFunc,
  type Target,
  type Shape,
  Tiling,
  withCommas,
} from "../../ir/index.js";
import { aboveSafe } from "../../passes/index.js";
import { compile, resolveTargetOf, type CompileOptions } from "../api/compile.js";
import { countUnder, formatTileCount, isJudgedByPages, type TileCount } from "../api/legal-tiles.js";
import { operatorWarnings } from "../api/access.js";
import { slowerResidency } from "../api/slower-residency.js";
import { cyclesRange, type CyclesRange } from "../api/cycles-range.js";
import { rangeText } from "../report/explanation.js";
import { commandMeasurer, simMeasurer } from "../device/index.js";
import { openRecords, type RecordLog } from "../formats/record-file.js";
import { shellWord } from "../formats/shell-word.js";
import { outputFormats } from "../output/mark.js";
import { costKeys, entryKeys, figureLabels, figureTexts, tileKeys } from "../report/figures.js";
import { table } from "../report/table.js";
import { gpuMeasurer } from "../tune/gpu-measurer.js";
import { defaultBudget, defaultSeed, type TuneOptions } from "../tune/options.js";
import { baselineMark, marksOf } from "../tune/marks.js";
import { cachedCandidates } from "../tune/records/cached.js";
import {
  candidateRecord,
  prunedRecord,
  refusedRecord,
  costIn,
  taskHash,
  taskRecord,
  type TuneRecord,
} from "../tune/records/record.js";
import { candidateStatuses, objectives, type Candidate, type TuneResult } from "../tune/result.js";
import { taskOf, tune } from "../tune/tune.js";
import { addListOptions, isList, refuseWithList, refuseWithoutList } from "./list/list-flags.js";
import type { RowFacts } from "./list/list.js";
import { loadProgram } from "./load.js";
import { readInputs, type LoadedProgram } from "./loaded-program.js";
import { addProgramOptions, parseSeed, parseShard, parseThreads, projectOf, targeting } from "./options.js";
import { addPipelineOptions, pipelineOf } from "./pipeline-flags.js";
import { parseBudget, refuseWith, type TuneFlags } from "./tune-flags.js";
import { UsageError } from "./usage-error.js";
import { progressBar } from "./progress.js";
import { openRunner } from "./open-runner.js";
import { addForce, Outputs } from "./outputs.js";
import { tellTorn } from "./tell-torn.js";
import { note, print, printDiagnostics, printJson, printReport } from "./terminal.js";
import { version } from "../device/package-files.js";

/** Rows of the table. */
const shown = 10;
/** Its columns. */
const columns = [...tileKeys, "over_floor"] as const;

/** Adds the command `tilec tune`, which searches for the best schedule of a program, to the command line. */
export function tuneCommand(program: Command): void {
  const command = addForce(addPipelineOptions(addProgramOptions(program.command("tune"))))
    .optionsGroup("Search:")
    .addOption(new Option("--objective <name>", "what is least").choices([...objectives]).default("cycles"))
    .option("--budget <n|all|2m>", "candidates to try, or how long", String(defaultBudget))
    .option("--seed <n>", "seed of random inputs", String(defaultSeed))
    .addOption(new Option("--backend <name>", "backend of ms").choices(["sim", "webgpu"]).default("sim"))
    .option("--threads <n>", "threads of the fast executor, of ms")
    .option("--measure <command>", "command that is given files and prints nanoseconds")
    .option("--keep <folder>", "keep the files of --measure here")
    .option("--verbose", "show what --measure writes to stderr")
    .option("--records <file.jsonl>", "append a record of each candidate")
    .option("--resume", "skip what --records or --rows have already")
    .option("--shard <i/n>", "the i-th of n parts of candidates or programs, from 1")
    .option("--sweep <F=A..B>", "best by a figure of the target: cores=24,48")
    .option("--sizes <list>", "best by size of a symbol: N=1,16,64..4096")
    .option("--pieces <n>", "most ranges of the table of --sizes")
    .optionsGroup("Output:")
    .option("--csv [file.csv]", "comma-separated values, in place of the report")
    .option("--html <file.html>", "result as one self-contained page")
    .option("--svg <file.svg>", "charts of the result as one image")
    .option("--json", "print one JSON document");
  addListOptions(command).action(
    async (file: string | undefined, options: Omit<TuneFlags, "project">, command: Command) => {
      const flags: TuneFlags = { ...options, project: await projectOf(command) };
      if (isList(flags)) {
        process.exitCode = await tuneList(file, flags);
        return;
      }
      refuseWithoutList(flags, ["rows", "strict"]);
      refuseTaken(file, flags);
      const loaded = await loadProgram(file, flags);
      if (flags.sizes === undefined && flags.pieces !== undefined)
        throw new UsageError("--pieces needs --sizes", "--sizes N=1,16,64..4096");
      if (flags.sizes !== undefined) {
        refuseWith("sizes", flags, ["sweep", "csv", "html", "svg"]);
        const { tuneFamily } = await import("./tune-sizes.js");
        const budget = parseBudget(flags.budget);
        process.exitCode = await tuneFamily(loaded, { ...flags, sizes: flags.sizes }, budget);
        return;
      }
      const outputs = new Outputs("tune", flags);
      outputs.check(flags.html, outputFormats.markup);
      outputs.check(flags.svg, outputFormats.markup);
      if (typeof flags.csv === "string") outputs.check(flags.csv, outputFormats.csv);
      process.exitCode =
        flags.sweep === undefined
          ? await tuneOne(loaded, flags, outputs)
          : await (await import("./sweep.js")).sweepOne(loaded.func, flags.sweep, flags, outputs);
    },
  );
}

/**
 * Searches the schedules of each program of a list. Prints one row per program: the best schedule's cost, and
 * the ratio of the default schedule's cost to the best cost. Resolves to the exit code.
 */
async function tuneList(file: string | undefined, flags: TuneFlags): Promise<number> {
  refuseWithList(flags, ["sweep", "sizes", "pieces", "csv", "html", "svg", "keep", "verbose"]);
  refuseUnused(flags);
  const { objective, backend, seed, budget, measure } = flags;
  parseBudget(budget);
  parseSeed(seed);
  const pipeline = await pipelineOf(flags);
  const log = flags.records === undefined ? undefined : openLog(flags);
  const outputs = new Outputs("tune", flags);
  const { runList } = await import("./list/list.js");
  const timed = objective === "ms";
  try {
    return outputs.status(
      await runList(file, flags, {
        command: "tune",
        columns: [
          ...entryKeys,
          ...costKeys,
          ...(timed ? ["ms" as const] : []),
          "default_cost",
          "gain",
          "costed",
        ],
        settings: { objective, seed, budget, ...(timed ? { backend, measure } : {}) },
        async row({ loaded, flags: rowFlags }) {
          const { shard: _, ...rest } = { ...flags, ...rowFlags };
          const machine = await machineOf(rest, resolveTargetOf(loaded.func, targeting(rest)));
          try {
            const hash = hashOf(loaded, rest, machine, pipeline);
            const result = await tune(loaded.func, {
              ...given(loaded, rest),
              ...pipeline,
              ...(log === undefined ? {} : recorded(log, hash, flags, outputs)),
              target: machine.target,
              ...defined({ measure: machine.measure }),
            });
            return tuneRow(result);
          } finally {
            machine.close();
          }
        },
      }),
    );
  } finally {
    log?.close();
  }
}

/**
 * Returns the output row of one program when `tune` runs on a list of programs: verdict, diagnostics, and
 * figures of the best schedule. `gain`: cost of the default schedule divided by the cost of the best
 * schedule; absent if a cost is unknown or the best cost is 0.
 */
function tuneRow(result: TuneResult): RowFacts {
  const { best, default: standard, objective, counts } = result;
  const costOf = (candidate: Candidate): number | undefined =>
    objective === "ms" ? (candidate.status === "measured" ? candidate.ms : undefined) : candidate[objective];
  const diagnostics = [...faults(result, []), ...missingDefault(result)];
  const [cost, ofDefault] = [costOf(best), costOf(standard)];
  const wrong = counts.wrong > 0 ? "different" : hasErrors(diagnostics) ? "failed" : "legal";
  return {
    verdict: wrong,
    diagnostics,
    figures: {
      ...best,
      ...defined({ ofDefault }),
      ...(cost === undefined || ofDefault === undefined || cost === 0 ? {} : { gain: ofDefault / cost }),
      costed: result.candidates.length,
    },
  };
}

/**
 * Throws a UsageError if `--csv` without a file is combined with `--json`, or if `--csv` has taken the
 * program's file name as a value.
 */
function refuseTaken(file: string | undefined, { csv, op, json }: TuneFlags): void {
  if (csv === true && json === true)
    throw new UsageError(
      "give --csv or --json, not both",
      "--csv FILE --json writes the table and prints JSON",
    );
  if (file === undefined && op === undefined && typeof csv === "string")
    throw new UsageError(
      `--csv takes ${csv} as the file to write, and no program is given`,
      `tilec tune ${csv} --csv`,
    );
}

/**
 * Searches the schedules of one program, prints the result and writes the requested files. Resolves to the
 * exit code. SIGINT or SIGTERM ends the search early.
 */
async function tuneOne(loaded: LoadedProgram, flags: TuneFlags, outputs: Outputs): Promise<number> {
  refuseUnused(flags);
  const pipeline = await pipelineOf(flags);
  const requested = resolveTargetOf(loaded.func, targeting(flags));
  const machine = await machineOf(flags, requested);
  const { target } = machine;
  const hash = hashOf(loaded, flags, machine, pipeline);
  const log = openLog(flags);
  if (target !== requested)
    note(`measured on ${machine.name}: searched for target ${target.name}, not ${requested.name}`);
  const stop = new AbortController();
  let stoppedBy: number | undefined;
  const onSignal = (_: NodeJS.Signals, signal: number): void => {
    stoppedBy = signal;
    stop.abort();
  };
  // A second signal ends the process as usual.
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  const bar = progressBar("candidates");
  try {
    const result = await tune(loaded.func, {
      ...given(loaded, flags),
      ...pipeline,
      ...(log === undefined ? {} : recorded(log, hash, flags, outputs)),
      target,
      ...defined({ measure: machine.measure }),
      signal: stop.signal,
      onProgress(_, total, label) {
        bar.step(label, total);
      },
    });
    bar.stop();
    await draw(result, flags, outputs);
    const table = flags.csv === undefined ? undefined : await candidatesCsv(result, hash);
    if (typeof flags.csv === "string" && table !== undefined)
      outputs.write(flags.csv, table, outputFormats.csv);
    const status = report(result, flags, pipeline, {
      stopped: stop.signal.aborted,
      failed: machine.failed ?? [],
      legal: tileCounts(loaded.func, { ...targeting(flags), target }, result),
      warnings: operatorWarnings(loaded.func, { ...targeting(flags), target }),
      outputs,
      ...(flags.csv === true && table !== undefined ? { table } : {}),
    });
    return stoppedBy === undefined ? outputs.status(status) : statusOf(stoppedBy);
  } catch (thrown) {
    if (stoppedBy === undefined || thrown !== stop.signal.reason) throw thrown;
    note("stopped before the default was costed: nothing was found");
    return statusOf(stoppedBy);
  } finally {
    bar.stop();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    log?.close();
    machine.close();
  }
}

/** Returns the exit status that shells use for a process that a signal ended. */
const statusOf = (signal: number): number => 128 + signal;

/**
 * Throws a UsageError if a flag for measurements, for example `--threads` or `--keep`, has no effect with the
 * objective or the backend.
 */
function refuseUnused(flags: TuneFlags): void {
  const { objective, backend, measure, threads, keep, verbose } = flags;
  if (measure === undefined && (keep !== undefined || verbose !== undefined)) {
    throw new UsageError(
      `--${keep === undefined ? "verbose" : "keep"} needs --measure`,
      '--objective ms --measure "sh board.sh"',
    );
  }
  if (objective !== "ms") {
    const [unused] = [
      ...(threads === undefined ? [] : ["--threads"]),
      ...(measure === undefined ? [] : ["--measure"]),
      ...(backend === "webgpu" ? ["--backend webgpu"] : []),
    ];
    if (unused !== undefined) {
      throw new UsageError(
        `${unused} needs --objective ms, and --objective ${objective} runs nothing`,
        "--objective ms",
      );
    }
    return;
  }
  if (measure !== undefined && backend === "webgpu") {
    throw new UsageError("--measure cannot be used with --backend webgpu: each measures the candidates");
  }
  if (threads !== undefined && (measure !== undefined || backend === "webgpu")) {
    throw new UsageError("--threads needs --backend sim, whose fast executor has threads");
  }
}

interface Machine {
  readonly name: string;
  readonly target: Target;
  readonly measure?: TuneOptions["measure"];
  /** Folders of candidates that failed under a command of `--measure`. They are not removed. */
  readonly failed?: readonly FailedFolder[];
  readonly close: () => void;
}

interface FailedFolder {
  readonly folder: string;
  readonly reason: string;
}

/** Pipelines of a runner: candidates come once, and those of a run-off in turns. */
const pipelines = 16;

/**
 * Resolves to the machine for a search: a name, the target for which candidates are compiled, and a measurer
 * of execution times. The measurer is absent for objectives other than `ms`.
 */
async function machineOf(
  { objective, backend, measure, threads, keep, verbose }: TuneFlags,
  requested: Target,
): Promise<Machine> {
  const close = (): void => undefined;
  if (objective !== "ms") return { name: "the clock", target: requested, close };
  if (measure !== undefined) {
    const failed: FailedFolder[] = [];
    return {
      name: measure,
      target: requested,
      failed,
      measure: {
        backend: "command",
        open: commandMeasurer(measure, {
          ...defined({ keep }),
          onFailed: (folder, reason) => failed.push({ folder, reason }),
          ...(verbose === true ? { onStderr: (text) => void process.stderr.write(text) } : {}),
        }),
      },
      close,
    };
  }
  if (backend === "webgpu") {
    const gpu = await openRunner({ pipelines });
    const { runner, description } = gpu;
    return {
      name: description,
      target: runner.target,
      measure: { backend: "webgpu", open: (task) => gpuMeasurer(runner, description, task) },
      close: gpu.close,
    };
  }
  const measurerOf = simMeasurer(threads === undefined ? 1 : parseThreads(threads));
  const target = requested.kind === "cpu" ? requested : targets.cpu;
  return { name: "the fast executor", target, measure: { backend: "sim", open: measurerOf }, close };
}

/**
 * Returns the options of a search from the flags of `tilec tune`. `inputs` is present only for the objective
 * `ms` and a program with values for all inputs.
 */
function given({ func, inputs = {} }: LoadedProgram, flags: TuneFlags): TuneOptions {
  const { objective, shard } = flags;
  const isComplete = inputsOf(func).every(({ name }) => Object.hasOwn(inputs, name));
  return {
    objective,
    findTarget: flags.project.findTarget,
    budget: parseBudget(flags.budget),
    seed: parseSeed(flags.seed),
    ...(shard === undefined ? {} : { shard: parseShard(shard) }),
    ...(objective === "ms" && isComplete ? { inputs: readInputs(func, inputs) } : {}),
  };
}

/**
 * Returns the hash that identifies a search in tuning records: a hash of program, objective, target, passes
 * and measurement method.
 */
function hashOf(
  { func }: LoadedProgram,
  { objective }: TuneFlags,
  { target, measure }: Machine,
  pipeline: Pick<TuneOptions, "passes">,
): string {
  const options = { objective, target, ...pipeline, ...defined({ measure }) };
  return taskHash(taskOf(func, options));
}

/**
 * Opens the records file of `--records`; returns undefined without the flag. Throws a UsageError if
 * `--resume` is given without `--records`.
 */
function openLog({ records: file, resume }: TuneFlags): RecordLog | undefined {
  if (file === undefined && resume === true)
    throw new UsageError("--resume needs --records, the file to continue", "--records tune.jsonl --resume");
  if (file === undefined) return undefined;
  const log = openRecords(file);
  tellTorn(file, log.torn);
  return log;
}

/**
 * Returns the search options by which a search writes its candidates to a records file. With `--resume`, the
 * option `cached` has the candidates already in the file. `hash`: identifies the search in the records. After
 * a failed write, the search goes on without recording.
 */
function recorded(
  log: RecordLog,
  hash: string,
  { resume, seed }: TuneFlags,
  outputs: Outputs,
): Pick<TuneOptions, "cached" | "onSpace" | "onCandidate"> {
  let startId = "";
  let usable = true;
  const append = (record: TuneRecord): void => {
    usable &&= outputs.attempt(() => {
      log.append(record);
    });
  };
  return {
    ...(resume === true ? { cached: cachedCandidates(log.records, hash) } : {}),
    onSpace(task, space, pruned, defaultId) {
      startId = defaultId;
      append(taskRecord(task, parseSeed(seed), version));
      for (const refused of pruned) if (refused.count > 0) append(prunedRecord(hash, refused));
      for (const refused of space.refused) append(refusedRecord(hash, refused));
    },
    onCandidate(candidate) {
      append(candidateRecord(hash, candidate, startId));
    },
  };
}

/**
 * Resolves to the candidates and rejected tiles of a search as comma-separated values, in the format of
 * `tilec records export --to csv`.
 */
async function candidatesCsv(
  { candidates, refused, default: standard }: TuneResult,
  hash: string,
): Promise<string> {
  const { csvOf } = await import("../tune/records/export-csv.js");
  return csvOf([
    ...candidates.map((candidate) => candidateRecord(hash, candidate, standard.id)),
    ...refused.map((tiles) => refusedRecord(hash, tiles)),
  ]);
}

/**
 * Writes the charts of a search to the HTML page of `--html` and the SVG image of `--svg`. Writes nothing if
 * the two flags are absent.
 */
async function draw(result: TuneResult, { html, svg }: TuneFlags, outputs: Outputs): Promise<void> {
  if (html === undefined && svg === undefined) return;
  const { tunePage, tuneSvg } = await import("../report/index.js");
  if (html !== undefined) {
    const command = ["tilec", ...process.argv.slice(2)].map(shellWord).join(" ");
    outputs.write(html, tunePage(result, { command, version }), outputFormats.markup);
  }
  if (svg !== undefined) outputs.write(svg, tuneSvg(result), outputFormats.markup);
}

/**
 * Prints the result and the diagnostics of a search. Returns the exit code: 1 if a diagnostic is an error, 0
 * if none is.
 */
function report(
  result: TuneResult,
  flags: TuneFlags,
  pipeline: Pick<TuneOptions, "passes">,
  {
    stopped,
    failed,
    legal,
    warnings,
    outputs,
    table,
  }: {
    readonly stopped: boolean;
    readonly failed: readonly FailedFolder[];
    /** Counts of legal tiles. */
    readonly legal: readonly TileCount[];
    /** Warnings of the dialect. */
    readonly warnings: readonly Diagnostic[];
    readonly outputs: Outputs;
    /** Table that is printed instead of the report. */
    readonly table?: string;
  },
): number {
  const { counts } = result;
  const diagnostics = [
    ...faults(result, failed),
    ...warnings,
    ...missingDefault(result),
    ...defaultHint(result),
    ...bestAboveSafe(result),
  ];
  if (flags.json === true) {
    const { name, target, passes, objective, backend, beatsDefault, verdict, space, runOff, complete, seed } =
      result;
    printJson({
      command: "tune",
      name,
      target: target.name,
      ...defined({ passes }),
      objective,
      ...defined({ backend }),
      seed,
      best: figures(result.best),
      default: {
        ...figures(result.default),
        ...(result.refusal === undefined ? {} : { needs: "--residency auto" }),
      },
      beatsDefault,
      verdict,
      counts,
      ...(legal.length === 0 ? {} : { legal }),
      space,
      ...defined({ runOff }),
      complete,
      diagnostics: [...outputs.diagnostics, ...diagnostics],
    });
  } else if (table !== undefined) print(table);
  else {
    printResult(result, pipeline);
    if (legal.length > 0) printReport(legal.map(formatTileCount).join("\n"));
  }
  printDiagnostics(diagnostics);
  if (stopped) {
    const how = flags.records === undefined ? "--records tune.jsonl keeps what is found" : "--resume goes on";
    note(`stopped after ${result.candidates.length} candidates; ${how}`);
  }
  return hasErrors(diagnostics) ? 1 : 0;
}

/**
 * Returns the counts of legal tiles under the search's profile and under PyPTO's pages, where these stand
 * beside each other.
 */
function tileCounts(program: Func, options: CompileOptions, { gather, target }: TuneResult): TileCount[] {
  return isJudgedByPages(gather, target)
    ? (["strict", "pages"] as const).map((profile) => countUnder(profile, program, options))
    : [];
}

/**
 * Returns a hint (TC907) that a program has no default, because the compiler refuses it without a residency,
 * and that the best schedule is compared with the one under residency `auto`. The list is empty for all other
 * programs.
 */
const missingDefault = ({ refusal, gather, default: standard }: TuneResult): Diagnostic[] =>
  refusal === undefined
    ? []
    : [
        hint(
          "TC907",
          `no default: without a residency the program is refused, and "auto" is the choice of --residency auto`,
          {
            span: gather.opSpan,
            notes: [`${refusal.code}: ${refusal.message}`],
            hint: `--residency ${formatEntry(standard.schedule.residency)}`,
          },
        ),
      ];

/**
 * Returns a hint if another residency would be faster than the default one; no hint if the project defines
 * passes.
 */
const defaultHint = ({ gather, target, passes, default: standard }: TuneResult): Diagnostic[] =>
  passes === undefined ? slowerResidency(gather, new Tiling(gather, standard.schedule, target)) : [];

/**
 * Returns a hint if the best schedule takes more bytes of unified buffer (UB) than the target's
 * `ubSafeBytes`, above which a library may overwrite them. The default schedule takes more only where there
 * is no choice.
 */
const bestAboveSafe = ({ gather, target, passes, best }: TuneResult): Diagnostic[] =>
  passes === undefined ? aboveSafe(new Tiling(gather, best.schedule, target)) : [];

/**
 * Returns the diagnostics about candidates that failed: an error (TC610) for each wrong output, and one
 * diagnostic for each reason why candidates did not run. A candidate that timed out has a warning if its
 * files were kept.
 */
function faults(
  { candidates, counts, objective }: TuneResult,
  folders: readonly FailedFolder[],
): Diagnostic[] {
  const left = [...folders];
  const filesOf = (reason: string): string => {
    const k = left.findIndex((one) => one.reason === reason);
    const [match] = k === -1 ? [] : left.splice(k, 1);
    return match === undefined ? "" : `; its files are in ${match.folder}`;
  };
  const warnings: Diagnostic[] = [];
  const failed = new Map<string, { readonly code: Code; readonly tile: Shape; readonly times: number }>();
  for (const candidate of candidates) {
    const { schedule, status } = candidate;
    if (status === "wrong") {
      const { reason } = candidate;
      warnings.push(error("TC610", `${printSchedule(schedule)}: ${reason}${filesOf(reason)}`));
    }
    if (status === "timeout") {
      const { code, reason } = candidate;
      const files = filesOf(reason);
      if (files !== "") warnings.push(warning(code, `${printSchedule(schedule)}: ${reason}${files}`));
    }
    if (status !== "error") continue;
    const { code, tile, times } = failed.get(candidate.reason) ?? { ...candidate, ...schedule, times: 0 };
    failed.set(candidate.reason, { code, tile, times: times + 1 });
  }
  const said = counts.measured + counts.estimated === 0 ? error : warning;
  const what = objective === "ms" ? "did not run" : "is refused by the passes";
  const notRun = [...failed].map(([reason, { code, tile, times }]) => {
    const others = times === 1 ? "" : `, and ${times - 1} more`;
    return said(code, `tile ${formatShape(tile)} ${what}${others}: ${reason}${filesOf(reason)}`);
  });
  return [...warnings, ...notRun];
}

const figures = (candidate: Candidate) => ({
  id: candidate.id,
  schedule: candidate.schedule,
  ...defined({ given: candidate.given }),
  ...costIn(candidate),
  ...(candidate.status === "measured" ? { ms: candidate.ms } : {}),
});

/** Returns the cost of a candidate as text: its measured time if it has one, its cycles and its bytes. */
const costText = (candidate: Candidate): string =>
  [
    ...(candidate.status === "measured" ? [`measured ${candidate.ms.toPrecision(4)} ms`] : []),
    `estimated ${withCommas(candidate.cycles)} cycles (cost model ${candidate.clock})`,
    `moves ${withCommas(candidate.bytes)} B`,
  ].join("; ");

/**
 * Prints the result of a search: the best and the default schedule with estimated or measured cost, and a
 * list of the best candidates.
 */
function printResult(result: TuneResult, pipeline: Pick<TuneOptions, "passes">): void {
  const { best, default: standard, counts, candidates, gather, target, objective } = result;
  printReport(`@${result.name} on ${target.name}, by ${objective}: ${result.verdict}`);
  if (result.passes !== undefined) printReport(`passes  ${result.passes.join(", ")}`);
  const tileOf = ({ schedule, given = schedule }: Candidate): TileFunc =>
    compile({ ...gather, schedule: given }, { target, ...pipeline }).tile;
  const why = (candidate: Candidate): string => cyclesOf(tileOf(candidate), target).why;
  const rangeOf = (candidate: Candidate): CyclesRange | undefined => cyclesRange(tileOf(candidate), target);
  // What the clock says of a machine that is measured is no reason.
  const estimates = targetFacts[target.kind].dmaEngine;
  for (const [label, candidate] of [
    ["best", best],
    [baselineMark(result), standard],
  ] as const) {
    printReport(`${label.padEnd(8)}${printSchedule(candidate.schedule)}`);
    if (objective !== "ms" && candidate.status === "error") printReport("        refused by the passes");
    else {
      const range = estimates ? rangeOf(candidate) : undefined;
      printReport(`        ${costText(candidate)}`);
      printReport(`        ${formatRoofline(candidate, ratesOf(target), range)}`);
      if (range !== undefined) printReport(`        range ${rangeText(range)}`);
      if (estimates) printReport(`        ${why(candidate)}`);
    }
    if (best.id === standard.id) break;
  }
  const timed = objective === "ms";
  const rows = candidates
    .slice(0, shown)
    .map((candidate) => [
      ...figureTexts(columns, candidate),
      ...(timed ? [candidate.status === "measured" ? candidate.ms.toPrecision(4) : candidate.status] : []),
      marksOf(candidate, result),
    ]);
  printReport(table([...figureLabels(columns), ...(timed ? ["ms"] : []), ""], rows));
  const all = candidateStatuses.flatMap((status) =>
    counts[status] === 0 ? [] : [`${withCommas(counts[status])} ${status}`],
  );
  printReport(
    `schedules: ${all.join(", ")}; tile shapes: ${withCommas(result.space.tiles)}${result.space.thinned ? ", and those around the best" : ""}`,
  );
}
