/** `tilec run` of an ONNX model: each of its gathers. */
import { clockVersion, CompileError, defined, hasErrors, type Diagnostic } from "../../../ir/index.js";
import { isBug } from "../../../ir/faults.js";
import { gatherFaults } from "../gather-faults.js";
import { gatherTable, listGathers, type ListedGather } from "../list-model.js";
import { loadProgram } from "../load.js";
import type { LoadedProgram } from "../loaded-program.js";
import { targeting } from "../options.js";
import { pipelineOf } from "../pipeline-flags.js";
import { note, print, printDiagnostics, printJson } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { hasInputs } from "./inputs-for.js";
import type { RunFlags } from "./run-flags.js";
import { runOne } from "./run-one.js";
import { runProgram, type RunResult } from "./run-program.js";

/** Gather of a model after its run; without a result, it did not run. */
interface GatherRun extends ListedGather {
  /** Summary of the run, or the reason why the gather did not run. */
  readonly outcome: string;
  readonly result: RunResult | undefined;
}

/** Outcome of a gather whose inputs have no values. */
const inputsUnknown = "inputs not known";

/**
 * Lists the gathers of a model, and runs each legal gather whose inputs are known or drawn (`--seed`).
 * Resolves to the exit code: 1 if a gather is refused or outputs differ, 3 for a bug in tilec, else 0.
 */
export async function runModel(file: string, flags: RunFlags): Promise<number> {
  const { loadModel } = await import("../load-model.js");
  const { gathers: all, warnings } = loadModel(file, flags, targeting(flags));
  const gathers = listGathers(all, flags, await pipelineOf(flags));
  const programs = gathers.flatMap((gather) => (isAlone(gather) ? (gather.loaded ?? []) : []));
  const flagOfOne = singleFlag(flags);
  if (flagOfOne !== undefined && programs.length > 1) {
    throw new UsageError(
      `--${flagOfOne} needs one gather, and ${file} has ${programs.length}`,
      `choose one with --func: ${gathers.map(({ name }) => name).join(", ")}`,
    );
  }
  if (flagOfOne !== undefined) return runOne(await loadProgram(file, flags), flags);
  if (programs.length === 0) throwIfAllUnbound(gathers);
  const runs: GatherRun[] = [];
  for (const gather of gathers) runs.push(await runGather(gather, flags));
  const isWrong = runs.some((run) => isAlone(run) && (isRefused(run) || run.result?.code === 1));
  if (flags.json === true) printJson({ command: "run", ...modelDocument(runs, warnings, !isWrong) });
  else printModel(file, runs, warnings);
  if (runs.some(({ diagnostics }) => diagnostics.some(isBug))) return 3;
  return isWrong ? 1 : 0;
}

/**
 * True if a gather is listed without folding. Folded gathers are listed after the gathers that they contain,
 * and run only if `--func` names them.
 */
const isAlone = ({ folds }: ListedGather): boolean => folds === undefined;

/** True if a gather whose shapes are known is refused. */
const isRefused = ({ verdict, diagnostics }: ListedGather): boolean =>
  verdict !== "open" && hasErrors(diagnostics);

/** Returns the first given flag that holds for one gather alone. */
const singleFlag = (flags: RunFlags): string | undefined =>
  (["trace", "compare", "against"] as const).find((flag) => flags[flag] !== undefined) ??
  (["input", "out"] as const).find((flag) => flags[flag].length > 0);

/** Throws a CompileError if shapes of gathers are not known, and no gather is refused for another reason. */
function throwIfAllUnbound(gathers: readonly ListedGather[]): void {
  const unbound = gathers.filter(({ verdict }) => verdict === "open");
  if (unbound.length > 0 && !gathers.some(isRefused))
    throw new CompileError(unbound.flatMap(({ diagnostics }) => diagnostics));
}

/** Runs a gather if it is legal and has inputs, and resolves to the gather with the outcome. */
async function runGather(gather: ListedGather, flags: RunFlags): Promise<GatherRun> {
  const { name, verdict, loaded } = gather;
  const runs =
    isAlone(gather) &&
    verdict === "legal" &&
    loaded !== undefined &&
    (flags.seed !== undefined || hasInputs(loaded));
  const { result, failed = [] } = runs ? await tryRun(name, loaded, flags) : {};
  const idle = isAlone(gather) ? inputsUnknown : "by --func";
  const outcome = failed[0]?.code ?? result?.said ?? (verdict === "legal" ? idle : "");
  return { ...gather, diagnostics: [...gather.diagnostics, ...failed], outcome, result };
}

/**
 * Compiles and runs one gather of a model. Resolves to the result, or to diagnostics in `failed` if the run
 * fails.
 */
async function tryRun(
  name: string,
  loaded: LoadedProgram,
  flags: RunFlags,
): Promise<{ readonly result?: RunResult; readonly failed?: readonly Diagnostic[] }> {
  try {
    return { result: await runProgram(loaded, flags) };
  } catch (thrown) {
    return {
      failed: gatherFaults(thrown, name).map((diagnostic) => ({
        ...diagnostic,
        message: `${name}: ${diagnostic.message}`,
      })),
    };
  }
}

/** Returns the JSON document of a model's gathers. */
const modelDocument = (runs: readonly GatherRun[], warnings: readonly Diagnostic[], ok: boolean) => ({
  ok,
  clock: clockVersion,
  gathers: runs.map(({ loaded: _, outcome: __, node: ___, nodes: ____, kernel: _____, result, ...rest }) => ({
    ...rest,
    ...defined({ run: result?.document }),
  })),
  diagnostics: warnings,
});

/**
 * Prints the table of a model's gathers, diagnostics and notes, and the report of a run that is the only one.
 */
function printModel(file: string, runs: readonly GatherRun[], warnings: readonly Diagnostic[]): void {
  print(runs.length === 0 ? `${file} has no gather` : gatherTable(runs));
  printDiagnostics([...warnings, ...onePerHint(runs)]);
  for (const { name, kept = [], reads } of runs) {
    for (const why of kept) note(`${name}: ${why}`);
    if (reads !== undefined) note(`${name}: ${readsText(reads)}`);
  }
  const texts = runs.flatMap(({ result }) => result?.text ?? []);
  if (runs.filter(isAlone).length === 1 && texts.length === 1) print(`\n${texts.join("")}`);
  if (runs.some(({ outcome }) => outcome === inputsUnknown))
    note("--seed 1 draws the unknown inputs; --func GATHER with --input gives them from files");
}

/** Returns a text such as `it reads "x" as data, "ids" as indices`. */
const readsText = (reads: Readonly<Record<string, string>>): string =>
  `it reads ${Object.entries(reads)
    .map(([key, tensor]) => `${JSON.stringify(tensor)} as ${key}`)
    .join(", ")}`;

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
