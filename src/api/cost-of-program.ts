/** Cycles and bytes of a program as it compiles, for a comparison of two programs. */
import {
  bindSizes,
  cyclesOf,
  defined,
  dynamicSymbols,
  keyOf,
  maxSizes,
  type Diagnostic,
  type Func,
} from "../../ir/index.js";
import { indexInputs } from "../../backends/index.js";
import { countedReport } from "../../backends/sim/index.js";
import type { Pass } from "../../passes/index.js";
import { tryCompile, type CompileOptions, type Kernel } from "./compile.js";
import { runFigures, tilingOfRun } from "./custom-pipeline.js";
import { randomValue } from "../testing/random.js";

/** Estimated cycles of a program, and number of bytes moved between global memory and the cores. */
export interface ProgramCost {
  readonly cycles: number;
  readonly bytes: number;
}

/** Estimated cost of a program, or the diagnostics that reject the program. */
export type CostOrRefusal =
  | ({ readonly ok: true; readonly target: string } & ProgramCost)
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Compiles a program and returns the estimated cost, with symbols at the largest sizes. `passes`: the
 * pipeline; default, the built-in pipeline.
 */
export function costOfProgram(
  func: Func,
  options: Pick<CompileOptions, "target">,
  passes?: readonly Pass[],
): CostOrRefusal {
  const bound = bindSizes(func, maxSizes(dynamicSymbols(func)));
  if (!bound.ok) return bound;
  const compiled = tryCompile(bound.func, { ...options, ...defined({ passes }) });
  if (!compiled.ok) return compiled;
  const { kernel } = compiled;
  return { ok: true, target: kernel.target.name, ...costOfKernel(kernel) };
}

/**
 * Returns the estimated cycles of a kernel, and the number of bytes moved between global memory and the
 * cores.
 */
function costOfKernel(kernel: Kernel): ProgramCost {
  const { access, tile, target } = kernel;
  const tiling = access && tilingOfRun(kernel, access);
  if (tiling !== undefined) {
    const { clock, traffic } = runFigures(kernel, tiling);
    return { cycles: clock.cycles, bytes: traffic.bytes };
  }
  const drawn = indexInputs(tile).map((operand) => [keyOf(operand), randomValue(operand, tile, 1)] as const);
  const { bytesRead, bytesWritten } = countedReport(kernel, Object.fromEntries(drawn));
  return { cycles: cyclesOf(tile, target).cycles, bytes: bytesRead + bytesWritten };
}
