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
import { fastestFirst, loweringBy, type TimedWay, type Ways } from "../tiling/lowering.js";
import { busyCores, clocked, type Clocked, type ClockResult } from "./clock.js";
import { waysOfProgram } from "./statement.js";

/** The result of the clock for the fastest way. */
export function fastest(
  func: TileFunc,
  target: Target,
  tasks: number,
  timed: (program: Clocked) => ClockResult,
): ClockResult {
  const ways = waysOfProgram(func, target);
  if (ways === undefined) return timed(clocked(func, target, tasks, undefined));
  let best: Timed | undefined;
  for (const way of listed(ways, tasks / busyCores(func, target, tasks))) {
    const program = clocked(func, target, tasks, loweringBy(ways, way));
    if (best !== undefined && isSlower(program, best)) continue;
    const [result, boxes] = noting(program, timed);
    if (best === undefined || result.cycles < best.result.cycles) best = { program, result, boxes };
  }
  invariant(best !== undefined, "a gather can be done in some way");
  return best.result;
}

/** Those that are likely to be the fastest first, so that most others need no clock. */
function* listed(ways: Ways, tiles: number): Generator<TimedWay> {
  yield* fastestFirst(ways.open, Math.max(1, tiles));
  yield* ways.further();
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
  readonly boxes: readonly Gathered[];
}

function noting(
  program: Clocked,
  timed: (program: Clocked) => ClockResult,
): readonly [ClockResult, readonly Gathered[]] {
  const boxes = new Map<string, Gathered>();
  const result = timed({
    ...program,
    costOf(stmt, sizes) {
      if (stmt.op === "gather") boxes.set(sizes.join(), { stmt, sizes });
      return program.costOf(stmt, sizes);
    },
  });
  return [result, [...boxes.values()]];
}

/** Whether a program can be known not to be faster than one whose gathers are done in another way. */
function isSlower(program: Clocked, { program: other, result, boxes }: Timed): boolean {
  const costs = boxes.map(({ stmt, sizes }) => ({
    own: program.costOf(stmt, sizes),
    known: other.costOf(stmt, sizes),
  }));
  const alone = costs.some(({ own }) => own.cycles >= result.cycles);
  const each = costs.every(
    ({ own, known }) =>
      own.cycles >= known.cycles &&
      own.work.touched >= known.work.touched &&
      own.cycles + program.start[own.pipe] >= known.cycles + other.start[known.pipe],
  );
  return alone || each;
}
