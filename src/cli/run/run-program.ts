/** A program compiled, run on the backends of the flags, and compared. */
import {
  defined,
  formatType,
  outputOf,
  targetFacts,
  taskOfTile,
  type Diagnostic,
  type Func,
  type TensorType,
} from "../../../ir/index.js";
import type { HostValue } from "../../../backends/index.js";
import type { InputsVerdict } from "../../../backends/reference/unmet-condition.js";
import { nameOf, type BackendChoice, type BackendRun } from "../../api/backends.js";
import { compile, type Kernel } from "../../api/compile.js";
import { verdictHints, verdictOn } from "../../api/inputs-verdict.js";
import { fromOutput, type TensorValue } from "../../formats/tensor.js";
import { outputFormats } from "../../output/mark.js";
import { definitionOf, drawsOf, type Draw } from "../../testing/draws.js";
import { loadProgram } from "../load.js";
import type { LoadedProgram } from "../loaded-program.js";
import { openRunner, type DeviceRunner } from "../open-runner.js";
import { targeting } from "../options.js";
import { Outputs } from "../outputs.js";
import { executorOf, parseBackends, refuseWithoutSim } from "../parse-backends.js";
import { pipelineOf } from "../pipeline-flags.js";
import { noProgress, taskProgress } from "../progress.js";
import { tensorFile } from "../tensor-file.js";
import { note, printDiagnostics } from "../terminal.js";
import { ulpOf } from "../ulp.js";
import { UsageError } from "../usage-error.js";
import { inputsFor } from "./inputs-for.js";
import { outputFile } from "./output-file.js";
import { isAlone, runDraw, runOf, type DrawRun, type Sides } from "./run-draw.js";
import type { RunFlags } from "./run-flags.js";
import { runDocument, runText, saidOf, type FinishedRun, type RunDocument } from "./run-report.js";
import { comparedWith, traceFormat, writeTrace } from "./write-trace.js";

/** Result of a run: its exit code and its output. */
export interface RunResult {
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

/**
 * Compiles one gather or scatter and runs the kernel on the backends that the flags name. Resolves to the
 * exit code, the JSON document, the report as text and the outputs. `quiet`: true for no progress display.
 */
export async function runProgram(
  loaded: LoadedProgram,
  flags: RunFlags,
  { quiet = false } = {},
): Promise<RunResult> {
  const stated = statedSides(flags);
  const file = outputFile(flags, loaded.func);
  const outputs = new Outputs("run", flags);
  const targeted = { ...targeting(flags), ...(await pipelineOf(flags)) };
  const kernel = compile(loaded.func, targeted);
  const other = comparedWith(loaded.func, flags, targeted);
  const sides = { ...stated, definition: await loadDefinition(flags) };
  const { given, seed = 0, origin } = inputsFor(loaded, flags, kernel);
  const draws = drawsFor(kernel, sides, seed, given);
  const { type } = outputOf(kernel.source ?? kernel.tile);
  outputs.check(file, type.dtype === "string" ? outputFormats.json : outputFormats.npy);
  if (flags.trace !== undefined) outputs.check(flags.trace, traceFormat(flags.trace));
  const { runs, report } = await runDraws(kernel, draws, sides, flags, quiet);
  const { value, bits: output } = outputFor(loaded, type, draws[0], runs[0]);
  const differences = runs.flatMap((run) => run.differences);
  const ascend = ascendVerdict(kernel, draws);
  const diagnostics = [...differences, ...(ascend === undefined ? [] : verdictHints(ascend))];
  if (value !== undefined && file !== undefined) outputs.write(file, ...tensorFile(value));
  if (flags.trace !== undefined) await writeTrace(flags.trace, kernel, other, outputs);
  if (flags.json !== true) printDiagnostics(diagnostics);
  const { against } = flags;
  const written = { type: formatType(value?.type ?? type), bytes: output?.byteLength ?? 0 };
  const run: FinishedRun = { kernel, sides, against, draws, origin, runs, report, ascend, output: written };
  return {
    code: outputs.status(differences.length === 0 ? 0 : 1),
    document: runDocument(run, [...kernel.diagnostics, ...diagnostics, ...outputs.diagnostics]),
    text: runText(run),
    said: saidOf(run),
    kernel,
    differences,
    ...defined({ report, output }),
  };
}

/**
 * Returns the backends that the flags name, and the allowed difference of native arithmetic. Throws a
 * UsageError for flags that cannot be combined.
 */
function statedSides(flags: RunFlags): Omit<Sides, "definition"> {
  const backends = parseBackends(flags.backend, flags.project);
  refuseWithoutSim(backends, flags);
  const allowedUlp = ulpOf(flags, backends);
  if (allowedUlp !== undefined && flags.against !== undefined)
    throw new UsageError(
      "--against cannot be used with --arithmetic native, whose bits depend on the device",
      "--backend reference,webgpu --ulp 1",
    );
  return { backends, allowedUlp };
}

/** Loads the program of `--against`; resolves to undefined without the flag. */
const loadDefinition = async ({ against, project }: RunFlags): Promise<Func | undefined> =>
  against === undefined ? undefined : (await loadProgram(against, { project })).func;

/** Returns the draws of a run. Where nothing is compared, a backend runs the first alone. */
function drawsFor(
  kernel: Kernel,
  sides: Sides,
  seed: number,
  given: Readonly<Record<string, HostValue>>,
): readonly Draw[] {
  const program = definitionOf(kernel, sides.definition);
  const drawn = [...drawsOf(kernel.source ?? kernel.tile, program, seed, given)];
  return isAlone(sides) ? drawn.slice(0, 1) : drawn;
}

/**
 * Runs a kernel for each draw, on a WebGPU device that is open meanwhile if a backend needs one. Prints the
 * diagnostics of the kernel and notes, except with `--json`. `report`: of the first draw.
 */
async function runDraws(
  kernel: Kernel,
  draws: readonly Draw[],
  sides: Sides,
  flags: RunFlags,
  quiet: boolean,
): Promise<{ readonly runs: readonly DrawRun[]; readonly report: BackendRun["report"] }> {
  const device = sides.backends.includes("webgpu")
    ? await openRunner(defined({ arithmetic: flags.arithmetic }))
    : undefined;
  const bar = quiet ? noProgress : taskProgress(taskOfTile(kernel.tile).nest.tasks);
  const options = { ...executorOf(flags), runner: device?.runner, onProgress: bar.reached };
  const runs: DrawRun[] = [];
  let report: BackendRun["report"];
  try {
    if (flags.json !== true) printDiagnostics(kernel.diagnostics);
    for (const draw of draws) {
      const run = await runDraw(kernel, draw, sides, options);
      // Before the next run, which may take the memory that it is derived from.
      if (runs.length === 0) report = run.outcomes.flatMap(([, one]) => runOf(one)?.report ?? [])[0];
      runs.push(run);
    }
    if (flags.json !== true) notesOn(kernel, sides.backends, device).forEach(note);
    return { runs, report };
  } finally {
    bar.stop();
    device?.close();
  }
}

/** Returns notes on a schedule entry without effect, and on a kernel that was compiled again for a device. */
function notesOn(
  kernel: Kernel,
  backends: readonly BackendChoice[],
  device: DeviceRunner | undefined,
): readonly string[] {
  const { dmaEngine, runsOnWebgpu } = targetFacts[kernel.target.kind];
  const again = device === undefined || runsOnWebgpu ? undefined : kernel.forTarget(device.runner.target);
  return [
    ...(kernel.tile.schedule.rotate === "on" && dmaEngine
      ? [
          `rotate = on changes nothing on ${backends.map(nameOf).join(", ")}, which run no cores beside one another`,
        ]
      : []),
    ...(device === undefined || again === undefined
      ? []
      : [`webgpu: compiled again for ${device.description}, tile ${String(again.tile.schedule.tile)}`]),
  ];
}

/**
 * Returns the output of the first backend for the first draw: the tensor that the program stands for, and its
 * bits. Both are undefined if the backend rejected an index.
 */
function outputFor(
  { result }: LoadedProgram,
  type: TensorType,
  draw: Draw | undefined,
  run: DrawRun | undefined,
): { readonly value?: TensorValue; readonly bits?: Uint8Array } {
  const [first] = run?.outcomes ?? [];
  const bits = first === undefined ? undefined : runOf(first[1])?.output;
  if (draw === undefined || bits === undefined) return {};
  const output = fromOutput(type, bits, draw.inputs);
  if (result === undefined) return { value: output, bits };
  const value = result(output);
  return { value, bits: value.bytes };
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
