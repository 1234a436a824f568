/** The plan of a tile program's code as a printable plan of moves. */
import { defined } from "../../ir/defined.js";
import { taskOfTile } from "../../ir/task/index.js";
import { printStmtHead } from "../../ir/text/print.js";
import { flatten, type Stmt } from "../../ir/tile.js";
import { invariant } from "../../ir/types.js";
import { singleCopies, type Figures, type How, type Move, type MovePlan } from "../moves.js";
import { copyMethod } from "./code.js";
import { rowsTogether, unroll, type CpuGather, type GatherStrategy } from "./gather-plan.js";
import { layoutOf } from "./layout.js";
import type { WasmPlan } from "./plan.js";
import type { CpuScatter } from "./scatter-plan.js";
import { range, type Run } from "../plan/runs.js";
import { jammed } from "./unroll-and-jam.js";
import type { ValuePlan } from "../../ir/values/index.js";

/**
 * Returns the plan of a program's code in printable form. `moves`: the method by which each statement moves
 * data. `figures`: tasks, bytes of unified buffer per thread, and slices of a task or joined tasks, if any.
 */
export const movesOf = (plan: WasmPlan): MovePlan => {
  const slices = plan.nest.tasks / taskOfTile(plan.source).nest.tasks;
  const { bufferBytes } = layoutOf(plan.func, plan.gather?.table);
  return {
    backend: "wasm",
    figures: {
      tasks: plan.nest.tasks,
      ...(slices > 1 ? { "slices of a task": slices } : {}),
      ...(slices < 1 ? { "tasks joined": 1 / slices } : {}),
      "tasks taken together": plan.tasksPerSlice,
      "bytes of a thread": bufferBytes,
    },
    moves: statements(plan).flatMap((stmt) => movesOfStmt(plan, stmt)),
    diagnostics: singleCopies(plan.source),
  };
};

/** Returns those that run, and those that are left out, in program order. */
function statements({ copied, func, gone }: WasmPlan): readonly Stmt[] {
  const run = flatten(func.body).filter(isMove)[Symbol.iterator]();
  return flatten(copied.body)
    .filter(isMove)
    .map((stmt) => (gone.has(stmt) ? stmt : (run.next().value ?? stmt)));
}

const isMove = ({ op }: Stmt): boolean => op !== "for" && op !== "alloc";

/**
 * Returns the parts of the printable plan for one statement. A statement without code has one part with the
 * reason.
 */
function movesOfStmt(plan: WasmPlan, stmt: Stmt): Move[] {
  const head = printStmtHead(stmt);
  const because = (why: string): Move[] => [{ stmt: head, how: "elided", why, figures: {} }];
  if (stmt.op === "sync") return because("a thread runs its statements in order");
  if (stmt.op === "gather") {
    invariant(plan.gather?.stmt === stmt, "the gather has a plan");
    return gatherMoves(head, plan.gather);
  }
  if (stmt.op === "scatter" && plan.scatter !== undefined) return [scatterMove(head, plan.scatter)];
  if (stmt.op === "fill") return [{ stmt: head, how: "words", figures: {} }];
  const run = plan.copies.get(stmt)?.run;
  if (run !== undefined) return [{ stmt: head, how: "copy", figures: figuresOf(run) }];
  return because(stmt.op === "load" ? "read where it lies" : "written where it goes");
}

function scatterMove(stmt: string, { elementBytes, run, map, values }: CpuScatter): Move {
  if (values !== undefined) return { stmt, how: "computed", figures: { bytes: elementBytes } };
  return { stmt, how: run.outer < map.domain.length ? "rows" : "words", figures: figuresOf(run) };
}

/** Returns the number of bytes that are copied at once, and the method. */
const figuresOf = ({ bytes, times }: Run): Figures =>
  times === undefined
    ? { bytes, by: copyMethod(bytes) }
    : { bytes: `${bytes} times the size of dim ${times}`, by: copyMethod(undefined) };

/**
 * Returns the parts of the printable plan for a gather: one for each group of index lookups, then one for the
 * copy of the elements.
 */
function gatherMoves(stmt: string, plan: CpuGather): Move[] {
  const { table, stages } = plan;
  const lookupMoves: Move[] =
    table === undefined
      ? stages.flatMap(({ dim, indices }): Move[] => {
          if (indices.length === 0) return [];
          const dims =
            dim === -1
              ? "no dim"
              : range(0, dim + 1)
                  .map((d) => `d${d}`)
                  .join(" ");
          return [{ stmt, how: "sites", figures: { "index values": indices.join(" "), along: dims } }];
        })
      : [
          {
            stmt,
            how: "table",
            figures: { along: table.dims.map((d) => `d${d}`).join(" "), bytes: table.bytes },
          },
        ];
  const { values } = plan;
  const move: Move =
    values === undefined
      ? { stmt, how: hows[plan.moving.by], figures: movingFigures(plan) }
      : { stmt, how: "computed", figures: computedFigures(values, plan) };
  return [...lookupMoves, move];
}

const computedFigures = (
  { steps, reduction }: ValuePlan,
  { elementBytes: bytes, unrolled }: Pick<CpuGather, "elementBytes" | "unrolled">,
): Figures => ({
  bytes,
  elements: unrolled?.elements ?? 1,
  ...defined({ "steps of a term": reduction?.steps.length }),
  steps: steps.length,
});

/**
 * Returns printable numbers on the copies of a gather: bytes and elements per copy, and the method that
 * resolves indices.
 */
function movingFigures({ elementBytes, last, moving, page, run }: CpuGather): Figures {
  if (moving.by === "rows together")
    return { ...figuresOf(run), rows: rowsTogether, indices: "checked together" };
  if (moving.by !== "rows") {
    const unrollAndJam = moving.by === "checked together" ? moving.unrollAndJam : undefined;
    const sizes =
      unrollAndJam === undefined ? {} : { [`parts of d${unrollAndJam.dim} side by side`]: jammed };
    const elements = hows[moving.by] === "groups" ? unroll : 1;
    return { bytes: elementBytes, elements, indices: moving.by, ...sizes };
  }
  if (page === undefined) return figuresOf(run);
  const copied =
    run.times === last
      ? { bytes: `${run.bytes} times what is left of a page`, by: copyMethod(undefined) }
      : figuresOf(run);
  return { ...copied, [`page of d${last}`]: page.by };
}

const hows = {
  rows: "rows",
  "rows together": "rows",
  "checked together": "groups",
  "from the table": "groups",
  "one by one": "words",
} as const satisfies Readonly<Record<GatherStrategy["by"], How>>;
