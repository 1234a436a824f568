/** A kernel's plan as a printable plan of moves. */
import { defined } from "../../ir/defined.js";
import { isConstant } from "../../ir/linear.js";
import { printLinear, printStmtHead } from "../../ir/text/print.js";
import { ubBytes } from "../../ir/tile.js";
import { at } from "../../ir/types.js";
import type { Figures, How, Move, MovePlan } from "../moves.js";
import type { GatherMove } from "./gather-move.js";
import type { LoadMove } from "./load-move.js";
import { howOfPlain } from "./plain.js";
import type { WgslMove, WgslPlan } from "./plan.js";
import type { ScatterMove } from "./scatter-move.js";

/**
 * Returns the printable move plan of a kernel for `compile --emit moves`: workgroups, lanes, workgroup memory
 * in bytes, and the method of each statement.
 */
export const movesOf = (plan: WgslPlan): MovePlan => ({
  backend: "wgsl",
  figures: {
    workgroups: plan.grid.dispatch.join(" x "),
    lanes: `${plan.lanes.x} x ${plan.lanes.y}${plan.lanes.inRuns ? ", rows in runs" : ""}${plan.lanes.acrossRows ? ", across rows" : ""}`,
    "workgroup bytes": plan.workgroupBytes,
  },
  moves: plan.moves.map((move) => moveOf(plan, move)),
  diagnostics: plan.diagnostics,
});

/**
 * Returns the printable form of one planned statement: the statement's text, the method, and numbers. A
 * statement without code has a reason instead of numbers.
 */
function moveOf(plan: WgslPlan, move: WgslMove): Move {
  const stmt = printStmtHead(move.stmt);
  if (move.kind === "elided") return { stmt, how: "elided", why: move.because, figures: {} };
  if (move.kind === "load") return { stmt, how: move.how, figures: loadFigures(move) };
  if (move.kind === "gather") return { stmt, how: move.unit.how, figures: gatherFigures(plan, move) };
  if (move.kind === "scatter") return { stmt, how: howOfPoints(move), figures: scatterFigures(plan, move) };
  return { stmt, how: howOfPlain[move.stmt.op], figures: {} };
}

/** Returns how a lane moves the elements of its points. */
const howOfPoints = ({ point, group }: ScatterMove): How =>
  point.values !== undefined ? "computed" : group > 1 ? "rows" : "words";

/**
 * Returns the printable numbers of a scatter: elements that a lane takes at a time, steps, and the method of
 * writing.
 */
function scatterFigures(
  { bindings, scatter }: WgslPlan,
  { group, width, writing, owners }: ScatterMove,
): Figures {
  const dispatches = scatter?.dispatches.map((dispatch) => dispatch.join(" x ")) ?? [];
  return {
    elements: group,
    [`%${bindings.find(({ access }) => access === "read_write")?.name ?? ""} bytes`]: 4 * width,
    writing,
    ...defined({
      owners: owners && (isConstant(owners.entries) ? owners.entries.at : printLinear(owners.entries)),
    }),
    steps: (scatter?.move.steps ?? []).map(({ kind }, k) => `${kind} ${dispatches[k] ?? ""}`).join(", "),
  };
}

const loadFigures = ({ buffer, waits }: LoadMove): Figures => ({
  words: ubBytes(buffer) / 4,
  ...(buffer.buffers === 2 ? { copies: "1 of 2" } : {}),
  ...(waits ? { barriers: 1 } : {}),
});

const dimsText = (list: readonly number[]): string =>
  list.length === 0 ? "no dim" : list.map((d) => `d${d}`).join(" ");

/**
 * Returns the printable numbers of a gather, for example elements that a lane moves at a time and bytes of
 * one access.
 */
function gatherFigures(
  { func, bindings, branchesOnFullTiles }: WgslPlan,
  { unit, resolved, sharing, page, values }: GatherMove,
): Figures {
  const accesses = func.operands.map(({ name }, k) => [`%${name} bytes`, 4 * at(bindings, k).width] as const);
  return {
    elements: unit.group,
    ...Object.fromEntries(accesses),
    ...(unit.how === "packed"
      ? { "shared words": unit.shared.by }
      : { "indices resolved along": dimsText(resolved), "and shared along": dimsText(sharing) }),
    ...defined({
      "steps of a term": values?.plan.reduction?.steps.length,
      steps: values?.plan.steps.length,
    }),
    ...(branchesOnFullTiles ? { "full tiles": "by a branch" } : {}),
    ...(page === undefined ? {} : { [`page of d${page.dim}`]: page.by }),
  };
}
