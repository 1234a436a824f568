import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateChecked } from "../../backends/sim/index.js";
import { policyOf, RunError, targets, Tiling } from "../../ir/index.js";
import { isResolved } from "../../ir/schedule-entries.js";
import { tryCompile, type Kernel } from "../../src/index.js";
import { countWork } from "../support/count-work.js";
import { inputsOf, type RandomGather, randomGather, randomSchedule } from "../support/arbitrary.js";
import { operandOf } from "../support/operands.js";
import { runs } from "../support/runs.js";

const gatherWithSchedules = randomGather.chain((random) =>
  fc.record({
    random: fc.constant(random),
    choices: fc.array(randomSchedule(operandOf(random.func, "output").type.shape.length), {
      minLength: 4,
      maxLength: 6,
    }),
  }),
);

/** The bits, or the report of the first index out of range. */
function outcome(random: RandomGather, kernel: Kernel): string {
  try {
    const { output } = simulateChecked(kernel.tile, inputsOf(random, kernel), kernel.target);
    return Buffer.from(output).toString("hex");
  } catch (thrown) {
    if (!(thrown instanceof RunError)) throw thrown;
    return thrown.message;
  }
}

describe("the result", () => {
  it("never depends on tile, view, residency, order, buffers, cores or target", () => {
    let compared = 0;
    fc.assert(
      fc.property(gatherWithSchedules, ({ random, choices }) => {
        const outcomes = choices.flatMap(({ schedule, target }) => {
          // A budget large enough for most schedules: legality is not the question here.
          const result = tryCompile(random.func, { ...schedule, target, profile: "head", ubBytes: 1 << 20 });
          return result.ok ? [outcome(random, result.kernel)] : [];
        });
        for (const other of outcomes) expect(other).toBe(outcomes[0]);
        if (outcomes.length > 1) compared++;
      }),
      { numRuns: runs(200) },
    );
    expect(compared).toBeGreaterThan(runs(120));
  });
});

describe("the simulation's counts on every target", () => {
  it("equal the closed form", () => {
    const seen = { ascend: 0, webgpu: 0, cpu: 0 };
    fc.assert(
      fc.property(gatherWithSchedules, ({ random, choices }) => {
        for (const { schedule, target } of choices) {
          const result = tryCompile(random.func, { ...schedule, target, profile: "head", ubBytes: 1 << 20 });
          if (!result.ok) continue;
          const { access, tile, footprint } = result.kernel;
          let report;
          try {
            ({ report } = simulateChecked(tile, inputsOf(random, result.kernel), target));
          } catch (thrown) {
            if (thrown instanceof RunError) continue;
            throw thrown;
          }
          if (access === undefined || !isResolved(access.schedule)) throw new Error("compiled from source");
          const closed = new Tiling(access, access.schedule, target).traffic;
          for (const { operand, bytes } of closed.operands) {
            // Elements that read as zero are not fetched from global memory.
            const skips =
              operand === "data" && access.schedule.residency === "gm" && policyOf(access.map) === "zero";
            const counted = report.operands[operand]!.bytes;
            if (skips) expect(counted).toBeLessThanOrEqual(bytes);
            else expect([operand, counted]).toEqual([operand, bytes]);
          }
          expect(report.tasks).toBe(closed.tasks);
          expect(report.ubPeak).toBeLessThanOrEqual(footprint!.bytes);
          seen[target.kind]++;
        }
      }),
      { numRuns: runs(150) },
    );
    expect(seen.ascend).toBeGreaterThan(runs(100));
    expect(seen.webgpu).toBeGreaterThan(runs(50));
  });

  it("cost no more work for tensors of any size: the closed form of 2^30 elements", () => {
    const workOf = (columns: number): number =>
      countWork(() => {
        const result = tryCompile(
          {
            level: "source",
            name: "huge",
            op: "onnx.gather",
            attrs: {},
            operands: [
              { name: "data", type: { dtype: "f32", shape: [1024, columns] }, role: "data" },
              { name: "indices", type: { dtype: "i32", shape: [1024] }, role: "indices" },
              { name: "output", type: { dtype: "f32", shape: [1024, columns] }, role: "output" },
            ],
            schedule: {},
          },
          { target: targets.ascendA2 },
        );
        expect(result.ok).toBe(true);
      });
    // More sizes of tiles are weighed, and none element by element.
    expect(workOf(1 << 20)).toBeLessThan(8 * workOf(1 << 12));
  });
});
