/** The exact figures of a schedule, and which of two is better. */
import { rooflineOf, type LowerBound, type Roofline } from "../../ir/index.js";
import { clockOf, compareKeys, decided, tieBreaks } from "../../passes/index.js";
import type { Candidate, CostFacts, Objective } from "./result.js";
import type { SpaceEntry } from "./space.js";

/** Result of the cost model for a candidate: a full costing. */
export interface Cost extends Roofline {
  readonly cycles: number;
  readonly idleCores: number;
  /** Bytes of unified buffer that the kernel takes. */
  readonly ubBytes: number;
}

/** Returns the full cost of a schedule. `lowerBound` is the lower bound of the program. */
export function costOf({ tiling }: Pick<SpaceEntry, "tiling">, lowerBound: LowerBound): Cost {
  const clock = clockOf(tiling);
  const { cycles, idleCores } = clock;
  const ubBytes = decided(tiling).footprint.planned;
  return { cycles, idleCores, ubBytes, ...rooflineOf(tiling, clock, lowerBound) };
}

/**
 * Compares two costs: by the objective, then by the tie breaks of the default schedule, then by id. The order
 * is total.
 */
function compareCosts(a: CostFacts, b: CostFacts, objective: Objective): number {
  const keys = (facts: CostFacts): number[] => [
    ...(objective === "bytes" ? [facts.bytes] : []),
    facts.cycles,
    ...tieBreaks(facts),
  ];
  return compareKeys(keys(a), keys(b)) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Compares two candidates by the objective. Candidates without a figure come last. */
export function compareCandidates(a: Candidate, b: Candidate, objective: Objective): number {
  const failed = (c: Candidate): number => (c.status === "measured" || c.status === "estimated" ? 0 : 1);
  if (failed(a) !== failed(b)) return failed(a) - failed(b);
  if (objective === "ms" && (a.status === "measured" || b.status === "measured")) {
    const ms = (c: Candidate): number => (c.status === "measured" ? c.ms : Infinity);
    if (ms(a) !== ms(b)) return ms(a) < ms(b) ? -1 : 1;
  }
  return compareCosts(a, b, objective);
}
