/**
 * The clock's number, roughly and at a small cost: from the work of one whole tile and the trips of the
 * loops. It cuts a search down to the few schedules that are worth their exact cycles; nothing reports it.
 */
import { gatheredTable } from "../access.js";
import type { TimedLowering } from "../tiling/gather-lowering.js";
import { copiesOf, type Tiling } from "../tiling/index.js";
import { meanTrips } from "../tiling/loops.js";
import { at } from "../types.js";
import { oneByOne, pipelined, type MoveTime, type TaskMoves, type Took } from "./pipeline.js";
import { cyclesOfWork } from "./price.js";
import { scatterEstimate } from "./scatter-estimate.js";
import { slabFactorOf, slabSharing } from "./shared-slab.js";
import { hitsOf, memoryCycles, type StatementWork } from "./statement.js";
import { transferPrice } from "./terms.js";
import { workOfTile } from "./work-of-tile.js";
import { idleFactor } from "./workgroup-memory.js";
import { targetFacts } from "../target.js";
import type { Work } from "./work.js";

/**
 * Returns a function that estimates the cycles of schedules. All schedules passed to the function must have
 * the same tile and residency (memory that holds the data).
 */
export function estimatesOfTile(): (variant: Tiling) => number {
  const cached = new Map<string, (variant: Tiling) => number>();
  return (variant) => {
    if (variant.scatter !== undefined) return scatterEstimate(variant, variant.scatter);
    const { class: className, cycles, setup } = variant.lowering;
    // Strips of other lengths are other work.
    const kind = `${className} ${cycles} ${setup}`;
    const estimate = cached.get(kind) ?? estimator(variant);
    cached.set(kind, estimate);
    return estimate(variant);
  };
}

/**
 * Returns a function that estimates the cycles of schedules with the tile, residency and lowering of
 * `tiling`. Views, loop order and buffers may differ.
 */
function estimator(tiling: Tiling): (variant: Tiling) => number {
  const { lowering } = tiling;
  const { transfers, gather } = workOfTile(tiling);
  // A way that takes longer for one tile than another one does with all that it sets up is slower wherever a
  // core has a whole tile. A row of data that is found in L2 takes less than the way's own cycles say.
  const inUb = at(tiling.operands, gatheredTable).inUb;
  const worthwhile = tiling.lowerings.eligible.filter(
    (candidate) => !inUb || candidate.cycles <= lowering.cycles + lowering.setup,
  );
  const gathers = worthwhile.map((candidate) => ({ candidate, work: gather(candidate) }));
  return (variant) =>
    Math.min(...gathers.map(({ candidate, work }) => estimated(variant, transfers, candidate, work)));
}

/**
 * Returns the estimated cycles of a schedule with one gather lowering (choice of instructions). `transfers`,
 * `gather`: work of the loads, stores and gather for one full tile.
 */
function estimated(
  variant: Tiling,
  transfers: readonly StatementWork[],
  lowering: TimedLowering,
  gather: StatementWork,
): number {
  const { operands, target, schedule } = variant;
  const trips = tripsOf(variant);
  const { tasks, parallel, serial, tiles } = trips;
  const cores = Math.max(1, Math.min(schedule.cores, tasks));
  const max = Math.ceil(tasks / cores);
  const [full, rest] = tileShares(trips, max);
  /** Runs in a task of a statement that stays in the loops up to the last one of these dims. */
  const runsOf = (dependsOn: ReadonlySet<number>): number => {
    let [runs, product] = [1, 1];
    for (const { dim, mean } of serial) {
      product *= mean;
      if (dependsOn.has(dim)) runs = product;
    }
    return runs;
  };
  const took = (cyclesIn: (piece: TileShare) => number): Took => ({
    full: cyclesIn(full),
    rest: rest === undefined ? 0 : cyclesIn(rest),
  });
  const runsOfTransfer = ({ pipe, operand }: StatementWork): number =>
    pipe === "MTE3" ? tiles : runsOf(at(operands, operand).dependsOn);
  /** Bytes by operand of a whole task. */
  const transferred = operands.map(() => 0);
  transferred[gather.operand] = gather.work.touched * tiles;
  for (const transfer of transfers)
    transferred[transfer.operand] =
      at(transferred, transfer.operand) + transfer.work.touched * runsOfTransfer(transfer);
  const types = operands.map(({ operand }) => operand);
  const fullTasks = parallel.reduce((product, { mean }) => product * mean, 1);
  const hits = hitsOf(
    transferred.map((bytes) => bytes * fullTasks),
    types,
    target,
  );
  /**
   * Returns the cycles of a transfer, for a full tile and for the rest. The transfer of a partial tile has
   * the full startup, and no work other than DMA instructions.
   */
  const cyclesOfTransfer = ({ work, pipe, operand }: StatementWork): Took =>
    took(({ elements, rows }) => {
      const entry = elements === 1 ? work : runsIn(work, elements, rows);
      return Math.ceil(transferPrice(entry, pipe, target, cores, at(hits, operand)).cycles);
    });
  const [head, loads]: [MoveTime[], MoveTime[]] = [[], []];
  let store: MoveTime | undefined;
  for (const transfer of transfers) {
    const operand = at(operands, transfer.operand);
    const runs = runsOfTransfer(transfer);
    const move: MoveTime = { ...cyclesOfTransfer(transfer), copies: copiesOf(variant, operand) };
    if (transfer.pipe === "MTE3") store = move;
    else if (runs < tiles) head.push({ ...move, full: runs * move.full });
    else loads.push(move);
  }
  const looped = serial.length > 0;
  const fetches = gather.pipe === "MTE2";
  const task: TaskMoves = {
    head,
    loads,
    gather: took((piece) =>
      cyclesOfWork(
        scaledWork(gather.work, piece, lowering),
        gather.pipe,
        target,
        cores,
        at(hits, gather.operand),
      ),
    ),
    store,
    tiles,
    looped,
    fetches,
  };
  const alone = target.overlaps ? pipelined(task, max, lowering.setup, target) : max * oneByOne(task);
  const ofCore = transferred.map((bytes) => max * full.elements * bytes);
  const done = Math.max(alone, memoryCycles(ofCore, types, target, cores, memoryFactorOf(variant)));
  return done + tasks * target.taskCycles;
}

const memoryFactorOf = (tiling: Tiling): number => {
  const { target, schedule, footprint, tile } = tiling;
  return targetFacts[target.kind].dmaEngine
    ? slabFactorOf(slabSharing(tiling), schedule, target)
    : idleFactor(footprint.planned, tile, target);
};

/** Fractions of a whole tile's elements and rows that another tile has. */
interface TileShare {
  readonly elements: number;
  readonly rows: number;
}

/** Returns the DMA instructions for part of a tile: at least one if the full tile has any. */
const runsIn = (
  { instructions, bursts, padded, cleared }: Work,
  elements: number,
  rows: number,
): Pick<Work, "instructions" | "bursts" | "padded" | "cleared"> => ({
  instructions: Math.min(instructions, Math.max(1, instructions * rows)),
  bursts: Math.min(bursts, Math.max(1, bursts * rows)),
  padded: padded * elements,
  cleared: cleared * elements,
});

/**
 * Returns the work of a gather for a part of a tile, computed from the work for the full tile (`work`).
 * `elements`, `rows`: fractions (0 to 1) of the full tile's elements and rows that the part has.
 */
function scaledWork(work: Work, { elements, rows: alike }: TileShare, lowering: TimedLowering): Work {
  if (elements === 1) return work;
  const rows = lowering.class === "scalar" ? elements : alike;
  // A strip takes as long for a part of it.
  const chunks = lowering.flat === undefined ? undefined : lowering.flat.full.entries < lowering.flat.extent;
  const share = chunks === false ? 1 : rows;
  return {
    ...work,
    steps: work.steps * (chunks === true ? rows : 1),
    stepRepeats: work.stepRepeats * (chunks === true ? rows : 1),
    ...runsIn(work, elements, rows),
    gathered: work.gathered * (lowering.flat === undefined ? elements : share),
    gmScalars: work.gmScalars * elements,
    rowIndices: work.rowIndices * elements,
    lineAccesses: work.lineAccesses * elements,
    warpAccesses: work.warpAccesses * elements,
    warpLines: work.warpLines * elements,
    rows: work.rows * share,
    repeats: work.repeats * (lowering.flat === undefined ? elements : share),
    copies: work.copies * rows,
    copied: work.copied * elements,
    scalars: work.scalars * elements,
  };
}

/** Iterations of a loop, with a last one that may be a part. */
interface Trips {
  readonly dim: number;
  readonly mean: number;
}

interface AllTrips {
  /**
   * Number of tasks: the product of the parallel loops' trips, each rounded up. `parallel` lists these loops,
   * outermost first.
   */
  readonly tasks: number;
  readonly parallel: readonly Trips[];
  /**
   * Number of tiles in a task of the longest view: the product of the serial loops' trips. It is fractional
   * where the last tile is partial.
   */
  readonly tiles: number;
  readonly serial: readonly Trips[];
  /** The innermost dim, along which rows lie. */
  readonly row: number;
}

/**
 * Returns the mean trip counts of a tiling's loops, the number of tasks, and the mean number of tiles of a
 * task, which may be a fraction.
 */
function tripsOf(tiling: Tiling): AllTrips {
  const [parallel, serial]: [Trips[], Trips[]] = [[], []];
  let [tasks, tiles] = [1, 1];
  for (const loop of tiling.loops) {
    const { dim, mode } = loop;
    const mean = meanTrips(loop, tiling);
    if (mode === "parallel") {
      tasks *= Math.ceil(mean);
      parallel.push({ dim, mean });
    } else {
      tiles *= mean;
      serial.push({ dim, mean });
    }
  }
  return { tasks, parallel, tiles, serial, row: tiling.extents.length - 1 };
}

/**
 * Returns two tile sizes, each as fractions of the elements and rows of a full tile. The first is the mean
 * over the tiles of `max` consecutive tasks. The second is the partial last tile of a task; undefined if no
 * task has a partial tile.
 */
function tileShares(
  { parallel, tiles, serial, row }: AllTrips,
  max: number,
): [whole: TileShare, rest: TileShare | undefined] {
  let [elements, rows, runs] = [1, 1, max];
  for (const { dim, mean } of [...parallel].reverse()) {
    const trips = Math.ceil(mean);
    const periods = Math.floor(runs / trips);
    if (periods === 0) break;
    const share = 1 - (periods * (trips - mean)) / runs;
    elements *= share;
    if (dim !== row) rows *= share;
    runs = periods;
  }
  const left = tiles - Math.floor(tiles);
  if (left === 0) return [{ elements, rows }, undefined];
  const narrow = serial.some(({ dim, mean }) => dim === row && !Number.isInteger(mean));
  return [
    { elements, rows },
    { elements: elements * left, rows: narrow ? rows : rows * left },
  ];
}
