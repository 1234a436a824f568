import type { Candidate, TuneResult } from "./result.js";

/**
 * Returns the labels of a candidate in a list, separated by commas: `best`, `default`, and `refused` if
 * custom passes refuse the candidate. Returns an empty text if no label applies. `refused` is omitted for the
 * objective `ms`.
 */
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
