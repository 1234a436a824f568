/** Errors for what a device refuses or reports. */
import { CompileError, error, RunError } from "../../ir/diagnostic.js";
import { InternalError } from "../../ir/types.js";
import type { DeviceFaults } from "./work.js";

/** Returns the error (TC504) for a lost device. `message`: the device's message, which may be empty. */
export function deviceLost(message: string): RunError {
  const hint =
    "request a new device from a new adapter, and pass it to `await createRunner(device)`; kernels and host arrays remain valid, buffers of the lost device do not";
  return new RunError([
    error("TC504", `the device was lost${message === "" ? "" : `: ${message}`}`, {
      hint,
      data: { lost: true },
    }),
  ]);
}

/**
 * Returns the error (TC702) for buffers with correct sizes and usages that the device refuses. `message`: the
 * device's message.
 */
export const buffersRefused = (message: string): CompileError =>
  new CompileError([
    error("TC702", `the device refused the buffers: ${message}`, {
      hint: "pass buffers of the runner's own device that are neither destroyed nor mapped",
    }),
  ]);

/**
 * Returns the InternalError for a kernel that WebGPU rejected. The error's message contains the kernel's
 * code.
 */
export const kernelRefused = (message: string, code: string): InternalError =>
  new InternalError(`WebGPU refused a kernel: ${message}\n${code}`);

/** Functions that make a runner's errors for faults of the device. */
export const deviceFaults: DeviceFaults = {
  lost: deviceLost,
  "out-of-memory": (message) =>
    new RunError([
      error("TC504", `the device is out of memory: ${message}`, {
        hint: "destroy buffers that are no longer needed, or split the tensors; the device and its runner go on",
        data: { lost: false },
      }),
    ]),
  internal: (message) =>
    new CompileError([
      error("TC502", `the device's driver gave up on the kernel: ${message}`, {
        hint: "choose another tile or residency; sim runs the kernel as it is",
      }),
    ]),
};
