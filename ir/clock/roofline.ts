/** What the cycles of a schedule come to: how far they are from the least, how long and how fast that is, and what is busiest. */
import type { Traffic } from "../tiling/index.js";
import { targetFacts, type Target } from "../target.js";
import { clockVersion, type ClockResult } from "./clock.js";
import type { LowerBound } from "./lower-bound-limit.js";

/** The cycles of a schedule beside the least of its program. */
export interface Roofline {
  /** `ratio`: the schedule's cycles over these; 1 where there is nothing to do. */
  readonly floor: LowerBound & { readonly ratio: number };
  /** At the target's clock rate; absent where that is an assumption. */
  readonly microseconds?: number;
  /** Bytes between the cores and global memory over that time, in 1e9 B/s. Above what memory gives where L2 serves a part of them. */
  readonly gigabytesPerSecond?: number;
  /** The pipe that is busy longest, or `gm` for global memory, and its share of the cycles, 0 to 1. */
  readonly bottleneck: { readonly pipe: ClockResult["bottleneck"]; readonly share: number };
  /** Version of the clock. */
  readonly clock: number;
}

/** What a machine has of time and of bandwidth. */
export interface MachineRates {
  readonly clockMhz: number;
  /** Of global memory, in 1e9 B/s. */
  readonly gigabytesPerSecond: number;
}

/** Undefined where a cycle is no known time: the rate is an assumption, or runs are measured instead. */
export const ratesOf = ({
  kind,
  sources,
  clockMhz,
  gmReadBytesPerCycle,
}: Target): MachineRates | undefined =>
  targetFacts[kind].runsOnWebgpu || sources.clockMhz.kind === "assumption"
    ? undefined
    : { clockMhz, gigabytesPerSecond: (clockMhz * gmReadBytesPerCycle) / 1000 };

/** Of a schedule of the floor's program: what it moves, and the clock of what it becomes. */
export function rooflineOf(
  { traffic, target }: { readonly traffic: Pick<Traffic, "bytes">; readonly target: Target },
  clock: ClockResult,
  lowerBound: LowerBound,
): Roofline {
  const { cycles, bottleneck, busy, memory } = clock;
  const busiest = bottleneck === "gm" ? memory : busy[bottleneck];
  const microseconds = cycles / target.clockMhz;
  const timed = {
    microseconds,
    ...(cycles === 0 ? {} : { gigabytesPerSecond: traffic.bytes / (1000 * microseconds) }),
  };
  return {
    floor: { ...lowerBound, ratio: lowerBound.cycles === 0 ? 1 : cycles / lowerBound.cycles },
    ...(ratesOf(target) === undefined ? {} : timed),
    bottleneck: { pipe: bottleneck, share: cycles === 0 ? 0 : busiest / cycles },
    clock: clockVersion,
  };
}

/** Three digits at least. */
const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));

/** `273`, or `15 to 24` for a range. */
const span = (
  microseconds: number,
  { clockMhz }: MachineRates,
  range: { readonly low: number; readonly high: number } | undefined,
): string =>
  range === undefined
    ? figure(microseconds)
    : `${figure(range.low / clockMhz)} to ${figure(range.high / clockMhz)}`;

/** `2.8x` */
export const formatRatio = (ratio: number): string =>
  `${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en")}x`;

/** `lowerBound 178,707 (global memory)` */
export const formatLowerBound = ({ cycles, limit }: LowerBound): string =>
  `floor ${cycles.toLocaleString("en")} (${limit})`;

/**
 * `lowerBound 178,707 (global memory), 2.8x; 273 us at 1850 MHz; 565 of 1425 GB/s`. Where L2 serves so much that memory's rate is passed:
 * `1690 GB/s with L2`. `machine`: of the target, where it has them. `range`: in cycles, where they are known so far: `15 to 24 us`.
 */
export function formatRoofline(
  {
    floor,
    microseconds,
    gigabytesPerSecond,
  }: Pick<Roofline, "floor" | "microseconds" | "gigabytesPerSecond">,
  machine: MachineRates | undefined,
  range?: { readonly low: number; readonly high: number },
): string {
  const rate = (value: number): string => figure(value).replaceAll(",", "");
  return [
    `${formatLowerBound(floor)}, ${formatRatio(floor.ratio)}`,
    ...(microseconds === undefined || machine === undefined
      ? []
      : [`${span(microseconds, machine, range)} us at ${machine.clockMhz} MHz`]),
    ...(gigabytesPerSecond === undefined || machine === undefined
      ? []
      : [
          gigabytesPerSecond <= machine.gigabytesPerSecond
            ? `${rate(gigabytesPerSecond)} of ${rate(machine.gigabytesPerSecond)} GB/s`
            : `${rate(gigabytesPerSecond)} GB/s with L2`,
        ]),
  ].join("; ");
}
