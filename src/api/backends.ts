/** One call per backend on host tensors, and the comparison that makes them agree bit for bit. */
import { checkArgument } from "../../ir/argument.js";
import {
  checkRunnable,
  checkTensors,
  shareStrings,
  isObject,
  kindOf,
  shownValue,
  type Backend,
  type BackendRun,
  type Field,
  type Fields,
  type HostInputs,
} from "../../backends/index.js";
import { referenceBackend } from "../../backends/reference/index.js";
import { checkedBackend, fastBackend, type SimulateLongOptions } from "../../backends/sim/index.js";
import { refuseThreads, simulateLongFields } from "../../backends/sim/options.js";
import { webgpuBackend, type Runner } from "../../backends/webgpu/index.js";
import {
  assertNever,
  byteCount,
  CompileError,
  error,
  outputOf,
  RunError,
  throwIfErrors,
  type Diagnostic,
  type TileFunc,
} from "../../ir/index.js";
import { checkOptions } from "./check-options.js";
import type { Kernel } from "./compile.js";

export type { BackendRun } from "../../backends/index.js";

/** Names of the built-in backends, as used on the command line and in options of the library. */
export const backendNames = ["reference", "sim", "webgpu"] as const;
/** Name of a built-in backend: `reference`, `sim` or `webgpu`. */
export type BackendName = (typeof backendNames)[number];

/** Backend that runs a kernel: the name of a built-in backend, or a backend object of the caller. */
export type BackendChoice = BackendName | Backend;

/** Returns the name of a backend: the built-in name, or the field `name` of a backend object. */
export const nameOf = (backend: BackendChoice): string =>
  typeof backend === "string" ? backend : backend.name;

/**
 * Returns a list with a note on where a backend was loaded from, for example `mine is backends.mine of
 * tilec.config.ts`. The list is empty for a built-in backend or a backend without `origin`.
 */
export const placeOf = (backend: BackendName | Pick<Backend, "name" | "origin">): readonly string[] =>
  typeof backend === "string" || backend.origin === undefined ? [] : [`${backend.name} is ${backend.origin}`];

/**
 * Validation rule for an option that chooses a backend: a built-in name, or an object with `name` and
 * `prepare(kernel)`.
 */
export const backendField = {
  code: "TC702",
  takes: `${backendNames.join(" or ")}, or a backend: an object with a name and prepare(kernel)`,
  holds: (value: unknown) =>
    backendNames.some((name) => name === value) ||
    (isObject(value) && typeof value["name"] === "string" && typeof value["prepare"] === "function"),
  words: backendNames,
} as const satisfies Field;

/** Options of the built-in backends: the options of `sim`, and the WebGPU `runner` that `webgpu` needs. */
export interface BackendOptions extends SimulateLongOptions {
  readonly runner?: Runner | undefined;
}

/** Validation rules for the fields of {@link BackendOptions}, by field name. */
export const backendFields: Fields<BackendOptions> = {
  ...simulateLongFields,
  runner: {
    code: "TC702",
    takes: "a runner: await createRunner(device) of tilec/webgpu",
    holds: (value) => isObject(value) && typeof value["runBytes"] === "function",
  },
};

/**
 * Returns the backend with a given name; a backend object is returned unchanged. Throws a CompileError: TC503
 * for `webgpu` without a runner, TC702 for `threads` of `sim` without executor `fast`.
 */
function backendFor(name: BackendChoice, options: BackendOptions = {}): Backend {
  if (typeof name !== "string") return name;
  switch (name) {
    case "reference":
      return referenceBackend;
    case "sim":
      if (options.executor === "fast") return fastBackend(options);
      refuseThreads(options);
      return checkedBackend;
    case "webgpu": {
      const { runner } = options;
      if (runner === undefined)
        throw new CompileError([
          error("TC503", "no WebGPU device was given", {
            hint: "pass runner: await createRunner(device) of tilec/webgpu, or use backend sim",
          }),
        ]);
      return webgpuBackend(runner);
    }
    default:
      return assertNever(name);
  }
}

/**
 * Runs a kernel once on one backend and resolves to the output. Rejects with a RunError (TC611) if a caller's
 * backend object does not return a Uint8Array of the output's size.
 */
export async function runOn(
  backend: BackendChoice,
  kernel: Kernel,
  inputs: HostInputs,
  options: BackendOptions = {},
): Promise<BackendRun> {
  throwIfErrors([
    ...checkOptions("runOn", { backend }, { backend: backendField }, { needs: ["backend"] }),
    ...checkOptions("runOn", options, backendFields),
  ]);
  checkRunnable(kernel);
  checkTensors(kernel.tile, inputs);
  const prepared = await backendFor(backend, options).prepare(kernel);
  if (typeof backend !== "string") checkPrepared(backend, prepared);
  try {
    const result = await prepared.run(shareStrings(inputs), { ...options, report: true });
    if (typeof backend !== "string") checkOutput(backend, kernel.tile, result);
    return result;
  } finally {
    prepared.release();
  }
}

/**
 * Throws a RunError (TC611) if the value that a caller's backend returned from `prepare` lacks the function
 * `run` or `release`.
 */
export function checkPrepared(backend: Pick<Backend, "name" | "origin">, prepared: unknown): void {
  const isComplete =
    isObject(prepared) && ["run", "release"].every((name) => typeof prepared[name] === "function");
  if (isComplete) return;
  const message = `${backend.name} prepares ${shownValue(prepared)}, without run and release`;
  const hint = "prepare(kernel) gives { run(inputs), release() }";
  throw new RunError([error("TC611", message, { notes: placeOf(backend), hint })]);
}

/**
 * Throws a RunError (TC611) if the output of a caller's backend is not a Uint8Array with as many bytes as the
 * program's output tensor.
 */
function checkOutput(backend: Backend, tile: TileFunc, result: unknown): void {
  const bytes = byteCount(outputOf(tile).type);
  const output = isObject(result) ? result["output"] : undefined;
  if (ArrayBuffer.isView(output) && kindOf(output) === "Uint8Array" && output.byteLength === bytes) return;
  const message = `${backend.name} gives ${shownValue(output)} as its output; it takes a Uint8Array of ${bytes} bytes`;
  const hint = "run(inputs) resolves to { output }, row-major";
  throw new RunError([error("TC611", message, { notes: placeOf(backend), hint })]);
}

/**
 * Returns an error (TC610) that states the first byte at which two outputs differ, or the two lengths if the
 * lengths differ. Undefined if the outputs are equal.
 */
export function firstDifference(
  a: { readonly backend: string; readonly output: Uint8Array },
  b: { readonly backend: string; readonly output: Uint8Array },
): Diagnostic | undefined {
  for (const side of [a, b]) {
    checkArgument("firstDifference", "object", side);
    checkArgument("firstDifference", "bytes", side.output);
  }
  if (a.output.byteLength !== b.output.byteLength) {
    const message = `${a.backend} gives ${a.output.byteLength} bytes, ${b.backend} ${b.output.byteLength}`;
    return error("TC610", message);
  }
  const byte = a.output.findIndex((value, k) => value !== b.output[k]);
  if (byte === -1) return undefined;
  const message = `${a.backend} and ${b.backend} differ at output byte ${byte}: ${a.output[byte]} and ${b.output[byte]}`;
  return error("TC610", message, { data: { byte } });
}
