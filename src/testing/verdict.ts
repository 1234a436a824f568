/** The answer to one check. */
export interface Verdict {
  readonly pass: boolean;
  /** What was found, in words that fit both outcomes: why it fails, or why its opposite does. */
  readonly message: () => string;
  /** Why a part of the check did not run. */
  readonly skipped?: string;
  /** Nothing could be judged: the check fails, and so does its opposite. */
  readonly unjudged?: true;
  /** What was asked for, for a runner that shows a difference. */
  readonly expected?: unknown;
  /** What was found in its place. */
  readonly actual?: unknown;
}
