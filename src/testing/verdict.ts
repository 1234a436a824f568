/** Result of a check: whether the check passes, and a message that gives the reason. */
export interface Verdict {
  readonly pass: boolean;
  /** Message that fits both outcomes: the reason why the check fails, or why its opposite fails. */
  readonly message: () => string;
  /** Reason why a part of the check did not run. */
  readonly skipped?: string;
  /** True if nothing could be checked. The check then fails, and its opposite (`.not`) fails too. */
  readonly unjudged?: true;
  /** Expected value, for a runner that shows a difference. */
  readonly expected?: unknown;
  /** Actual value instead of the expected one. */
  readonly actual?: unknown;
}
