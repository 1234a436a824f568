/** Tests that need a WebGPU device, and find none. */
import type { Diagnostic } from "../../ir/index.js";

/** Returns a diagnostic's message and hint as one line of text. */
export const inOneLine = ({ message, hint }: Diagnostic): string =>
  hint === undefined ? message : `${message}; ${hint}`;

/**
 * Returns the result `skip` for a test that needs a WebGPU device. The message gives the reason why no device
 * is available.
 */
export const skipWithoutDevice = (problem: Diagnostic | undefined) => ({
  status: "skip" as const,
  code: problem?.code ?? "TC503",
  message: problem === undefined ? "no WebGPU device" : inOneLine(problem),
});
