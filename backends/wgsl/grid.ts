/**
 * Parallel loops over the dims of the grid. Up to three loops take a dim each and nothing is divided; more of them, or
 * trips beyond the device's workgroups per dim, are numbered through and folded over x and y.
 */
import { isConstant } from "../../ir/linear.js";
import { printStmtHead } from "../../ir/text/print.js";
import type { ParallelNest } from "../../ir/tasks.js";
import { at } from "../../ir/types.js";
import type { Context } from "./context.js";
import { scaled, sum } from "./forms.js";
import type { WgslLimits } from "./kernel.js";

export interface Grid {
  readonly dispatch: readonly [x: number, y: number, z: number];
  readonly folded: boolean;
}

/** Undefined where the device has no grid for so many tasks. */
export function gridOf({ loops, tasks }: ParallelNest, limits: WgslLimits): Grid | undefined {
  const most = limits.maxComputeWorkgroupsPerDimension;
  if (tasks === 0) return { dispatch: [0, 0, 0], folded: false };
  const trips = loops.map((loop) => loop.trips).reverse();
  if (trips.length <= 3 && trips.every((count) => count <= most)) {
    const [x = 1, y = 1, z = 1] = trips;
    return { dispatch: [x, y, z], folded: false };
  }
  const y = Math.ceil(tasks / most);
  return y > most ? undefined : { dispatch: [Math.ceil(tasks / y), y, 1], folded: true };
}

const axes = ["x", "y", "z"] as const;

/** Declares the loop variables of this workgroup; one beyond the tasks or the view returns. */
export function emitGrid(context: Context): void {
  const { out, plan } = context;
  const { loops, tasks } = plan.nest;
  const { dispatch, folded } = plan.grid;
  const [x, y] = dispatch;
  if (folded) {
    out.line(y === 1 ? "let task = group.x;" : `let task = group.y * ${x}u + group.x;`);
    if (x * y !== tasks) out.line(`if (task >= ${tasks}u) { return; }`);
  }
  let inner = tasks;
  loops.forEach(({ stmt, trips }, k) => {
    out.line(`// ${printStmtHead(stmt)}`);
    inner /= trips;
    const whole = inner === 1 ? "task" : `task / ${inner}u`;
    const axis = at(axes, Math.min(2, loops.length - 1 - k));
    const turn = folded ? (k === 0 ? whole : `(${whole}) % ${trips}u`) : trips === 1 ? "0u" : `group.${axis}`;
    const name = context.names.iv(stmt.iv);
    const start = scaled(context.form(stmt.lower), 1);
    out.line(`let ${name} = ${sum([...start, ...scaled(turn, stmt.step)])};`);
    // A view that the last iteration cuts short has fewer tiles.
    if (!isConstant(stmt.lower) || !isConstant(stmt.upper)) {
      out.line(`if (${name} >= ${context.form(stmt.upper)}) { return; }`);
    }
  });
}
