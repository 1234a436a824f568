/**
 * The kernel of one size: what all sizes share, with its dispatch, the bytes of its buffers, and what `sizes`
 * holds.
 */
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { CompileError, throwIfErrors } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { at, invariant } from "../../ir/types.js";
import { dispatchOf } from "./grid.js";
import type { WgslLimits } from "../../ir/wgsl-limits.js";
import type { WgslBinding, WgslKernel } from "./kernel.js";
import { asBinding, bindingBytes, type WgslPlan } from "./plan.js";
import { beyondLimits, tooManyTasks } from "./refusals.js";
import { sizeValues } from "./sizes.js";

/** WGSL kernel of a program with dynamic sizes, with one text for all sizes. */
export interface DynamicKernel {
  readonly plan: WgslPlan;
  readonly kernel: WgslKernel;
  readonly limits: WgslLimits;
}

/**
 * Returns the kernel of a program with dynamic sizes for one set of sizes. `func`: the program at these
 * sizes. Throws a CompileError (TC502) if they exceed the device's limits.
 */
export function kernelAt({ plan, kernel, limits }: DynamicKernel, func: TileFunc): WgslKernel {
  const form = dynamicFormOf(func);
  invariant(form?.program === plan.func, `@${func.name} is no instance of the kernel's program`);
  const { nest } = taskOfTile(func);
  const dispatch = dispatchOf(nest, plan.grid.folded, limits.maxComputeWorkgroupsPerDimension);
  if (dispatch === undefined) throw new CompileError([tooManyTasks(func, nest, limits)]);
  const bindings = plan.bindings.map((bound, k): WgslBinding => {
    const binding = asBinding(bound);
    if (bound.access === "uniform")
      return { ...binding, values: sizeValues(plan.sizes, form.values, nest, dispatch) };
    return k < func.operands.length
      ? { ...binding, bytes: bindingBytes(at(func.operands, k).type, bound.width) }
      : binding;
  });
  const sized = { ...kernel, dispatch, bindings, operands: func.operands };
  throwIfErrors(beyondLimits(func, sized, limits));
  return sized;
}
