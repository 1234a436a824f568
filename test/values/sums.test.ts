/** Elements made from terms on every backend, against a loop that rounds each step: fixed numbers of terms and bags, all reductions. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawer } from "../fuzz/mutate.js";
import { testRunner } from "../support/gpu.js";
import { randomSum } from "../support/random-sum.js";
import { runs } from "../support/runs.js";
import { judgeValue } from "../support/value-trials.js";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe("a sum over terms", () => {
  it("has the bits of the loop on the reference, the checked and the fast executor, whatever the tile", async () => {
    const seen = { "right bits": 0, error: 0 };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        seen[await judgeValue(randomSum(draw), draw)]++;
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
        await judgeValue(randomSum(draw), draw, runner);
      }),
      { numRuns: runs(100) },
    );
  });
});
