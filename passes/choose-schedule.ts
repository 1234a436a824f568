/**
 * The fastest schedule of a gather under the clock: a hill climb over its space by the estimate, whose few best the clock decides
 * between.
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
/** Schedules within this factor of the fewest cycles count as as fast (npm run bench:sweep). */
export const asFast = ({ kind }: Target): number => (targetFacts[kind].fittedClock ? 1.01 : 1);

/**
 * Undefined when no tile is legal. `against`: cycles of a schedule that is known already; orders of loops that take over a tenth more
 * are not searched around. Stays within the target's safe size where that leaves a choice. Deterministic: fewest
 * cycles, then fewest idle cores in the last round, bytes, bytes of UB, then the larger tile; of what a fitted clock does not tell
 * apart, the one that takes the least of UB.
 */
export function chooseSchedule(tiling: Tiling, against = Infinity): Tiling | undefined {
  const space = new ScheduleSpace(tiling);
  const { start, availableUb } = space;
  if (!isLegal(start)) return undefined;
  // Nothing takes no time, however it is cut.
  if (elementCount(tiling.extents) === 0) return start;
  const { ubBytes } = tiling.schedule;
  if (availableUb >= ubCapacity(start)) return fastest(space, against);
  // What a lowering adds stays within the safe size too: where it would take more if it could, the schedule says how much there is.
  const best = fastest(new ScheduleSpace(tiling.with({ ubBytes: availableUb }), availableUb), against);
  const free = best.with({ ubBytes });
  return decided(free).footprint.planned <= availableUb ? free : best;
}

/** Returns the best schedule of a space whose smallest tile is legal. */
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

/** Returns the few that may be the fastest: of those that the estimate does not tell apart, the ones that take the least of UB. */
function worthTheirClock([first, ...others]: readonly Weighed[], target: Target): readonly Weighed[] {
  if (first === undefined) return [];
  const same = others.filter(({ cost }) => cost <= first.cost * asFast(target));
  const near = others.slice(same.length).filter(({ cost }) => cost <= first.cost * margin);
  const smallest = [...same].sort((a, b) => a.tiling.footprint.planned - b.tiling.footprint.planned);
  return [first, ...[...smallest, ...near].slice(0, clocked - 1)];
}

/** What is known of a schedule whose clock was read. */
export interface Tie {
  readonly idleCores: number;
  /** Of global memory. */
  readonly bytes: number;
  readonly ubBytes: number;
  /** Of one output tile. */
  readonly elements: number;
}

/** What decides between schedules of as many cycles, the less the better: idle cores in the last round, bytes, bytes of UB, a smaller tile. */
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

/** Keys in the order of their weight. */
export function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (let k = 0; k < a.length; k++) {
    const difference = at(a, k) - at(b, k);
    if (difference !== 0) return difference;
  }
  return 0;
}
