/** Values on every backend against exact binary fractions: random expressions, types, policies, targets and tiles. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawer } from "../fuzz/mutate.js";
import { testRunner } from "../support/gpu.js";
import { randomValue } from "../support/random-value.js";
import { runs } from "../support/runs.js";
import { judgeValue } from "../support/value-trials.js";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe("a value", () => {
  it("has the bits of exact arithmetic on the reference, the checked and the fast executor, whatever the tile", async () => {
    const seen = { "right bits": 0, error: 0 };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        seen[await judgeValue(randomValue(draw), draw)]++;
      }),
      { numRuns: runs(1500) },
    );
    expect(seen["right bits"]).toBeGreaterThan(runs(600));
    expect(seen.error).toBeGreaterThan(runs(60));
  });

  it("has the same bits in a kernel on WebGPU", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        await judgeValue(randomValue(draw), draw, runner);
      }),
      { numRuns: runs(100) },
    );
  });
});
