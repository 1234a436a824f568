/**
 * The kernel of one size: what all sizes share, with its dispatch, the bytes of its buffers, and what `sizes`
 * holds.
 */
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { CompileError, throwIfErrors } from "../../ir/diagnostic.js";
import { keyOf, type TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { taskOfTile } from "../../ir/task/index.js";
import { at, invariant } from "../../ir/types.js";
import { dispatchOf } from "./grid.js";
import type { WgslLimits } from "../../ir/wgsl-limits.js";
import type { WgslBinding, WgslKernel } from "./kernel.js";
import { asBinding, bindingBytes, launchesAt, ownerBytes, stepsBefore, type WgslPlan } from "./plan.js";
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
  const { dispatch, ...ofSteps } = launchAt(plan, func, form.values, limits);
  const owners = plan.scatter?.move.owners;
  const bindings = plan.bindings.map((bound): WgslBinding => {
    const binding = asBinding(bound);
    if (bound.access === "uniform")
      return { ...binding, values: sizeValues(plan.sizes, form.values, nest, dispatch) };
    if (bound.role === "owner" && owners !== undefined)
      return { ...binding, bytes: ownerBytes(owners, form.values) };
    const operand = func.operands.find((other) => keyOf(other) === bound.key);
    return operand === undefined ? binding : { ...binding, bytes: bindingBytes(operand.type, bound.width) };
  });
  const sized = { ...kernel, ...ofSteps, dispatch, bindings, operands: func.operands };
  throwIfErrors(beyondLimits(func, sized, limits));
  return sized;
}

/**
 * Returns the dispatch of a kernel for given sizes; of a scatter also the steps before it, and the lanes of
 * all steps. Throws a CompileError (TC502) for more workgroups than a device has.
 */
function launchAt(
  { scatter, grid }: WgslPlan,
  func: TileFunc,
  sizes: Env,
  limits: WgslLimits,
): Pick<WgslKernel, "dispatch" | "before" | "laneBounds"> {
  if (scatter !== undefined) {
    const { move } = scatter;
    const launches = launchesAt(func, move, sizes, limits);
    const before = stepsBefore(move, launches);
    return {
      dispatch: at(launches.dispatches, before.length),
      ...(before.length === 0 ? {} : { before }),
      laneBounds: launches.laneBounds,
    };
  }
  const { nest } = taskOfTile(func);
  const dispatch = dispatchOf(nest, grid.folded, limits.maxComputeWorkgroupsPerDimension);
  if (dispatch === undefined) throw new CompileError([tooManyTasks(func, nest, limits)]);
  return { dispatch };
}
