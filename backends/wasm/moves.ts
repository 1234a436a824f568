/** The plan of a tile program as a list: what each statement that moves elements does, and how far it goes at once. */
import { printStmtHead } from "../../ir/text/print.js";
import { flatten, type Stmt } from "../../ir/tile.js";
import { parallelNest } from "../../ir/tasks.js";
import { assertNever, invariant } from "../../ir/types.js";
import { copyWay } from "./code.js";
import { unroll, type GatherPlan, type WasmPlan } from "./plan.js";
import type { Run } from "./runs.js";

/** One decision: about a statement, in words, with its numbers. */
export interface Move {
  readonly stmt: string;
  readonly how: string;
  readonly [figure: string]: string | number;
}

/** In program order. */
export function movesOf(plan: WasmPlan): Move[] {
  const slices = plan.nest.loops.slice(parallelNest(plan.source.body).loops.length).map(({ stmt }) => stmt);
  return flatten(plan.func.body).flatMap((stmt) => moveOf(plan, stmt, slices));
}

function moveOf(plan: WasmPlan, stmt: Stmt, slices: readonly Stmt[]): Move[] {
  const head = printStmtHead(stmt);
  switch (stmt.op) {
    case "for":
      return slices.includes(stmt) ? [{ stmt: head, how: "slices of a long task" }] : [];
    case "alloc":
      if (stmt.buffer.buffers === 1) return [];
      return [{ stmt: head, how: "one copy: a thread runs its statements in order" }];
    case "load":
    case "store": {
      const box = plan.boxes.get(stmt);
      if (box === undefined) return [{ stmt: head, how: "in place" }];
      return [{ stmt: head, how: `copied, ${wayOf(box.run)}`, ...figuresOf(box.run) }];
    }
    case "gather":
      invariant(plan.gather?.stmt === stmt, "the gather has a plan");
      return [gatherMove(head, plan.gather)];
    case "sync":
      return [{ stmt: head, how: "nothing: a thread runs its statements in order" }];
    default:
      return assertNever(stmt);
  }
}

const wayOf = ({ bytes, times }: Run): string => copyWay(times === undefined ? bytes : undefined);

const figuresOf = ({ bytes, times }: Run): Readonly<Record<string, number>> =>
  times === undefined ? { bytes } : { bytes, timesSizeOfDim: times };

function gatherMove(stmt: string, { moving, run, table, last, elementBytes }: GatherPlan): Move {
  const resolved = table === undefined ? {} : { tableBytes: table.bytes, linesReadAhead: table.touch };
  switch (moving) {
    case "rows":
      return {
        stmt,
        how: `rows behind each index, ${wayOf(run)}`,
        ...figuresOf(run),
        resolvedOutsideDim: last + 1,
        ...resolved,
      };
    case "checked together":
    case "from the table":
    case "one by one":
      return { stmt, how: `elements, indices ${moving}`, bytes: elementBytes, unroll, ...resolved };
    default:
      return assertNever(moving);
  }
}
