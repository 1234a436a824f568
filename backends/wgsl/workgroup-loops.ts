/** The parallel loops of a kernel: each workgroup finds its own iteration in the grid. */
import { isConstant } from "../../ir/linear.js";
import { printStmtHead } from "../../ir/text/print.js";
import { at } from "../../ir/types.js";
import { hasOpenTrips, type ParallelLoop } from "../../ir/task/index.js";
import type { WgslContext } from "./context.js";
import { scaled, sum } from "./forms.js";
import { sizeName } from "./names.js";
import { gridSizes } from "./sizes.js";

const axes = ["x", "y", "z"] as const;

/** Declares the loop variables of this workgroup; one beyond the tasks or the view returns. */
export function emitWorkgroupLoops(context: WgslContext): void {
  const { out, plan } = context;
  const { loops } = plan.nest;
  const { folded } = plan.grid;
  if (folded) emitTask(context);
  loops.forEach(({ stmt, trips }, k) => {
    out.line(`// ${printStmtHead(stmt)}`);
    const inner = tripsText(loops.slice(k + 1), k + 1);
    const whole = inner === "1u" ? "task" : `task / ${inner}`;
    const axis = at(axes, Math.min(2, loops.length - 1 - k));
    const own = tripsText(loops.slice(k, k + 1), k);
    const turn = folded ? (k === 0 ? whole : `(${whole}) % ${own}`) : trips === 1 ? "0u" : `group.${axis}`;
    const name = context.names.iv(stmt.iv);
    const start = scaled(context.form(stmt.lower), 1);
    out.line(`let ${name} = ${sum([...start, ...scaled(turn, stmt.step)])};`);
    // A view that the last iteration cuts short has fewer tiles.
    if (!isConstant(stmt.lower) || !isConstant(stmt.upper)) {
      out.line(`if (${name} >= ${context.form(stmt.upper)}) { return; }`);
    }
  });
}

/** Declares the number of this workgroup's task; one beyond the tasks returns. */
function emitTask({ out, plan }: WgslContext): void {
  const { nest, grid } = plan;
  if (nest.loops.some(hasOpenTrips)) {
    out.line(`let task = group.y * ${sizeName(gridSizes.columns)} + group.x;`);
    out.line(`if (task >= ${sizeName(gridSizes.tasks)}) { return; }`);
    return;
  }
  const [x, y] = grid.dispatch;
  out.line(y === 1 ? "let task = group.x;" : `let task = group.y * ${x}u + group.x;`);
  if (x * y !== nest.tasks) out.line(`if (task >= ${nest.tasks}u) { return; }`);
}

/** Iterations of some loops together, the first of them the loop of that number. */
function tripsText(loops: readonly ParallelLoop[], first: number): string {
  const fixed = loops.reduce((product, loop) => (hasOpenTrips(loop) ? product : product * loop.trips), 1);
  const open = loops.flatMap((loop, k) => (hasOpenTrips(loop) ? [sizeName(gridSizes.trips(first + k))] : []));
  const factors = [...(fixed === 1 && open.length > 0 ? [] : [`${fixed}u`]), ...open];
  return factors.length === 1 ? at(factors, 0) : `(${factors.join(" * ")})`;
}
