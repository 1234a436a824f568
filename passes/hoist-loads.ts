/**
 * hoist-loads: moves a load out of the serial loops that its region does not mention.
 *
 *   for %t0 = 0 to 512 step 64 serial {              load %data[0, %t1][1000, 16] to %data_ub
 *     load %data[0, %t1][1000, 16] to %data_ub   →   for %t0 = 0 to 512 step 64 serial {
 *     gather …                                         gather …
 *   }                                                }
 *
 * A full-loaded data tile never depends on the loops that walk the indices: this is where a gather earns its
 * reuse. Stops at parallel loops: each task owns its unified buffer.
 */
import { loopVariables } from "../ir/linear.js";
import { formsOfStmt, type ForStmt, type LoadStmt, type Stmt } from "../ir/tile.js";
import { definePass } from "./pass.js";

/**
 * Pass that moves loads out of serial loops if the loop variable is not used in the load
 * (docs/passes/06-hoist-loads.md).
 */
export const hoistLoads = definePass({
  name: "hoist-loads",
  summary: "moves loads out of the serial loops they do not depend on",
  requires: ["tile"],
  ensures: ["tile"],
  run(func) {
    if (func.level !== "tile") return func;
    const body = hoistIn(func.body);
    return body === func.body ? func : { ...func, body };
  },
});

/** Returns the body itself where nothing moves. */
function hoistIn(body: readonly Stmt[]): readonly Stmt[] {
  const hoisted = body.flatMap((stmt) => (stmt.op === "for" ? hoistFrom(stmt) : [stmt]));
  return hoisted.length === body.length && hoisted.every((stmt, k) => stmt === body[k]) ? body : hoisted;
}

/**
 * Returns the statements that replace a loop: first the loads that do not use the loop's variable, then the
 * loop without the hoisted loads. A parallel loop keeps all loads.
 */
function hoistFrom(loop: ForStmt): Stmt[] {
  const body = hoistIn(loop.body);
  if (loop.mode === "parallel") return [body === loop.body ? loop : { ...loop, body }];
  const invariant = body.filter((stmt): stmt is LoadStmt => stmt.op === "load" && !mentions(stmt, loop.iv));
  if (invariant.length === 0 && body === loop.body) return [loop];
  const rest = body.filter((stmt) => !invariant.some((load) => load === stmt));
  return [...invariant, { ...loop, body: rest }];
}

const mentions = (load: LoadStmt, variable: string): boolean =>
  formsOfStmt(load).some((expr) => loopVariables(expr).has(variable));
