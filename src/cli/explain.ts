/** tilec explain: every rule, pass or fail, with the numbers; or the page of a diagnostic code. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  clockVersion,
  codes,
  CompileError,
  counted,
  defined,
  deviceLimits,
  inputsOf,
  isCode,
  targetFacts,
  withCommas,
  type Func,
  type Shape,
  type TileFunc,
} from "../../ir/index.js";
import { explainTile } from "../api/explain-tile.js";
import { compile, type CompileOptions, type Kernel } from "../api/compile.js";
import { explain, type Explanation } from "../api/explain.js";
import { otherKernel } from "../explain/other-schedule.js";
import { sensitivityOf, type Sensitivity } from "../explain/sensitivity.js";
import { choicesAtEnds, type OtherChoice } from "../explain/choice-at-ends.js";
import { programAtMaxSizes } from "../api/program-at-max-sizes.js";
import { sideOf, type Side } from "../explain/side-of.js";
import { costKeys, entryKeys } from "../report/figures.js";
import type { Movement } from "../explain/movement.js";
import { renderMovement } from "../report/movement.js";
import { renderPlan } from "../report/memory-plan.js";
import { renderSensitivity } from "../report/sensitivity.js";
import { tiledExtents } from "../report/schedule-flags.js";
import { renderSides } from "../report/side-by-side.js";
import { readText } from "../formats/files.js";
import { programKind } from "../formats/program-kind.js";
import { renderExplanation, renderOtherUbSizes, renderVerdict } from "../report/explanation.js";
import {
  addProgramOptions,
  dashed,
  projectOf,
  targeting,
  targetOfFlags,
  type ProgramFlags,
} from "./options.js";
import { movementByPattern, movementLike } from "./indices-like.js";
import type { LoadedProgram } from "./loaded-program.js";
import { UsageError } from "./usage-error.js";
import {
  addListOptions,
  isList,
  refuseWithList,
  refuseWithoutList,
  type ListFlags,
} from "./list/list-flags.js";
import type { RowFacts } from "./list/list.js";
import { addForce, type OutputFlags } from "./outputs.js";
import { loadProgram, loadPrograms } from "./load.js";
import { addPipelineOptions, pipelineOf, type PipelineFlags } from "./pipeline-flags.js";
import { packageFile } from "../device/package-files.js";
import { print, printDiagnostics, printJson, printReport } from "./terminal.js";

interface ExplainFlags extends ProgramFlags, PipelineFlags, ListFlags, OutputFlags {
  readonly compare?: string;
  readonly sensitivity?: boolean;
  readonly indicesLike?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** Flags that request figures of one source or access program. */
const figureFlags = [
  "compare",
  "sensitivity",
  "indicesLike",
] as const satisfies readonly (keyof ExplainFlags)[];

/** Adds the command `tilec explain` and the command's flags to the command line. */
export function explainCommand(program: Command): void {
  addForce(addListOptions(addPipelineOptions(addProgramOptions(program.command("explain")))))
    .optionsGroup("Output:")
    .option("--compare <schedule>", "another schedule in the same table, or default")
    .option("--sensitivity", "share of the cycles that rests on each target figure")
    .option(
      "--indices-like <kind>",
      "traffic of such indices: uniform, sorted, runs:8, zipf:1.1, same, or a .npy file",
    )
    .option("--verbose", "reasons against each other kind of instructions")
    .option("--json", "print one JSON document")
    .action(async (file: string | undefined, given: Omit<ExplainFlags, "project">, command: Command) => {
      if (file !== undefined && /^TC\d+$/i.test(file)) explainCode(file.toUpperCase(), given);
      else {
        const flags: ExplainFlags = { ...given, project: await projectOf(command) };
        if (isList(flags)) {
          process.exitCode = await explainList(file, flags);
          return;
        }
        refuseWithoutList(flags, ["rows", "strict", "shard", "resume"]);
        process.exitCode =
          file !== undefined && flags.case === undefined && (await isDump(file))
            ? await explainDump(file, flags)
            : await explainProgram(file, flags);
      }
    });
}

/**
 * Prints one row for each program of a list: verdict, cycles and traffic. With `--indices-like`, the row also
 * has the traffic for index values of the stated pattern. Resolves to the exit code.
 */
async function explainList(file: string | undefined, flags: ExplainFlags): Promise<number> {
  refuseWithList(flags, ["compare", "sensitivity", "verbose"]);
  const pipeline = await pipelineOf(flags);
  const { indicesLike: like } = flags;
  const { runList } = await import("./list/list.js");
  return runList(file, flags, {
    command: "explain",
    columns: [
      ...entryKeys,
      ...costKeys,
      "ub_budget",
      "compulsory",
      "picks",
      "distinct_rows",
      "moved_bytes",
      "moved_bursts",
    ],
    settings: { like },
    row({ loaded, flags: rowFlags }) {
      const options = { ...targeting(rowFlags), ...pipeline };
      const isTile = loaded.func.level === "tile";
      return Promise.resolve(isTile ? tileRow(loaded.func, options) : explainRow(loaded, options, like));
    },
  });
}

/** Returns the table row of a tile program: estimated cycles, tasks and unified buffer (UB) bytes. */
function tileRow(func: Func, options: CompileOptions): RowFacts {
  const { cycles, tasks, peak, budget } = explainTile(func, options);
  return {
    verdict: "legal",
    figures: { cycles, tasks, ubBytes: peak, ubBudget: budget, clock: clockVersion },
  };
}

/**
 * Returns the row of a source or access program: verdict, schedule and UB bytes; for a legal program also
 * cycles and traffic. `like`: value of `--indices-like`; undefined without the flag.
 */
function explainRow(loaded: LoadedProgram, options: CompileOptions, like: string | undefined): RowFacts {
  const { func } = loaded;
  const explanation = explain(func, options);
  const { legal, schedule, cycles, traffic, footprint, diagnostics } = explanation;
  const figures = { schedule, ubBytes: footprint.bytes, ubBudget: footprint.budget };
  if (!legal) return { verdict: "refused", diagnostics, figures: figures };
  const kernel = like === undefined && loaded.result === undefined ? undefined : compile(func, options);
  const movement = kernel === undefined ? undefined : movementOf(kernel, loaded, like);
  const { floor, microseconds, gigabytesPerSecond, bottleneck, clock } = explanation;
  return {
    verdict: "legal",
    diagnostics,
    figures: {
      ...figures,
      cycles,
      floor,
      bottleneck,
      clock,
      bytes: traffic.bytes,
      compulsory: traffic.compulsory,
      tasks: traffic.tasks,
      ...defined({ microseconds, gigabytesPerSecond, moved: movement }),
    },
  };
}

/**
 * Returns the bytes that a schedule moves for the indices that `--indices-like` names. Without the flag: for
 * the index pattern of a Spatter benchmark configuration; undefined for a program from any other source.
 */
const movementOf = (kernel: Kernel, loaded: LoadedProgram, like: string | undefined): Movement | undefined =>
  like === undefined ? movementByPattern(kernel, loaded) : movementLike(kernel, like);

/** True if a file holds a graph that PyPTO dumped. */
const isDump = async (file: string): Promise<boolean> =>
  programKind(file) === "json" && (await import("./load-cases.js")).dumpIn(readText(file)) !== undefined;

/**
 * Prints the verdict on each gather in a graph that PyPTO dumped. Resolves to the exit code: 1 if a gather is
 * refused, 0 if all gathers are legal.
 */
async function explainDump(file: string, flags: ExplainFlags): Promise<number> {
  const unused = figureFlags.find((flag) => flags[flag] !== undefined);
  if (unused !== undefined)
    throw new UsageError(`--${dashed(unused)} takes one program`, "--case PLACE chooses one of the dump");
  const options = { ...targeting(flags), ...(await pipelineOf(flags)) };
  const verdicts = (await loadPrograms(file, flags)).map(({ id = "", func }) => {
    try {
      return { place: id, func, explanation: explain(func, options) };
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      return { place: id, func, diagnostics: thrown.diagnostics };
    }
  });
  if (flags.json === true)
    printJson({
      command: "explain",
      gathers: verdicts.map(({ place, explanation, diagnostics }) => ({
        place,
        ...(explanation ?? { legal: false, diagnostics }),
      })),
    });
  else
    for (const [k, { place, func, explanation, diagnostics }] of verdicts.entries()) {
      printReport(`${k === 0 ? "" : "\n"}${place}: ${describe(func)}`);
      if (explanation !== undefined) printReport(renderVerdict(explanation));
      const warnings =
        diagnostics ?? explanation?.diagnostics.filter(({ severity }) => severity === "warning");
      printDiagnostics((warnings ?? []).map((one) => ({ ...one, message: `${place}: ${one.message}` })));
    }
  return verdicts.every(({ explanation }) => explanation?.legal === true) ? 0 : 1;
}

/** Returns `pypto.gather f32[32,160] by i32[32,8], tile 1,160`. */
function describe(func: Func): string {
  const [data, ...indices] = inputsOf(func).map(({ type: { dtype, shape } }) => `${dtype}[${shape.join()}]`);
  const { tile } = func.schedule;
  const op = func.level === "source" ? func.op : "gather";
  return `${op} ${data ?? ""} by ${indices.join(" and ")}, ${tile === undefined ? "no tile in a tensor graph" : `tile ${tile.join()}`}`;
}

/**
 * Prints the explanation of one program with the outputs that the flags request. Resolves to the exit code: 1
 * if the program is not legal, 0 if legal.
 */
async function explainProgram(file: string | undefined, flags: ExplainFlags): Promise<number> {
  const pipeline = await pipelineOf(flags);
  const loaded = await loadProgram(file, flags);
  const { func } = loaded;
  const options = { ...targeting(flags), ...pipeline };
  if (func.level === "tile") {
    explainTileProgram(func, flags, options);
    return 0;
  }
  const explanation = explain(func, options);
  const added = explanation.legal ? await addedFigures(loaded, explanation, flags, options) : {};
  if (flags.json === true) printJson(explanationDocument(explanation, added, flags));
  else printExplanation(explanation, added, flags);
  return explanation.legal ? 0 : 1;
}

/**
 * Prints the memory plan, the tasks and the cycles of a tile program. Throws a UsageError for a flag that
 * needs a source or access program.
 */
function explainTileProgram(func: TileFunc, flags: ExplainFlags, options: CompileOptions): void {
  const unused = figureFlags.find((flag) => flags[flag] !== undefined);
  if (unused !== undefined)
    throw new UsageError(
      `--${dashed(unused)} takes a source or access program, and @${func.name} is a tile program`,
    );
  const explained = explainTile(func, options);
  const { tasks, cycles } = explained;
  if (flags.json === true) printJson({ command: "explain", ...configOf(flags), legal: true, ...explained });
  else
    printReport(
      `${renderPlan(explained)}\nevery rule of tile programs holds; ${counted(tasks, "task")}, about ${withCommas(cycles)} cycles`,
    );
}

/** Returns the config file of the flags as a member of a JSON document. */
const configOf = ({ project: { config } }: ExplainFlags) => defined({ config });

/** Figures of a legal program that an explanation lacks. */
interface AddedFigures {
  /** Program's kernel and the kernel under the schedule of `--compare`. */
  readonly compare?: readonly [Side, Side];
  /** Figures of `--sensitivity`. */
  readonly sensitivity?: {
    readonly figures: readonly Sensitivity[];
    readonly choices: readonly OtherChoice[];
    readonly extents: Shape;
  };
  /** Traffic for the indices of `--indices-like`, or of the program's index pattern. */
  readonly movement?: Movement;
  readonly gpu?: Awaited<ReturnType<typeof gpuStatsOf>>;
}

/** True if a flag requests figures of the kernel in place of the explanation. */
const isReplaced = (flags: ExplainFlags): boolean => figureFlags.some((flag) => flags[flag] !== undefined);

/** Resolves to the figures that the flags, the program or the target add to an explanation. */
async function addedFigures(
  loaded: LoadedProgram,
  { target: name }: Explanation,
  flags: ExplainFlags,
  options: CompileOptions,
): Promise<AddedFigures> {
  const { func } = loaded;
  const kernel = isReplaced(flags) || loaded.result !== undefined ? compile(func, options) : undefined;
  const ofKernel = kernel === undefined ? {} : kernelFigures(kernel, loaded, flags, options);
  const target = targetOfFlags(flags) ?? flags.project.findTarget(name);
  const hasGpu = !isReplaced(flags) && target !== undefined && targetFacts[target.kind].runsOnWebgpu;
  return hasGpu ? { ...ofKernel, gpu: await gpuStatsOf(compile(func, options)) } : ofKernel;
}

/** Returns the figures of a program's kernel that the flags or the program request. */
function kernelFigures(
  kernel: Kernel,
  loaded: LoadedProgram,
  { compare: written, sensitivity, indicesLike: like }: ExplainFlags,
  options: CompileOptions,
): AddedFigures {
  const { func } = loaded;
  const { target: _, ...others } = options;
  return defined({
    compare:
      written === undefined
        ? undefined
        : ([sideOf(kernel), sideOf(otherKernel(func, written, options))] as const),
    sensitivity:
      sensitivity === true
        ? {
            figures: sensitivityOf(programAtMaxSizes(kernel), kernel.target),
            choices: choicesAtEnds(func, kernel, others),
            extents: tiledExtents(kernel),
          }
        : undefined,
    movement: movementOf(kernel, loaded, like),
  });
}

/** Returns the name of the index pattern for which traffic is counted. */
const patternName = ({ indicesLike = "the pattern" }: ExplainFlags): string => indicesLike;

/** Returns the JSON document of an explanation. */
const explanationDocument = (
  explanation: Explanation,
  { compare, sensitivity, movement, gpu }: AddedFigures,
  flags: ExplainFlags,
) => ({
  command: "explain",
  ...configOf(flags),
  ...explanation,
  ...defined({
    compare,
    sensitivity: sensitivity?.figures,
    choices: sensitivity?.choices,
    gpu: gpu?.stats,
    moved: movement && { like: patternName(flags), ...movement },
  }),
});

/** Prints an explanation as text: the explanation itself, or the figures that flags request in its place. */
function printExplanation(
  explanation: Explanation,
  { compare, sensitivity, movement, gpu }: AddedFigures,
  flags: ExplainFlags,
): void {
  const { name, machine, legal } = explanation;
  if (!legal || !isReplaced(flags)) {
    printReport(renderExplanation(explanation, defined({ verbose: flags.verbose })));
    if (gpu !== undefined) printReport(`\n${gpu.text}`);
    printDiagnostics(explanation.diagnostics.filter((d) => d.severity !== "error"));
  }
  if (compare !== undefined) printReport(renderSides(name, compare, machine));
  if (sensitivity !== undefined) {
    printReport(renderSensitivity(sensitivity.figures, sensitivity.choices, sensitivity.extents));
    const sizes = renderOtherUbSizes(explanation);
    if (sizes !== "") printReport(sizes);
  }
  if (movement !== undefined) printReport(renderMovement(name, patternName(flags), movement));
}

/**
 * Resolves to the operation and memory access counts of a kernel for a WebGPU device, as an object (`stats`)
 * and as text (`text`). The object is undefined if the kernel dispatches no workgroups, as for an output
 * without elements.
 */
async function gpuStatsOf({ name, tile, target }: Kernel) {
  const [{ emitWgsl, kernelStats }, { renderGpuStats }] = await Promise.all([
    import("../../backends/wgsl/index.js"),
    import("../report/gpu-stats.js"),
  ]);
  const stats = kernelStats(tile, emitWgsl(tile, { limits: deviceLimits(target), target }));
  return { stats, text: renderGpuStats(name, stats, target) };
}

/** Returns the section of docs/diagnostics.md for a code; undefined if the page has no such section. */
function diagnosticPage(code: string): string | undefined {
  const text = readFileSync(packageFile("docs/diagnostics.md"), "utf8");
  const sections = text.split(/^(?=## TC\d+)/m);
  return sections.find((section) => section.startsWith(`## ${code}`))?.trimEnd();
}

/**
 * Prints the documentation of a diagnostic code. Throws a UsageError for an unknown code, and for any flag
 * except `--json`.
 */
function explainCode(code: string, { json, ...others }: Omit<ExplainFlags, "project">): void {
  const [other] = Object.keys(others);
  if (other !== undefined) throw new UsageError(`--${dashed(other)} cannot be used with a diagnostic code`);
  if (!isCode(code))
    throw new UsageError(
      `${code} is not a diagnostic code`,
      `docs/diagnostics.md lists all ${Object.keys(codes).length} codes`,
    );
  const page = diagnosticPage(code) ?? `## ${code}: ${codes[code].title}`;
  if (json === true) printJson({ command: "explain", code, ...codes[code], page });
  else print(page);
}
