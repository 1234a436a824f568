/** The two properties of every source of random values: the bits of its oracle on each executor, and in kernels on WebGPU. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { testRunner } from "./gpu.js";
import type { RandomValue } from "./random-value.js";
import { runs } from "./runs.js";
import { judgeValue } from "./value-trials.js";

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

interface Trials {
  /** What the expected bits come from, as a test's name says it. */
  readonly oracle: string;
  /** Programs on the executors; this many of them have an output at least, and this many a bad index. */
  readonly executors: { readonly programs: number; readonly outputs: number; readonly errors: number };
  readonly webgpu: { readonly programs: number };
}

/** Declares both tests. Call it inside a `describe` that names the source. */
export function hasRightBits(
  random: (draw: Draw) => RandomValue,
  { oracle, executors, webgpu }: Trials,
): void {
  it(`has the bits of ${oracle} on the reference, the checked and the fast executor, whatever the tile`, async () => {
    const seen = { "right bits": 0, error: 0 };
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        seen[await judgeValue(random(draw), draw)]++;
      }),
      { numRuns: runs(executors.programs) },
    );
    expect(seen["right bits"]).toBeGreaterThanOrEqual(runs(executors.outputs));
    expect(seen.error).toBeGreaterThanOrEqual(runs(executors.errors));
  });

  hasRightBitsOnWebgpu(random, webgpu);
}

/** Declares the test on WebGPU alone. */
export function hasRightBitsOnWebgpu(
  random: (draw: Draw) => RandomValue,
  { programs }: Trials["webgpu"],
): void {
  it("has the same bits in a kernel on WebGPU", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    await fc.assert(
      fc.asyncProperty(seeds, async (seed) => {
        const draw = drawer(seed);
        await judgeValue(random(draw), draw, { runner });
      }),
      { numRuns: runs(programs) },
    );
  });
}
