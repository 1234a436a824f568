/** A tile program as it runs: its statements one after the other, loops unrolled, tasks told apart. */
import { evaluate } from "../linear.js";
import type { AllocStmt, ForStmt, Stmt } from "../tile.js";

/**
 * Step of a program's execution: the start of a task, or one execution of a statement. Loops and allocations
 * are not steps.
 */
export type Step = { readonly op: "task" } | Exclude<Stmt, ForStmt | AllocStmt>;

const newTask: Step = { op: "task" };

/**
 * Yields the steps of a body in execution order: the starts of tasks and the executions of statements. Before
 * each step, `env` is set to the values of the loop variables.
 */
export function* execution(body: readonly Stmt[], env: Map<string, number>): Generator<Step> {
  if (body.length > 0) yield* run(body, env, true);
}

/**
 * Yields the steps of a body in execution order. Before each step, `env` is set to the values of the loop
 * variables. `outermost`: true if no serial loop encloses the body.
 */
function* run(body: readonly Stmt[], env: Map<string, number>, outermost: boolean): Generator<Step> {
  // A task is what the innermost parallel loop repeats.
  if (outermost && !body.some((stmt) => stmt.op === "for" && stmt.mode === "parallel")) yield newTask;
  for (const stmt of body) {
    if (stmt.op === "alloc") continue;
    if (stmt.op !== "for") {
      yield stmt;
      continue;
    }
    const [lower, upper] = [evaluate(stmt.lower, env), evaluate(stmt.upper, env)];
    for (let value = lower; value < upper; value += stmt.step) {
      env.set(stmt.iv, value);
      yield* run(stmt.body, env, outermost && stmt.mode === "parallel");
    }
    env.delete(stmt.iv);
  }
}

/** Returns the number of tasks that {@link execution} yields for a body; 0 for an empty body. */
export function countTasks(body: readonly Stmt[]): number {
  const count = (stmts: readonly Stmt[], env: ReadonlyMap<string, number>): number => {
    const loops = stmts.filter((stmt): stmt is ForStmt => stmt.op === "for" && stmt.mode === "parallel");
    if (loops.length === 0) return 1;
    let tasks = 0;
    for (const { iv, lower, upper, step, body: inner } of loops) {
      const [first, end] = [evaluate(lower, env), evaluate(upper, env)];
      for (let value = first; value < end; value += step)
        tasks += count(inner, new Map([...env, [iv, value]]));
    }
    return tasks;
  };
  return body.length === 0 ? 0 : count(body, new Map());
}
