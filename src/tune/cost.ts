/** The exact figures of a schedule, and which of two is better. */
import { rooflineOf, type LowerBound, type Roofline } from "../../ir/index.js";
import { clockOf, compareKeys, decided, tieBreaks } from "../../passes/index.js";
import type { Candidate, CostFacts, Objective } from "./result.js";
import type { SpaceEntry } from "./space.js";

/**
 * Result of the cost model for a candidate of a search: cycles, idle cores, unified buffer bytes and
 * roofline.
 */
export interface Cost extends Roofline {
  readonly cycles: number;
  readonly idleCores: number;
  /** Bytes of unified buffer that the kernel takes. */
  readonly ubBytes: number;
}

/**
 * Returns the cost of a candidate's schedule by the cost model. `lowerBound` is the lower bound of cycles for
 * the candidate's program.
 */
export function costOf({ tiling }: Pick<SpaceEntry, "tiling">, lowerBound: LowerBound): Cost {
  const clock = clockOf(tiling);
  const { cycles, idleCores } = clock;
  const ubBytes = decided(tiling).footprint.planned;
  return { cycles, idleCores, ubBytes, ...rooflineOf(tiling, clock, lowerBound) };
}

/**
 * Returns a negative number if cost `a` is better than `b`, and a positive number if `a` is worse. The
 * objective is compared first, then {@link tieBreaks}, then the ids.
 */
function compareCosts(a: CostFacts, b: CostFacts, objective: Objective): number {
  const keys = (facts: CostFacts): number[] => [
    ...(objective === "bytes" ? [facts.bytes] : []),
    facts.cycles,
    ...tieBreaks(facts),
  ];
  return compareKeys(keys(a), keys(b)) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/**
 * Returns a negative number if candidate `a` is better than `b` by the objective, and a positive number if
 * `a` is worse. Failed candidates come last.
 */
export function compareCandidates(a: Candidate, b: Candidate, objective: Objective): number {
  const failed = (c: Candidate): number => (c.status === "measured" || c.status === "estimated" ? 0 : 1);
  if (failed(a) !== failed(b)) return failed(a) - failed(b);
  if (objective === "ms" && (a.status === "measured" || b.status === "measured")) {
    const ms = (c: Candidate): number => (c.status === "measured" ? c.ms : Infinity);
    if (ms(a) !== ms(b)) return ms(a) < ms(b) ? -1 : 1;
  }
  return compareCosts(a, b, objective);
}
