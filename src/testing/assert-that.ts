/** The checks as assertions, for any test runner: node:test, Jest, Mocha. */
import { AssertionError } from "node:assert";
import { matchers, type Matchers } from "./matchers.js";
import type { Subject } from "./subject.js";
import type { Verdict } from "./verdict.js";

type Arguments<F> = F extends (subject: Subject, ...rest: infer A) => unknown ? A : never;

/**
 * Assertions on one kernel or program, one for each of the {@link matchers}. If the matcher fails, an
 * assertion throws an AssertionError; an asynchronous assertion returns a promise that rejects.
 */
export type Asserted = {
  readonly [K in keyof Matchers]: (
    ...args: Arguments<Matchers[K]>
  ) => ReturnType<Matchers[K]> extends Promise<unknown> ? Promise<void> : undefined;
};

/** Assertions on one subject (a kernel or program), and the negated assertions under `not`. */
export interface Assertions extends Asserted {
  readonly not: Asserted;
}

/** Test context through which an assertion marks a test as skipped, for example the context of node:test. */
export interface SkipContext {
  /** Marks the test as skipped. */
  skip(reason: string): void;
  /** Registers a function to run at the end of the test. Absent: `skip` is called at once. */
  after?(run: () => void): void;
  /** False if the test has failed. A failed test is not marked as skipped. */
  readonly passed?: boolean;
}

/**
 * Returns assertions on a kernel or program, for example `assertThat(kernel).toFitUb()`. A check that cannot
 * run is reported to `context`, by default on stderr.
 */
export function assertThat(subject: Subject, context: SkipContext = loud): Assertions {
  return { ...asserted(subject, context, false), not: asserted(subject, context, true) };
}

/** Test context that reports skipped tests on stderr. */
export const loud: SkipContext = {
  skip(reason) {
    console.warn(`SKIPPED: ${reason}`);
  },
};

/**
 * Marks a test as skipped at the end of the test if no assertion failed. If the context has no `after`, the
 * test is marked at once.
 */
function skipAfter(context: SkipContext, reason: string): void {
  if (context.after === undefined) context.skip(reason);
  else
    context.after(() => {
      if (context.passed !== false) context.skip(reason);
    });
}

/**
 * Returns the assertions on a subject (a kernel or program). `negated`: true if an assertion fails when the
 * matcher passes. `context`: receives skipped checks.
 */
function asserted(subject: Subject, context: SkipContext, negated: boolean): Asserted {
  const settle = (verdict: Verdict, name: string): void => {
    const { pass, message, skipped, unjudged } = verdict;
    if (pass === negated || unjudged === true) {
      const operator = negated ? `not.${name}` : name;
      const { expected, actual } = verdict;
      throw new AssertionError({ message: message(), operator, expected, actual });
    }
    if (skipped !== undefined) skipAfter(context, skipped);
  };
  const entries = Object.entries(matchers).map(([name, matcher]) => {
    const judge = matcher as (subject: Subject, ...args: readonly unknown[]) => Verdict | Promise<Verdict>;
    const assertion = (...args: readonly unknown[]): undefined | Promise<void> => {
      const verdict = judge(subject, ...args);
      if (verdict instanceof Promise) {
        return verdict.then((verdict) => {
          settle(verdict, name);
        });
      }
      settle(verdict, name);
      return undefined;
    };
    return [name, assertion] as const;
  });
  return Object.fromEntries(entries) as unknown as Asserted;
}
