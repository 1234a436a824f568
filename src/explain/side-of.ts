/**
 * A schedule with the figures by which schedules of one gather differ: what `explain --compare` puts side by
 * side.
 */
import {
  defined,
  cyclesOf,
  keyOf,
  programLowerBound,
  rooflineOf,
  type ClockResult,
  type GatherLowering,
  type ResolvedSchedule,
  type Shape,
  type Roofline,
} from "../../ir/index.js";
import { indexInputs } from "../../backends/index.js";
import { countedReport } from "../../backends/sim/index.js";
import { decided } from "../../passes/index.js";
import { randomValue } from "../testing/random.js";
import type { Kernel } from "../api/compile.js";
import { programAtMaxSizes, tilingOf } from "../api/program-at-max-sizes.js";

/**
 * Estimated cost of one schedule in a comparison: cycles, tasks, global memory traffic, unified buffer (UB)
 * bytes, and busy fractions of pipes and global memory. Dynamic sizes have the maximum values.
 */
export interface Side extends Roofline {
  readonly schedule: ResolvedSchedule;
  readonly tile: Shape;
  readonly tasks: number;
  /**
   * Contiguous ranges of global memory that are moved, and their bytes. If rows are fetched, random indices
   * are assumed.
   */
  readonly bursts: number;
  readonly bytes: number;
  /**
   * Share of the cycles, 0 to 1, in which each pipe of the last core is busy, and the share of global memory.
   */
  readonly shares: Readonly<Record<ClockResult["bottleneck"], number>>;
  /** Cycles in which the busiest of them waits. */
  readonly waits: number;
  readonly idleCores: number;
  /** Bytes of the unified buffer, second buffers and padding included. */
  readonly ubBytes: number;
  /** Absent for a program without a gather. */
  readonly lowering?: GatherLowering["class"];
  readonly cycles: number;
}

/**
 * Returns the estimated cost of a kernel for a comparison of schedules. The kernel must come from a source or
 * access program.
 */
export function sideOf(kernel: Kernel): Side {
  const { target } = kernel;
  const tiling = tilingOf(kernel);
  const { schedule, traffic, footprint } = decided(tiling);
  const func = programAtMaxSizes(kernel);
  const clock = cyclesOf(func, target);
  const { cycles, busy, memory, tasks, idleCores, lowering } = clock;
  const drawn = indexInputs(func).map((operand) => [keyOf(operand), randomValue(operand, func, 1)] as const);
  const { operands } = countedReport({ tile: func, target }, Object.fromEntries(drawn));
  const share = (component: number): number => (cycles === 0 ? 0 : component / cycles);
  const shares = {
    MTE2: share(busy.MTE2),
    V: share(busy.V),
    MTE3: share(busy.MTE3),
    S: share(busy.S),
    gm: share(memory),
  };
  return {
    schedule,
    tile: tiling.tile,
    tasks,
    bursts: Object.values(operands).reduce((sum, { bursts }) => sum + bursts, 0),
    bytes: traffic.bytes,
    shares,
    waits: cycles - Math.max(memory, ...Object.values(busy)),
    idleCores,
    ubBytes: footprint.planned,
    ...defined({ lowering: lowering?.class }),
    cycles,
    ...rooflineOf(tiling, clock, programLowerBound(tiling)),
  };
}
