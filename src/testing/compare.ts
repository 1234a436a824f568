/** A kernel's output on each backend beside what its program defines. */
import {
  CompileError,
  formatType,
  outputOf,
  renderDiagnostic,
  RunError,
  type Diagnostic,
  type Func,
} from "../../ir/index.js";
import { toHosts, type GatherData } from "../../backends/index.js";
import { definedOutput, differenceFrom } from "../api/against.js";
import { runOn, type BackendName } from "../api/backends.js";
import type { Kernel } from "../api/compile.js";
import { fromOutput } from "../formats/tensor.js";
import { requiredBackends, testDevice } from "./device.js";
import { randomInputs } from "./random.js";
import type { Verdict } from "./verdict.js";

/** Where, and on what, a kernel is compared with its definition. */
export interface ReferenceOptions {
  /** Default: `sim` alone. */
  readonly backends?: readonly BackendName[];
  /** Typed arrays by operand; random ones from `seed` when absent. */
  readonly inputs?: GatherData;
  /** Default 1. */
  readonly seed?: number;
  /** Backends whose absence fails the check in place of skipping it; TILEC_REQUIRE adds to them. */
  readonly require?: readonly BackendName[];
}

/** `definition` says what is right; the kernel's own operator, or map, when absent. */
export async function compareWithReference(
  kernel: Kernel,
  options: ReferenceOptions,
  definition?: Func,
): Promise<Verdict> {
  const { backends = ["sim"], seed = 1 } = options;
  const required = requiredBackends(options.require);
  const types = kernel.source ?? kernel.tile;
  const inputs = options.inputs === undefined ? randomInputs(kernel, seed) : toHosts(types, options.inputs);
  const { type } = outputOf(types);
  const value = (bytes: Uint8Array) => fromOutput(type, bytes, inputs);
  const failed = (message: string): Verdict => ({ pass: false, message: () => message });
  let skipped: string | undefined;
  try {
    const expected =
      definition === undefined
        ? (await runOn("reference", kernel, inputs)).output
        : definedOutput(definition, kernel.tile, inputs);
    for (const backend of backends) {
      const device = backend === "webgpu" ? await testDevice() : undefined;
      if (device?.ok === false) {
        if (required.has(backend)) return failed(`webgpu is required, and there is none: ${device.reason}`);
        skipped = `webgpu: ${device.reason}`;
        continue;
      }
      const runner = device?.runner;
      const { output } = await runOn(backend, kernel, inputs, { runner });
      const ran = runner === undefined ? kernel : kernel.forTarget(runner.target);
      const found = differenceFrom(
        { tile: ran.tile, target: ran.target, inputs },
        value(expected),
        value(output),
        backend,
      );
      if (found !== undefined) return failed([found.message, ...(found.notes ?? [])].join("; "));
    }
  } catch (thrown) {
    if (!(thrown instanceof CompileError || thrown instanceof RunError)) throw thrown;
    return failed(rendered(thrown.diagnostics));
  }
  const what = definition === undefined ? "its definition" : `@${definition.name}`;
  return {
    pass: true,
    message: () => `@${kernel.name} gives the ${formatType(type)} of ${what} on ${backends.join(", ")}`,
    ...(skipped === undefined ? {} : { skipped }),
  };
}

export const rendered = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map((diagnostic) => renderDiagnostic(diagnostic)).join("\n");
