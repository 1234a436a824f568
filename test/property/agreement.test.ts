import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateChecked } from "../../backends/sim/index.js";
import { reference, referenceOfMap } from "../../backends/reference/index.js";
import { defined, cyclesOf, policyOf, RunError, taskOfTile, Tiling } from "../../ir/index.js";
import { compile, onnx, runOn, tryCompile, targets } from "../../src/index.js";
import { isResolved } from "../../ir/schedule-entries.js";
import {
  inputsOf,
  longGather,
  type RandomGather,
  scheduledGather,
  scheduledLongGather,
} from "../support/arbitrary.js";
import { expectedBytes } from "../support/expected.js";
import { testRunner } from "../support/gpu.js";
import { operandOf } from "../support/operands.js";
import { runs } from "../support/runs.js";
import { fastOutput, outcomeOn } from "../support/fast.js";

/** Runs and compares, bits or error: position and value of the first offender are the same everywhere. */
async function agree(random: RandomGather, run: () => Uint8Array | Promise<Uint8Array>): Promise<void> {
  const want = expectedBytes(random);
  if (typeof want !== "number") {
    expect(await run()).toEqual(want);
    return;
  }
  const thrown: unknown = await Promise.resolve()
    .then(run)
    .catch((error: unknown) => error);
  if (thrown instanceof Error && !(thrown instanceof RunError)) throw thrown;
  if (!(thrown instanceof RunError)) throw new Error("an index out of range was not reported");
  const [diagnostic] = thrown.diagnostics;
  expect(diagnostic).toMatchObject({
    code: "TC601",
    data: { position: want, value: random.indices[want]!.toString() },
  });
}

describe("every backend against the oracle", () => {
  it("gives the oracle's bits on both references and on the checked simulation, whatever compiles", async () => {
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(scheduledGather, async ({ random, schedule, target }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        ran++;
        const { kernel } = result;
        const inputs = inputsOf(random, kernel);
        await agree(random, () => reference(kernel.resolved!, inputs));
        const map = taskOfTile(kernel.tile).gather?.stmt.map;
        if (map !== undefined) await agree(random, () => referenceOfMap(map, kernel.tile.operands, inputs));
        await agree(random, () => simulateChecked(kernel.tile, inputs, kernel.target).output);
      }),
      { numRuns: runs(800) },
    );
    expect(ran).toBeGreaterThan(runs(200));
  });

  it("gives the checked executor's bits, errors and counts from the fast one, whatever compiles", async () => {
    let ran = 0;
    const scheduled = fc.oneof(
      scheduledGather,
      scheduledLongGather,
      longGather.map((random) => ({ random, schedule: {}, target: targets.cpu })),
    );
    await fc.assert(
      fc.asyncProperty(scheduled, async ({ random, schedule, target }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        ran++;
        const { kernel } = result;
        const inputs = inputsOf(random, kernel);
        await agree(random, () => fastOutput(kernel, inputs));
        expect(outcomeOn("fast", kernel, inputs)).toEqual(outcomeOn("checked", kernel, inputs));
      }),
      { numRuns: runs(1500) },
    );
    expect(ran).toBeGreaterThan(runs(500));
  });

  it("gives the oracle's bits on WebGPU, whatever tile", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(scheduledGather, async ({ random, schedule }) => {
        const { tile, view, order } = schedule;
        const result = tryCompile(random.func, {
          target: runner.target,
          profile: "head",
          residency: schedule.residency === "gm" ? "gm" : "auto",
          ...defined({ tile, view, order }),
        });
        if (!result.ok) return;
        ran++;
        const { kernel } = result;
        await agree(random, () => runner.runBytes(kernel, inputsOf(random, kernel)));
        const staged = tryCompile(random.func, { target: runner.target, profile: "head", residency: "ub" });
        if (staged.ok)
          await agree(random, () => runner.runBytes(staged.kernel, inputsOf(random, staged.kernel)));
      }),
      { numRuns: runs(150) },
    );
    expect(ran).toBeGreaterThan(runs(100));
  });

  it("compiles an Ascend kernel again for the device and keeps the bits", async (context) => {
    const runner = await testRunner();
    if (runner === undefined) {
      context.skip();
      return;
    }
    await fc.assert(
      fc.asyncProperty(scheduledGather, async ({ random, schedule }) => {
        const result = tryCompile(random.func, { ...schedule, target: targets.ascendA2 });
        if (!result.ok) return;
        const { kernel } = result;
        expect(kernel.forTarget(runner.target).target.kind).toBe("webgpu");
        await agree(
          random,
          async () => (await runOn("webgpu", kernel, inputsOf(random, kernel), { runner })).output,
        );
      }),
      { numRuns: runs(60) },
    );
  });
});

describe("the simulation's counts", () => {
  it("equal the closed form for every schedule, and the unified buffer stays within the footprint", () => {
    fc.assert(
      fc.property(scheduledGather, ({ random, schedule }) => {
        const result = tryCompile(random.func, { ...schedule, target: targets.ascendA2 });
        if (!result.ok || typeof expectedBytes(random) === "number") return;
        const { kernel } = result;
        const { report } = simulateChecked(kernel.tile, inputsOf(random, kernel), kernel.target);
        const { access } = kernel;
        if (access === undefined || !isResolved(access.schedule)) throw new Error("compiled from source");
        const closed = new Tiling(access, access.schedule, kernel.target).traffic;
        for (const { operand, bytes } of closed.operands) {
          // Rows that read as zero are never fetched.
          const zeros =
            operand === "data" && access.schedule.residency === "gm" && policyOf(access.map) === "zero";
          if (zeros) expect(report.operands[operand]!.bytes).toBeLessThanOrEqual(bytes);
          else expect([operand, report.operands[operand]!.bytes]).toEqual([operand, bytes]);
        }
        expect(report.tasks).toBe(closed.tasks);
        if (access.schedule.budgetRule === "full")
          expect(report.ubPeak).toBeLessThanOrEqual(kernel.footprint!.bytes);
      }),
      { numRuns: runs(500) },
    );
  });

  it("move each operand once where one slab serves all rows, and more by default where that is faster", () => {
    const op = onnx.gather({ data: ["f32", [1000, 768]], indices: ["i32", [4096]], axis: 0 });
    // A third of the rows at a time, by the columns that fit beside them.
    const once = compile(op, { target: targets.ascendA2, tile: [1366, 16] });
    const bytes = new Uint8Array(1000 * 768 * 4);
    const indices = Int32Array.from({ length: 4096 }, (_, k) => (k * 7919) % 1000);
    const { report } = simulateChecked(
      once.tile,
      {
        data: { type: operandOf(once.tile, "data").type, bytes },
        indices: { type: operandOf(once.tile, "indices").type, bytes: new Uint8Array(indices.buffer) },
      },
      once.target,
    );
    const compulsory = 1000 * 768 * 4 + 4096 * 4 + 4096 * 768 * 4;
    expect(report.compulsoryBytes).toBe(compulsory);
    expect(report.bytesRead + report.bytesWritten).toBeLessThanOrEqual(1.05 * compulsory);
    const byDefault = compile(op, { target: targets.ascendA2 });
    expect(cyclesOf(byDefault.tile, byDefault.target).cycles).toBeLessThan(0.8 * report.timing.cycles);
  });
});
