/** One run of a suite: tests on backends, and what it came to. */
import { defined, error, RunError, warning, type Diagnostic } from "../../ir/index.js";
import type { Executor } from "../../backends/sim/index.js";
import type { Arithmetic } from "../../backends/webgpu/index.js";
import type { Pass } from "../../passes/index.js";
import { nameOf, type BackendChoice } from "../api/backends.js";
import type { TensorValue } from "../formats/tensor.js";
import type { CheckContext, CheckResult } from "../testing/check-case.js";
import type { Measured } from "../testing/measured.js";
import { runTests, type SuiteResults, type Test } from "../testing/run-tests.js";
import type { Project } from "../config/project.js";
import { progressBar } from "./progress.js";
import { sharesOf, type SuiteReport } from "./reporters/suite-report.js";
import type { OutputFolder } from "./outputs.js";
import { openRunner } from "./open-runner.js";
import { tensorFile } from "./tensor-file.js";

/** Test of a suite. `dumpName`: name of the test in the files that `--dump` writes. */
export interface NamedTest extends Test {
  /** Name of the test in the file names of `--dump`. */
  readonly dumpName: string;
}

/** Settings of {@link runSuite}: backends, config file (`project`), passes, output folder and callbacks. */
export interface SuiteSettings {
  readonly backends: readonly BackendChoice[];
  readonly required: ReadonlySet<string>;
  readonly project: Project;
  readonly executor?: Executor;
  /** Arithmetic of WebGPU, and the units in the last place that its results may be off. */
  readonly arithmetic?: Arithmetic;
  readonly allowedUlp?: number;
  readonly passes?: readonly Pass[];
  /** The folder for outputs. */
  readonly dump?: OutputFolder;
  readonly bail?: boolean;
  readonly onMismatch: (test: Test, backend: string, actual: TensorValue) => void;
  readonly onExcess: (test: Test, measured: Measured) => void;
}

/**
 * Returns the settings that tests take from the config file: target look-up, PyPTO rule profile, and flags
 * for RUN lines.
 */
export const checkSettings = ({
  findTarget,
  profile,
  flags,
}: Project): Pick<CheckContext, "findTarget" | "profile" | "commandFlags"> => ({
  findTarget,
  ...defined({ profile, commandFlags: flags }),
});

/** Result of {@link runSuite}: the report of a test suite, with the bugs in tilec that the tests revealed. */
export interface SuiteRun extends SuiteReport, Pick<SuiteResults, "bugs"> {}

/**
 * Runs tests on backends and resolves to the test results. A WebGPU device is opened if `webgpu` is among the
 * backends, and closed at the end.
 */
export async function runSuite(tests: readonly NamedTest[], settings: SuiteSettings): Promise<SuiteRun> {
  const { backends, required, project, executor, arithmetic, allowedUlp } = settings;
  const { passes, dump, onMismatch, onExcess } = settings;
  const start = performance.now();
  const device = backends.includes("webgpu")
    ? await openRunner(defined({ arithmetic })).catch(runErrorsOnly)
    : undefined;
  const gpu = device instanceof RunError ? undefined : device;
  const [problem] = device instanceof RunError ? device.diagnostics : [];
  const contextOf = (test: NamedTest): CheckContext => ({
    ...checkSettings(project),
    ...defined({ executor, allowedUlp, passes, runner: gpu?.runner, problem }),
    onMismatch: (backend, actual) => {
      onMismatch(test, backend, actual);
    },
    onExcess: (measured) => {
      onExcess(test, measured);
    },
    ...(dump === undefined
      ? {}
      : {
          dump: (name, value) => {
            const ending = value.strings === undefined ? "npy" : "json";
            dump.write(`${test.dumpName}.${name}.${ending}`, ...tensorFile(value));
          },
        }),
  });
  const bar = progressBar("cases");
  const run = await runTests(tests, backends, {
    contextOf,
    onDone: ({ id }) => {
      bar.step(id, tests.length);
    },
    bail: settings.bail === true,
  }).finally(() => {
    bar.stop();
    gpu?.close();
  });
  const on = (backend: string): string => {
    if (backend === "sim") return `${executor ?? "checked"} executor`;
    if (backend === "webgpu") return gpu?.description ?? "no device";
    return "this machine";
  };
  return {
    ...run,
    shares: sharesOf(run.results, on),
    milliseconds: performance.now() - start,
    diagnostics: idleBackends(backends, required, run.results),
  };
}

function runErrorsOnly(thrown: unknown): RunError {
  if (thrown instanceof RunError) return thrown;
  throw thrown;
}

/**
 * Returns a diagnostic for each chosen backend that skipped all tests. The diagnostic is a warning, or an
 * error if the backend is required, no backend ran a test, or the environment is continuous integration.
 */
function idleBackends(
  backends: readonly BackendChoice[],
  required: ReadonlySet<string>,
  results: readonly CheckResult[],
): Diagnostic[] {
  const executed = results.some(({ status }) => status !== "skip");
  return backends.map(nameOf).flatMap((backend) => {
    const ofBackend = results.filter((result) => result.backend === backend);
    const [first] = ofBackend;
    if (first === undefined || ofBackend.some(({ status }) => status !== "skip")) return [];
    const message = `nothing ran on ${backend}, ${ofBackend.length} skipped: ${first.message ?? "no reason is known"}`;
    const say = required.has(backend) || isContinuousIntegration() || !executed ? error : warning;
    return [
      say(first.code === "TC703" ? "TC703" : "TC503", message, {
        hint: `make it available, or leave ${backend} out of --backend`,
      }),
    ];
  });
}

/** True if the environment variable `CI` is set to a value other than 0, false or the empty text. */
export const isContinuousIntegration = (): boolean => !["", "0", "false"].includes(process.env["CI"] ?? "");
