/**
 * The way in which a program's gather takes the fewest cycles of the whole program: its class, its strips or its batches of rows.
 *
 * A gather that is faster by itself need not be: a class sets up more before its first gather, or takes as long for a short last tile as
 * for a whole one. So the clock of the program decides. Ways are passed over unread where another one is no slower for any
 * box, its setup included: then no pipe is later in any respect.
 */
import type { MovingStmt } from "../tile.js";
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import { invariant } from "../types.js";
import { fastestFirst, loweringBy, type TimedLowering, type Lowerings } from "../tiling/lowering.js";
import { busyCores, clocked, type Clocked, type ClockResult } from "./clock.js";
import { loweringsOfProgram } from "./statement.js";

/** The result of the clock for the fastest way. */
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
    const [result, gathered] = noting(program, timed);
    if (best === undefined || result.cycles < best.result.cycles) best = { program, result, gathered };
  }
  invariant(best !== undefined, "a gather can be done in some way");
  return best.result;
}

/** Those that are likely to be the fastest first, so that most others need no clock. */
function* listed(lowerings: Lowerings, tiles: number): Generator<TimedLowering> {
  yield* fastestFirst(lowerings.eligible, Math.max(1, tiles));
  yield* lowerings.further();
}

/** A gather of a box of some sizes. */
interface Gathered {
  readonly stmt: MovingStmt;
  readonly sizes: readonly number[];
}

interface Timed {
  readonly program: Clocked;
  readonly result: ClockResult;
  /** Each that the program does. */
  readonly gathered: readonly Gathered[];
}

function noting(
  program: Clocked,
  timed: (program: Clocked) => ClockResult,
): readonly [ClockResult, readonly Gathered[]] {
  const gathered = new Map<string, Gathered>();
  const result = timed({
    ...program,
    costOf(stmt, sizes) {
      if (stmt.op === "gather") gathered.set(sizes.join(), { stmt, sizes });
      return program.costOf(stmt, sizes);
    },
  });
  return [result, [...gathered.values()]];
}

/** Whether a program can be known not to be faster than one whose gathers are done in another way. */
function isSlower(program: Clocked, { program: other, result, gathered }: Timed): boolean {
  const costs = gathered.map(({ stmt, sizes }) => ({
    entry: program.costOf(stmt, sizes),
    cached: other.costOf(stmt, sizes),
  }));
  const alone = costs.some(({ entry }) => entry.cycles >= result.cycles);
  const each = costs.every(
    ({ entry, cached }) =>
      entry.cycles >= cached.cycles &&
      entry.work.touched >= cached.work.touched &&
      entry.cycles + program.start[entry.pipe] >= cached.cycles + other.start[cached.pipe],
  );
  return alone || each;
}
