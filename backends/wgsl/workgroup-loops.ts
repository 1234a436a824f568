/** The parallel loops of a kernel: each workgroup finds its own iteration in the grid. */
import { isConstant } from "../../ir/linear.js";
import { printStmtHead } from "../../ir/text/print.js";
import { at } from "../../ir/types.js";
import type { Context } from "./context.js";
import { scaled, sum } from "./forms.js";

const axes = ["x", "y", "z"] as const;

/** Declares the loop variables of this workgroup; one beyond the tasks or the view returns. */
export function emitWorkgroupLoops(context: Context): void {
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
