/**
 * The way in which a program's gather takes the fewest cycles of the whole program: its class, its strips or
 * its batches of rows.
 *
 * A gather that is faster by itself need not be: a class sets up more before its first gather, or takes as
 * long for a short last tile as for a whole one. So the clock of the program decides. Ways are passed over
 * unread where another one is no slower for any box, its setup included: then no pipe is later in any
 * respect.
 */
import type { MovingStmt } from "../tile.js";
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import { invariant } from "../types.js";
import { fastestFirst, loweringBy, type TimedLowering, type Lowerings } from "../tiling/lowering.js";
import { busyCores, clocked, type Clocked, type ClockResult } from "./clock.js";
import { loweringsOfProgram, type StatementWork } from "./statement.js";

/**
 * Returns the result of the cycle model for the fastest lowering (choice of instructions) of a program's
 * gather. `tasks`: number of tasks. `timed`: computes the result for one lowering.
 */
export function fastest(
  func: TileFunc,
  target: Target,
  tasks: number,
  timed: (program: Clocked) => ClockResult,
): ClockResult {
  const lowerings = loweringsOfProgram(func, target);
  if (lowerings === undefined) return timed(clocked(func, target, tasks, undefined));
  let best: Timed | undefined;
  for (const lowering of listed(lowerings, tasks / busyCores(func, target, tasks))) {
    const program = clocked(func, target, tasks, loweringBy(lowerings, lowering));
    if (best !== undefined && isSlower(program, best)) continue;
    const taken = noting(program, timed);
    if (best === undefined || taken.result.cycles < best.result.cycles) best = taken;
  }
  invariant(best !== undefined, "a gather can be done in some way");
  return best.result;
}

/** Yields those that are likely to be the fastest first, so that most others need no clock. */
function* listed(lowerings: Lowerings, tiles: number): Generator<TimedLowering> {
  yield* fastestFirst(lowerings.eligible, Math.max(1, tiles));
  yield* lowerings.further();
}

/** A gather of a box of some sizes. */
interface Gathered {
  readonly stmt: MovingStmt;
  readonly sizes: readonly number[];
  readonly entry: StatementWork;
}

interface Timed {
  readonly program: Clocked;
  readonly result: ClockResult;
  /** Each that the program does. */
  readonly gathered: readonly Gathered[];
  /** Cycles of its work. */
  readonly cyclesOf: (entry: StatementWork) => number;
}

/**
 * Returns the result of the cycle model `timed` for a program, with data that {@link isSlower} needs. Result
 * field `gathered`: statement, sizes and work of each gather that `timed` considered. Result field
 * `cyclesOf`: the last function from work to cycles that `timed` requested.
 */
function noting(program: Clocked, timed: (program: Clocked) => ClockResult): Timed {
  const gathered = new Map<string, Gathered>();
  let cyclesOf = program.pricing([]);
  const result = timed({
    ...program,
    workOf(stmt, sizes) {
      const entry = program.workOf(stmt, sizes);
      if (stmt.op === "gather") gathered.set(sizes.join(), { stmt, sizes, entry });
      return entry;
    },
    pricing(transferred) {
      cyclesOf = program.pricing(transferred);
      return cyclesOf;
    },
  });
  return { program, result, gathered: [...gathered.values()], cyclesOf };
}

/**
 * True if `program` is proved to take at least as many cycles as another program with a different gather
 * lowering. The second parameter is the result for the other program. False means that there is no proof.
 */
function isSlower(program: Clocked, { program: other, result, gathered, cyclesOf }: Timed): boolean {
  // Rows are loads in one way alone, so that no way has another part of its loads found in L2.
  const costs = gathered.map(({ stmt, sizes, entry: cached }) => {
    const entry = program.workOf(stmt, sizes);
    return { entry, cycles: cyclesOf(entry), cached, fewer: cyclesOf(cached) };
  });
  const alone = costs.some(({ cycles }) => cycles >= result.cycles);
  const each = costs.every(
    ({ entry, cycles, cached, fewer }) =>
      cycles >= fewer &&
      entry.work.touched >= cached.work.touched &&
      cycles + program.start[entry.pipe] >= fewer + other.start[cached.pipe],
  );
  return alone || each;
}
