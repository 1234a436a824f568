/** Result of a check: whether the check passes, and a message that gives the reason. */
export interface Verdict {
  readonly pass: boolean;
  /** Message that fits both outcomes: the reason why the check fails, or why its opposite fails. */
  readonly message: () => string;
  /** Reason why a part of the check did not run. */
  readonly skipped?: string;
  /** Nothing could be judged: the check fails, and so does its opposite. */
  readonly unjudged?: true;
  /** Expected value, for a runner that shows a difference. */
  readonly expected?: unknown;
  /** Actual value instead of the expected one. */
  readonly actual?: unknown;
}
