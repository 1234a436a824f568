import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalFunc, printFunc, type Func, type Target } from "../../ir/index.js";
import { contextFor, defaultPipeline, type Pass } from "../../passes/index.js";
import { tryCompile } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";
import { runs } from "../support/runs.js";

/** Passes whose result is a program they take again. */
const repeatable = defaultPipeline.filter((pass) => pass.name !== "lower-to-tile");

function again(pass: Pass, func: Func, target: Target): Func {
  const reported: string[] = [];
  const context = contextFor(target, ({ severity, message }) => {
    if (severity === "error") reported.push(message);
  });
  const result = pass.run(func, context);
  expect(reported).toEqual([]);
  return result;
}

describe("a pass on its own result", () => {
  it("changes nothing", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule, target }) => {
        tryCompile(random.func, {
          ...schedule,
          target,
          afterPass(pass, _before, after) {
            if (!repeatable.includes(pass)) return;
            const twice = again(pass, after, target);
            expect(equalFunc(twice, after), `${pass.name}\n${printFunc(after)}\n${printFunc(twice)}`).toBe(
              true,
            );
            seen.set(pass.name, (seen.get(pass.name) ?? 0) + 1);
          },
        });
      }),
      { numRuns: runs(400) },
    );
    expect([...seen.keys()].sort()).toEqual(repeatable.map((pass) => pass.name).sort());
  });

  it("leaves its input as it was", () => {
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule, target }) => {
        const printed = new Map<Func, string>();
        tryCompile(random.func, {
          ...schedule,
          target,
          afterPass(_pass, before, after) {
            const text = printed.get(before);
            if (text !== undefined) expect(printFunc(before)).toBe(text);
            printed.set(after, printFunc(after));
          },
        });
      }),
      { numRuns: runs(200) },
    );
  });
});
