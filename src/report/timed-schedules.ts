/** The schedules of a search whose time is exact: those it costed, and those left out that may move few bytes in little time. */
import { lowerBoundsOf, Tiling } from "../../ir/index.js";
import { clockOf } from "../../passes/index.js";
import type { TuneResult } from "../tune/result.js";
import { timedOf, type Timed } from "./tune-charts.js";

/** The estimate of a schedule that was left out over the time of one that moves no more bytes, up to which its clock is read. */
export const farthest = 1.5;

/**
 * Besides the costed schedules those that may lie on the line of bytes against cycles: no schedule that moves as few bytes is known to
 * take less than their floor, nor so much less than their estimate. Costed schedules alone for milliseconds, which only a run gives, and
 * for passes of the user's, which may make another program of a schedule.
 */
export function timedSchedules(result: TuneResult): readonly Timed[] {
  const costed = timedOf(result);
  if (result.objective === "ms" || result.passes !== undefined) return costed;
  const { gather, target } = result;
  const left = result.pruned.map((candidate) => ({
    candidate,
    bytes: candidate.bytes,
    estimate: candidate.estimate,
  }));
  const all = [...costed.map((one) => ({ ...one, estimate: one.time })), ...left].sort(
    (a, b) => a.bytes - b.bytes || a.estimate - b.estimate,
  );
  let least = Infinity;
  return all.flatMap((one): Timed[] => {
    const { candidate, bytes } = one;
    let time: number;
    if ("time" in one) time = one.time;
    else {
      if (one.estimate >= farthest * least) return [];
      const tiling = new Tiling(gather, candidate.schedule, target);
      if (lowerBoundsOf(tiling).of(candidate.schedule.tile) >= least) return [];
      time = clockOf(tiling).cycles;
    }
    least = Math.min(least, time);
    return [{ candidate, bytes, time }];
  });
}
