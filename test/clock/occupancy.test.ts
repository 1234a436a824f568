import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { occupancyOf, walkOf } from "../../ir/clock/index.js";
import { compile, onnx, pypto, targets, tryCompile } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";

describe("the occupancy of core 0's unified buffer", () => {
  it("is that of the walk over every statement, for random programs", () => {
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule, target }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        const { tile } = result.kernel;
        expect(occupancyOf(tile, target)).toEqual(walkOf(tile, target).occupancy);
      }),
      { numRuns: 500 },
    );
  });

  const rows = onnx.gather({ data: ["f32", [10, 8]], indices: ["i32", [20_000]], axis: 0 });
  const columns = pypto.gather({ input: ["f32", [6, 4000]], index: ["i32", [6, 4000]], dim: 0 });
  it.each([
    ["tiles of rows under one slab", compile(rows, { target: targets.ascendA2, tile: [3, 8] })],
    ["twice", compile(rows, { target: targets.ascendA2, tile: [3, 8], buffers: 2 })],
    ["slab after slab", compile(columns, { target: targets.ascendA2, tile: [6, 1], cores: 1 })],
    [
      "slab after slab, twice",
      compile(columns, { target: targets.ascendA2, tile: [6, 1], cores: 2, buffers: 2 }),
    ],
    [
      "slabs read in place",
      compile(columns, { target: targets.cpu, tile: [6, 1], residency: "ub", cores: 1 }),
    ],
  ])("is that of the walk where it stops early: %s", (_, { tile, target }) => {
    const { occupancy } = walkOf(tile, target);
    expect(occupancy.length).toBeGreaterThan(1);
    expect(occupancyOf(tile, target)).toEqual(occupancy);
  });

  it("does not walk all of four million tasks", () => {
    const { tile, target } = compile(
      onnx.gather({ data: ["f32", [10, 8]], indices: ["i32", [500_000]], axis: 0 }),
      { target: targets.ascendA2, tile: [1, 1], order: [0, 1] },
    );
    // Each statement that is walked asks the target what it costs.
    let asked = 0;
    const watched = new Proxy(target, {
      get(own, name) {
        asked++;
        return Reflect.get(own, name) as unknown;
      },
    });
    expect(occupancyOf(tile, watched)).toHaveLength(256);
    expect(asked).toBeGreaterThan(100);
    expect(asked).toBeLessThan(100_000);
  });
});
