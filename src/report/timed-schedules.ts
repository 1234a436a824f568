/**
 * The schedules of a search whose time is exact: those it costed, and those left out that may move few bytes
 * in little time.
 */
import { lowerBoundsOf, Tiling } from "../../ir/index.js";
import { clockOf } from "../../passes/index.js";
import type { TuneResult } from "../tune/result.js";
import { timedOf, type Timed } from "./tune-charts.js";

/**
 * Lowest ratio at which a chart of bytes against time leaves out a schedule that the search pruned. The ratio
 * is the schedule's estimated cycles divided by the cycles of the fastest schedule that moves no more bytes.
 */
export const farthest = 1.5;

/**
 * Returns schedules of a search with exact times: the costed schedules, and the pruned schedules that may lie
 * on the Pareto front of bytes and cycles. With objective `ms` or custom passes, only costed schedules are
 * returned.
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
