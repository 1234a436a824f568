/** The perfect nest of parallel loops around a tile program: one iteration of it is a task. */
import type { TileFunc } from "../func.js";
import { isFixed, soleAtom, sub, symbolsOf, type Env } from "../linear.js";
import { boundsOf } from "../intervals/loop-bounds.js";
import { sizesAround, sizesAt } from "../symbols/symbols.js";
import type { ForStmt, Stmt } from "../tile.js";

/** A loop whose iterations are tasks. */
export interface ParallelLoop {
  readonly stmt: ForStmt;
  /** Iterations, at most; of a tile loop inside a view loop, those in a whole view, which ends with the tensor at the latest. */
  readonly trips: number;
}

/** The loops that are dealt to the cores, and what one task runs. */
export interface ParallelNest {
  /** Outermost first. */
  readonly loops: readonly ParallelLoop[];
  /** What a task runs. */
  readonly body: readonly Stmt[];
  /** Product of the trips. Where views end short, some of these tasks are empty. */
  readonly tasks: number;
}

/**
 * The nest of a program, at the most that its symbols may be. It stops at a loop whose trips are not known from its text:
 * hand-written programs may hold any bounds.
 */
export const nestOf = (func: TileFunc): ParallelNest => nestIn(func.body, sizesAround(func));

/** The same nest with the trips that it has at some sizes of its program's symbols. */
export const nestAt = ({ loops, body }: ParallelNest, sizes: Env): ParallelNest =>
  nestIn(loops[0] === undefined ? body : [loops[0].stmt], sizesAt(sizes));

function nestIn(body: readonly Stmt[], around: readonly ForStmt[]): ParallelNest {
  const rest = body.filter((stmt) => stmt.op !== "alloc");
  const [only] = rest;
  const trips =
    rest.length === 1 && only?.op === "for" && only.mode === "parallel" ? tripsOf(only, around) : undefined;
  if (only?.op !== "for" || trips === undefined) return { loops: [], body: rest, tasks: 1 };
  const inner = nestIn(only.body, [...around, only]);
  return { loops: [{ stmt: only, trips }, ...inner.loops], body: inner.body, tasks: trips * inner.tasks };
}

function tripsOf({ lower, upper, step }: ForStmt, around: readonly ForStmt[]): number | undefined {
  const only = soleAtom(upper);
  const lengths = (only?.kind === "min" ? only.of : [upper]).map((end) => sub(end, lower));
  if (!lengths.some(isFixed)) return undefined;
  const longest = Math.min(...lengths.map((length) => boundsOf(length, around)[1]));
  return Math.max(0, Math.ceil(longest / step));
}

/** Whether the trips of a loop differ with the sizes of symbols. */
export const hasDynamicTrips = ({ stmt }: ParallelLoop): boolean =>
  [stmt.lower, stmt.upper].some((bound) => symbolsOf(bound).length > 0);
