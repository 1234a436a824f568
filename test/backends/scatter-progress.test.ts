/** Progress of long scatters: a share of the points, not of the output, on every executor. */
import { expect, it } from "vitest";
import { simulateLong } from "../../backends/sim/index.js";
import { planOfCalls } from "../../backends/sim/direct-call.js";
import { compile } from "../../src/index.js";
import { parsed } from "../support/parsed.js";

/** Returns a scatter of some points into 8 elements, in one task. */
const sums = (points: number, base = "") =>
  compile(
    parsed(`func @f(%x: ${base}tensor<8xf32>, %i: tensor<4xi32>, %u: tensor<4xf32>) -> tensor<8xf32> {
  %y = access.scatter %x, %i, %u (d0 < ${points}) -> (%i[d0 mod 4]) yield %u[d0 mod 4] {oob = error, combine = max}
  return %y
}`),
    { target: "cpu" },
  );
const inputs = {
  x: new Float32Array(8),
  i: Int32Array.of(0, 5, 2, 7),
  u: Float32Array.of(1, 2, 3, 4),
};

it.each(["checked", "fast"] as const)("is told within a task, and ascends: %s", async (executor) => {
  // In place, the fast executor has no code of WebAssembly.
  const kernel = sums(2 ** 19, executor === "fast" ? "inout " : "");
  const shares: number[] = [];
  const { outputs } = await simulateLong(
    kernel,
    { ...inputs, x: new Float32Array(8) },
    {
      executor,
      onProgress: (done, tasks) => {
        shares.push(done / tasks);
      },
    },
  );
  expect(outputs.output).toEqual(Float32Array.of(1, 0, 3, 0, 0, 2, 0, 4));
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(shares.filter((share) => share > 0 && share < 1).length).toBeGreaterThan(0);
});

it("is possible however many points a task has: the code of WebAssembly takes 2^28 at most", () => {
  expect(planOfCalls(sums(2 ** 28))).toBeUndefined();
  expect(planOfCalls(sums(2 ** 28 + 1))).toBeDefined();
});
