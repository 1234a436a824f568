/** The device of a test process: opened when a test first asks for it, and one for all of them. */
import { CompileError, error, type Diagnostic } from "../../ir/index.js";
import { createRunner, type Runner } from "../../backends/webgpu/index.js";
import { backendNames } from "../api/backends.js";
import { didYouMean } from "../../ir/did-you-mean.js";
import { acquireGpu } from "../device/index.js";

export type TestDevice =
  { readonly ok: true; readonly runner: Runner } | { readonly ok: false; readonly problem: Diagnostic };

let opened: Promise<TestDevice> | undefined;

/** Never rejects for want of a device. It lives as long as the process. */
export function testDevice(): Promise<TestDevice> {
  opened ??= acquireGpu().then(async (found) =>
    found.ok ? { ok: true, runner: await createRunner(found.gpu.device) } : found,
  );
  return opened;
}

/**
 * Backends that must run: those of `require`, and of the variable TILEC_REQUIRE, comma-separated. Throws a CompileError
 * (TC702) for a name that no backend has. `own`: names of backends that are not built in.
 */
export function requiredBackends(
  require: readonly string[] = [],
  own: readonly string[] = [],
): ReadonlySet<string> {
  const known = [...backendNames, ...own];
  const variable = process.env["TILEC_REQUIRE"] ?? "";
  const named = variable.split(",").flatMap((part) => {
    const word = part.trim();
    if (word === "") return [];
    if (known.includes(word)) return [word];
    const near = didYouMean(word, known);
    const hint = near === undefined ? `one of ${known.join(", ")}` : `did you mean ${near}?`;
    throw new CompileError([error("TC702", `TILEC_REQUIRE names ${word}, which is no backend`, { hint })]);
  });
  return new Set([...require, ...named]);
}
