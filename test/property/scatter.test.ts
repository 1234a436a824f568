/** Random scatters on every backend that has them, under random schedules, against the oracle. */
import { describe, expect, it } from "vitest";
import { simulateBytes, simulateChecked } from "../../backends/sim/index.js";
import { elementCount } from "../../ir/index.js";
import { compile, toHost } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import type { OracleScatter } from "../oracle/scatter.js";
import { randomScatter } from "../support/random-scatter.js";
import { isImpossible, judgeScatter, randomSchedule } from "../support/scatter-trials.js";
import { parsed } from "../support/parsed.js";

describe("random scatters", () => {
  it("give the oracle's bits, or its first point that ends the run, whatever the schedule", async () => {
    const counts = { bits: 0, index: 0, duplicate: 0, refused: 0, ran: 0, compiledRuns: 0, outOfOrder: 0 };
    for (let seed = 0; seed < 250; seed++) {
      const draw = drawer(seed * 19 + 11);
      const scatter = randomScatter(draw);
      if (isImpossible(scatter)) {
        counts.refused++;
        continue;
      }
      const schedules = Array.from({ length: 3 }, () => randomSchedule(scatter, draw));
      const { ran, compiledRuns, outOfOrder, outcome } = await judgeScatter(scatter, schedules);
      counts[outcome.kind]++;
      counts.ran += ran;
      counts.compiledRuns += compiledRuns;
      counts.outOfOrder += outOfOrder;
    }
    expect(counts.bits).toBeGreaterThan(100);
    expect(counts.index).toBeGreaterThan(9);
    expect(counts.duplicate).toBeGreaterThan(10);
    expect(counts.ran).toBeGreaterThan(400);
    expect(counts.compiledRuns).toBeGreaterThan(300);
    expect(counts.outOfOrder).toBeGreaterThan(7);
  }, 120_000);

  it.each([
    // Without points, a coordinate may leave its operand: %x along d0, %u along d2.
    ["(d0 < 31, d1 < 0) -> (d0, d1, %i[]) yield %u[d1, d1, d1]", [10, 1, 3], [4, 0, 1]],
    ["(d0 < 0, d1 < 4, d2 < 6) -> (d2 + 2, d0, %i[]) yield %u[d2, d1, d2]", [16, 1, 3], [0, 4, 6]],
  ] as const)("without points leave the base as it is: %s", (statement, shape, updates) => {
    const type = `tensor<${shape.join("x")}xu8>`;
    const text = `func @f(%x: ${type}, %i: tensor<i32>, %u: tensor<${updates.join("x")}xu8>) -> ${type} {
  %y = access.scatter %x, %i, %u ${statement} {oob = error, duplicates = last}
  return %y
}
`;
    const func = parsed(text);
    const bytes = Uint8Array.from({ length: elementCount(shape) }, (_, k) => k + 1);
    for (const target of ["ascend-a2", "webgpu", "cpu"]) {
      const { tile, target: on } = compile(func, { target });
      const inputs = {
        x: toHost("x", { dtype: "u8", shape }, bytes),
        i: toHost("i", { dtype: "i32", shape: [] }, new Uint8Array(4)),
        u: toHost("u", { dtype: "u8", shape: updates }, new Uint8Array(elementCount(updates))),
      };
      expect(simulateChecked(tile, inputs, on).output, target).toEqual(bytes);
      const fast = simulateBytes({ tile, target: on }, inputs, { executor: "fast" });
      expect(Uint8Array.from(fast.output), target).toEqual(bytes);
    }
  });

  it("take the points of one element in order, under every tile that the rule allows", async () => {
    const draw = drawer(5);
    const domain = [3, 2, 4];
    const tiles = [1, 2, 3].flatMap((a) => [1, 2].flatMap((b) => [1, 2, 3, 4].map((c) => [a, b, c])));
    const counts = { ran: 0, outOfOrder: 0 };
    for (const combine of ["set", "add"] as const) {
      const values = Array.from({ length: 24 }, () => BigInt(draw(3)));
      const table = { name: "i0", dtype: "i32", values } as const;
      const scatter: OracleScatter = {
        type: "f32",
        domain,
        shape: [3],
        indices: [{ name: "s0", table, dims: [0, 1, 2], policy: "error", extent: 3, fromEnd: false }],
        written: [{ kind: "index", index: "s0", by: 1, part: "all" }],
        // Sums of these round otherwise in any other order.
        update: { shape: domain, bits: Array.from({ length: 24 }, () => BigInt(0x3f800000 + draw(2 ** 27))) },
        combine,
        ...(combine === "set" ? { duplicates: "last" } : {}),
        base: [0n, 0n, 0n],
        inout: false,
        fill: 0n,
      };
      const schedules = tiles.map((tile) => ({
        target: "ascend-a2",
        schedule: { tile, residency: "ub" as const },
      }));
      const { ran, outOfOrder } = await judgeScatter(scatter, schedules);
      counts.ran += ran;
      counts.outOfOrder += outOfOrder;
    }
    // Of 24 tiles, those with a cut dim inside of more than one point are refused.
    expect(counts).toEqual({ ran: 14, outOfOrder: 34 });
  });
});
