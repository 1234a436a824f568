/**
 * A pass of one's own in the pipeline: counts statements of the tile program, and swaps the default hoisting out to see
 * what it is worth.
 */
import type { Stmt } from "tilec/ir";
import { definePass, defaultPipeline, runPipeline } from "tilec/passes";
import { onnx, targets } from "tilec";

const count = (body: readonly Stmt[], op: Stmt["op"]): number =>
  body.reduce(
    (sum, stmt) => sum + Number(stmt.op === op) + (stmt.op === "for" ? count(stmt.body, op) : 0),
    0,
  );

/** Loads inside loops, as a comment on the terminal; the program stays as it is. */
const countLoads = definePass({
  name: "count-loads",
  summary: "counts the loads inside loops",
  requires: ["tile"],
  ensures: ["tile"],
  run(func) {
    if (func.level !== "tile") return func;
    const inner = func.body.filter((stmt) => stmt.op === "for");
    console.log(`${count(inner, "load")} loads in ${count(func.body, "for")} loops`);
    return func;
  },
});

const program = onnx.gather({ data: ["f32", [100, 64]], indices: ["i32", [4096]], axis: 0 });
const scheduled = { ...program, schedule: { tile: [1024, 16] } };
const withCount = defaultPipeline.flatMap((pass) =>
  pass.name === "allocate-ub" ? [countLoads, pass] : [pass],
);
const { func } = runPipeline(scheduled, withCount, targets.ascendA2);
console.log(func.level === "tile" ? `${count(func.body, "sync")} syncs` : "stopped early");
