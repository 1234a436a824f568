/** tilec run: executes a gather on one or several backends and compares them bit for bit. */
import type { Command } from "commander";
import {
  defined,
  inputsOf,
  keyOf,
  outputOf,
  printSchedule,
  clockVersion,
  CompileError,
  counted,
  entryOf,
  error,
  formatType,
  hasErrors,
  RunError,
  targetFacts,
  taskOfTile,
  type Diagnostic,
  type Func,
  type Operand,
  type Schedule,
  walkOf,
  throwIfErrors,
  unbound,
  withCommas,
} from "../../ir/index.js";
import { isBug } from "../../ir/faults.js";
import { chromeTrace, type Executor } from "../../backends/sim/index.js";
import { createRunner, type Runner, type RunnerOptions } from "../../backends/webgpu/index.js";
import { statementMap } from "../../backends/index-inputs.js";
import type { HostValue } from "../../backends/index.js";
import { compile, type CompileOptions, type Kernel } from "../api/compile.js";
import { otherKernel } from "../explain/other-schedule.js";
import { acquireGpu, spawnThread } from "../device/index.js";
import { readBytes } from "../formats/files.js";
import { readNpy, writeNpy } from "../formats/npy.js";
import { asHost, fromOutput, type TensorValue } from "../formats/tensor.js";
import { tensorJson } from "../formats/tensor-json.js";
import { jsonSchema, outputFormats, type OutputFormat } from "../output/mark.js";
import { definitionOf, drawsOf, type Draw } from "../testing/draws.js";
import { copies } from "../testing/inouts.js";
import { isPromise, outcomeOf, rejectionDifference, type Outcome } from "../testing/outcome.js";
import {
  backendNames,
  firstDifference,
  runOn,
  nameOf,
  placeOf,
  type BackendChoice,
  type BackendOptions,
  type BackendRun,
} from "../api/backends.js";
import { beyondUlp, formatUlpDifference, ulpDifference } from "../api/ulp-difference.js";
import type { Project } from "../config/project.js";
import { collect } from "./collect.js";
import {
  addProgramOptions,
  arithmeticOption,
  ulpOption,
  executorOption,
  parseSeed,
  parseThreads,
  projectOf,
  targeting,
  type ProgramFlags,
} from "./options.js";
import { addPipelineOptions, pipelineOf, type PipelineFlags } from "./pipeline-flags.js";
import { programKind } from "../formats/program-kind.js";
import { ulpOf, type UlpFlags } from "./ulp.js";
import { UsageError } from "./usage-error.js";
import { matching } from "./matching.js";
import { noProgress, taskProgress } from "./progress.js";
import { verdictHints, verdictOn, verdictText } from "../api/inputs-verdict.js";
import type { InputsVerdict } from "../../backends/reference/unmet-condition.js";
import { gatherFaults } from "./gather-faults.js";
import { gatherTable, listGathers, type ListedGather } from "./list-model.js";
import {
  addListOptions,
  isList,
  refuseWithList,
  refuseWithoutList,
  type ListFlags,
} from "./list/list-flags.js";
import { loadProgram } from "./load.js";
import type { LoadedProgram } from "./loaded-program.js";
import { entryKeys, type ScheduleFigures } from "../report/figures.js";
import { table } from "../report/table.js";
import { defaultSeed } from "../tune/options.js";
import { addForce, Outputs, type OutputFlags } from "./outputs.js";
import { note, print, printDiagnostics, printJson, printReport } from "./terminal.js";

interface RunFlags extends ProgramFlags, PipelineFlags, OutputFlags, ListFlags, UlpFlags {
  readonly backend: string;
  readonly input: readonly string[];
  readonly out: readonly string[];
  readonly seed?: string;
  readonly against?: string;
  readonly trace?: string;
  readonly compare?: string;
  readonly executor?: Executor;
  readonly threads?: string;
  readonly json?: boolean;
}

/**
 * Adds the command `tilec run`, which runs a program on backends and compares the outputs, to the command
 * line.
 */
export function runCommand(program: Command): void {
  addListOptions(addForce(addPipelineOptions(addProgramOptions(program.command("run")))))
    .optionsGroup("Run:")
    .option("--backend <list>", `some of ${backendNames.join(", ")}`, "sim")
    .option("--input <name=file.npy>", "an input: data=…, indices=… or an operand's name", collect, [])
    .option("--out <name=file.npy>", "file of the output: output=… or its name", collect, [])
    .option("--against <program.tir>", "compare with what this program defines")
    .addOption(executorOption())
    .option("--threads <n>", "threads of the fast executor")
    .addOption(arithmeticOption())
    .addOption(ulpOption())
    .option("--seed <n>", "seed of random inputs")
    .option("--trace <file>", "simulated timeline: Chrome trace .json, or a page .html")
    .option("--compare <schedule>", "another schedule on the page of --trace, or default")
    .option("--json", "print one JSON document")
    .action(async (file: string | undefined, given: Omit<RunFlags, "project">, command: Command) => {
      const flags: RunFlags = { ...given, project: await projectOf(command) };
      if (flags.most !== undefined)
        throw new UsageError(
          "--most cannot be used with run, which needs every size",
          `--bind ${flags.most}`,
        );
      if (isList(flags)) {
        const isStated = command.getOptionValueSource("backend") !== "default";
        process.exitCode = await runRows(file, isStated ? flags : { ...flags, backend: comparedBackends });
        return;
      }
      refuseWithoutList(flags, ["rows", "strict", "shard", "resume"]);
      process.exitCode =
        file !== undefined && programKind(file) === "onnx" && flags.func === undefined
          ? await runModel(file, flags)
          : await runOne(await loadProgram(file, flags), flags);
    });
}

/** Backends of a list where none is named: alone, a backend is compared with nothing. */
const comparedBackends = "reference,sim";

/**
 * Runs every program of a list on the chosen backends and prints one row per program: agreement of the
 * outputs, cycles, tasks and bytes. Resolves to the exit code.
 */
async function runRows(file: string | undefined, flags: RunFlags): Promise<number> {
  refuseWithList(flags, ["input", "out", "against", "trace", "compare"]);
  const backends = parseBackends(flags.backend, flags.project);
  refuseWithoutSim(backends, flags);
  const stated = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  const { executor, threads } = flags;
  const names = backends.map(nameOf).join(" ");
  const { runList } = await import("./list/list.js");
  const { hashOfBytes } = await import("../tune/content-hash.js");
  return runList(file, flags, {
    command: "run",
    columns: [
      "backends",
      "seed",
      ...entryKeys,
      "cycles",
      "tasks",
      "ub_bytes",
      "ub_budget",
      "moved_bytes",
      "moved_bursts",
      "bits",
    ],
    settings: { names, seed: stated, executor, threads },
    async row({ loaded, flags: rowFlags }) {
      throwIfErrors(unbound(loaded.func));
      const seed = stated ?? (hasInputs(loaded) ? undefined : defaultSeed);
      const rowOptions = {
        ...flags,
        ...rowFlags,
        json: true,
        ...(seed === undefined ? {} : { seed: String(seed) }),
      };
      const { code, differences, report, kernel, output } = await run(loaded, rowOptions, { quiet: true });
      return {
        verdict: code !== 0 ? "different" : backends.length > 1 ? "same" : "ran",
        diagnostics: differences,
        figures: {
          schedule: kernel.tile.schedule,
          backends: names,
          ...defined({ seed }),
          ...(output === undefined ? {} : { bits: hashOfBytes(output) }),
          ...(report === undefined ? {} : countedFigures(report)),
        },
      };
    },
  });
}

/**
 * Returns the cost of a simulated run: estimated cycles, tasks, peak and available unified buffer (UB) bytes,
 * and total bytes and bursts in global memory.
 */
function countedFigures(report: NonNullable<BackendRun["report"]>): ScheduleFigures {
  const { operands, timing, tasks, ubPeak, ubBudget } = report;
  const each = Object.values(operands);
  const sum = (key: "bytes" | "bursts"): number => each.reduce((total, counts) => total + counts[key], 0);
  return {
    cycles: timing.cycles,
    tasks,
    ubBytes: ubPeak,
    ubBudget,
    moved: { bytes: sum("bytes"), bursts: sum("bursts") },
  };
}

/**
 * Parses a comma-separated list of backend names and returns the backends in that order. Throws a UsageError
 * for an unknown name or a name that occurs twice.
 */
export function parseBackends(text: string, { backends: projectBackends }: Project): BackendChoice[] {
  const list = text.split(",").map((piece) => {
    const word = piece.trim();
    const backend = backendNames.find((name) => name === word) ?? projectBackends.get(word);
    if (backend === undefined)
      throw new UsageError(
        `${word} is not a backend`,
        [...backendNames, ...projectBackends.keys()].join(", "),
      );
    return backend;
  });
  const twice = list.find((backend, k) => list.indexOf(backend) !== k);
  if (twice !== undefined) throw new UsageError(`--backend names ${nameOf(twice)} twice`);
  return list;
}

/** Throws a UsageError if `--executor` or `--threads` is given and `backends` does not contain `sim`. */
export function refuseWithoutSim(
  backends: readonly BackendChoice[],
  flags: Pick<RunFlags, "executor" | "threads">,
): void {
  const ofSim = (["executor", "threads"] as const).find((flag) => flags[flag] !== undefined);
  if (ofSim !== undefined && !backends.includes("sim")) {
    throw new UsageError(`--${ofSim} needs backend sim, and --backend is ${backends.map(nameOf).join(",")}`);
  }
}

/**
 * Opens the best available WebGPU device. Resolves to a runner, a description of the device, and a function
 * that closes the device. Rejects with a RunError if no device exists (TC503) or a package is missing
 * (TC703).
 */
export async function openRunner(
  options: RunnerOptions = {},
): Promise<{ runner: Runner; description: string; close: () => void }> {
  const gpu = await acquireGpu();
  if (!gpu.ok) throw new RunError([gpu.problem]);
  const { device, description } = gpu.gpu;
  const runner = await createRunner(device, options);
  const close = (): void => {
    device.destroy();
  };
  return { runner, description, close };
}

/** JSON document of one run. */
interface RunDocument {
  readonly ok: boolean;
  readonly target: string;
  readonly schedule: Schedule;
  /** Source of the inputs. */
  readonly inputs: string;
  readonly output: { readonly type: string; readonly bytes: number };
  readonly backends: readonly { readonly backend: string; readonly agrees: boolean }[];
  readonly draws: readonly { readonly inputs: string; readonly outcome: string }[];
  readonly report: BackendRun["report"];
  /**
   * Verdict on the stated bits on an Ascend core. It is for the first draw for which a core may give other
   * bits, else for the first draw.
   */
  readonly ascend?: InputsVerdict;
  readonly diagnostics: readonly Diagnostic[];
}

/** Result of a run: its exit code and its output. */
interface DrawResult {
  readonly code: number;
  readonly document: RunDocument;
  readonly text: string;
  /** Summary of the comparison of the output bits, in a word or two. */
  readonly said: string;
  readonly kernel: Kernel;
  /** Counts of the first backend that counts, for the first draw. */
  readonly report?: BackendRun["report"];
  /** Bits of the first backend's output for the first draw. */
  readonly output?: Uint8Array;
  readonly differences: readonly Diagnostic[];
}

/** A run of one draw of inputs: what each backend came to, and where they, or the definition, differ. */
interface DrawRun {
  readonly outcomes: readonly (readonly [backend: BackendChoice, outcome: Outcome])[];
  readonly differences: readonly Diagnostic[];
  /** Backends of the differences. */
  readonly apart: readonly BackendChoice[];
  readonly said: string;
}

/**
 * Compiles one gather or scatter and runs the kernel on the backends that the flags name. Resolves to the
 * exit code, the JSON document, the report as text and the outputs. `quiet`: true for no progress display.
 */
async function run(loaded: LoadedProgram, flags: RunFlags, { quiet = false } = {}): Promise<DrawResult> {
  const backends = parseBackends(flags.backend, flags.project);
  refuseWithoutSim(backends, flags);
  const allowedUlp = ulpOf(flags, backends);
  if (allowedUlp !== undefined && flags.against !== undefined)
    throw new UsageError(
      "--against cannot be used with --arithmetic native, whose bits depend on the device",
      "--backend reference,webgpu --ulp 1",
    );
  const file = outputFile(flags, loaded.func);
  const outputs = new Outputs("run", flags);
  const targeted = {
    ...targeting(flags),
    ...(await pipelineOf(flags)),
  };
  const kernel = compile(loaded.func, targeted);
  const compared = comparedWith(loaded.func, flags, targeted);
  const types = kernel.source ?? kernel.tile;
  const definition =
    flags.against === undefined
      ? undefined
      : (await loadProgram(flags.against, { project: flags.project })).func;
  const sides = [...backends.map(nameOf), ...(flags.against === undefined ? [] : [flags.against])];
  const { given, seed = 0, origin } = inputsFor(loaded, flags, kernel);
  const drawn = [...drawsOf(types, definitionOf(kernel, definition), seed, given)];
  // What runs alone is compared with nothing: it is given what it takes.
  const draws = sides.length > 1 ? drawn : drawn.slice(0, 1);
  const outputType = outputOf(types).type;
  outputs.check(file, outputType.dtype === "string" ? outputFormats.json : outputFormats.npy);
  if (flags.trace !== undefined) outputs.check(flags.trace, traceFormat(flags.trace));
  const device = backends.includes("webgpu")
    ? await openRunner(defined({ arithmetic: flags.arithmetic }))
    : undefined;
  const bar = quiet ? noProgress : taskProgress(taskOfTile(kernel.tile).nest.tasks);
  const options: BackendOptions = {
    ...executorOf(flags),
    runner: device?.runner,
    onProgress: bar.reached,
  };
  const runs: DrawRun[] = [];
  let report: BackendRun["report"];
  try {
    if (flags.json !== true) printDiagnostics(kernel.diagnostics);
    for (const draw of draws) {
      const result = await runDraw(kernel, draw, { backends, options, definition, allowedUlp });
      // Before the next run, which may take the memory that it is derived from.
      if (runs.length === 0) report = result.outcomes.flatMap(([, one]) => runOf(one)?.report ?? [])[0];
      runs.push(result);
    }
    if (
      kernel.tile.schedule.rotate === "on" &&
      targetFacts[kernel.target.kind].dmaEngine &&
      flags.json !== true
    )
      note(
        `rotate = on changes nothing on ${backends.map(nameOf).join(", ")}, which run no cores beside one another`,
      );
    if (device !== undefined && !targetFacts[kernel.target.kind].runsOnWebgpu && flags.json !== true) {
      const again = kernel.forTarget(device.runner.target);
      note(`webgpu: compiled again for ${device.description}, tile ${String(again.tile.schedule.tile)}`);
    }
  } finally {
    bar.stop();
    device?.close();
  }
  const differences = runs.flatMap((result) => result.differences);
  const ascend = ascendVerdict(kernel, draws);
  const params = ascend === undefined ? [] : verdictHints(ascend);
  const apart = new Set(runs.flatMap((result) => result.apart));
  const [first] = runs.flatMap((result) => result.outcomes.slice(0, 1));
  const bits = first === undefined ? undefined : runOf(first[1])?.output;
  const [inputs] = draws.map((draw) => draw.inputs);
  const value = bits === undefined || inputs === undefined ? undefined : fromOutput(outputType, bits, inputs);
  const result = value === undefined ? undefined : (loaded.result?.(value) ?? value);
  const output = loaded.result === undefined ? bits : result?.bytes;
  if (result !== undefined && file !== undefined) outputs.write(file, ...tensorFile(result));
  if (flags.trace !== undefined) await writeTrace(flags.trace, kernel, compared, outputs);
  if (flags.json !== true) printDiagnostics([...differences, ...params]);
  const listed = draws.map(({ indices }, k) => ({
    inputs: draws.length === 1 ? origin : `${origin}: ${indices}`,
    outcome: runs[k]?.said ?? "",
  }));
  const document = {
    ok: differences.length === 0,
    target: kernel.target.name,
    schedule: kernel.tile.schedule,
    inputs: origin,
    output: { type: formatType(result?.type ?? outputType), bytes: output?.byteLength ?? 0 },
    backends: backends.map((backend) => ({ backend: nameOf(backend), agrees: !apart.has(backend) })),
    draws: listed,
    report,
    ...defined({ ascend }),
    diagnostics: [...kernel.diagnostics, ...differences, ...params, ...outputs.diagnostics],
  };
  const agreement =
    differences.length > 0
      ? "DIFFERENT bits"
      : allowedUlp === undefined
        ? "the same bits"
        : `within ${counted(allowedUlp, "unit")} in the last place`;
  const said = draws.length === 1 ? (runs[0]?.said ?? "") : agreement;
  const text = [
    `@${kernel.name} on ${kernel.target.name}: output ${formatType(result?.type ?? outputType)}`,
    `inputs     ${origin}`,
    `schedule   ${printSchedule(kernel.tile.schedule)}`,
    `${sides.length === 1 ? "ran on  " : "compared"}   ${sides.join(", ")}: ${said}`,
    ...(draws.length === 1 ? [] : draws.map(({ indices }, k) => `  ${indices}: ${runs[k]?.said ?? ""}`)),
    ...(report === undefined ? [] : reportLines(report)),
    ...(ascend === undefined ? [] : [verdictText(ascend)]),
  ].join("\n");
  return {
    code: outputs.status(differences.length === 0 ? 0 : 1),
    document,
    text,
    said,
    kernel,
    differences,
    ...defined({ report, output }),
  };
}

/**
 * Returns the verdict on the first draw (set of inputs) for which an Ascend core may give other bits than the
 * reference. If there is none, returns the verdict on the first draw. Undefined if a draw has no verdict.
 */
function ascendVerdict(kernel: Kernel, draws: readonly Draw[]): InputsVerdict | undefined {
  let first: InputsVerdict | undefined;
  for (const { inputs } of draws) {
    const verdict = verdictOn(kernel, inputs);
    if (verdict === undefined || verdict.kind === "other bits") return verdict;
    first ??= verdict;
  }
  return first;
}

const runOf = (outcome: Outcome): BackendRun | undefined =>
  outcome.kind === "bits" ? outcome.run : undefined;

/**
 * Runs a kernel on each backend with one set of inputs, and compares the outcomes with one another and with
 * `definition`. Rejects with a RunError if a backend rejects an index value with policy `unchecked`. With
 * one backend and no `definition`, rejects for every rejected index value.
 */
async function runDraw(
  kernel: Kernel,
  draw: Draw,
  {
    backends,
    options,
    definition,
    allowedUlp,
  }: {
    readonly backends: readonly BackendChoice[];
    readonly options: BackendOptions;
    readonly definition: Func | undefined;
    /** Units in the last place that WebGPU may be off; undefined where it states the bits. */
    readonly allowedUlp: number | undefined;
  },
): Promise<DrawRun> {
  const { inputs } = draw;
  const map = statementMap(kernel.tile);
  const alone = backends.length === 1 && definition === undefined;
  const isInPlace = kernel.tile.operands.some(({ inout }) => inout === true);
  const outcomes: (readonly [BackendChoice, Outcome])[] = [];
  for (const backend of backends) {
    // A backend may write what is `inout`: each has memory of its own.
    const given = isInPlace ? copies(inputs) : inputs;
    const outcome = await outcomeOf(() => runOn(backend, kernel, given, options));
    const stops =
      outcome.kind === "rejected" && (alone || (map !== undefined && isPromise(map, outcome.index)));
    if (stops) throw new RunError([outcome.index]);
    outcomes.push([backend, outcome]);
  }
  const differences: Diagnostic[] = [];
  const apart: BackendChoice[] = [];
  const [first, ...rest] = outcomes;
  const distances: string[] = [];
  const { dtype } = outputOf(kernel.source ?? kernel.tile).type;
  for (const other of rest) {
    if (first === undefined) break;
    const [one, second] = [runOf(first[1]), runOf(other[1])];
    const isNative = allowedUlp !== undefined && (first[0] === "webgpu" || other[0] === "webgpu");
    let difference: Diagnostic | undefined;
    if (isNative && one !== undefined && second !== undefined) {
      const distance = ulpDifference(dtype, one.output, second.output);
      distances.push(formatUlpDifference(distance));
      difference = beyondUlp([nameOf(first[0]), nameOf(other[0])], distance, allowedUlp);
    } else difference = differenceBetween(first, other);
    if (difference === undefined) continue;
    differences.push(difference);
    apart.push(first[0], other[0]);
  }
  for (const { backend, difference } of await againstDefinition(definition, kernel, draw, outcomes)) {
    differences.push(difference);
    apart.push(backend);
  }
  const rejected = outcomes.flatMap(([, one]) => (one.kind === "rejected" ? [one.index] : []));
  const same =
    rejected[0] === undefined ? "the same bits" : `the same ${rejected[0].code}: ${rejected[0].message}`;
  return {
    outcomes,
    differences: differences.map((one) =>
      draw.indices === "as given" ? one : { ...one, message: `${one.message}, with ${draw.indices}` },
    ),
    apart,
    said: alone
      ? "done"
      : distances.length > 0
        ? distances.join("; ")
        : differences.length === 0
          ? same
          : "DIFFERENT bits",
  };
}

/**
 * Returns an error (TC610) for the first difference between the outcomes (output or rejected index) of two
 * backends. Undefined if the outcomes are equal.
 */
function differenceBetween(
  a: readonly [BackendChoice, Outcome],
  b: readonly [BackendChoice, Outcome],
): Diagnostic | undefined {
  const [one, other] = [runOf(a[1]), runOf(b[1])];
  const [first, second] = [nameOf(a[0]), nameOf(b[0])];
  const origins =
    one === undefined || other === undefined
      ? rejectionDifference([first, a[1]], [second, b[1]])
      : firstDifference({ backend: first, ...one }, { backend: second, ...other });
  return origins === undefined ? undefined : withLocations(origins, [a[0], b[0]]);
}

/** Returns a difference, with where the backends come from that are not built in. */
const withLocations = (difference: Diagnostic, backends: readonly BackendChoice[]): Diagnostic => {
  const notes = [...(difference.notes ?? []), ...backends.flatMap(placeOf)];
  return notes.length === 0 ? difference : { ...difference, notes };
};

/**
 * Returns the report of a simulated run as text lines: bytes, transfers and bursts of each operand, estimated
 * cycles, and peak bytes of the unified buffer (UB).
 */
function reportLines(report: NonNullable<BackendRun["report"]>): string[] {
  const rows = Object.entries(report.operands).map(([operand, { bytes, compulsory, transfers, bursts }]) => [
    operand,
    bytes,
    compulsory,
    transfers,
    bursts,
  ]);
  const { timing } = report;
  return [
    ...(report.executor === "fast" ? ["executor   fast"] : []),
    table(["operand", "bytes moved", "least bytes", "transfers", "bursts"], rows),
    `estimated  ${withCommas(timing.cycles)} cycles on ${counted(timing.cores, "core")} (cost model ${clockVersion}); ${timing.why}`,
    `UB peak    ${withCommas(report.ubPeak)} B of ${withCommas(report.ubBudget)} B; ${counted(report.tasks, "task")}`,
  ];
}

/**
 * Compiles and runs one gather, prints the result and resolves to the exit code. Rejects with a CompileError
 * if the program has dynamic sizes.
 */
async function runOne(loaded: LoadedProgram, flags: RunFlags): Promise<number> {
  throwIfErrors(unbound(loaded.func));
  const { code, document, text } = await run(loaded, flags);
  if (flags.json === true) printJson({ command: "run", ...document });
  else printReport(text);
  return code;
}

/**
 * Compares the output of each backend with the output of `definition`, a program that states the expected
 * result. Resolves to one entry with a diagnostic for each backend that differs.
 */
async function againstDefinition(
  definition: Func | undefined,
  { tile, target, source }: Kernel,
  { inputs }: Draw,
  outcomes: DrawRun["outcomes"],
): Promise<readonly { readonly backend: BackendChoice; readonly difference: Diagnostic }[]> {
  if (definition === undefined) return [];
  const { definedOutput, differenceFrom } = await import("../api/against.js");
  const expected = await outcomeOf(() => ({ output: definedOutput(definition, tile, copies(inputs)) }));
  const value = (bytes: Uint8Array) => fromOutput(outputOf(source ?? tile).type, bytes, inputs);
  return outcomes.flatMap(([backend, outcome]) => {
    const difference =
      expected.kind === "bits" && outcome.kind === "bits"
        ? differenceFrom(
            { tile, target, inputs, backend },
            value(expected.run.output),
            value(outcome.run.output),
            nameOf(backend),
          )
        : rejectionDifference([nameOf(backend), outcome], ["its definition", expected]);
    return difference === undefined ? [] : [{ backend, difference: withLocations(difference, [backend]) }];
  });
}

/**
 * Returns the options of the backend `sim` from the flags; `--threads` selects the executor `fast`. Throws a
 * UsageError for `--threads` with `--executor checked`.
 */
function executorOf({ executor, threads }: RunFlags): BackendOptions {
  if (threads === undefined) return defined({ executor });
  if (executor === "checked")
    throw new UsageError(
      "--threads needs --executor fast",
      "leave --threads out: the checked executor has one thread",
    );
  return { executor: "fast", threads: parseThreads(threads), spawn: spawnThread };
}

/**
 * Lists the gathers of a model, and runs each legal gather whose inputs are known or drawn (`--seed`).
 * Resolves to the exit code: 1 if a gather is refused or outputs differ, 3 for a bug in tilec, else 0.
 */
async function runModel(file: string, flags: RunFlags): Promise<number> {
  const { gathers: all, warnings } = (await import("./load-model.js")).loadModel(
    file,
    flags,
    targeting(flags),
  );
  const gathers = listGathers(all, flags, await pipelineOf(flags));
  const one =
    (["trace", "compare", "against"] as const).find((flag) => flags[flag] !== undefined) ??
    (["input", "out"] as const).find((flag) => flags[flag].length > 0);
  /**
   * True if a gather is listed without folding. Folded gathers are listed after the gathers that they
   * contain, and run only if `--func` names them.
   */
  const isAlone = ({ folds }: ListedGather): boolean => folds === undefined;
  const programs = gathers.flatMap((gather) => (isAlone(gather) ? (gather.loaded ?? []) : []));
  if (one !== undefined && programs.length > 1) {
    throw new UsageError(
      `--${one} needs one gather, and ${file} has ${programs.length}`,
      `choose one with --func: ${gathers.map(({ name }) => name).join(", ")}`,
    );
  }
  if (one !== undefined) return runOne(await loadProgram(file, flags), flags);
  const unbound = gathers.filter(({ verdict }) => verdict === "open");
  const isRefused = ({ verdict, diagnostics }: ListedGather): boolean =>
    verdict !== "open" && hasErrors(diagnostics);
  if (programs.length === 0 && unbound.length > 0 && !gathers.some(isRefused))
    throw new CompileError(unbound.flatMap(({ diagnostics }) => diagnostics));
  const listed = [];
  for (const gather of gathers) {
    const { verdict, loaded } = gather;
    const runs =
      isAlone(gather) &&
      verdict === "legal" &&
      loaded !== undefined &&
      (flags.seed !== undefined || hasInputs(loaded));
    const { result, failed = [] } = runs ? await runListed(gather.name, loaded, flags) : {};
    const idle = isAlone(gather) ? "inputs not known" : "by --func";
    const outcome = failed[0]?.code ?? result?.said ?? (verdict === "legal" ? idle : "");
    listed.push({ ...gather, diagnostics: [...gather.diagnostics, ...failed], outcome, result });
  }
  const wrong = listed.some((gather) => isAlone(gather) && (isRefused(gather) || gather.result?.code === 1));
  if (flags.json === true) {
    const documents = listed.map(
      ({ loaded: _, outcome: __, node: ___, nodes: ____, kernel: _____, result, ...rest }) => ({
        ...rest,
        ...defined({ run: result?.document }),
      }),
    );
    const document = { ok: !wrong, clock: clockVersion, gathers: documents, diagnostics: warnings };
    printJson({ command: "run", ...document });
  } else {
    print(listed.length === 0 ? `${file} has no gather` : gatherTable(listed));
    printDiagnostics([...warnings, ...onePerHint(listed)]);
    for (const { name, kept = [], reads } of gathers) {
      for (const why of kept) note(`${name}: ${why}`);
      if (reads !== undefined) note(`${name}: ${readsText(reads)}`);
    }
    const texts = listed.flatMap(({ result }) => result?.text ?? []);
    if (listed.filter(isAlone).length === 1 && texts.length === 1) print(`\n${texts.join("")}`);
    if (listed.some(({ outcome }) => outcome === "inputs not known"))
      note("--seed 1 draws the unknown inputs; --func GATHER with --input gives them from files");
  }
  if (listed.some(({ diagnostics }) => diagnostics.some(isBug))) return 3;
  return wrong ? 1 : 0;
}

/** Returns a text such as `it reads "x" as data, "ids" as indices`. */
const readsText = (reads: Readonly<Record<string, string>>): string =>
  `it reads ${Object.entries(reads)
    .map(([key, tensor]) => `${JSON.stringify(tensor)} as ${key}`)
    .join(", ")}`;

/**
 * Compiles and runs one gather of a model. Resolves to the result, or to diagnostics in `failed` if the run
 * fails.
 */
async function runListed(
  name: string,
  loaded: LoadedProgram,
  flags: RunFlags,
): Promise<{ readonly result?: DrawResult; readonly failed?: readonly Diagnostic[] }> {
  try {
    return { result: await run(loaded, flags) };
  } catch (thrown) {
    return {
      failed: gatherFaults(thrown, name).map((diagnostic) => ({
        ...diagnostic,
        message: `${name}: ${diagnostic.message}`,
      })),
    };
  }
}

/** True if every input came with the program. */
const hasInputs = ({ func, inputs = {} }: LoadedProgram): boolean =>
  inputsOf(func).every(({ name }) => Object.hasOwn(inputs, name));

/**
 * Returns the diagnostics of all gathers without repeated hints. Diagnostics of a gather with an unknown
 * shape become warnings.
 */
function onePerHint(gathers: readonly ListedGather[]): Diagnostic[] {
  const reported = new Set<string>();
  return gathers.flatMap(({ verdict, diagnostics }) =>
    diagnostics.map((diagnostic) => {
      const { hint, ...rest } = diagnostic;
      const again = hint !== undefined && reported.has(hint);
      if (hint !== undefined) reported.add(hint);
      const severity = verdict === "open" ? "warning" : diagnostic.severity;
      return again ? { ...rest, severity } : { ...diagnostic, severity };
    }),
  );
}

/**
 * Returns the program's kernel under the schedule of `--compare`; undefined without the flag. Throws a
 * UsageError if `--compare` is given and `--trace` does not name an `.html` file.
 */
function comparedWith(
  func: Func,
  { compare: written, trace }: RunFlags,
  targeted: Pick<CompileOptions, "target" | "findTarget" | "passes">,
): Kernel | undefined {
  if (written === undefined) return undefined;
  if (trace?.endsWith(".html") !== true) {
    throw new UsageError("--compare needs a page: --trace FILE.html", "--trace t.html");
  }
  return otherKernel(func, written, targeted);
}

/** Returns the format that the ending of a trace's file names. Throws a UsageError for another ending. */
function traceFormat(file: string): OutputFormat {
  if (file.endsWith(".html")) return outputFormats.markup;
  if (file.endsWith(".json")) return outputFormats.json;
  throw new UsageError(`--trace ${file} ends in neither .json nor .html`);
}

/**
 * Writes the simulated timeline of a kernel to a file: an HTML page, which can also show the kernel
 * `compared`, or a Chrome trace in JSON.
 */
async function writeTrace(
  file: string,
  kernel: Kernel,
  compared: Kernel | undefined,
  outputs: Outputs,
): Promise<void> {
  const format = traceFormat(file);
  const timing = walkOf(kernel.tile, kernel.target);
  if (format === outputFormats.markup) {
    const { timelinePage } = await import("../report/timeline-page.js");
    const other =
      compared === undefined
        ? undefined
        : { kernel: compared, timing: walkOf(compared.tile, compared.target) };
    outputs.write(file, timelinePage(kernel, timing, other), format);
  } else outputs.write(file, JSON.stringify({ schema: jsonSchema, ...chromeTrace(timing) }), format);
  if (timing.dropped > 0)
    note(`the trace holds the first ${timing.events.length} events; ${timing.dropped} more ran`);
}

/**
 * Returns the file path of `--out name=file`; undefined without the flag. Throws a UsageError if two flags
 * name the output.
 */
function outputFile({ out }: RunFlags, func: Func): string | undefined {
  const operand = outputOf(func);
  const names = new Set([operand.role, keyOf(operand), operand.name]);
  const [first, second] = [...assignments(out, "out", [...names])];
  if (first !== undefined && second !== undefined)
    throw new UsageError(`--out ${first[0]} and --out ${second[0]} name the same operand`);
  return first?.[1];
}

/**
 * Parses a list of `name=file` pairs into a map from name to file. Throws a UsageError for a malformed pair,
 * an unknown name, or a repeated name.
 */
function assignments(
  list: readonly string[],
  flag: "input" | "out",
  names: readonly string[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const entry of list) {
    const split = entry.indexOf("=");
    const name = entry.slice(0, Math.max(0, split));
    if (!names.includes(name) || split === entry.length - 1) {
      const pair = name !== "" && split < entry.length - 1;
      const what = pair
        ? `names no ${flag === "input" ? "input" : "output"} of the program`
        : "is not name=file";
      throw new UsageError(
        `--${flag} ${entry} ${what}`,
        names.map((n) => `--${flag} ${n}=file.npy`).join(" "),
      );
    }
    if (files.has(name)) throw new UsageError(`--${flag} ${name} is given twice`);
    files.set(name, entry.slice(split + 1));
  }
  return files;
}

/**
 * Returns the inputs of a run: values by operand key, the seed of random inputs, and the source of every
 * input as text (`origin`). Throws a CompileError (TC702) if an input has no value and no seed is given.
 * Throws a UsageError if two `--input` flags name one operand, or if `--seed` has no effect.
 */
function inputsFor(
  loaded: LoadedProgram,
  flags: RunFlags,
  kernel: Kernel,
): {
  readonly given: Readonly<Record<string, HostValue>>;
  readonly seed?: number;
  readonly origin: string;
} {
  const operands = inputsOf(kernel.source ?? kernel.tile);
  const keys = operands.map(keyOf);
  // A name in the text that is another's key is that other.
  const words = new Map(
    operands.flatMap((operand) =>
      [keyOf(operand), ...(keys.includes(operand.name) ? [] : [operand.name])].map(
        (word) => [word, operand] as const,
      ),
    ),
  );
  const { given: fixed = {}, taken = [] } = loaded;
  const named = flags.input.filter((entry) => !taken.includes(entry));
  const files = new Map<Operand, string>();
  for (const [word, file] of assignments(named, "input", [...words.keys()])) {
    const operand = words.get(word);
    if (operand === undefined) continue;
    if (files.has(operand))
      throw new UsageError(`--input ${keyOf(operand)} and --input ${operand.name} name the same operand`);
    files.set(operand, file);
  }
  const seed = flags.seed === undefined ? undefined : parseSeed(flags.seed);
  if (seed !== undefined && files.size + Object.keys(fixed).length === operands.length) {
    throw new UsageError(`--seed has no effect: --input gives ${operands.map(keyOf).join(" and ")}`);
  }
  const origins: string[] = [];
  const input = (operand: Operand): TensorValue | undefined => {
    const { name, type } = operand;
    const key = keyOf(operand);
    const file = files.get(operand);
    if (file !== undefined) {
      origins.push(file);
      return matching(readNpy(readBytes(file), file), type, key, file);
    }
    const said = entryOf(fixed, name);
    if (said !== undefined) {
      origins.push(`${key} of the flags`);
      return said();
    }
    const input = entryOf(loaded.inputs ?? {}, name);
    if (input !== undefined && seed === undefined) {
      origins.push(`the program's ${key}`);
      return matching(input(), type, key, "the program");
    }
    if (seed === undefined) {
      throw new CompileError([
        error("TC702", `${key} has no value`, {
          hint: `--input ${key}=file.npy, or --seed 1 for random inputs`,
        }),
      ]);
    }
    origins.push(`${key} at random, seed ${seed}`);
    return undefined;
  };
  const given = operands.flatMap((operand) => {
    const value = input(operand);
    return value === undefined ? [] : [[keyOf(operand), asHost(keyOf(operand), value)] as const];
  });
  return {
    given: Object.fromEntries(given),
    ...defined({ seed }),
    origin: origins.join(" and "),
  };
}

/**
 * Returns the contents of an output file for a tensor, and the file format: JSON for a tensor of strings,
 * `.npy` for other tensors.
 */
export const tensorFile = (value: TensorValue): [contents: Uint8Array | string, format: OutputFormat] =>
  value.strings === undefined
    ? [writeNpy(value), outputFormats.npy]
    : [`${JSON.stringify({ schema: jsonSchema, ...tensorJson(value, "values") })}\n`, outputFormats.json];
