/**
 * One clock: how long a tile program takes on its target, in whole cycles.
 *
 * Each pipe runs its own statements in order; a sync makes one wait until so many cycles after another. Tasks
 * are dealt to the cores in blocks. Busy cores share global memory evenly, and no core is done before its
 * share has moved all its bytes, loads and stores together. docs/cost-model.md has the formulae; every figure
 * is the target's.
 */
import { counted } from "../counted.js";
import { defined } from "../defined.js";
import type { TileFunc } from "../func.js";
import { hasWideIndices } from "../regions.js";
import { targetFacts, type Target } from "../target.js";
import { blockPartition } from "../task/index.js";
import { type MovingStmt, pipes, type Pipe, type SyncStmt } from "../tile.js";
import { at } from "../types.js";
import { readyCycles } from "../tiling/gather-work.js";
import { cyclesOfWork } from "./price.js";
import type { GatherLowering } from "../tiling/lowering.js";
import { latencyOf } from "./terms.js";
import { programSlabSharing, slabFactorOf } from "./shared-slab.js";
import { programIdleFactor } from "./workgroup-memory.js";
import { hitsOf, memoryCycles, workloadOf, type TransferBytes, type StatementWork } from "./statement.js";

/**
 * Version of the cycle model. Increase the version when the cycles of some program change although the
 * hardware parameters did not change.
 */
export const clockVersion = 5;

/** Result of the cycle model for a tile program: total cycles, and busy cycles of the hardware units. */
export interface ClockResult {
  /** Cycles until the last core is done. */
  readonly cycles: number;
  /** Cycles each pipe is busy on the core that finishes last. */
  readonly busy: Readonly<Record<Pipe, number>>;
  /** Cycles that global memory is busy, in the share of the core that finishes last. */
  readonly memory: number;
  /** The pipe that is busy longest, or `gm`: global memory, which all cores share. */
  readonly bottleneck: Pipe | "gm";
  readonly why: string;
  readonly tasks: number;
  readonly tasksPerCore: { readonly fewest: number; readonly most: number };
  /** Cores that run tasks. */
  readonly cores: number;
  /** Cores that have nothing to do while the others run their last task. */
  readonly idleCores: number;
  /** Absent for a program without a gather. */
  readonly lowering?: GatherLowering;
}

/**
 * Tile program prepared for the cycle model, with target, number of busy cores, gather lowering and cost
 * functions.
 */
export interface Clocked {
  readonly func: TileFunc;
  readonly target: Target;
  /** Cores that run tasks. */
  readonly cores: number;
  readonly lowering: GatherLowering | undefined;
  readonly workOf: (stmt: MovingStmt, sizes: readonly number[]) => StatementWork;
  /**
   * Returns a function that gives the cycles of a statement's work on a core's pipe. `transferred`: bytes
   * that all cores together transfer in global memory, by operand.
   */
  readonly pricing: (transferred: TransferBytes) => (entry: StatementWork) => number;
  /**
   * Returns the cycles from the end of the statements for which a sync waits until the waiting pipe
   * continues.
   */
  readonly waitOf: (sync: SyncStmt) => number;
  /** Cycle from which each pipe of a core can start its first statement. */
  readonly start: Readonly<Record<Pipe, number>>;
  /**
   * Factor by which global memory transfers slow down; on targets with a DMA engine, only reads of the data
   * slow down.
   */
  readonly memoryFactor: number;
}

/** Returns the number of cores that execute at least one of `tasks` tasks; at least 1. */
export const busyCores = (func: TileFunc, target: Target, tasks: number): number =>
  Math.max(1, Math.min(func.schedule.cores ?? target.cores, tasks));

/**
 * Returns a program prepared for the cycle model. `tasks`: number of tasks. `lowering`: choice of
 * instructions for the gather; undefined for a program without a gather.
 */
export function clocked(
  func: TileFunc,
  target: Target,
  tasks: number,
  lowering: GatherLowering | undefined,
): Clocked {
  const workOf = workloadOf(func, target, lowering);
  const cores = busyCores(func, target, tasks);
  const wait = Math.ceil(target.syncCycles);
  // A gather on S waits for V before its first instruction.
  const ready = lowering === undefined ? { scalar: 0, vector: 0 } : readyCycles(lowering.once, target);
  return {
    func,
    target,
    cores,
    lowering,
    workOf,
    pricing(transferred) {
      const hits = hitsOf(transferred, func.operands, target);
      return ({ work, pipe, operand }) => cyclesOfWork(work, pipe, target, cores, at(hits, operand));
    },
    waitOf: ({ from }) => wait + Math.ceil(latencyOf(from, target)),
    start: {
      MTE2: 0,
      V: ready.vector,
      MTE3: 0,
      S: hasWideIndices(func) ? ready.vector : ready.scalar,
    },
    memoryFactor: targetFacts[target.kind].dmaEngine
      ? slabFactorOf(programSlabSharing(func, cores), func.schedule, target)
      : programIdleFactor(func, target),
  };
}

/**
 * State of a core after all tasks: the end cycle, the busy cycles of the hardware pipes, and the bytes
 * transferred.
 */
export interface CoreTime {
  /** Cycle at which the core's last pipe is done. */
  readonly end: number;
  readonly busy: Readonly<Record<Pipe, number>>;
  /** Bytes that passed through global memory. */
  readonly transferred: TransferBytes;
}

const memoryOf = ({ func, target, cores, memoryFactor }: Clocked, core: CoreTime): number =>
  memoryCycles(core.transferred, func.operands, target, cores, memoryFactor);

/**
 * Returns the cycles until a core's last hardware pipe and global memory transfers have ended. If the
 * target's pipes do not overlap, the result is at least the sum of all busy cycles.
 */
export function cyclesOfCore(program: Clocked, core: CoreTime): number {
  const busy = program.target.overlaps ? 0 : pipes.reduce((sum, pipe) => sum + core.busy[pipe], 0);
  return Math.max(core.end, busy, memoryOf(program, core));
}

/**
 * Returns the result of the cycle model for a program. `tasks`: number of tasks. `last`: state of the core
 * that finishes last.
 */
export function resultOf(program: Clocked, tasks: number, last: CoreTime): ClockResult {
  const { func, target, cores, lowering } = program;
  const { busy } = last;
  const cycles = cyclesOfCore(program, last) + Math.ceil(tasks * target.taskCycles);
  const memory = memoryOf(program, last);
  const pipe = pipes.reduce((max, other) => (busy[other] > busy[max] ? other : max));
  const bottleneck = memory > busy[pipe] ? "gm" : pipe;
  const [first, final] = [blockPartition(tasks, cores, 0), blockPartition(tasks, cores, cores - 1)];
  const all = func.schedule.cores ?? target.cores;
  return {
    cycles,
    busy,
    memory,
    bottleneck,
    why: why(program, bottleneck, bottleneck === "gm" ? memory : busy[pipe], cycles),
    tasks,
    tasksPerCore: { fewest: final.to - final.from, most: first.to - first.from },
    cores,
    idleCores: (all - (tasks % all)) % all,
    ...defined({ lowering }),
  };
}

/**
 * Returns a sentence about a program's bottleneck `what`: the percentage of time in which the bottleneck is
 * busy, and the kind of work. `busy`: cycles in which the bottleneck is busy. `cycles`: cycles of the
 * program.
 */
function why({ target, cores, lowering }: Clocked, what: Pipe | "gm", busy: number, cycles: number): string {
  const share = cycles === 0 ? 0 : Math.round((100 * busy) / cycles);
  const reasons: Readonly<Record<Pipe | "gm", string>> = {
    gm: `${counted(cores, "core")} ${cores === 1 ? "moves" : "share"} ${target.gmReadBytesPerCycle} B per cycle`,
    MTE2: "loading from global memory",
    V: lowering === undefined ? "gathers" : gathers[lowering.class],
    MTE3: "storing to global memory",
    // Without a gather, the program is a scatter.
    S:
      lowering === undefined
        ? "points one by one on the scalar unit"
        : lowering.class === "flat"
          ? gathers.flat
          : "64-bit indices, element by element",
  };
  return `${what === "gm" ? "global memory" : what} is busy ${share} % of the time: ${reasons[what]}`;
}

const gathers: Readonly<Record<GatherLowering["class"], string>> = {
  flat: "vector gathers",
  "row-copy": "copies of rows",
  mgather: "fetches of rows",
  "row-fetch": "fetches of rows",
  scalar: "elements one by one on the scalar unit",
  direct: "gathers",
};
