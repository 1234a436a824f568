import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompileError, type Schedule } from "../../ir/index.js";
import { compile, directml, explain, legalTiles, onnx, pypto, targets, tryCompile } from "../../src/index.js";
import { scheduledGather } from "../support/arbitrary.js";
import { judgeVerdicts } from "../support/verdicts.js";

const budgetRule = fc.constantFrom("full", "spec" as const);

describe("the verdicts of the commands", () => {
  it("are one: explain, legal and compile agree, and each suggestion and listed tile compiles", () => {
    const seen = { legal: 0, refused: 0, "some tile": 0, "no tile": 0, followed: 0, counted: 0 };
    fc.assert(
      fc.property(scheduledGather, budgetRule, ({ random, schedule, target }, rule) => {
        const found = judgeVerdicts(random.func, { ...schedule, budgetRule: rule }, target);
        seen[found.legal ? "legal" : "refused"]++;
        seen[found.someTile ? "some tile" : "no tile"]++;
        seen.followed += found.followed;
        if (found.counted) seen.counted++;
      }),
      { numRuns: 150 },
    );
    for (const [what, count] of Object.entries(seen)) expect([what, count > 4]).toEqual([what, true]);
  });

  it("follow a hint that names the residency of each operand", () => {
    const func = pypto.indexSelect({ input: ["u32", [4, 2, 1]], index: ["i64", [1, 2]], dim: 2 });
    const schedule: Schedule = {
      ...({ tile: [1, 2, 1, 1], view: [4, 2, 1, 1], profile: "strict", residency: "gm" } as const),
      ...({ order: [0, 1, 3, 2], buffers: 2, cores: 2, ubBytes: 66, budgetRule: "spec" } as const),
    };
    expect(judgeVerdicts(func, schedule, targets.ascend950)).toMatchObject({ legal: false, followed: 2 });
  });

  it("count the tiles of the residency that takes them all, where the smallest of each needs as much", () => {
    const func = pypto.indexSelect({ input: ["i32", [5]], index: ["i32", [5]], dim: 0, oob: "error" });
    const schedule: Schedule = { residency: "auto", buffers: { output: 2 }, ubBytes: 64 };
    expect(legalTiles(func, { ...schedule, target: targets.ascendA2 }).count).toBe(5);
    expect(judgeVerdicts(func, schedule, targets.ascendA2)).toMatchObject({ legal: true, counted: true });
  });

  it.each([
    ["a view that is short", { view: [32, 80], ubBytes: 1024 }, /plan for .*: --view 64,80 --ub-bytes \d+$/],
    ["a tile", { tile: [64, 80], ubBytes: 1024 }, /plan for .*: --tile 64,\d+ --ub-bytes \d+$/],
    ["neither", { ubBytes: 1024 }, /plan for a core with more UB: --ub-bytes \d+$/],
  ] as const)("name with %s a UB in which it is legal", (_, schedule, hint) => {
    const func = pypto.gather({ input: ["f32", [64, 80]], index: ["i32", [32, 80]], dim: 0 });
    const refused = tryCompile(func, { ...schedule, target: targets.ascendA2 });
    expect(refused.ok ? undefined : refused.diagnostics[0]?.hint).toMatch(hint);
    expect(judgeVerdicts(func, schedule, targets.ascendA2)).toMatchObject({ legal: false });
  });

  it("name another target only where it takes the program", () => {
    const [rows, row] = [2 ** 27, 16];
    const elements = onnx.gatherElements({ data: ["f32", [rows, row]], indices: ["i32", [4, row]], axis: 0 });
    const whole = onnx.gather({ data: ["f32", [rows, row]], indices: ["i32", [4]], axis: 0 });
    for (const [func, hint] of [
      [elements, "--target cpu"],
      [whole, "--target cpu, or --target ascend-a2 --residency gm"],
    ] as const) {
      const refused = tryCompile(func, { target: targets.webgpu });
      expect(refused.ok ? [] : refused.diagnostics.map((told) => told.hint)).toEqual([hint]);
      expect(judgeVerdicts(func, {}, targets.webgpu).followed).toBeGreaterThan(0);
    }
  });

  it("follow hints of lowerings: none in which no tile is legal is named", () => {
    const func = onnx.gatherElements({ data: ["f16", [39, 6]], indices: ["i32", [24, 6]], axis: 0 });
    const schedule = { cores: 7, ubBytes: 1408, residency: "auto", lowering: "direct" } as const;
    expect(judgeVerdicts(func, schedule, targets.ascend950)).toMatchObject({ legal: false });
  });

  it.each(["unwatched", "watched"])("mark in legal's list what compile chooses, %s", (how) => {
    const func = directml.gather({
      InputTensor: { DataType: "FLOAT32", Sizes: [1, 6, 40] },
      IndicesTensor: { DataType: "INT32", Sizes: [1, 1, 5] },
      Axis: 1,
      IndexDimensions: 1,
    });
    const options = { target: targets.ascendA2, order: [0, 2, 1] };
    let calls = 0;
    const watched = {
      ...options,
      onProgress() {
        calls++;
      },
    };
    const { tiles } = legalTiles(func, how === "watched" ? watched : options);
    expect(tiles.filter((listed) => listed.default).map(({ tile }) => tile)).toEqual([
      compile(func, options).access?.schedule.tile,
    ]);
    expect(calls > 0).toBe(how === "watched");
  });

  it("keep a view that is too short, and refuse it", () => {
    const func = pypto.gather({ input: ["f32", [64, 80]], index: ["i32", [32, 80]], dim: 0 });
    const options = { target: targets.ascendA2, view: [32, 80] };
    expect(tryCompile(func, options).ok).toBe(false);
    expect(explain(func, options).legal).toBe(false);
    expect(legalTiles(func, options)).toMatchObject({
      count: 0,
      proof: expect.stringContaining("view[0] = 32"),
    });
  });

  it("suggest tiles within the bytes that libraries leave alone, where there are such", () => {
    const func = onnx.gather({ data: ["f32", [64, 4096]], indices: ["i32", [64]], axis: 0 });
    const target = targets.ascendA2;
    const warned = (tile: readonly number[]): boolean => {
      const { diagnostics, footprint } = compile(func, { target, tile });
      expect(footprint!.bytes > target.ubSafeBytes).toBe(diagnostics.some(({ code }) => code === "TC905"));
      return footprint!.bytes > target.ubSafeBytes;
    };
    // Two tiles of 64 rows of f32, 256 B of indices and 64 B of scratch: 376 columns are legal, 360 safe.
    expect([warned([64, 376]), warned([64, 360])]).toEqual([true, false]);
    const refused = tryCompile(func, { target, tile: [64, 4096] });
    const suggested = refused.ok ? [] : refused.diagnostics.map(({ data }) => data?.["nearestTile"]);
    expect(suggested).toEqual([[64, 360]]);
    expect(explain(func, { target, tile: [64, 4096] }).nearest.map(({ tile }) => warned(tile))).toContain(
      false,
    );
  });

  it("name no tile and no profile where a tensor is larger than any buffer of the device", () => {
    // 2^30 indices of 4 B: 4 B more than 32 bits address.
    const func = pypto.gather({ input: ["f32", [64, 16]], index: ["i32", [2 ** 26, 16]], dim: 0 });
    for (const profile of ["strict", "head"] as const)
      for (const residency of ["ub", "gm"] as const) {
        const options = { profile, residency, tile: [4096, 16], target: targets.webgpu };
        const { legal, nearest, pages, infeasible } = explain(func, options);
        expect([legal, nearest, pages?.legal ?? false, pages?.nearest ?? []]).toEqual([false, [], false, []]);
        expect(infeasible).toMatchObject({
          arithmetic: expect.stringContaining("indices 4294967296 B > 4294967292 B"),
          waysOut: [],
          otherwise: "split the tensor, or --target cpu",
        });
      }
    expect(explain(func, { profile: "head", target: targets.cpu }).legal).toBe(true);
  });

  it("count the tiles of rows from global memory where auto takes them", () => {
    const func = onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 });
    for (const target of [targets.webgpu, targets.cpu]) {
      const found = legalTiles(func, { target });
      expect(found.count).toBe(4096 * 768);
      expect(tryCompile(func, { target }).ok).toBe(true);
    }
  });

  it("hold the written sum and the padded plan under the rule spec", () => {
    const func = onnx.gather({ data: ["u8", [8, 16]], indices: ["i32", [64]], axis: 0 });
    const open = { target: targets.ascendA2, budgetRule: "spec", ubBytes: 1500 } as const;
    const options = { ...open, tile: [64, 16] };
    const { legal, rules, footprint } = explain(func, options);
    expect(footprint.bytes).toBeLessThanOrEqual(1500);
    expect(footprint.planned).toBeGreaterThan(1500);
    expect(legal).toBe(false);
    expect(rules.map(({ rule, pass }) => [rule, pass])).toContainEqual(["ub-plan", false]);
    expect(tryCompile(func, options).ok).toBe(false);
    expect(tryCompile(func, open).ok).toBe(true);
  });

  it.each([{ view: [3] }, { view: [0, -3] }, { order: [5, 5] }, { cores: -4 }, { ubBytes: -1 }])(
    "of legal come after a look at the schedule: %o",
    (bad) => {
      const func = onnx.gather({ data: ["f32", [4, 8]], indices: ["i32", [6]], axis: 0 });
      expect(() => legalTiles(func, { target: targets.ascendA2, ...bad })).toThrow(CompileError);
    },
  );
});
