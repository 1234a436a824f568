import type { Candidate, TuneResult } from "./result.js";

/**
 * Returns the label of the candidate that the best is compared with: `default`, or `auto` if the compiler
 * chooses it only under residency `auto`.
 */
export const baselineMark = ({ refusal }: Pick<TuneResult, "refusal">): "default" | "auto" =>
  refusal === undefined ? "default" : "auto";

/**
 * Returns the candidate that the best is compared with as text: `the default` or `that of residency auto`.
 */
export const baselineText = ({ refusal }: Pick<TuneResult, "refusal">): string =>
  refusal === undefined ? "the default" : "that of residency auto";

/**
 * Returns the labels of a candidate in a list, separated by commas: `best`, {@link baselineMark}, and
 * `refused` if custom passes refuse the candidate. Returns an empty text if no label applies. `refused` is
 * omitted for the objective `ms`.
 */
export function marksOf(
  candidate: Candidate,
  result: Pick<TuneResult, "best" | "default" | "objective" | "refusal">,
): string {
  const { best, default: standard, objective } = result;
  const marks = [
    ...(candidate.id === best.id ? ["best"] : []),
    ...(candidate.id === standard.id ? [baselineMark(result)] : []),
    // By time, the status has a column of its own.
    ...(objective !== "ms" && candidate.status === "error" ? ["refused"] : []),
  ];
  return marks.join(", ");
}
