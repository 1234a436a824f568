/** The device of a test process: opened when a test first asks for it, and one for all of them. */
import { CompileError, error, type Diagnostic } from "../../ir/index.js";
import { createRunner, type Runner } from "../../backends/webgpu/index.js";
import { backendNames } from "../api/backends.js";
import { hintFor } from "../../ir/did-you-mean.js";
import { acquireGpu } from "../device/index.js";

/**
 * WebGPU device for tests (`runner`), or the diagnostic with the reason why no device is available
 * (`problem`).
 */
export type TestDevice =
  { readonly ok: true; readonly runner: Runner } | { readonly ok: false; readonly problem: Diagnostic };

let opened: Promise<TestDevice> | undefined;

/**
 * Resolves to the WebGPU device for tests, or to a diagnostic with the reason why no device is available. The
 * device is opened at the first call and stays open until the process ends.
 */
export function testDevice(): Promise<TestDevice> {
  opened ??= acquireGpu().then(async (gpu) =>
    gpu.ok ? { ok: true, runner: await createRunner(gpu.gpu.device) } : gpu,
  );
  return opened;
}

/**
 * Returns the names of the backends that must run, from `require` and from the comma-separated environment
 * variable TILEC_REQUIRE. Throws a CompileError (TC702) if the variable has a name that is neither built in
 * nor in `extra`.
 */
export function requiredBackends(
  require: readonly string[] = [],
  extra: readonly string[] = [],
): ReadonlySet<string> {
  const allowed = [...backendNames, ...extra];
  const variable = process.env["TILEC_REQUIRE"] ?? "";
  const named = variable.split(",").flatMap((piece) => {
    const word = piece.trim();
    if (word === "") return [];
    if (allowed.includes(word)) return [word];
    const hint = hintFor(word, allowed, `one of ${allowed.join(", ")}`);
    throw new CompileError([error("TC702", `TILEC_REQUIRE names ${word}, which is no backend`, { hint })]);
  });
  return new Set([...require, ...named]);
}
