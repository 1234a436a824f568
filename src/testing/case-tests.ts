/**
 * The cases of files and folders as tests of any runner: one function each, that throws when its case fails.
 */
import { AssertionError } from "node:assert";
import { defined, CompileError, error, throwIfErrors, type Operators, type Target } from "../../ir/index.js";
import type { Field, Fields } from "../../backends/index.js";
import type { Executor } from "../../backends/sim/index.js";
import { simulateLongFields } from "../../backends/sim/options.js";
import type { Pass } from "../../passes/index.js";
import type { BackendChoice, BackendName } from "../api/backends.js";
import { checkOptions } from "../api/check-options.js";
import { compileFields } from "../api/compile.js";
import { formatHint } from "../formats/case-tensor.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { loud, type SkipContext } from "./assert-that.js";
import type { CheckContext } from "./check-case.js";
import { placeFields } from "./compare.js";
import { requiredBackends, testDevice } from "./device.js";
import { testsIn } from "./find-tests.js";
import { runTests, type Test } from "./run-tests.js";

/**
 * Options of {@link caseTests}: the backends on which tests run, and the executor, passes, targets and
 * operators.
 */
export interface CaseOptions {
  /** Default: `reference` and `sim`. */
  readonly backends?: readonly BackendChoice[];
  /**
   * Backends that must run: a test fails if one is skipped. The variable TILEC_REQUIRE names further
   * backends.
   */
  readonly require?: readonly BackendName[];
  /** Executor of `sim`; default `checked`. */
  readonly executor?: Executor;
  /** Passes that compile a case, in order. Default: `defaultPipeline`. RUN lines state their own pipeline. */
  readonly passes?: readonly Pass[];
  /** Targets that cases can name beside the built-in ones. */
  readonly targets?: readonly Target[];
  /**
   * Operators that cases and texts can name, as `operatorsWith` gives them; RUN lines have those of their
   * config. Default: the built-in ones.
   */
  readonly operators?: Operators;
}

const list = (takes: string): Field => ({ code: "TC702", takes, holds: Array.isArray });

const caseFields: Fields<CaseOptions> = {
  ...placeFields,
  executor: simulateLongFields.executor,
  passes: compileFields.passes,
  targets: list("a list of targets"),
  operators: list("a list of operators, as operatorsWith gives them"),
};

/** Test for any test runner: a name and a function. */
export interface CaseTest {
  /** The case's id. */
  readonly name: string;
  /**
   * Runs the test. Rejects with an AssertionError that names the fault of each backend. Skipped backends are
   * reported to `context`.
   */
  readonly run: (context?: SkipContext) => Promise<void>;
}

/**
 * Returns a test for each JSON test case, `.tir` text test and ONNX gather in a file or in a folder with
 * subfolders. Throws a CompileError: TC013 if there is no test, TC702 for invalid options.
 */
export function caseTests(path: string, options: CaseOptions = {}): CaseTest[] {
  throwIfErrors(checkOptions("caseTests", options, caseFields));
  const tests = testsIn(path, options.operators);
  if (tests.length === 0) {
    throw new CompileError([error("TC013", `no test was found in ${path}`, { hint: formatHint })]);
  }
  return tests.map((test) => ({ name: test.id, run: (context = loud) => runCase(test, options, context) }));
}

/**
 * Runs a test on the requested backends. Rejects with an AssertionError that states the fault of each
 * backend. A skipped backend is a fault if the backend is required; otherwise `skip` receives the reason.
 */
async function runCase(test: Test, options: CaseOptions, skip: SkipContext): Promise<void> {
  const { backends = ["reference", "sim"], executor, passes, targets = [] } = options;
  const required = requiredBackends(options.require);
  const device = backends.includes("webgpu") ? await testDevice() : undefined;
  const context: CheckContext = {
    findTarget: (name) => targets.find((target) => target.name === name) ?? lookUpTarget(name),
    ...defined({ executor, passes }),
    ...(device === undefined ? {} : device.ok ? { runner: device.runner } : { problem: device.problem }),
  };
  const { results, bugs } = await runTests([test], backends, { contextOf: () => context });
  const [bug] = bugs;
  if (bug !== undefined) throw bug.thrown;
  const wrong = results.flatMap(({ backend, status, code, message = "no reason is known" }) => {
    const said = `${backend}: ${code === undefined ? "" : `${code}: `}${message}`;
    if (status === "skip" && [...required].some((name) => name === backend))
      return [`${said}; it is required`];
    return status === "fail" ? [said] : [];
  });
  if (wrong.length > 0) {
    const { expected, actual } = results.find(({ status }) => status === "fail") ?? {};
    throw new AssertionError({ message: `${test.id}\n${wrong.join("\n")}`, expected, actual });
  }
  const skipped = results.filter(({ status }) => status === "skip");
  if (skipped.length > 0) {
    skip.skip(
      skipped.map(({ backend, message }) => `${backend}: ${message ?? "no reason is known"}`).join("; "),
    );
  }
}
