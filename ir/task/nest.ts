/** The perfect nest of parallel loops around a tile program: one iteration of it is a task. */
import type { TileFunc } from "../func.js";
import { isFixed, soleAtom, sub, symbolsOf, type Env } from "../linear.js";
import { boundOf } from "../intervals/range.js";
import { sizesAround, sizesAt } from "../symbols/symbols.js";
import type { ForStmt, Stmt } from "../tile.js";

/** Parallel loop whose iterations are tasks, with the maximum trip count. */
export interface ParallelLoop {
  readonly stmt: ForStmt;
  /**
   * Maximum number of iterations. For a loop over the tiles of a view, this is the number of iterations in a
   * full view, which may end early at the tensor's end.
   */
  readonly trips: number;
}

/** Nest of parallel loops whose iterations (tasks) are distributed over the cores. A task executes `body`. */
export interface ParallelNest {
  /** Outermost first. */
  readonly loops: readonly ParallelLoop[];
  /** Statements that a task runs. */
  readonly body: readonly Stmt[];
  /** Product of the trip counts. If some views are shorter than others, some of these tasks are empty. */
  readonly tasks: number;
}

/**
 * Returns the nest of parallel loops around the statements of a tile program, with trip counts at the maximum
 * sizes of symbols.
 */
export const nestOf = (func: TileFunc): ParallelNest => nestIn(func.body, sizesAround(func));

/** Returns a nest of parallel loops with the trip counts for given sizes of the program's symbols. */
export const nestAt = ({ loops, body }: ParallelNest, sizes: Env): ParallelNest =>
  nestIn(loops[0] === undefined ? body : [loops[0].stmt], sizesAt(sizes));

/**
 * Returns the nest of parallel loops around a list of statements. The nest has no loops unless the list
 * consists of allocations and one parallel loop with a known trip count. `around`: enclosing loops.
 */
function nestIn(body: readonly Stmt[], around: readonly ForStmt[]): ParallelNest {
  const rest = body.filter((stmt) => stmt.op !== "alloc");
  const [only] = rest;
  const trips =
    rest.length === 1 && only?.op === "for" && only.mode === "parallel" ? tripsOf(only, around) : undefined;
  if (only?.op !== "for" || trips === undefined) return { loops: [], body: rest, tasks: 1 };
  const inner = nestIn(only.body, [...around, only]);
  return { loops: [{ stmt: only, trips }, ...inner.loops], body: inner.body, tasks: trips * inner.tasks };
}

/**
 * Returns the largest trip count of a loop over all iterations of the enclosing loops. Undefined if the
 * loop's bounds do not determine a trip count.
 */
function tripsOf({ lower, upper, step }: ForStmt, around: readonly ForStmt[]): number | undefined {
  const only = soleAtom(upper);
  const lengths = (only?.kind === "min" ? only.of : [upper]).map((end) => sub(end, lower));
  if (!lengths.some(isFixed)) return undefined;
  const longest = Math.min(...lengths.map((length) => boundOf(length, { loops: around }, "most")));
  return Math.max(0, Math.ceil(longest / step));
}

/** True if the trip count of a loop depends on symbols (dynamic sizes). */
export const hasDynamicTrips = ({ stmt }: ParallelLoop): boolean =>
  [stmt.lower, stmt.upper].some((bound) => symbolsOf(bound).length > 0);
