/** WebAssembly modules by program: all sizes of one share a module, and each has its own memory. */
import { derivedOnce } from "../../ir/derived-once.js";
import type { TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { nestAt } from "../../ir/task/index.js";
import { emitFor, hasTasks, pagesOf, type WasmKernel } from "./emit.js";
import { encodeModule } from "./encode.js";
import { layoutOf, type WasmLayout } from "./layout.js";
import type { WasmPlan } from "./plan.js";
import { argumentsOf } from "./sizes.js";

interface WasmCode {
  readonly plan: WasmPlan;
  readonly kernel: WasmKernel;
  readonly module: WebAssembly.Module;
}

/** By the program that is emitted, which never changes, and threads. */
const codesOf = derivedOnce((_: TileFunc) => new Map<number, WasmCode>());

/**
 * Compiled code of a program, with the values for one set of sizes: memory layout, pages of 64 KiB, tasks and
 * arguments.
 */
export interface SizedCode {
  readonly plan: WasmPlan;
  readonly module: WebAssembly.Module;
  readonly layout: WasmLayout;
  readonly pages: number;
  readonly shared: boolean;
  readonly tasks: number;
  readonly params: readonly number[];
}

/**
 * Returns the compiled code of a program for one set of sizes. A program with dynamic sizes has one module
 * for all sizes. Throws a CompileError (TC502) if the tensors do not fit a WebAssembly memory.
 */
export function sizedCode(func: TileFunc, threads: number): SizedCode {
  const { plan, kernel, module } = codeOf(func, threads);
  const sizes: Env = dynamicFormOf(func)?.values ?? new Map();
  const layout = layoutOf({ ...plan.func, operands: func.operands }, plan.gather?.table);
  const nest = nestAt(plan.nest, sizes);
  return {
    plan,
    module,
    layout,
    pages: pagesOf(func, layout, threads),
    shared: kernel.module.memory.shared,
    tasks: hasTasks(plan) ? nest.tasks : 0,
    params: argumentsOf(plan.params, sizes, layout, nest),
  };
}

/**
 * Returns the plan, kernel and compiled module of a program, from a cache if possible. A program with dynamic
 * sizes has one module for all sizes.
 */
function codeOf(func: TileFunc, threads: number): WasmCode {
  const [cached] = [dynamicFormOf(func)?.program, func].flatMap(
    (program) => (program === undefined ? undefined : codesOf(program).get(threads)) ?? [],
  );
  if (cached !== undefined) return cached;
  const { plan, kernel } = emitFor(func, threads);
  const code = { plan, kernel, module: new WebAssembly.Module(encodeModule(kernel.module)) };
  codesOf(plan.source).set(threads, code);
  return code;
}
