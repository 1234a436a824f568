/**
 * tilec/vitest: the checks of kernels as matchers, kernels as snapshots, cases as tests. One import in a
 * set-up file:
 *
 *   test: { setupFiles: ["tilec/vitest"] }
 */
import { describe, expect, it } from "vitest";
import { isObject } from "../../backends/index.js";
import type { Kernel } from "../api/compile.js";
import type { Asserted } from "../testing/assert-that.js";
import { caseTests, type CaseOptions } from "../testing/case-tests.js";
import { matchers } from "../testing/matchers.js";
import type { Subject } from "../testing/subject.js";
import type { Verdict } from "../testing/verdict.js";

declare module "vitest" {
  // A matcher is declared by adding to this interface, whose parameter is vitest's.
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/no-explicit-any, @typescript-eslint/no-unused-vars
  interface Matchers<T = any> extends Asserted {}
}

interface MatcherContext {
  readonly isNot: boolean;
  readonly task?: {
    readonly result?: { readonly state?: string } | undefined;
    readonly context: { skip(reason: string): unknown; onTestFinished(run: () => void): unknown };
  };
}

/**
 * Converts the result of a tilec matcher to a result for vitest. A result with `unjudged` (nothing was
 * checked) fails, with and without `.not`. The test is skipped if the result passes with a skip reason.
 */
function matched(this: MatcherContext, verdict: Verdict): Verdict {
  const { task, isNot } = this;
  if (verdict.unjudged === true) return { ...verdict, pass: isNot };
  const { skipped } = verdict;
  if (skipped !== undefined && verdict.pass !== isNot) {
    process.stderr.write(`SKIPPED: ${skipped}\n`);
    task?.context.onTestFinished(() => {
      if (task.result?.state !== "fail") task.context.skip(skipped);
    });
  }
  return verdict;
}

expect.extend(
  Object.fromEntries(
    Object.entries(matchers).map(([name, matcher]) => {
      const judge = matcher as (subject: Subject, ...args: readonly unknown[]) => Verdict | Promise<Verdict>;
      return [
        name,
        function (this: MatcherContext, subject: Subject, ...args: readonly unknown[]) {
          const verdict = judge(subject, ...args);
          return verdict instanceof Promise
            ? verdict.then((verdict) => matched.call(this, verdict))
            : matched.call(this, verdict);
        },
      ];
    }),
  ),
);

/** A kernel's snapshot is its tile program, in the text form that parses back. */
expect.addSnapshotSerializer({
  test: (value: unknown) =>
    isObject(value) && isObject(value["tile"]) && typeof value["forTarget"] === "function",
  serialize: (value: Kernel) => value.text("tile").trimEnd(),
});

/**
 * Defines one vitest test for each test in a file or folder: a test case of a JSON file, a text test, or a
 * gather of an ONNX model. `path` is relative to the working directory of vitest.
 */
export function describeCases(path: string, options: CaseOptions = {}): void {
  describe(path, () => {
    for (const { name, run } of caseTests(path, options)) it(name, (context) => run(context));
  });
}
