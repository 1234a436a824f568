/** One program on every backend, compared bit for bit. */
import {
  defined,
  byteCount,
  CompileError,
  cyclesOf,
  elementCount,
  error,
  formatType,
  outputOf,
  RunError,
  type Diagnostic,
} from "../../../ir/index.js";
import { differenceFrom } from "../../../src/api/against.js";
import { runOn, type BackendName, type BackendOptions } from "../../../src/api/backends.js";
import { compile, type Kernel } from "../../../src/api/compile.js";
import { showElement } from "../../../src/formats/elements.js";
import { fromOutput } from "../../../src/formats/tensor.js";
import type { HostValue } from "../../../backends/index.js";
import { acquire } from "./gpu.js";
import { launchTimes } from "./gpu-times.js";
import { describeInputs, inputsFor } from "./inputs.js";
import type { BackendAnswer, Context, RunAnswer, WithInputs } from "./messages.js";
import { boundFunc } from "./program.js";

/**
 * Above this many output elements the simulation runs as WebAssembly: checking every access would take
 * seconds.
 */
const mostChecked = 2 ** 18;
/**
 * Milliseconds, by the clock, above which nothing is launched on a machine that is not ours: drivers reset a
 * device that is busy for seconds.
 */
const pruneLineMs = 500;
/** Elements of the output that are shown. */
const shownElements = 8;

interface Ran {
  readonly answer: BackendAnswer;
  readonly output?: Uint8Array;
}

type Hosts = Readonly<Record<string, HostValue>>;

/**
 * Runs a program on the reference, the simulator and WebGPU, and compares the outputs bit for bit. Rejects
 * with a CompileError if the program is refused or the tensors exceed 512 MiB, and with the signal's reason
 * if the run is stopped.
 */
export async function runAll(
  { inputs: given, seed, ...asked }: WithInputs,
  { signal, onProgress }: Context,
): Promise<RunAnswer> {
  const kernel = compile(boundFunc(asked));
  const inputs = inputsFor(kernel, given, seed);
  const { type } = outputOf(kernel.source ?? kernel.tile);
  const executor = elementCount(type.shape) > mostChecked ? "fast" : "checked";
  const options = (name: string): BackendOptions => ({
    signal,
    onProgress: (done, total) => {
      onProgress(done, total, name);
    },
  });
  const runs: Ran[] = [
    await ran(
      "reference",
      "the operator's definition, element by element",
      kernel,
      inputs,
      options("reference"),
    ),
    await ran(
      "sim",
      executor === "checked" ? "every access checked, statement by statement" : "as WebAssembly",
      kernel,
      inputs,
      { ...options("sim"), executor },
    ),
  ];
  const gpu = await onGpu(kernel, inputs, options("webgpu"));
  runs.push(gpu.ran);
  const [first, ...others] = runs;
  const compared = others.map((other) => comparedWith(first, other, kernel, inputs));
  const { output } = first ?? {};
  const value = output === undefined ? undefined : fromOutput(type, output, inputs);
  const count = Math.min(shownElements, elementCount(type.shape));
  const shown =
    value === undefined
      ? []
      : (value.strings?.slice(0, count) ??
        Array.from({ length: count }, (_, k) => showElement(type.dtype, value.bytes, k)));
  return {
    backends: [...(first === undefined ? [] : [first.answer]), ...compared.map(({ answer }) => answer)],
    sameBits: compared.every(({ same }) => same),
    inputs: describeInputs(kernel, given, seed),
    output: { type: formatType(type), first: shown, more: elementCount(type.shape) > shown.length },
    ...defined({ times: gpu.times }),
  };
}

/**
 * Runs a kernel on one backend. Resolves to the output and the time in milliseconds, or to the diagnostics if
 * the backend refuses the run. Rejects if the run was stopped. `on` describes the device for the user.
 */
async function ran(
  backend: BackendName,
  on: string,
  kernel: Kernel,
  inputs: Hosts,
  options: BackendOptions,
): Promise<Ran> {
  const start = performance.now();
  try {
    const { output } = await runOn(backend, kernel, inputs, options);
    return {
      answer: { backend, status: "done", on, ms: performance.now() - start, diagnostics: [] },
      output,
    };
  } catch (thrown) {
    options.signal?.throwIfAborted();
    if (thrown instanceof RunError || thrown instanceof CompileError)
      return { answer: { backend, status: "refused", on, diagnostics: thrown.diagnostics } };
    throw thrown;
  }
}

interface OnGpu {
  readonly ran: Ran;
  readonly times?: NonNullable<RunAnswer["times"]>;
}

/**
 * Runs a kernel on the visitor's GPU, and once more if the device was lost. The status is `absent` without a
 * GPU, and `refused` for a launch that {@link tooLong} rejects. Launch times are present only if the output
 * has elements and {@link launchTimes} can measure the gather.
 */
async function onGpu(kernel: Kernel, inputs: Hosts, options: BackendOptions, again = true): Promise<OnGpu> {
  const backend = "webgpu";
  const gpu = await acquire();
  if (!gpu.ok) {
    const diagnostics = [
      error("TC503", gpu.reason, { hint: "everything else on this page works without it" }),
    ];
    return { ran: { answer: { backend, status: "absent", on: "no GPU", diagnostics } } };
  }
  const { runner, description: on } = gpu;
  const long = tooLong(kernel, gpu.runner.target);
  if (long !== undefined) return { ran: { answer: { backend, status: "refused", on, diagnostics: [long] } } };
  const result = await ran(backend, on, kernel, inputs, { ...options, runner });
  const lost = result.answer.diagnostics.some(
    ({ code, data }) => code === "TC504" && data?.["lost"] === true,
  );
  if (lost && again) return onGpu(kernel, inputs, options, false);
  if (result.output === undefined || byteCount(outputOf(kernel.tile).type) === 0) return { ran: result };
  const device = kernel.forTarget(runner.target);
  const times = await launchTimes(runner, device, inputs);
  const clock = "from submission to completion, several launches at once";
  return { ran: result, ...defined({ times: times && { ...times, clock } }) };
}

/**
 * Returns an error (TC506) if the estimated time of a launch on the target exceeds 500 ms. Returns undefined
 * for a shorter launch, and if the kernel does not compile for the target.
 */
function tooLong(kernel: Kernel, target: Parameters<Kernel["forTarget"]>[0]): Diagnostic | undefined {
  try {
    const { tile } = kernel.forTarget(target);
    const ms = cyclesOf(tile, target).cycles / (target.clockMhz * 1000);
    if (ms <= pruneLineMs) return undefined;
    return error(
      "TC506",
      `the launch would take about ${Math.round(ms)} ms; this page launches nothing above ${pruneLineMs} ms`,
      {
        hint: "a smaller program; or the command, on a machine of your own",
      },
    );
  } catch (thrown) {
    // What the device refuses, the run itself says.
    if (thrown instanceof CompileError) return undefined;
    throw thrown;
  }
}

/**
 * Compares the run `other` with the run `first` on another backend. In the result, `answer` is the answer of
 * `other`, with a diagnostic if the outputs differ, and `same` is false if outputs or diagnostics differ.
 */
function comparedWith(
  first: Ran | undefined,
  other: Ran,
  kernel: Kernel,
  inputs: Hosts,
): { readonly answer: BackendAnswer; readonly same: boolean } {
  const { answer } = other;
  if (first === undefined || answer.status === "absent") return { answer, same: true };
  if (first.output === undefined || other.output === undefined) {
    const said = (ran: Ran): string =>
      ran.answer.diagnostics.map(({ code, message }) => `${code} ${message}`).join();
    return { answer, same: first.output === other.output && said(first) === said(other) };
  }
  const { type } = outputOf(kernel.source ?? kernel.tile);
  const difference = differenceFrom(
    { tile: kernel.tile, target: kernel.target, inputs, backend: answer.backend },
    fromOutput(type, first.output, inputs),
    fromOutput(type, other.output, inputs),
    answer.backend,
  );
  return difference === undefined
    ? { answer, same: true }
    : { answer: { ...answer, diagnostics: [difference] }, same: false };
}
