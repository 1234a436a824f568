/**
 * Parallel loops over the dims of the grid. Up to three loops take a dim each and nothing is divided; more of them, or
 * trips beyond the device's workgroups per dim, are numbered through and folded over x and y.
 */
import { printStmtHead } from "../../ir/text/print.js";
import type { ParallelNest } from "../../ir/tasks.js";
import { at, invariant } from "../../ir/types.js";
import { emitExpr, scaled, sum } from "./expr.js";
import type { WgslLimits } from "./kernel.js";
import type { Lines } from "./lines.js";

export interface Grid {
  readonly dispatch: readonly [x: number, y: number, z: number];
  readonly folded: boolean;
}

export function gridOf({ loops, tasks }: ParallelNest, limits: WgslLimits): Grid {
  const most = limits.maxComputeWorkgroupsPerDimension;
  if (tasks === 0) return { dispatch: [0, 0, 0], folded: false };
  const trips = loops.map((loop) => loop.trips).reverse();
  if (trips.length <= 3 && trips.every((count) => count <= most)) {
    const [x = 1, y = 1, z = 1] = trips;
    return { dispatch: [x, y, z], folded: false };
  }
  const y = Math.ceil(tasks / most);
  invariant(y <= most, "a grid of two dims holds every task");
  return { dispatch: [Math.ceil(tasks / y), y, 1], folded: true };
}

const axes = ["x", "y", "z"] as const;

/** Declares the loop variables of this workgroup; one beyond the tasks or the view returns. */
export function emitGrid(out: Lines, { loops, tasks }: ParallelNest, { dispatch, folded }: Grid): void {
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
    out.line(`let ${stmt.iv} = ${sum([...scaled(emitExpr(stmt.lower), 1), ...scaled(turn, stmt.step)])};`);
    // A view that the last iteration cuts short has fewer tiles.
    if (stmt.lower.kind !== "const") {
      out.line(`if (${stmt.iv} >= ${emitExpr(stmt.upper)}) { return; }`);
    }
  });
}
