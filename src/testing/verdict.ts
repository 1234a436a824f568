/** The answer to one check. */
export interface Verdict {
  readonly pass: boolean;
  /** What was found, in words that fit both outcomes: why it fails, or why its opposite does. */
  readonly message: () => string;
  /** Why a part of the check did not run. */
  readonly skipped?: string;
}
