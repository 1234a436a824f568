/** `meets`: whether inputs are within what a kernel for an Ascend core assumes of them. */
import { checkRunnable, toHosts, type GatherData } from "../../backends/index.js";
import { mapOfTile } from "../../backends/reference/defined-map.js";
import { unmetCondition, type UnmetCondition } from "../../backends/reference/unmet-condition.js";
import type { Kernel } from "./compile.js";

/**
 * Result of {@link meets}: `ok: true` if the inputs meet all conditions of a kernel, or the first element
 * that violates a condition.
 */
export type Met = { readonly ok: true } | ({ readonly ok: false } & UnmetCondition);

/**
 * Returns whether inputs meet the conditions of `kernel.pto().assumes`: `ok: true`, or the first violated
 * condition. Throws a CompileError for a kernel that PTO-ISA cannot express (TC505) or with dynamic sizes
 * (TC107). Throws a RunError for inputs that do not match the kernel.
 */
export function meets(kernel: Kernel, inputs: GatherData): Met {
  checkRunnable(kernel);
  const { assumes } = kernel.pto();
  const hosts = toHosts(kernel.source ?? kernel.tile, inputs);
  const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
  const unmet = unmetCondition({ map, operands, inputs: hosts }, assumes);
  return unmet === undefined ? { ok: true } : { ok: false, ...unmet };
}
