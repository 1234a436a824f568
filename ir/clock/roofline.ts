/**
 * Roofline of a schedule: its distance from the lower bound, its time, its memory rate, and the busiest unit.
 */
import { withCommas } from "../counted.js";
import type { Traffic } from "../tiling/index.js";
import { targetFacts, type Target } from "../target.js";
import { clockVersion, type ClockResult } from "./clock.js";
import type { LowerBound } from "./lower-bound-limit.js";

/**
 * Roofline of a schedule: the ratio of cycles to the program's lower bound, with the time, memory rate and
 * bottleneck.
 */
export interface Roofline {
  /** Lower bound of the program. `ratio`: the schedule's cycles divided by the bound; 1 if the bound is 0. */
  readonly floor: LowerBound & { readonly ratio: number };
  /** Time at the target's clock rate. Absent if the clock rate is an assumption. */
  readonly microseconds?: number;
  /**
   * Traffic divided by the time, in 1e9 B/s. It may exceed the bandwidth of global memory if L2 supplies a
   * part of the bytes.
   */
  readonly gigabytesPerSecond?: number;
  /** The pipe that is busy longest, or `gm` for global memory, and its share of the cycles, 0 to 1. */
  readonly bottleneck: { readonly pipe: ClockResult["bottleneck"]; readonly share: number };
  /** Version of the clock. */
  readonly clock: number;
}

/** Clock rate (MHz), memory bandwidth and number of cores of a machine. */
export interface MachineRates {
  readonly clockMhz: number;
  /** Bandwidth of global memory in 1e9 B/s. */
  readonly gigabytesPerSecond: number;
  /** Number of cores that share the bandwidth. */
  readonly cores: number;
}

/**
 * Returns the clock rate and bandwidth of a target. Undefined if the duration of a cycle is unknown, as on
 * WebGPU.
 */
export const ratesOf = ({
  kind,
  sources,
  clockMhz,
  gmReadBytesPerCycle,
  cores,
}: Target): MachineRates | undefined =>
  targetFacts[kind].runsOnWebgpu || sources.clockMhz.kind === "assumption"
    ? undefined
    : { clockMhz, gigabytesPerSecond: (clockMhz * gmReadBytesPerCycle) / 1000, cores };

/**
 * Returns the roofline of a schedule. `traffic`: bytes that the schedule transfers. `clock`: cycles of the
 * schedule. `lowerBound`: lower bound on the cycles of the program.
 */
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

/** Formats a number with at least three digits. */
const figure = (value: number): string =>
  value >= 100 ? withCommas(value) : String(Number(value.toPrecision(3)));

/** Formats microseconds: `273 us`, or `20 us (15 to 24)` with a range. */
const span = (
  microseconds: number,
  { clockMhz }: MachineRates,
  range: { readonly low: number; readonly high: number } | undefined,
): string =>
  range === undefined
    ? `${figure(microseconds)} us`
    : `${figure(microseconds)} us (${figure(range.low / clockMhz)} to ${figure(range.high / clockMhz)})`;

/** Returns `2.8`, or `31` from 10 on. */
const formatFactor = (ratio: number): string => (ratio < 10 ? ratio.toFixed(1) : withCommas(ratio));

/** Returns a ratio as text with the suffix `x`: `2.8x`. Ratios from 10 on are rounded to integers. */
export const formatRatio = (ratio: number): string => `${formatFactor(ratio)}x`;

/** Returns a ratio as text with the word `times`: `2.8 times`. Ratios from 10 on are rounded to integers. */
export const formatTimes = (ratio: number): string => `${formatFactor(ratio)} times`;

/** Formats a lower bound on cycles with the limit: `lower bound 178,707 cycles (global memory)`. */
export const formatLowerBound = ({ cycles, limit }: LowerBound): string =>
  `lower bound ${withCommas(cycles)} cycles (${limit})`;

/**
 * Formats the time of a schedule: `273 us at 1,850 MHz`, or `20 us (15 to 24) at 1,850 MHz` with a range.
 * Undefined if the duration of a cycle is unknown.
 */
export const formatTime = (
  { microseconds }: Pick<Roofline, "microseconds">,
  machine: MachineRates | undefined,
  range?: { readonly low: number; readonly high: number },
): string | undefined =>
  microseconds === undefined || machine === undefined
    ? undefined
    : `${span(microseconds, machine, range)} at ${withCommas(machine.clockMhz)} MHz`;

/**
 * Formats the memory rate of a schedule with the machine's bandwidth: `565 of 1,425 GB/s`. A rate above the
 * bandwidth gives `1,690 GB/s with L2`. Undefined if the duration of a cycle is unknown.
 */
export const formatRate = (
  { gigabytesPerSecond }: Pick<Roofline, "gigabytesPerSecond">,
  machine: MachineRates | undefined,
): string | undefined =>
  gigabytesPerSecond === undefined || machine === undefined
    ? undefined
    : gigabytesPerSecond <= machine.gigabytesPerSecond
      ? `${figure(gigabytesPerSecond)} of ${figure(machine.gigabytesPerSecond)} GB/s`
      : `${figure(gigabytesPerSecond)} GB/s with L2`;

/**
 * Returns the texts of a roofline: the lower bound, then the time and memory rate if known. `machine`: rates
 * of the target; undefined if unknown. `range`: lowest and highest cycles of the schedule.
 */
export const rooflineTexts = (
  roofline: Pick<Roofline, "floor" | "microseconds" | "gigabytesPerSecond">,
  machine: MachineRates | undefined,
  range?: { readonly low: number; readonly high: number },
): readonly string[] =>
  [
    `${formatLowerBound(roofline.floor)}, this takes ${formatTimes(roofline.floor.ratio)} that`,
    formatTime(roofline, machine, range),
    formatRate(roofline, machine),
  ].filter((text) => text !== undefined);

/**
 * Formats a roofline in one line: `lower bound 178,707 cycles (loads), this takes 2.8 times that; 273 us at
 * 1,850 MHz`.
 */
export const formatRoofline = (...roofline: Parameters<typeof rooflineTexts>): string =>
  rooflineTexts(...roofline).join("; ");
