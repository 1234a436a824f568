/** A gather whose inputs nobody states, on drawn ones: each backend's outcome beside what defines it. */
import { defined, CompileError } from "../../ir/index.js";
import type { HostValue } from "../../backends/index.js";
import { nameOf, placeOf, type BackendChoice } from "../api/backends.js";
import type { Kernel } from "../api/compile.js";
import type { CheckContext, CheckResult } from "./check-case.js";
import { compareDraw, inWords } from "./compare.js";
import { definitionOf, drawsOf } from "./draws.js";
import { skipWithoutDevice } from "./no-device.js";

/** The seed of every draw. */
const seed = 1;

/**
 * Runs a gather on each backend, compares the output with the gather's definition, and resolves to one result
 * per backend. `given`: inputs that are not random. The result is `skip` without the required device or
 * memory.
 */
export async function checkDrawn(
  id: string,
  kernel: Kernel,
  given: Readonly<Record<string, HostValue>>,
  backends: readonly BackendChoice[],
  context: CheckContext,
): Promise<CheckResult[]> {
  const { runner, executor } = context;
  const results: CheckResult[] = [];
  for (const backend of backends) {
    const base = { id, backend: nameOf(backend) };
    if (backend === "webgpu" && runner === undefined) {
      results.push({ ...base, ...skipWithoutDevice(context.problem) });
      continue;
    }
    const options = { runner, ...defined({ executor }) };
    const difference = await firstDifference(kernel, given, { backend, options });
    results.push({ ...base, ...difference });
  }
  return results;
}

/**
 * Compares a kernel with the kernel's definition on one backend, for several draws of random inputs. Resolves
 * to `fail` with the first difference, `skip` if the inputs exceed memory, or `pass`.
 */
async function firstDifference(
  kernel: Kernel,
  given: Readonly<Record<string, HostValue>>,
  on: Parameters<typeof compareDraw>[1]["backends"][number],
): Promise<Pick<CheckResult, "status" | "code" | "message">> {
  const program = definitionOf(kernel);
  let said: string | undefined;
  try {
    for (const draw of drawsOf(kernel.source ?? kernel.tile, program, seed, given)) {
      const { difference, fills } = await compareDraw(kernel, { program, draw, backends: [on] });
      if (difference !== undefined)
        return {
          status: "fail",
          code: difference.code,
          message: [inWords(difference, draw), ...placeOf(on.backend)].join("; "),
        };
      said ??= fills;
    }
    return { status: "pass", ...defined({ message: said }) };
  } catch (thrown) {
    const [first] = thrown instanceof CompileError ? thrown.diagnostics : [];
    if (first?.code !== "TC502") throw thrown;
    return { status: "skip", code: first.code, message: first.message };
  }
}
