/**
 * Cycles of a table of work: pure functions of it and of a target's figures, each with what decides.
 *
 * A run of DMA instructions takes the larger of issue and bytes; a wait behind loads adds their latency.
 * Global memory takes the distinct bytes of what fits L2, every read of what does not, and what is written
 * less what is still dirty in L2 at the end.
 */
import type { BoardFigures } from "../board-figures.js";
import { greatestCommonDivisor } from "../linear.js";
import type { Target } from "../target.js";
import { Recurrence, repeatRuns } from "./max-plus.js";
import {
  latencyOf,
  scalarCycles,
  threadCycles,
  transferPrice,
  vectorCycles,
  waitCycles,
  type Price,
  type PriceLimit,
} from "./terms.js";
import {
  workPipes,
  type KernelWork,
  type MemoryWork,
  type OperandReads,
  type PipeWork,
  type Work,
  type WorkPipe,
} from "./work.js";

const largest = (prices: readonly Price[]): Price =>
  prices.reduce((max, other) => (other.cycles > max.cycles ? other : max));

/**
 * Returns the cycles, rounded up, of a statement's work on one of `cores` busy cores. `hits`: fraction of the
 * loaded bytes that L2 supplies, 0 to 1.
 */
export const cyclesOfWork = (
  work: Work,
  pipe: WorkPipe,
  target: Target,
  cores: number,
  hits: number,
): number =>
  Math.ceil(
    transferPrice(work, pipe, target, cores, hits).cycles +
      vectorCycles(work, target) +
      scalarCycles(work, target) +
      threadCycles(work, target) +
      waitCycles(work, target),
  );

/** Returns the same by what decides, as fractions. `hits`: the part of loads that is found in L2. */
const pricesOfWork = (
  { pipe, work }: PipeWork,
  target: Target,
  cores: number,
  hits: number,
): readonly Price[] => [
  transferPrice(work, pipe, target, cores, hits),
  { cycles: vectorCycles(work, target), limit: "vector" },
  { cycles: scalarCycles(work, target), limit: "scalar" },
  { cycles: threadCycles(work, target), limit: "simt" },
  { cycles: waitCycles(work, target), limit: "latency" },
];

/**
 * Bytes that all cores together transfer: reads from global memory (`read`), reads from L2 (`hit`), and
 * writes to global memory.
 */
export interface MemoryTraffic {
  readonly read: number;
  readonly hit: number;
  /** Bytes written that reach memory before the kernel ends. */
  readonly writtenBack: number;
}

/** Returns the bytes of an operand's reads that are found in L2: all but the first ones where it fits. */
const bytesHit = ({ bytes, times }: OperandReads, { l2Bytes }: BoardFigures): number =>
  bytes <= l2Bytes ? bytes * Math.max(0, times - 1) : 0;

/** Returns the fraction, 0 to 1, of an operand's read bytes that L2 supplies. */
export const hitsOfReads = (reads: OperandReads, figures: BoardFigures): number =>
  bytesHit(reads, figures) / Math.max(1, reads.bytes * reads.times);

/**
 * Returns the bytes that all cores together read from global memory, read from L2, and write to global
 * memory. Written bytes that remain in L2 are not counted.
 */
export function memoryTraffic(work: MemoryWork, figures: BoardFigures): MemoryTraffic {
  const { operands, written, readsBypassL2, unaligned } = work;
  const reads = operands.reduce((sum, { bytes, times }) => sum + bytes * times, 0);
  const hit = readsBypassL2 ? 0 : operands.reduce((sum, one) => sum + bytesHit(one, figures), 0);
  const l2Bytes = readsBypassL2
    ? figures.l2Bytes
    : (figures.l2Bytes * written) / Math.max(1, written + reads - hit);
  const beyond =
    unaligned === undefined
      ? 0
      : ((reads - hit) * beyondBurst(unaligned.bytesPerBurst, unaligned.pitchBytes, figures)) /
        unaligned.bytesPerBurst;
  // Where a line is no more than a sector, neighbours find it in L2.
  const wide = figures.unalignedLineBytes > figures.sectorBytes;
  return {
    read: reads - hit + (wide ? beyond : 0),
    hit: hit + (wide ? 0 : beyond),
    writtenBack: written - Math.min(written, l2Bytes),
  };
}

/**
 * Returns the mean number of extra bytes that memory transfers for a burst, because memory transfers whole
 * lines or sectors. `bytes`: size of the burst. `pitchBytes`: distance between the starts of bursts.
 */
export function beyondBurst(
  bytes: number,
  pitchBytes: number,
  { sectorBytes, unalignedLineBytes }: BoardFigures,
): number {
  const step = greatestCommonDivisor(Math.round(pitchBytes), sectorBytes);
  // A burst that stays within its step lies in one sector, or in whole ones.
  if (step === sectorBytes || bytes <= step) return Math.ceil(bytes / sectorBytes) * sectorBytes - bytes;
  return unalignedLineBytes - greatestCommonDivisor(Math.round(pitchBytes), unalignedLineBytes);
}

/**
 * Fraction of writes in the bytes that reach memory, from which on all these bytes move at the mixed rate.
 */
const mixedFrom = 0.05;

/**
 * Returns the cycles that the traffic of all cores takes in global memory and L2. The limit in the result is
 * `L2` or `memory`, whichever takes more cycles.
 */
export function memoryPrice(traffic: MemoryTraffic, figures: BoardFigures): Price {
  const { read, hit, writtenBack } = traffic;
  const reached = read + writtenBack;
  // In proportion up to there: more bytes never take less time.
  const mixed = Math.min(reached, writtenBack / mixedFrom);
  const memory = (reached - mixed) / figures.gmReadBytesPerCycle + mixed / figures.gmMixedBytesPerCycle;
  const l2 = hit / figures.l2BytesPerCycle;
  return { cycles: memory + l2, limit: l2 > memory ? "L2" : "memory" };
}

/** Returns the time, in microseconds, to launch a kernel with `blocks` blocks. */
export const launchMicroseconds = (blocks: number, figures: BoardFigures): number =>
  figures.launchMicroseconds + blocks * figures.blockMicroseconds;

/** Cost of a kernel: cycles, the limit that determines the cycles, and the launch time in microseconds. */
export interface KernelPrice extends Price {
  readonly launchMicroseconds: number;
}

/** Returns the cost of a kernel: cycles, the limit that determines the cycles, and the launch time. */
export function kernelPrice(kernel: KernelWork, target: Target): KernelPrice {
  const traffic =
    kernel.memory === undefined ? { read: 0, hit: 0, writtenBack: 0 } : memoryTraffic(kernel.memory, target);
  const hits = traffic.hit === 0 ? 0 : traffic.hit / (traffic.hit + traffic.read);
  const transfers = largest([corePrice(kernel, hits, target), memoryPrice(traffic, target)]);
  const cold = kernel.cold ? target.coldCycles : 0;
  const { limit } = largest([transfers, { cycles: cold, limit: "launch" }]);
  return {
    cycles: transfers.cycles + cold,
    limit,
    launchMicroseconds: kernel.blocks === undefined ? 0 : launchMicroseconds(kernel.blocks, target),
  };
}

/** Repeats that are followed one by one. */
const followed = 4;

/** All pipes meet here at a wait. */
const meeting = workPipes.length;

/**
 * Returns the cycles of one core's work, without global memory limits, and the limit that determines the
 * cycles. `hits`: fraction of the loaded bytes that L2 supplies, 0 to 1.
 */
function corePrice({ cores, repeat, stretches }: KernelWork, hits: number, target: Target): Price {
  const timed = stretches.map(({ runs, waits }) => ({
    waits,
    pipes: workPipes.map((pipe) => {
      const prices = runs.flatMap((run) =>
        run.pipe === pipe ? pricesOfWork(run, target, cores, hits).filter(({ cycles }) => cycles > 0) : [],
      );
      const cycles = prices.reduce((sum, price) => sum + price.cycles, 0);
      const latency = waits && cycles > 0 ? latencyOf(pipe, target) : 0;
      return { cycles, latency, pieces: [...prices, { cycles: latency, limit: "latency" } as const] };
    }),
  }));
  const recurrence = new Recurrence(1);
  const ready = new Array<number>(meeting + 1).fill(0);
  repeatRuns(ready, repeat, followed, 1, () => {
    for (const { waits, pipes } of timed) {
      for (const [row, { cycles, latency }] of pipes.entries()) {
        recurrence.delay(ready, row, cycles);
        if (waits) recurrence.wait(ready, meeting, row, latency);
      }
      if (waits) for (let row = 0; row < meeting; row++) recurrence.wait(ready, row, meeting, 0);
    }
  });
  return { cycles: Math.max(...ready), limit: limitOf(timed.map(({ pipes }) => pipes)) };
}

interface PipeTime {
  readonly cycles: number;
  readonly latency: number;
  readonly pieces: readonly Price[];
}

/**
 * Returns the limit that accounts for the most cycles; `issue` if there is no work. Only the slowest hardware
 * pipe of each stretch (part of a kernel) counts.
 */
function limitOf(stretches: readonly (readonly PipeTime[])[]): PriceLimit {
  const sums = new Map<PriceLimit, number>();
  for (const pipes of stretches) {
    const slowest = pipes.reduce((max, other) =>
      other.cycles + other.latency > max.cycles + max.latency ? other : max,
    );
    for (const { limit, cycles } of slowest.pieces) sums.set(limit, (sums.get(limit) ?? 0) + cycles);
  }
  return [...sums].reduce<readonly [PriceLimit, number]>(
    (max, other) => (other[1] > max[1] ? other : max),
    ["issue", 0],
  )[0];
}
