/** One table of work and one price of each of its terms: the estimate, the clock, its timeline, the lower bound and validation read both. */
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import type * as ClockTerms from "../../ir/clock/terms.js";

/** The factor of the term that a test alters. */
const altered = vi.hoisted(() => ({ transfer: 1, vector: 1, latency: 1 }));

vi.mock("../../ir/clock/terms.js", async (actual) => {
  const own = await actual<typeof ClockTerms>();
  return {
    ...own,
    transferPrice: (...given: Parameters<typeof own.transferPrice>) => {
      const { cycles, limit } = own.transferPrice(...given);
      return { cycles: altered.transfer * cycles, limit };
    },
    vectorCycles: (...given: Parameters<typeof own.vectorCycles>) =>
      altered.vector * own.vectorCycles(...given),
    latencyOf: (...given: Parameters<typeof own.latencyOf>) => altered.latency * own.latencyOf(...given),
  };
});

const { cyclesOf, estimatesOfTile, programLowerBound, walkOf, workOfTile } =
  await import("../../ir/index.js");
const { clocked } = await import("../../ir/clock/clock.js");
const { sizesOf } = await import("../../ir/clock/statement.js");
const { largestValue } = await import("../../ir/linear.js");
const { statementsOf } = await import("../../ir/task/index.js");
const { withDefaults } = await import("../../passes/index.js");
const { accessOf } = await import("../../src/api/access.js");
const { compile, onnx, targets } = await import("../../src/index.js");
const { parseMeasurements } = await import("../../src/validation/measurement.js");
const { predictionOf } = await import("../../src/validation/validate.js");

const target = targets.ascendA2;
const rows = parseMeasurements(
  readFileSync(new URL("../../validation/measurements.json", import.meta.url), "utf8"),
  "measurements.json",
);

/** Long columns, whose gathers decide in UB; long rows, whose loads do in global memory. */
const programs = {
  ub: {
    func: onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 }),
    tile: [8, 128],
  },
  gm: {
    func: onnx.gather({ data: ["f32", [5000, 4096]], indices: ["i32", [64]], axis: 0 }),
    tile: [1, 4096],
  },
} as const;

function tilingOf(residency: keyof typeof programs) {
  const { func, tile } = programs[residency];
  return withDefaults(accessOf(func, { target })!, residency, target).with({ tile: [...tile] });
}

/** Everything that reads the table, of one program and one measured row. */
function readers(residency: keyof typeof programs, id: string) {
  const { func, tile } = programs[residency];
  const kernel = compile(func, { target, residency, tile }).tile;
  return {
    estimate: estimatesOfTile()(tilingOf(residency)),
    clock: cyclesOf(kernel, target).cycles,
    timeline: walkOf(kernel, target).cycles,
    bound: programLowerBound(tilingOf(residency)).cycles,
    validation: predictionOf(
      rows.find((row) => row.id === id)!,
      target,
    ).predicted,
  };
}

describe("the table of work", () => {
  it.each([
    ["transfer", "gm", "a2-dc-1"],
    ["vector", "ub", "a2-bank-1"],
    ["latency", "gm", "a2a3-row-serial"],
  ] as const)("has a %s term that every reader takes", (term, residency, id) => {
    const before = readers(residency, id);
    altered[term] = 8;
    const after = readers(residency, id);
    altered[term] = 1;
    for (const reader of Object.keys(before) as (keyof typeof before)[])
      expect(after[reader], reader).toBeGreaterThan(before[reader]);
  });

  it.each(["ub", "gm"] as const)(
    "has for a tile what each statement of its program asks for, under %s",
    (residency) => {
      const { func, tile } = programs[residency];
      const kernel = compile(func, { target, residency, tile }).tile;
      const { lowering } = cyclesOf(kernel, target);
      const { workOf } = clocked(kernel, target, 1, lowering);
      const { transfers, gather } = workOfTile(tilingOf(residency));
      const asked = statementsOf(kernel).flatMap(({ stmt }) => {
        if (stmt.op !== "load" && stmt.op !== "store" && stmt.op !== "gather") return [];
        const sizes = sizesOf(stmt).map((size) => largestValue(size)!);
        return [workOf(stmt, sizes)];
      });
      expect(asked).toHaveLength(residency === "ub" ? 4 : 3);
      expect(asked).toEqual(expect.arrayContaining([...transfers, gather(lowering!)]));
    },
  );
});
