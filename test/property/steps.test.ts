/** Steps of any sign on every backend, against the oracle. */
import { describe, expect, it } from "vitest";
import { drawer } from "../fuzz/mutate.js";
import { judgeMap } from "../support/map-trials.js";
import { randomSteps } from "../support/random-steps.js";
import { runnerOr } from "../support/gpu.js";
import { runs } from "../support/runs.js";

describe("coordinates that count in steps of any sign", () => {
  it("give the oracle's bits, or its first bad point, on every backend", async (context) => {
    const runner = await runnerOr(context);
    const counts = { "right bits": 0, error: 0, refused: 0, accepted: 0 };
    for (let seed = 0; seed < runs(100); seed++) {
      const draw = drawer(seed * 13 + 1);
      const map = randomSteps(draw);
      counts[await judgeMap(map, draw, runner)]++;
    }
    expect(counts["right bits"]).toBeGreaterThan(runs(50));
    expect(counts.error).toBeGreaterThan(runs(3));
    expect(counts.refused + counts.accepted).toBe(0);
  });
});
