import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { targets, type Schedule } from "../../ir/index.js";
import { explainTile } from "../../src/api/explain-tile.js";
import { compile, CompileError, explain, onnx, pypto, tryCompile } from "../../src/index.js";
import { renderExplanation } from "../../src/report/index.js";

describe("a tile program explained", () => {
  const func = onnx.gather({ data: ["f32", [5, 8]], indices: ["i32", [12]], axis: 0 });
  const { tile } = compile(func, { target: targets.ascendA2, tile: [4, 8], order: [0, 1], buffers: 1 });

  it("has its plan, its peak, its tasks, and the cycles of the source program's explanation", () => {
    const found = explainTile(tile);
    // Five rows of a block, four indices in a block, four rows of a block; rows are copied, which adds nothing.
    expect(found.plan.map(({ buffer, from, to }) => [buffer, to - from])).toEqual([
      ["data_ub", 160],
      ["indices_ub", 32],
      ["output_ub", 128],
    ]);
    expect(found).toMatchObject({ peak: 320, budget: 196608 });
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
    expect(() => explainTile(func)).toThrow("is not a tile program");
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

describe("the instructions of a gather", () => {
  const columns = onnx.gatherElements({
    data: ["f32", [300, 40]],
    indices: ["i32", [300, 40]],
    axis: 0,
    oob: "wrap",
  });
  const rows = onnx.gather({ data: ["f32", [64, 64]], indices: ["i32", [512]], axis: 0, oob: "clamp" });

  it("are told on an Ascend core, with those that it does not become and why", () => {
    const { lowering } = explain(columns, { target: targets.ascendA2, tile: [300, 16] });
    expect(lowering?.class).toBe("scalar");
    expect(lowering?.lost).toEqual([
      { class: "flat", reason: "wraps by 300, which is no power of two", room: false },
      { class: "row-copy", reason: "an index of this gather selects one element, not a row", room: false },
    ]);
    expect(explain(columns, { target: targets.cpu }).lowering).toBeUndefined();
  });

  it("are those that take the fewest cycles, or those that are asked for", () => {
    const options = { target: targets.ascendA2, residency: "ub", tile: [64, 64] } as const;
    const { lowering } = explain(rows, options);
    const others = lowering!.lost.map((lost) => ("cycles" in lost ? lost.cycles : 0));
    expect(others).toHaveLength(2);
    expect(Math.min(...others)).toBeGreaterThan(lowering!.cycles);
    for (const { class: asked } of lowering!.lost)
      expect(explain(rows, { ...options, lowering: asked }).lowering?.class).toBe(asked);
  });

  // hicann/pypto at 883e7df, docs/zh/api/operation/pypto-gather.md: its example, which is seed/pypto-gather-1 of the cases.
  const example = pypto.gather({ input: ["i32", [3, 5]], index: ["i32", [3, 4]], dim: 0 });

  it("are told with their cycles for the example of PyPTO's page", () => {
    const { lowering } = explain(example, { target: targets.ascendA2, tile: [3, 4] });
    // 24 words are one repeat: maxs, mins, sub, or of three rows, muls and add, then the row of the gather.
    const { stepCycles: head, stepRepeatCycles: repeat, scalarCycles: access } = targets.ascendA2;
    const flat = Math.ceil(6 * head + (1 + 1 + 2 + 3 * 2 + 1 + 2) * repeat + 47);
    // 8 words of `base` on the scalar unit, V's wait for them, two rows more; `seen` cleared, and at the end folded twice.
    const setup = Math.ceil(8 * access) + 18 + Math.ceil(3 * (head + repeat) + 2 * (head + 2 * repeat));
    expect(lowering).toEqual({
      class: "flat",
      cycles: flat,
      setup,
      adds: [
        { name: "base", bytes: 24 * 4 },
        { name: "seen", bytes: 24 * 4 },
      ],
      lost: [
        { class: "row-copy", reason: "an index of this gather selects one element, not a row", room: false },
        // An index read, a word read and a word written for each of 12; there and back between V and S.
        { class: "scalar", cycles: Math.ceil(12 * 3 * access) + 2 * 18, setup: 0 },
      ],
    });
  });

  it("say why MGATHER is none", () => {
    const table = onnx.gather({ data: ["f32", [5000, 300]], indices: ["i32", [64]], axis: 0 });
    const schedule = { target: targets.ascendA2, residency: "gm", tile: [16, 300], buffers: 1 } as const;
    const of = (options: object) => explain(table, { ...schedule, ...options });
    expect(of({}).lowering?.class).toBe("row-fetch");
    const text = renderExplanation(of({}), { verbose: true });
    expect(text).toContain("\n  not mgather: MGATHER has no policy error\n");
    const clamped = onnx.gather({
      data: ["f32", [5000, 300]],
      indices: ["i32", [64]],
      axis: 0,
      oob: "clamp",
    });
    const part = explain(clamped, { ...schedule, target: targets.ascend950, tile: [16, 160] });
    expect(part.lowering!.lost).toContainEqual({
      class: "mgather",
      reason: "MGATHER of the 950 fetches whole rows of a table",
      room: false,
    });
    const wide = onnx.gather({ data: ["f64", [5000, 300]], indices: ["i32", [64]], axis: 0, oob: "clamp" });
    expect(explain(wide, schedule).lowering!.lost).toContainEqual({
      class: "mgather",
      reason: "MGATHER takes elements of 1, 2 and 4 bytes, and f64 is none",
      room: false,
    });
  });

  it("that do not apply are TC403, and those that find no room TC401, each with what to ask for", () => {
    const refused = (options: object) => {
      const result = tryCompile(rows, {
        target: targets.ascendA2,
        residency: "ub",
        tile: [64, 64],
        ...options,
      });
      return result.ok ? [] : result.diagnostics.map(({ code, hint }) => [code, hint]);
    };
    // Under another residency the lowering stays, with a tile that was tried.
    expect(refused({ lowering: "row-fetch" })).toEqual([
      [
        "TC403",
        "--residency gm --tile 11,64 --buffers 2 or --lowering row-copy or --lowering flat or --lowering scalar",
      ],
    ]);
    // Data, indices and output leave nothing.
    expect(refused({ lowering: "direct" })).toEqual([
      ["TC403", "--lowering row-copy or --lowering flat or --lowering scalar"],
    ]);
    expect(refused({ lowering: "flat", ubBytes: 2 * 64 * 256 + 256, budgetRule: "spec" })).toEqual([
      ["TC401", "--lowering row-copy or --lowering scalar or a smaller tile"],
    ]);
  });

  it("are refused in a tile program too, not replaced by others", () => {
    const options = { target: targets.ascendA2, residency: "ub", tile: [64, 64], buffers: 1 } as const;
    const { tile, footprint } = compile(rows, { ...options, lowering: "row-copy" });
    const asking = (schedule: Schedule) => {
      const result = tryCompile({ ...tile, schedule: { ...tile.schedule, ...schedule } }, options);
      return result.ok ? [] : result.diagnostics.map(({ code, message, hint }) => [code, message, hint]);
    };
    expect(asking({ lowering: "row-copy" })).toEqual([]);
    expect(asking({ lowering: "row-fetch" })).toEqual([
      [
        "TC403",
        "lowering row-fetch does not apply: data is in UB, where row-fetch does not gather",
        "--lowering row-copy or --lowering flat or --lowering scalar",
      ],
    ]);
    // Its data, indices and output leave nothing.
    const tight = { ubBytes: footprint!.planned };
    expect(asking(tight)).toEqual([]);
    expect(asking({ ...tight, lowering: "flat" })).toEqual([
      [
        "TC401",
        expect.stringMatching(/^lowering flat needs more than the \d+ B of UB that are left$/),
        "--lowering row-copy or --lowering scalar",
      ],
    ]);
  });
});
