/** What a device refuses, as errors of ours. */
import { CompileError, error, RunError } from "../../ir/diagnostic.js";
import { InternalError } from "../../ir/types.js";
import type { Refusal } from "./scoped.js";

/** TC504. `message` is the device's own and may be empty. */
export function deviceLost(message: string): RunError {
  const hint =
    "request a new device from a new adapter and run on `await createRunner(device)`: kernels and host arrays stay good, buffers of the lost device do not";
  return new RunError([
    error("TC504", `the device was lost${message === "" ? "" : `: ${message}`}`, {
      hint,
      data: { lost: true },
    }),
  ]);
}

/** For work on buffers that nobody else can touch: only the loss of their device makes it reject. */
export async function orLost(work: Promise<undefined>): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    throw deviceLost(thrown instanceof Error ? thrown.message : "");
  }
}

/** TC504 of a device that lives on. */
export const outOfMemory = (message: string): RunError =>
  new RunError([
    error("TC504", `the device is out of memory: ${message}`, {
      hint: "destroy buffers that are no longer needed, or split the tensors; the device and its runner go on",
      data: { lost: false },
    }),
  ]);

/** TC702, for buffers that the device refuses although their sizes and usages are right. */
export const buffersRefused = (message: string): CompileError =>
  new CompileError([
    error("TC702", `the device refused the buffers: ${message}`, {
      hint: "pass buffers of the runner's own device that are neither destroyed nor mapped",
    }),
  ]);

export const kernelRefused = (message: string, code: string): InternalError =>
  new InternalError(`WebGPU refused a kernel: ${message}\n${code}`);

/** For a pipeline that is made beside the thread: what it is refused for comes with the promise. */
export async function orRefused<T>(work: Promise<T>, atFault: (message: string) => Error): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const { reason, message = "" } = thrown as Partial<GPUPipelineError>;
    throw reason === undefined ? deviceLost(message) : await refusalError({ kind: reason, message }, atFault);
  }
}

/** `atFault` says whose mistake a validation error is; memory and the driver are nobody's. */
export async function refusalError(
  { kind, message }: Refusal,
  atFault: (message: string) => Error | Promise<Error>,
): Promise<Error> {
  switch (kind) {
    case "out-of-memory":
      return outOfMemory(message);
    case "internal":
      return new CompileError([
        error("TC502", `the device's driver gave up on the kernel: ${message}`, {
          hint: "choose another tile or residency; sim runs the kernel as it is",
        }),
      ]);
    case "validation":
      return atFault(message);
  }
}
