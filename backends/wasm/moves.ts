/** A program's plan as a printable plan of moves. */
import { parallelNest } from "../../ir/tasks.js";
import { printStmtHead } from "../../ir/text/print.js";
import { flatten, type Stmt } from "../../ir/tile.js";
import { assertNever, invariant } from "../../ir/types.js";
import type { Figures, How, Move, MovePlan } from "../moves.js";
import { copyWay } from "./code.js";
import { unroll, type GatherPlan, type WasmPlan } from "./plan.js";
import type { Run } from "./runs.js";

export function movesOf(plan: WasmPlan): MovePlan {
  const loops = plan.nest.loops.slice(parallelNest(plan.source.body).loops.length);
  return {
    backend: "wasm",
    figures: {
      tasks: plan.nest.tasks,
      ...(loops.length === 0
        ? {}
        : { "loops cut into slices": loops.map(({ stmt }) => `%${stmt.iv}`).join(" ") }),
    },
    moves: flatten(plan.func.body).flatMap((stmt) => moveOf(plan, stmt)),
    diagnostics: [],
  };
}

function moveOf(plan: WasmPlan, stmt: Stmt): Move[] {
  const move = (how: How, figures: Figures): Move[] => [{ stmt: printStmtHead(stmt), how, figures }];
  switch (stmt.op) {
    case "for":
      return [];
    case "alloc":
      return stmt.buffer.buffers === 1
        ? []
        : move("elided", { because: "a thread runs its statements in order: one copy is enough" });
    case "load":
    case "store": {
      const box = plan.boxes.get(stmt);
      return box === undefined
        ? move("elided", { because: "used in place" })
        : move("copy", runFigures(box.run));
    }
    case "gather": {
      invariant(plan.gather?.stmt === stmt, "the gather has a plan");
      const [how, figures] = gatherMove(plan.gather);
      return move(how, figures);
    }
    case "sync":
      return move("elided", { because: "a thread runs its statements in order" });
    default:
      return assertNever(stmt);
  }
}

const runFigures = ({ bytes, times }: Run): Figures => ({
  "run bytes": bytes,
  ...(times === undefined ? {} : { "times the size of dim": times }),
  by: copyWay(times === undefined ? bytes : undefined),
});

function gatherMove({ moving, run, table, last, elementBytes }: GatherPlan): readonly [How, Figures] {
  const resolved: Figures =
    table === undefined ? {} : { "table bytes": table.bytes, "lines read ahead": table.touch };
  switch (moving) {
    case "rows":
      return ["rows", { ...runFigures(run), "resolved outside dim": last + 1, ...resolved }];
    case "checked together":
      return ["groups", { "element bytes": elementBytes, elements: unroll, indices: moving, ...resolved }];
    case "from the table":
      return ["table", { "element bytes": elementBytes, elements: unroll, ...resolved }];
    case "one by one":
      return ["words", { "element bytes": elementBytes, indices: moving, ...resolved }];
    default:
      return assertNever(moving);
  }
}
