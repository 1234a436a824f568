/**
 * The fastest schedule of a gather under the clock: a hill climb over its space by the estimate, whose few
 * best the clock decides between.
 */
import { estimatesOfTile, lowerBoundsOf } from "../ir/clock/index.js";
import { targetFacts, type Target } from "../ir/target.js";
import { isLegal, ubCapacity, type Tiling } from "../ir/tiling/index.js";
import { at, elementCount } from "../ir/types.js";
import { clockOf, decided } from "./lowered.js";
import { climb, margin, type Weighed } from "./space/climb.js";
import { ScheduleSpace } from "./space/schedule-space.js";

/** Schedules whose clock is read at most. */
const clocked = 4;
/**
 * Returns the largest ratio of the cycles of two schedules (slower over faster) at which they count as
 * equally fast. The ratio is 1.01 on targets whose cost model is fitted to measurements, else 1 (only equal
 * cycles).
 */
export const asFast = ({ kind }: Target): number => (targetFacts[kind].fittedClock ? 1.01 : 1);

/**
 * Returns the tiling whose schedule has the fewest estimated cycles; undefined if no tile is legal. {@link
 * tieBreaks} decides between equal estimates. `against`: cycles of a schedule that the caller already has;
 * loop orders that seem more than 10 % slower are not searched further. The result may take more cycles than
 * `against`.
 */
export function chooseSchedule(tiling: Tiling, against = Infinity): Tiling | undefined {
  const space = new ScheduleSpace(tiling);
  const { start, availableUb } = space;
  if (!isLegal(start)) return undefined;
  // Nothing takes no time, however it is cut.
  if (elementCount(tiling.extents) === 0) return start;
  const { ubBytes } = tiling.schedule;
  if (availableUb >= ubCapacity(start)) return fastest(space, against);
  // What a lowering adds stays within the safe size too: where it would take more if it could, the schedule
  // says how much there is.
  const best = fastest(new ScheduleSpace(tiling.with({ ubBytes: availableUb }), availableUb), against);
  const free = best.with({ ubBytes });
  return decided(free).footprint.planned <= availableUb ? free : best;
}

/**
 * Returns the tiling with the fewest estimated cycles in a search space, whose smallest tile must be legal.
 * `against`: cycles of a schedule that the caller already has; the result may take more. Loop orders more
 * than 10 % slower than the fastest known schedule, which may be the caller's, are not searched further.
 */
function fastest(space: ScheduleSpace, against: number): Tiling {
  const { start } = space;
  const { target } = start;
  const bounds = lowerBoundsOf(start);
  const cost = { lowerBound: bounds.of, ofTile: estimatesOfTile };
  const contenders = worthTheirClock(climb(space, cost, against), target);
  if (contenders.length === 1) return contenders[0]?.tiling ?? start;
  let cycles = Infinity;
  const read = contenders.filter(({ tiling }) => {
    if (bounds.of(tiling.schedule.tile) > cycles * asFast(target)) return false;
    cycles = Math.min(cycles, clockOf(tiling).cycles);
    return true;
  });
  const same = read.filter(({ tiling }) => clockOf(tiling).cycles <= cycles * asFast(target));
  // What takes the least of UB stays in the nearest cache.
  const keyOf = ({ tiling }: Weighed): readonly number[] =>
    targetFacts[target.kind].fittedClock
      ? [tiling.footprint.planned, clockOf(tiling).cycles]
      : tieBreaks(tieOf(tiling));
  const [best] = same.sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
  return best?.tiling ?? start;
}

/**
 * Returns the candidates whose cycles the caller should compute with the full cycle model: the first four of
 * a ranking, or all if there are fewer. The ranking begins with the candidate with the best estimate.
 * Candidates equally fast by {@link asFast} follow, then those with an estimate up to 2 % above the best.
 */
function worthTheirClock([first, ...others]: readonly Weighed[], target: Target): readonly Weighed[] {
  if (first === undefined) return [];
  const same = others.filter(({ cost }) => cost <= first.cost * asFast(target));
  const near = others.slice(same.length).filter(({ cost }) => cost <= first.cost * margin);
  const smallest = [...same].sort((a, b) => a.tiling.footprint.planned - b.tiling.footprint.planned);
  return [first, ...[...smallest, ...near].slice(0, clocked - 1)];
}

/**
 * Measures of one schedule that decide between schedules of equal cycles ({@link tieBreaks}): idle cores,
 * traffic, bytes of the unified buffer, and tile size.
 */
export interface Tie {
  readonly idleCores: number;
  /** Bytes that move through global memory. */
  readonly bytes: number;
  readonly ubBytes: number;
  /** Elements of one output tile. */
  readonly elements: number;
}

/**
 * Returns the sort keys that decide between schedules of equal cycles; smaller keys win. The keys are idle
 * cores, bytes of traffic, bytes of the unified buffer (UB), and negated tile size.
 */
export const tieBreaks = ({ idleCores, bytes, ubBytes, elements }: Tie): readonly number[] => [
  idleCores,
  bytes,
  ubBytes,
  -elements,
];

const tieOf = (tiling: Tiling): Tie => ({
  idleCores: clockOf(tiling).idleCores,
  bytes: tiling.traffic.bytes,
  ubBytes: decided(tiling).footprint.planned,
  elements: elementCount(tiling.tile),
});

/**
 * Returns a negative number if list `a` comes before `b`, a positive number if after, and 0 if equal. The
 * lists are compared number by number, and the first difference decides.
 */
export function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (let k = 0; k < a.length; k++) {
    const difference = at(a, k) - at(b, k);
    if (difference !== 0) return difference;
  }
  return 0;
}
