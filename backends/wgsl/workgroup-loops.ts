/** The parallel loops of a kernel: each workgroup finds its own iteration in the grid. */
import { isConstant } from "../../ir/linear.js";
import type { Amount } from "../../ir/text/form-text.js";
import { printStmtHead } from "../../ir/text/print.js";
import { at } from "../../ir/types.js";
import { hasDynamicTrips, type ParallelLoop } from "../../ir/task/index.js";
import type { WgslContext } from "./context.js";
import { numberText, computed, named, sumText, times, zero } from "./forms.js";
import { sizeName } from "./names.js";
import { gridSizes } from "./sizes.js";

const axes = ["x", "y", "z"] as const;

/**
 * Emits the WGSL declarations of the parallel loop variables of a workgroup's task. A workgroup returns at
 * once if no task is left, or if a loop variable reaches the loop's upper bound.
 */
export function emitWorkgroupLoops(context: WgslContext): void {
  const { out, plan } = context;
  const { loops } = plan.nest;
  const { folded } = plan.grid;
  if (folded) emitTask(context);
  loops.forEach(({ stmt, trips }, k) => {
    out.line(`// ${printStmtHead(stmt)}`);
    const axis = at(axes, Math.min(2, loops.length - 1 - k));
    const iteration = folded ? iterationOfTask(loops, k) : trips === 1 ? zero : named(`group.${axis}`);
    const name = context.names.iv(stmt.iv);
    out.line(`let ${name} = ${sumText([context.amount(stmt.lower), times(iteration, stmt.step)])};`);
    // A view that the last iteration cuts short has fewer tiles.
    if (!isConstant(stmt.lower) || !isConstant(stmt.upper)) {
      out.line(`if (${name} >= ${context.form(stmt.upper)}) { return; }`);
    }
  });
}

/**
 * Emits the WGSL declaration of `task`, the 0-based index of a workgroup's task. A workgroup without a task
 * returns at once.
 */
function emitTask({ out, plan }: WgslContext): void {
  const { nest, grid } = plan;
  if (nest.loops.some(hasDynamicTrips)) {
    out.line(`let task = group.y * ${sizeName(gridSizes.columns)} + group.x;`);
    out.line(`if (task >= ${sizeName(gridSizes.tasks)}) { return; }`);
    return;
  }
  const [x, y] = grid.dispatch;
  out.line(y === 1 ? "let task = group.x;" : `let task = group.y * ${x}u + group.x;`);
  if (x * y !== nest.tasks) out.line(`if (task >= ${nest.tasks}u) { return; }`);
}

/**
 * Returns the index of the iteration of parallel loop `k` (0 is outermost) that a task executes, as a WGSL
 * expression of `task`. The innermost loop varies fastest.
 */
function iterationOfTask(loops: readonly ParallelLoop[], k: number): Amount {
  const inner = tripsOf(loops.slice(k + 1), k + 1);
  const taskIndex =
    inner.text === undefined && inner.by === 1 ? named("task") : computed(`task / ${numberText(inner)}`);
  const entry = tripsOf(loops.slice(k, k + 1), k);
  return k === 0 ? taskIndex : computed(`${numberText(taskIndex)} % ${numberText(entry)}`);
}

/**
 * Returns the product of the iteration counts of `loops`, as a number or a WGSL expression. `first`: 0-based
 * index of `loops[0]` in the whole nest.
 */
function tripsOf(loops: readonly ParallelLoop[], first: number): Amount {
  const fixed = loops.reduce((product, loop) => (hasDynamicTrips(loop) ? product : product * loop.trips), 1);
  const dynamic = loops.flatMap((loop, k) =>
    hasDynamicTrips(loop) ? [sizeName(gridSizes.trips(first + k))] : [],
  );
  const factors = [...(fixed === 1 ? [] : [`${fixed}u`]), ...dynamic];
  const [only, ...others] = factors;
  if (only === undefined || dynamic.length === 0) return { by: fixed };
  return others.length === 0 ? named(only) : computed(factors.join(" * "));
}
