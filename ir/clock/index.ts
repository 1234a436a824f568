/** The clock: cycles of a tile program on a target, in closed form, and as a walk with a timeline. */
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import type { GatherLowering } from "../tiling/lowering.js";
import { clocked, resultOf, type Clocked, type ClockResult } from "./clock.js";
import { closed, tasksOf, transferredBy } from "./closed.js";
import { countTasks } from "./execution.js";
import { fastest } from "./fastest.js";
import { planOf, type ClockPlan } from "./plan.js";
import type { TransferBytes } from "./statement.js";
import { cyclesByWalk, occupancyOn, transferredByWalk, walk, type Occupancy, type Walked } from "./walk.js";

export { clockVersion, type ClockResult } from "./clock.js";
export { favourable, fasterWith } from "./favourable.js";
export * from "./price.js";
export * from "./terms.js";
export { scatterWork } from "./scatter-work.js";
export * from "./work.js";
export { slabSharing, type SlabSharing } from "./shared-slab.js";
export { workOfTile, type TileWork } from "./work-of-tile.js";
export { estimatesOfTile } from "./estimate.js";
export { lowerBoundsOf, programLowerBound, type LowerBounds } from "./lower-bound.js";
export {
  formatLowerBound,
  formatRate,
  formatRatio,
  formatRoofline,
  formatTime,
  formatTimes,
  ratesOf,
  rooflineOf,
  rooflineTexts,
  type MachineRates,
  type Roofline,
} from "./roofline.js";
export { lowerBoundLimits, type LowerBoundLimit, type LowerBound } from "./lower-bound-limit.js";
export {
  maxEvents,
  maxLifetimes,
  maxOutputTiles,
  type CoreTotal,
  type Lifetime,
  type Occupancy,
  type OutputTile,
  type TimelineEvent,
  type Wait,
  type Walked,
} from "./walk.js";

/**
 * Returns the result of the cycle model for a program with the fastest lowering (choice of instructions) of
 * the gather.
 */
export function cyclesOf(func: TileFunc, target: Target): ClockResult {
  const { plan, tasks } = planned(func);
  if (plan === undefined) return fastest(func, target, tasks, (program) => cyclesByWalk(program, tasks));
  return fastest(func, target, tasks, (program) => resultOf(program, tasks, closed(program, plan).last));
}

interface Planned {
  /** Absent where a program has no closed form. */
  readonly plan: ClockPlan | undefined;
  readonly tasks: number;
}

function planned(func: TileFunc): Planned {
  const plan = func.body.length === 0 ? undefined : planOf(func);
  return { plan, tasks: plan === undefined ? countTasks(func.body) : tasksOf(plan) };
}

/**
 * Returns the fastest lowering (choice of instructions) of a program's gather in the cycle model. Undefined
 * if the program has no gather.
 */
export const programLowering = (func: TileFunc, target: Target): GatherLowering | undefined =>
  cyclesOf(func, target).lowering;

/**
 * Returns the cycles and the timeline of a program, by simulating every statement. The cycles equal those of
 * {@link cyclesOf}. The timeline is cut at 20,000 events, 2,000 tiles in the unified buffer (UB) and 4,000
 * output tiles.
 */
export function walkOf(func: TileFunc, target: Target): Walked {
  const tasks = countTasks(func.body);
  const program = clocked(func, target, tasks, programLowering(func, target));
  return walk(program, tasks, transferredByWalk(program));
}

const transferredIn = (program: Clocked, plan: ClockPlan | undefined): TransferBytes =>
  plan === undefined ? transferredByWalk(program) : transferredBy(program, plan);

/**
 * Returns the use of the unified buffer (UB) of core 0 as steps in order of time. A step has the bytes in use
 * from a cycle on. Only the first 256 steps are returned; later ones are dropped.
 */
export function occupancyOf(func: TileFunc, target: Target): readonly Occupancy[] {
  const { plan, tasks } = planned(func);
  const program = clocked(func, target, tasks, programLowering(func, target));
  return occupancyOn(program, tasks, transferredIn(program, plan));
}
