import type { Candidate, TuneResult } from "./result.js";

/** Returns what stands beside a candidate in a list: `best`, `default`, and that a pipeline of the user's refuses it. */
export function marksOf(
  candidate: Candidate,
  { best, default: standard, objective }: Pick<TuneResult, "best" | "default" | "objective">,
): string {
  const marks = [
    ...(candidate.id === best.id ? ["best"] : []),
    ...(candidate.id === standard.id ? ["default"] : []),
    // By time, the status has a column of its own.
    ...(objective !== "ms" && candidate.status === "error" ? ["refused"] : []),
  ];
  return marks.join(", ");
}
