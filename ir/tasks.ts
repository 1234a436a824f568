/** The perfect nest of parallel loops around a tile program: one iteration of it is a task. And how tasks are dealt. */
import { isFixed, soleAtom, sub, symbolsOf } from "./linear.js";
import { boundsOf } from "./ranges.js";
import type { ForStmt, Stmt } from "./tile.js";

/** A loop whose iterations are tasks. */
export interface ParallelLoop {
  readonly stmt: ForStmt;
  /** Iterations, at most; of a tile loop inside a view loop, those in a whole view, which ends with the tensor at the latest. */
  readonly trips: number;
}

/** The loops that are dealt to the cores, and what one task runs. */
export interface ParallelNest {
  readonly loops: readonly ParallelLoop[];
  /** What a task runs. */
  readonly body: readonly Stmt[];
  /** Product of the trips. Where views end short, some of these tasks are empty. */
  readonly tasks: number;
}

/**
 * Stops at a loop whose trips are not known from its text: hand-written programs may hold any bounds. `around`: the sizes of
 * symbols, where a program is over some.
 */
export function parallelNest(body: readonly Stmt[], around: readonly ForStmt[] = []): ParallelNest {
  return nestIn(body, around);
}

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
export const hasOpenTrips = ({ stmt }: ParallelLoop): boolean =>
  [stmt.lower, stmt.upper].some((bound) => symbolsOf(bound).length > 0);

/** Tasks [from, to) in program order. */
export interface TaskRange {
  readonly from: number;
  readonly to: number;
}

/** Tasks are dealt in blocks: each core runs neighbours, and the first `tasks % cores` cores run one more. */
export function dealt(tasks: number, cores: number, core: number): TaskRange {
  const each = Math.floor(tasks / cores);
  const more = tasks % cores;
  const from = core * each + Math.min(core, more);
  return { from, to: from + each + (core < more ? 1 : 0) };
}
