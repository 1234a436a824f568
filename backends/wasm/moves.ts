/** The plan of a tile program's code as a printable plan of moves. */
import { sizesAround } from "../../ir/symbols/symbols.js";
import { parallelNest } from "../../ir/tasks.js";
import { printStmtHead } from "../../ir/text/print.js";
import { flatten, type Stmt } from "../../ir/tile.js";
import { assertNever, invariant } from "../../ir/types.js";
import { singleCopies, type Figures, type How, type Move, type MovePlan } from "../moves.js";
import { copyWay } from "./code.js";
import { jammed } from "./jam.js";
import { layoutOf } from "./layout.js";
import { tableIn, unroll, type GatherPlan, type Moving, type WasmPlan } from "./plan.js";
import { range, type Run } from "./runs.js";
import type { SitesPlan } from "./sites-plan.js";

export const movesOf = (plan: WasmPlan): MovePlan => {
  const slices = plan.nest.tasks / parallelNest(plan.source.body, sizesAround(plan.source)).tasks;
  const { bufferBytes } = layoutOf(plan.func, tableIn(plan));
  return {
    backend: "wasm",
    figures: {
      tasks: plan.nest.tasks,
      ...(slices > 1 ? { "slices of a task": slices } : {}),
      ...(slices < 1 ? { "tasks joined": 1 / slices } : {}),
      "tasks taken together": plan.tasksPerSlice,
      "bytes of a thread": bufferBytes,
    },
    moves: flatten(plan.func.body).flatMap((stmt) => movesOfStmt(plan, stmt)),
    diagnostics: singleCopies(plan.source),
  };
};

function movesOfStmt(plan: WasmPlan, stmt: Stmt): Move[] {
  const head = printStmtHead(stmt);
  const because = (why: string): Move[] => [{ stmt: head, how: "elided", why, figures: {} }];
  switch (stmt.op) {
    case "for":
    case "alloc":
      return [];
    case "load":
    case "store": {
      const run = plan.boxes.get(stmt)?.run;
      if (run !== undefined) return [{ stmt: head, how: "copy", figures: figuresOf(run) }];
      return because(stmt.op === "load" ? "read where it lies" : "written where it goes");
    }
    case "gather":
      invariant(plan.gather?.stmt === stmt, "the gather has a plan");
      return plan.gather.kind === "gather" ? gatherMoves(head, plan.gather) : sitesMoves(head, plan.gather);
    case "sync":
      return because("a thread runs its statements in order");
    default:
      return assertNever(stmt);
  }
}

/** Bytes that are copied at once, and how. */
const figuresOf = ({ bytes, times }: Run): Figures =>
  times === undefined
    ? { bytes, by: copyWay(bytes) }
    : { bytes: `${bytes} times the size of dim ${times}`, by: copyWay(undefined) };

function gatherMoves(stmt: string, { jam, moving, run, table, elementBytes }: GatherPlan): Move[] {
  const parts = jam === undefined ? {} : { [`parts of d${jam.dim} side by side`]: jammed };
  const own: Figures =
    moving === "rows"
      ? figuresOf(run)
      : { bytes: elementBytes, elements: elementsOf(moving), indices: moving, ...parts };
  const move: Move = { stmt, how: hows[moving], figures: own };
  if (table === undefined) return [move];
  const dims = table.dims.map((d) => `d${d}`).join(" ");
  return [{ stmt, how: "table", figures: { along: dims, bytes: table.bytes } }, move];
}

/** The sites by the dims inside of which they are taken, and what is copied behind the last of them. */
function sitesMoves(stmt: string, { stages, last, page, run }: SitesPlan): Move[] {
  const along = stages.map(({ dim, sites }) => {
    const dims = range(0, dim + 1).map((d) => `d${d}`);
    return { along: dims.join(" "), sites: sites.map(({ site }) => site).join(" ") };
  });
  const taken = along.flatMap(({ along: dims, sites }): Move[] =>
    sites === "" ? [] : [{ stmt, how: "sites", figures: { "index values": sites, along: dims } }],
  );
  const rows: Figures =
    page === undefined
      ? figuresOf(run)
      : {
          ...(run.times === last
            ? { bytes: `${run.bytes} times what is left of a page`, by: copyWay(undefined) }
            : figuresOf(run)),
          [`page of d${last}`]: page.by,
        };
  return [...taken, { stmt, how: "rows", figures: rows }];
}

const hows = {
  rows: "rows",
  "checked together": "groups",
  "from the table": "groups",
  "one by one": "words",
} as const satisfies Readonly<Record<Moving, How>>;

const elementsOf = (moving: Moving): number => (hows[moving] === "groups" ? unroll : 1);
