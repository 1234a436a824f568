/**
 * The schedules of a search whose time is exact: those it costed, and those left out that may move few bytes
 * in little time.
 */
import { lowerBoundsOf, Tiling } from "../../ir/index.js";
import { clockOf } from "../../passes/index.js";
import type { TuneResult } from "../tune/result.js";
import { timedOf, type Timed } from "./tune-charts.js";

/**
 * Upper limit of a ratio: the estimate of a pruned schedule over the least time of a schedule that moves no
 * more bytes. Below the limit its exact cycles are computed.
 */
export const farthest = 1.5;

/**
 * Returns the schedules of a search with exact times: costed schedules, and pruned ones that may lie on the
 * Pareto front of bytes and cycles. A pruned schedule is left out if one that moves no more bytes takes at
 * most its lower bound. It is also left out if its estimate is at least {@link farthest} times the time of
 * such a schedule. Only costed schedules are returned for the objective milliseconds, which only a run gives.
 * User passes have only costed schedules, too: such passes may make another program of a schedule.
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
