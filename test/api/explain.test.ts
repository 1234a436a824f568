import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { targets } from "../../ir/index.js";
import { explainTile } from "../../src/api/explain-tile.js";
import { compile, CompileError, explain, onnx, tryCompile } from "../../src/index.js";

describe("a tile program explained", () => {
  const func = onnx.gather({ data: ["f32", [5, 8]], indices: ["i32", [12]], axis: 0 });
  const { tile } = compile(func, { target: targets.ascendA2, tile: [4, 8], order: [0, 1], buffers: 1 });

  it("has its plan, its peak, its tasks, and the cycles of the source program's explanation", () => {
    const found = explainTile(tile);
    // Five rows of a block, four indices in a block, four rows of a block, a scratch of two.
    expect(found.plan.map(({ buffer, from, to }) => [buffer, to - from])).toEqual([
      ["data_ub", 160],
      ["indices_ub", 32],
      ["output_ub", 128],
      ["scratch_ub", 64],
    ]);
    expect(found).toMatchObject({ peak: 384, budget: 196608 });
    const options = { target: targets.ascendA2, tile: [4, 8], order: [0, 1], buffers: 1 } as const;
    const { cycles, traffic } = explain(func, options);
    expect([found.cycles, found.tasks]).toEqual([cycles, traffic.tasks]);
  });

  it.each([targets.ascendA2, targets.cpu, targets.webgpu])(
    "is not walked, with 5e8 tasks on $name",
    (target) => {
      const many = onnx.gather({ data: ["u8", [4, 4]], indices: ["i32", [500_000_000]], axis: 0 });
      const options = { target, tile: [1, 4] };
      const found = explainTile(compile(many, options).tile, { target });
      const { cycles, traffic } = explain(many, options);
      expect([found.cycles, found.tasks]).toEqual([cycles, traffic.tasks]);
    },
  );

  it("is refused where a rule is broken, as compile refuses it", () => {
    const broken = { ...tile, body: tile.body.slice(1) };
    const refused = tryCompile(broken);
    expect(refused.ok).toBe(false);
    expect(() => explainTile(broken)).toThrow(CompileError);
    expect(() => explainTile(func)).toThrow("is no tile program");
  });
});

describe("TC402", () => {
  it.each(["full", "spec"] as const)("has in its data the bytes of its note, rule %s", (budgetRule) => {
    const func = onnx.gatherElements({ data: ["f32", [3000, 8]], indices: ["i32", [3000, 8]], axis: 0 });
    const result = tryCompile(func, { target: targets.ascendA2, buffers: 2, budgetRule });
    const [refusal] = result.ok ? [] : result.diagnostics;
    expect(refusal?.code).toBe("TC402");
    // Data, indices and output: 3000 rows of a block, which no loop moves; under `spec` as planned. And the scratch of two blocks.
    const bytes = 3 * 3000 * 32 + (budgetRule === "full" ? 64 : 0);
    expect(refusal?.data).toMatchObject({ bytes, budget: 196608 });
    expect(refusal?.notes?.join("\n")).toContain(` ${bytes} B`);
  });
});

describe("a gather dim without elements, under zero", () => {
  it.each(["checked", "fast"] as const)(
    "moves no data, in the closed form and on the %s executor",
    (executor) => {
      const func = onnx.gather({ data: ["f32", [0, 4]], indices: ["i32", [6]], axis: 0, oob: "zero" });
      for (const options of [
        { target: targets.cpu, residency: "gm" },
        { target: targets.ascendA2, residency: "gm" },
        { target: targets.ascendA2, residency: "ub" },
      ] as const) {
        const kernel = compile(func, options);
        const { operands } = explain(func, options).traffic;
        expect(operands.find(({ operand }) => operand === "data")?.bytes).toBe(0);
        const inputs = { data: new Float32Array(0), indices: Int32Array.of(0, 1, -1, 2, 3, 4) };
        const { outputs, report } = simulate(kernel, inputs, { executor });
        expect(report.operands["data"]!.bytes).toBe(0);
        expect(outputs.output).toEqual(new Float32Array(24));
      }
    },
  );
});
