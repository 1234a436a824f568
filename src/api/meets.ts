/** `meets`: whether inputs are within what a kernel for an Ascend core assumes of them. */
import { checkRunnable, toHosts, type GatherData } from "../../backends/index.js";
import { mapOfTile } from "../../backends/reference/defined-map.js";
import { unmetCondition, type UnmetCondition } from "../../backends/reference/unmet-condition.js";
import type { Kernel } from "./compile.js";

/**
 * Verdict on the conditions that a kernel assumes of its inputs: all are met, or the first element that
 * violates one.
 */
export type Met = { readonly ok: true } | ({ readonly ok: false } & UnmetCondition);

/**
 * Tests the conditions of `kernel.pto().assumes` on the elements that the index values select. Returns `ok:
 * true` if all are met, else the first condition that is violated.
 *
 * Throws a CompileError: TC505 for a kernel that PTO-ISA cannot express, TC107 for a kernel with dynamic
 * sizes. Throws a RunError for inputs that do not fit the kernel.
 */
export function meets(kernel: Kernel, inputs: GatherData): Met {
  checkRunnable(kernel);
  const { assumes } = kernel.pto();
  const hosts = toHosts(kernel.source ?? kernel.tile, inputs);
  const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
  const unmet = unmetCondition({ map, operands, inputs: hosts }, assumes);
  return unmet === undefined ? { ok: true } : { ok: false, ...unmet };
}
