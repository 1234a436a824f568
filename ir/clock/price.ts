/**
 * Cycles of a table of work: pure functions of it and of a target's figures, each with what decides.
 *
 * A run of DMA instructions takes the larger of issue and bytes; a wait behind loads adds their latency. Global memory takes the
 * distinct bytes of what fits L2, every read of what does not, and what is written less what is still dirty in L2 at the end.
 */
import type { BoardFigures } from "../board-figures.js";
import { MaxPlus, type Matrix } from "./max-plus.js";
import {
  workPipes,
  type KernelWork,
  type MemoryWork,
  type Stretch,
  type TransferRun,
  type WorkPipe,
  type WorkRun,
} from "./work.js";

/** What decides how long something takes. */
export const priceLimits = [
  "issue",
  "bytes",
  "core rate",
  "memory",
  "L2",
  "latency",
  "vector",
  "scalar",
  "simt",
  "launch",
] as const;
/** What decides how long something takes. */
export type PriceLimit = (typeof priceLimits)[number];

/** Cycles, and what decides. */
export interface Price {
  readonly cycles: number;
  readonly limit: PriceLimit;
}

const largest = (prices: readonly Price[]): Price =>
  prices.reduce((most, other) => (other.cycles > most.cycles ? other : most));

/** Bytes a cycle of one core's loads, of which the part `hits` is found in L2. */
export const loadRate = (hits: number, figures: BoardFigures): number =>
  1 / ((1 - hits) / figures.loadBytesPerCycle + hits / figures.l2LoadBytesPerCycle);

/** DMA instructions, with the bursts and the bytes of all of them. */
export interface TransferTotals {
  readonly pipe: "MTE2" | "MTE3";
  readonly instructions: number;
  readonly bursts: number;
  readonly bytes: number;
}

const totalsOf = ({ pipe, instructions, bursts, bytesPerBurst }: TransferRun): TransferTotals => ({
  pipe,
  instructions,
  bursts: instructions * bursts,
  bytes: instructions * bursts * bytesPerBurst,
});

/** A run of DMA instructions nobody waits for: the larger of issue, bursts and bytes. `hits`: the part of loads found in L2. */
export function transferPrice(
  { pipe, instructions, bursts, bytes }: TransferTotals,
  hits: number,
  figures: BoardFigures,
): Price {
  const load = pipe === "MTE2";
  return largest([
    {
      cycles: load ? bytes / loadRate(hits, figures) : bytes / figures.storeBytesPerCycle,
      limit: load ? "core rate" : "bytes",
    },
    {
      cycles: instructions * (load ? figures.loadIssueCycles : figures.storeIssueCycles),
      limit: "issue",
    },
    { cycles: bursts > instructions ? bursts * figures.burstCycles : 0, limit: "bytes" },
  ]);
}

/** A run on its pipe. `hits`: the part of loads that is found in L2. */
export function runPrice(run: WorkRun, hits: number, figures: BoardFigures): Price {
  switch (run.kind) {
    case "transfer":
      return transferPrice(totalsOf(run), hits, figures);
    case "vector": {
      const repeat = figures.stepRepeatCycles * (run.bankConflict ? figures.bankConflictFactor : 1);
      return {
        cycles: run.instructions * (figures.stepCycles + run.repeats * repeat),
        limit: "vector",
      };
    }
    case "scalar":
      return { cycles: run.accesses * figures.scalarCycles, limit: "scalar" };
    case "simt": {
      const { simtWarpCycles, simtLineCycles } = figures;
      const warp = run.linesPerWarpAccess.reduce(
        (sum, lines) => sum + Math.max(simtWarpCycles, simtLineCycles * lines),
        0,
      );
      return { cycles: (run.elements / 32) * warp, limit: "simt" };
    }
    case "call":
      return { cycles: run.calls * figures.callCycles, limit: "simt" };
  }
}

/** Cycles from the end of a pipe's last instruction until who waits for it goes on. */
export const latencyOf = (pipe: WorkPipe, figures: BoardFigures): number =>
  pipe === "MTE2" ? figures.loadLatencyCycles : pipe === "MTE3" ? figures.storeLatencyCycles : 0;

/** Bytes that all cores move, by where they are found. */
export interface MemoryTraffic {
  readonly read: number;
  readonly hit: number;
  /** Of what is written: the part that reaches memory before the kernel ends. */
  readonly writtenBack: number;
}

/** Distinct bytes once where an operand fits L2, otherwise every read; writes less what is still dirty in L2 at the end. */
export function memoryTraffic(work: MemoryWork, figures: BoardFigures): MemoryTraffic {
  const { operands, written, readsBypassL2, unaligned } = work;
  const reads = operands.reduce((sum, { bytes, times }) => sum + bytes * times, 0);
  const hit = readsBypassL2
    ? 0
    : operands.reduce(
        (sum, { bytes, times }) => sum + (bytes <= figures.l2Bytes ? bytes * Math.max(0, times - 1) : 0),
        0,
      );
  const room = readsBypassL2
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
    writtenBack: written - Math.min(written, room),
  };
}

/**
 * Bytes of the lines that a burst touches beyond its own, in the mean over the starts that the pitch of its rows gives. Aligned starts
 * count whole sectors.
 */
export function beyondBurst(
  bytes: number,
  pitchBytes: number,
  { sectorBytes, unalignedLineBytes }: BoardFigures,
): number {
  const step = commonDivisor(Math.round(pitchBytes), sectorBytes);
  // A burst that stays within its step lies in one sector, or in whole ones.
  if (step === sectorBytes || bytes <= step) return Math.ceil(bytes / sectorBytes) * sectorBytes - bytes;
  return unalignedLineBytes - commonDivisor(Math.round(pitchBytes), unalignedLineBytes);
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** Of what reaches memory, the part of writes from which all of it moves at the mixed rate. */
const mixedFrom = 0.05;

/** Cycles that global memory and L2 take for all cores together. */
export function memoryPrice(traffic: MemoryTraffic, figures: BoardFigures): Price {
  const { read, hit, writtenBack } = traffic;
  const reached = read + writtenBack;
  // In proportion up to there: more bytes never take less time.
  const mixed = Math.min(reached, writtenBack / mixedFrom);
  const memory = (reached - mixed) / figures.gmReadBytesPerCycle + mixed / figures.gmMixedBytesPerCycle;
  const l2 = hit / figures.l2BytesPerCycle;
  return { cycles: memory + l2, limit: l2 > memory ? "L2" : "memory" };
}

/** Microseconds of a launch of so many blocks. */
export const launchMicroseconds = (blocks: number, figures: BoardFigures): number =>
  figures.launchMicroseconds + blocks * figures.blockMicroseconds;

/** A kernel's time, and what decides it. The launch is a line of its own. */
export interface KernelPrice extends Price {
  readonly launchMicroseconds: number;
}

/** The larger of what one core does alone and what global memory takes, after a cold start. */
export function kernelPrice(kernel: KernelWork, figures: BoardFigures): KernelPrice {
  const traffic =
    kernel.memory === undefined ? { read: 0, hit: 0, writtenBack: 0 } : memoryTraffic(kernel.memory, figures);
  const hits = traffic.hit === 0 ? 0 : traffic.hit / (traffic.hit + traffic.read);
  const moved = largest([corePrice(kernel, hits, figures), memoryPrice(traffic, figures)]);
  const cold = kernel.cold ? figures.coldCycles : 0;
  const { limit } = largest([moved, { cycles: cold, limit: "launch" }]);
  return {
    cycles: moved.cycles + cold,
    limit,
    launchMicroseconds: kernel.blocks === undefined ? 0 : launchMicroseconds(kernel.blocks, figures),
  };
}

/** Repeats that are followed one by one: after them each takes as long as the last. */
const followed = 4;

/** All pipes meet here at a wait. */
const meeting = workPipes.length;

/** One core with global memory to itself: its pipes run side by side, and meet where a stretch ends in a wait. */
function corePrice({ repeat, stretches }: KernelWork, hits: number, figures: BoardFigures): Price {
  const algebra = new MaxPlus(workPipes.length + 1);
  const parts = new Map<PriceLimit, number>();
  const body = algebra.identity();
  for (const stretch of stretches) {
    for (const { limit, cycles } of follow(stretch, hits, figures, algebra, body))
      parts.set(limit, (parts.get(limit) ?? 0) + cycles);
  }
  const [limit] = [...parts].reduce((most, other) => (other[1] > most[1] ? other : most), ["issue", 0]);
  return { cycles: repeated(algebra, body, repeat), limit };
}

/** Adds a stretch to a body, and returns what decides its slowest pipe. */
function follow(
  { runs, waits }: Stretch,
  hits: number,
  figures: BoardFigures,
  algebra: MaxPlus,
  body: Matrix,
): readonly Price[] {
  const pipes = workPipes.map((pipe, row) => {
    const prices = runs.flatMap((run) => (run.pipe === pipe ? [runPrice(run, hits, figures)] : []));
    const cycles = prices.reduce((sum, price) => sum + price.cycles, 0);
    const latency = waits && prices.length > 0 ? latencyOf(pipe, figures) : 0;
    algebra.delay(body, row, cycles);
    if (waits) algebra.wait(body, meeting, row, latency);
    return { all: cycles + latency, parts: [...prices, { cycles: latency, limit: "latency" } as const] };
  });
  if (waits) for (let row = 0; row < workPipes.length; row++) algebra.wait(body, row, meeting, 0);
  return pipes.reduce((most, other) => (other.all > most.all ? other : most)).parts;
}

/** The end of a body that runs so many times, a part of a time in proportion. */
function repeated(algebra: MaxPlus, body: Matrix, times: number): number {
  let ready = new Array<number>(algebra.size).fill(0);
  let [before, end] = [0, 0];
  const steps = Math.min(followed, Math.ceil(times));
  for (let k = 0; k < steps; k++) {
    ready = algebra.apply(body, ready);
    [before, end] = [end, Math.max(...ready)];
  }
  return end + (times - steps) * (end - before);
}
