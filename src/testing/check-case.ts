/** One regression case on one backend: pass, fail or skip, with the reason. */
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkArgument } from "../../ir/argument.js";
import {
  defined,
  bindSizes,
  isScatter,
  categoryOf,
  CompileError,
  entryOf,
  error,
  formatShape,
  formatType,
  inputsOf,
  invariant,
  keyOf,
  outputOf,
  parseModule,
  RunError,
  throwIfErrors,
  type Diagnostic,
  type Func,
  type Operand,
  type Target,
  type TensorType,
  type Profile,
} from "../../ir/index.js";
import { PassError, type Pass } from "../../passes/index.js";
import type { HostValue } from "../../backends/index.js";
import type { Executor } from "../../backends/sim/index.js";
import type { Runner } from "../../backends/webgpu/index.js";
import { definedOutput, differenceFrom } from "../api/against.js";
import { compile, type Kernel } from "../api/compile.js";
import { beyondUlp, formatUlpDifference, ulpDifference } from "../api/ulp-difference.js";
import type { RunInputs } from "../api/origin-of.js";
import type { Case } from "../formats/cases.js";
import { malformed, type CaseTensor } from "../formats/case-tensor.js";
import { once } from "../formats/once.js";
import { asHost, fromOutput, type TensorValue } from "../formats/tensor.js";
import { program } from "../api/program.js";
import { withProfile } from "../api/with-profile.js";
import { nameOf, placeOf, runOn, type BackendChoice } from "../api/backends.js";
import { verdictHints, verdictOn } from "../api/inputs-verdict.js";
import { excesses, measured, type Measured } from "./measured.js";
import { changedInput, copies } from "./inouts.js";
import { skipWithoutDevice } from "./no-device.js";

/** Result of a test on one backend. */
export interface CheckResult {
  readonly id: string;
  readonly backend: string;
  readonly status: "pass" | "fail" | "skip";
  readonly code?: string;
  readonly message?: string;
  /** Expected value of the first element that differs. `actual`: the value in the output. */
  readonly expected?: unknown;
  readonly actual?: unknown;
  /** File of the test, and its line from 1. */
  readonly file?: string;
  readonly line?: number;
  /** Milliseconds that the test took. */
  readonly milliseconds?: number;
}

/** Environment in which tests run: device, executor, targets, pass pipeline, and callbacks for results. */
export interface CheckContext {
  /** Absent: no device; `problem` says why. */
  readonly runner?: Runner;
  readonly problem?: Diagnostic;
  /** Executor of `sim`; default `checked`. */
  readonly executor?: Executor;
  /**
   * Units in the last place that outputs of `webgpu` may be off, for a runner with native arithmetic. Absent:
   * outputs have the expected bits.
   */
  readonly allowedUlp?: number;
  /** Looks up what is no built-in target; default: none. */
  readonly findTarget?: (name: string) => Target | undefined;
  /** The profile of programs that state none; absent: `strict`. */
  readonly profile?: Profile;
  /** The pipeline that compiles cases; RUN lines say their own. Default: `defaultPipeline`. */
  readonly passes?: readonly Pass[];
  /** Flags that RUN lines are given, such as `--config`, where they have none of them. */
  readonly commandFlags?: readonly string[];
  /** Called with what a backend gave in place of the output that the case states. */
  readonly onMismatch?: (backend: string, actual: TensorValue) => void;
  /** Called with what the kernel takes where that is over the limits of the case. */
  readonly onExcess?: (measured: Measured) => void;
  /**
   * Called with every output, under its backend's name, and with the inputs that a fill rule made, under
   * theirs.
   */
  readonly dump?: (name: string, value: TensorValue) => void;
}

/**
 * Compiles a test case once, runs the kernel on each backend, and resolves to one result per backend. A test
 * case with cost limits has one more result.
 */
export const checkCase = async (
  test: Case,
  backends: readonly BackendChoice[],
  context: CheckContext,
): Promise<CheckResult[]> => {
  checkApiArgument("checkCase", "case", test);
  checkArgument("checkCase", "list", backends);
  checkArgument("checkCase", "object", context);
  return beginCase(test, backends, context)();
};

/**
 * Compiles a test case and starts to prepare the WebGPU pipeline. Returns a function that runs the test case
 * and resolves to the results of {@link checkCase}.
 */
export function beginCase(
  test: Case,
  backends: readonly BackendChoice[],
  context: CheckContext,
): () => Promise<CheckResult[]> {
  const compiled = attempt(() => compileCase(test, context));
  const prepared =
    compiled.ok && backends.includes("webgpu")
      ? // The run is refused for the same reason, and tells it.
        context.runner?.prepare(compiled.value.kernel).catch(() => undefined)
      : undefined;
  return () => runCompiled(test, backends, context, compiled, prepared);
}

/**
 * Runs a compiled test case on each backend and resolves to one result per backend. A test case with cost
 * limits has one more result.
 */
async function runCompiled(
  test: Case,
  backends: readonly BackendChoice[],
  context: CheckContext,
  compiled: Attempt<CompiledCase>,
  prepared: Promise<void> | undefined,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  // Whatever the number of backends.
  const inputs = once(() => inputsFor(operandsOf(compiled), test));
  const ascendHint = once(() => (compiled.ok ? hintOfAscend(compiled.value.kernel, inputs()) : {}));
  let expected: TensorValue | undefined;
  for (const backend of backends) {
    const name = nameOf(backend);
    const base = { id: test.id, backend: name };
    if (backend === "webgpu" && context.runner === undefined) {
      results.push({ ...base, ...skipWithoutDevice(context.problem) });
      continue;
    }
    if (!compiled.ok) {
      results.push({ ...base, ...judgeError(test, compiled.diagnostics) });
      continue;
    }
    const { kernel, definition } = compiled.value;
    const start = performance.now();
    if (backend === "webgpu") await prepared;
    const given = inputsOfRun(kernel, inputs());
    const run = await attemptAsync(() => runCase(given, kernel, definition, backend, context));
    const changed = changedInput(kernel.tile, inputs(), given, run.ok);
    if (changed !== undefined) {
      results.push({ ...base, status: "fail", message: changed });
      continue;
    }
    const milliseconds = performance.now() - start;
    if (!run.ok) results.push({ ...base, milliseconds, ...judgeError(test, run.diagnostics) });
    else if (test.expectedError !== undefined)
      results.push({ ...base, milliseconds, status: "fail", ...missingError(test) });
    else {
      expected ??=
        test.output?.read() ??
        (backend === "reference"
          ? run.value
          : await runCase(inputsOfRun(kernel, inputs()), kernel, definition, "reference", context));
      const { allowedUlp } = context;
      const judged = judgeOutput(backend, expected, run.value, {
        ...resultOn(backend, kernel, context),
        inputs: inputs(),
        ...(backend === "webgpu" ? defined({ allowedUlp }) : {}),
      });
      if (judged.status === "fail") context.onMismatch?.(name, run.value);
      results.push({ ...base, milliseconds, ...judged, ...(judged.status === "pass" ? ascendHint() : {}) });
      context.dump?.(name, run.value);
    }
  }
  if (test.limits !== undefined && compiled.ok)
    results.push(judgeLimits(test.id, test.limits, compiled.value.kernel, context));
  if (compiled.ok) dumpFilled(test, context);
  return results;
}

/**
 * Returns the hint, for a test that passes, that an Ascend core may give other bits for its inputs; no fields
 * if there is none.
 */
function hintOfAscend(
  kernel: Kernel,
  inputs: Readonly<Record<string, HostValue>>,
): Pick<CheckResult, "code" | "message"> {
  const verdict = verdictOn(kernel, inputs);
  const [first] = verdict === undefined ? [] : verdictHints(verdict);
  if (first === undefined) return {};
  return { code: first.code, message: [first.message, ...(first.notes ?? [])].join("; ") };
}

/** Returns the result of a test case with cost limits: `fail`, with each figure over its limit, or `pass`. */
function judgeLimits(
  id: string,
  limits: NonNullable<Case["limits"]>,
  kernel: Kernel,
  context: CheckContext,
): CheckResult {
  const figures = measured(kernel);
  const over = excesses(kernel.name, figures, limits);
  if (over.length === 0) return { id, backend: "limits", status: "pass" };
  context.onExcess?.(figures);
  return { id, backend: "limits", status: "fail", message: over.map(({ message }) => message).join("; ") };
}

/** Calls `dump` of the context with each input that a fill rule made, under its name. */
function dumpFilled({ inputs }: Case, context: CheckContext): void {
  for (const [name, tensor] of Object.entries(inputs)) {
    if (tensor.filled) context.dump?.(name, tensor.read());
  }
}

/** Returns the inputs of a run: copies of those of a scatter, which may write in them. */
const inputsOfRun = (
  { access }: Kernel,
  inputs: Readonly<Record<string, HostValue>>,
): Readonly<Record<string, HostValue>> =>
  access !== undefined && isScatter(access.map) ? copies(inputs) : inputs;

/** Returns the tensors of a case by the keys of their operands. */
const inputsFor = (func: Pick<Func, "operands">, test: Case): Readonly<Record<string, HostValue>> =>
  Object.fromEntries(
    inputsOf(func).map((operand) => {
      const key = keyOf(operand);
      return [key, asHost(key, given(test, operand).read())];
    }),
  );

const missingError = ({ expectedError = "" }: Case): Pick<CheckResult, "message"> => ({
  message: `expected an error of category ${expectedError}`,
});

/** Returns the program that takes the inputs: a run that is never made asks for none. */
function operandsOf(compiled: Attempt<CompiledCase>): Pick<Func, "operands"> {
  if (!compiled.ok) return { operands: [] };
  const { kernel, definition } = compiled.value;
  return definition ?? kernel.source ?? kernel.tile;
}

interface CompiledCase {
  readonly kernel: Kernel;
  /** The case's operator, where another program runs in its place. */
  readonly definition?: Func;
}

/**
 * Returns the compiled program of a test case, for the target in the program text or else in the test case.
 * Throws a CompileError if the program is invalid or rejected.
 */
function compileCase(test: Case, { findTarget, passes, profile }: CheckContext): CompiledCase {
  const options = {
    ...defined({ findTarget, passes }),
  };
  const definition = test.program === undefined ? undefined : withProfile(program(test.program), profile);
  if (test.tir === undefined) {
    invariant(definition !== undefined, `case ${test.id} has an operator or a text`);
    return { kernel: compile(definition, options) };
  }
  const { module, diagnostics } = parseModule(test.tir, `${test.id}: tir`, test.operators);
  throwIfErrors(diagnostics);
  const [func, ...others] = module.funcs;
  if (func === undefined || others.length > 0) {
    const message = `tir holds ${module.funcs.length} functions; a case runs one`;
    throw new CompileError([malformed(test.id, message)]);
  }
  const { target, schedule } = test.options;
  const targeted = target === undefined ? func : { target, ...func };
  if (definition !== undefined)
    return { kernel: compile(withProfile(targeted, profile), options), definition };
  const bound = bindSizes({ ...targeted, schedule: { ...func.schedule, ...schedule } }, test.bind ?? {});
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  checkInputs(test, bound.func);
  return { kernel: compile(withProfile(bound.func, profile), options) };
}

/** Returns the case's tensor for an operand, by its name in the program. */
function given({ id, inputs }: Case, operand: Operand): CaseTensor {
  const input = entryOf(inputs, operand.name);
  if (input !== undefined) return input;
  const hint = "inputs has every operand by its name in the text";
  throw new CompileError([error("TC013", `${id}: no input is named ${operand.name}`, { hint })]);
}

/**
 * Throws a CompileError if the tensors of a test case do not match the program's operands. TC013: missing or
 * unknown tensor. TC103: wrong tensor type.
 */
function checkInputs(test: Case, func: Func): void {
  const operands = inputsOf(func);
  const stranger = Object.keys(test.inputs).find(
    (name) => !operands.some((operand) => operand.name === name),
  );
  if (stranger !== undefined) {
    const hint = `its operands are ${operands.map(({ name }) => name).join(", ")}`;
    throw new CompileError([error("TC013", `${test.id}: the text has no operand ${stranger}`, { hint })]);
  }
  const stated: (readonly [string, TensorType, CaseTensor | undefined])[] = [
    ...operands.map((operand) => [operand.name, operand.type, given(test, operand)] as const),
    ["output", outputOf(func).type, test.output],
  ];
  for (const [name, type, tensor] of stated) {
    if (tensor === undefined || formatType(tensor.type) === formatType(type)) continue;
    const message = `${name} is ${formatType(tensor.type)}, and the text says ${formatType(type)}`;
    throw new CompileError([error("TC103", message, { span: func.span })]);
  }
}

/**
 * Runs a kernel on one backend and resolves to the output. `definition`: program from which the backend
 * `reference` computes the output, if given.
 */
async function runCase(
  inputs: Readonly<Record<string, HostValue>>,
  kernel: Kernel,
  definition: Func | undefined,
  backend: BackendChoice,
  context: CheckContext,
): Promise<TensorValue> {
  const { type } = outputOf(definition ?? kernel.source ?? kernel.tile);
  if (backend === "reference" && definition !== undefined)
    return fromOutput(type, definedOutput(definition, kernel.tile, inputs), inputs);
  const { output } = await runOn(backend, kernel, inputs, {
    runner: context.runner,
    ...defined({ executor: context.executor }),
  });
  return fromOutput(type, output, inputs);
}

/** Returns the tile program that a backend executed, the target of the program, and the backend. */
function resultOn(
  backend: BackendChoice,
  kernel: Kernel,
  { runner }: CheckContext,
): Omit<RunInputs, "inputs"> {
  const compiled = backend === "webgpu" && runner !== undefined ? kernel.forTarget(runner.target) : kernel;
  return { tile: compiled.tile, target: compiled.target, backend };
}

/**
 * Returns the result of comparing the output of a backend with the expected output: `fail` if the types or
 * any elements differ, `pass` if equal.
 */
function judgeOutput(
  backend: BackendChoice,
  expected: TensorValue,
  actual: TensorValue,
  { allowedUlp, ...run }: RunInputs & Pick<CheckContext, "allowedUlp">,
): Pick<CheckResult, "status" | "code" | "message" | "expected" | "actual"> {
  const [want, got] = [formatType(expected.type), formatType(actual.type)];
  if (want !== got)
    return {
      status: "fail",
      code: "TC610",
      message: `the output is ${got}, expected ${want}`,
      expected: want,
      actual: got,
    };
  if (allowedUlp !== undefined && actual.strings === undefined) {
    const distance = ulpDifference(actual.type.dtype, expected.bytes, actual.bytes);
    const beyond = beyondUlp(["expected", nameOf(backend)], distance, allowedUlp);
    if (beyond === undefined)
      return {
        status: "pass",
        ...(distance.differing === 0 ? {} : { message: formatUlpDifference(distance) }),
      };
    return { status: "fail", code: beyond.code, message: beyond.message };
  }
  const difference = differenceFrom(run, expected, actual, "output");
  if (difference === undefined) return { status: "pass" };
  return {
    status: "fail",
    code: difference.code,
    message: [difference.message, ...(difference.notes ?? []), ...placeOf(backend)].join("; "),
    expected: difference.data?.["expected"],
    actual: difference.data?.["actual"],
  };
}

/**
 * Returns the result of a test case that produced errors in place of an output: `pass` if the test case
 * expects one of the errors, else `fail`.
 */
function judgeError(
  test: Case,
  diagnostics: readonly Diagnostic[],
): Pick<CheckResult, "status" | "code" | "message"> {
  const errors = diagnostics.filter((d) => d.severity === "error");
  const [first] = errors;
  const shown = { ...defined({ code: first?.code, message: first?.message }) };
  const { expectedCode } = test;
  const matches = errors.some(
    ({ code }) =>
      categoryOf(code) === test.expectedError && (expectedCode === undefined || code === expectedCode),
  );
  const point = errors
    .map(({ data }) => JSON.stringify(data?.["point"]))
    .find((difference) => difference !== undefined);
  if (matches && test.first !== undefined && point !== JSON.stringify(test.first)) {
    const message = `expected the error at point ${formatShape(test.first)}; got ${point ?? "none"}`;
    return { status: "fail", ...shown, message };
  }
  if (matches) return { status: "pass", ...shown };
  if (test.expectedError === undefined) return { status: "fail", ...shown };
  const difference =
    first === undefined
      ? "no error"
      : `${first.code} of category ${categoryOf(first.code)}: ${first.message}`;
  const wanted = expectedCode === undefined ? "an error" : expectedCode;
  return {
    status: "fail",
    ...shown,
    message: `expected ${wanted} of category ${test.expectedError}; got ${difference}`,
  };
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

function failure(thrown: unknown): { readonly ok: false; readonly diagnostics: readonly Diagnostic[] } {
  if (thrown instanceof CompileError || thrown instanceof RunError)
    return { ok: false, diagnostics: thrown.diagnostics };
  if (thrown instanceof PassError && !thrown.builtIn) return { ok: false, diagnostics: thrown.faults };
  throw thrown;
}

/**
 * Returns the value of an action, or the diagnostics if the action throws a CompileError, a RunError or the
 * PassError of a custom pass. Throws any other error of the action.
 */
function attempt<T>(action: () => T): Attempt<T> {
  try {
    return { ok: true, value: action() };
  } catch (thrown) {
    return failure(thrown);
  }
}

/**
 * Resolves to the value of an asynchronous action, or to the diagnostics if the action fails with a
 * CompileError, a RunError or a custom pass's PassError. Rejects with any other error.
 */
async function attemptAsync<T>(action: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await action() };
  } catch (thrown) {
    return failure(thrown);
  }
}
