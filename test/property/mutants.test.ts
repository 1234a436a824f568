import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tryCompile } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";
import { drawer } from "../fuzz/mutate.js";
import { testRunner } from "../support/gpu.js";
import { judgeMutant, type Verdict } from "../support/mutants.js";
import { operandOf } from "../support/operands.js";

describe("a tile program with one statement changed", () => {
  it("is refused, or gives one answer on every executor, and --against tells it from its operator", async () => {
    const runner = await testRunner();
    const seen: Record<Verdict, number> = {
      unchanged: 0,
      refused: 0,
      "same bits": 0,
      "other bits, told": 0,
      "bad index": 0,
    };
    await fc.assert(
      fc.asyncProperty(scheduledGather, fc.nat(), async ({ random, schedule, target }, seed) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        const { tile } = result.kernel;
        const inputs = {
          data: { type: operandOf(tile, "data").type, bytes: random.data },
          indices: { type: operandOf(tile, "indices").type, bytes: random.indexBytes },
        };
        const draw = drawer(seed);
        for (let k = 0; k < 6; k++) {
          const gpu = k === 0 ? runner : undefined;
          seen[await judgeMutant(tile, random.func, target, inputs, draw, gpu)]++;
        }
      }),
      { numRuns: 400, seed: 1 },
    );
    expect(seen.refused).toBeGreaterThan(300);
    expect(seen["same bits"]).toBeGreaterThan(50);
    expect(seen["other bits, told"]).toBeGreaterThan(0);
  });
});
