/** The residency of a program that states none: judged by the target's default, chosen by the clock where that is legal. */
import { describe, expect, it } from "vitest";
import { cyclesOf } from "../../ir/index.js";
import { compile, onnx, pypto, targets, tryCompile, type Kernel } from "../../src/index.js";
import { parsed } from "../support/parsed.js";

const ascend = [targets.ascendA2, targets.ascend950] as const;

const rows = onnx.gather({ data: ["f32", [1024, 4096]], indices: ["i32", [16384]], axis: 0 });
const few = onnx.gather({ data: ["f32", [2000, 64]], indices: ["i32", [64]], axis: 0 });
const columns = onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 });
const elements = pypto.gather({ input: ["f32", [64, 80]], index: ["i32", [32, 64]], dim: 0 });

const paged = parsed(`
func @paged(%kv: tensor<2048x64xf32>, %t: tensor<4096xi32>, %bt: tensor<1024xi32>) -> tensor<4096x64xf32> {
  %output = access.gather %kv, %t, %bt (d0, d1) -> (%bt[%t[d0]], d1) {oob = error}
  return %output
}`);
const symbolic = parsed(`
dim N <= 4096
func @rows(%e: tensor<1024x512xf32>, %i: tensor<Nxi32>) -> tensor<Nx512xf32> {
  %output = access.gather %e, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %output
}`);
const quantized = onnx.gatherBlockQuantized({
  data: ["u8", [512, 64]],
  indices: ["i32", [1024]],
  scales: ["f32", [512, 8]],
  blockSize: 16,
  gatherAxis: 0,
  quantizeAxis: 1,
});

const kv = parsed(`
func @kv(%x: inout tensor<4096x64xf16>, %i: tensor<8xi64>, %u: tensor<8x64xf16>) -> tensor<4096x64xf16> {
  %y = access.scatter %x, %i, %u (d0 < 8, d1 < 64) -> (%i[d0], d1) yield %u[d0, d1] {oob = skip, duplicates = last}
  return %y
}`);
const square = ["f32", [1024, 1024]] as const;
const scatterElements = (axis: number, reduction: "none" | "add") =>
  onnx.scatterElements({ data: square, indices: ["i64", [1024, 1024]], updates: square, axis, reduction });
const moved = pypto.scatterInPlace({
  input: ["f32", [64, 80]],
  index: ["i32", [32, 64]],
  src: ["f32", [32, 64]],
  dim: 0,
});
const updated = pypto.scatterUpdate({
  input: ["f16", [4096, 64]],
  index: ["i64", [2, 4]],
  src: ["f16", [8, 64]],
});

const residencyOf = ({ tile }: Kernel) => tile.schedule.residency;
const cycles = ({ tile, target }: Kernel): number => cyclesOf(tile, target).cycles;

describe("a program without a residency", () => {
  it.each([
    ["rows", rows],
    ["columns", columns],
    ["elements of PyPTO", elements],
    ["a table of pages", paged],
    ["an open size", symbolic],
    ["a quantized table", quantized],
    ["rows that are written", kv],
    ["elements that are written along dim 0", scatterElements(0, "none")],
    ["elements that are written along dim 1", scatterElements(1, "none")],
    ["elements that are added", scatterElements(0, "add")],
    ["tuples", onnx.gatherNd({ data: ["f16", [300, 4, 50]], indices: ["i64", [5000, 1]] })],
  ])("takes as few cycles as auto does: %s", (_, func) => {
    for (const target of ascend) {
      const [own, auto] = [compile(func, { target }), compile(func, { target, residency: "auto" })];
      expect(cycles(own)).toBe(cycles(auto));
    }
  });

  it("leaves rows of a table that fits L2 in global memory, and says so", () => {
    const kernel = compile(rows, { target: targets.ascendA2 });
    expect(residencyOf(kernel)).toBe("gm");
    const [said, ...others] = kernel.diagnostics;
    expect(others).toEqual([]);
    const full = compile(rows, { target: targets.ascendA2, residency: "ub" });
    expect(cycles(full)).toBeGreaterThan(2 * cycles(kernel));
    expect(said).toMatchObject({ code: "TC907", severity: "hint" });
    const against =
      /estimated ([\d,]+) cycles; ub, the default of ascend-a2: (?:lower bound|estimated) ([\d,]+) cycles$/;
    const [, own, other] = against.exec(said!.message)!.map((text) => Number(text.replaceAll(",", "")));
    expect(own).toBe(cycles(kernel));
    expect(other).toBeGreaterThan(own!);
    expect(other).toBeLessThanOrEqual(cycles(full));
  });

  it("writes points to global memory where that is faster, and says so", () => {
    for (const func of [kv, scatterElements(0, "none"), scatterElements(1, "none")]) {
      const kernel = compile(func, { target: targets.ascendA2 });
      expect(residencyOf(kernel)).toBe("gm");
      expect(cycles(compile(func, { target: targets.ascendA2, residency: "ub" }))).toBeGreaterThan(
        cycles(kernel),
      );
      const said = kernel.diagnostics.filter(({ code }) => code === "TC907").map(({ message }) => message);
      expect(said).toEqual([
        expect.stringMatching(
          /^residency gm, estimated [\d,]+ cycles; ub, the default of ascend-a2: .* [\d,]+ cycles$/,
        ),
      ]);
    }
  });

  it("adds in the unified buffer, and writes where PyPTO's operator does", () => {
    expect(residencyOf(compile(scatterElements(0, "add"), { target: targets.ascendA2 }))).toBe("ub");
    expect(residencyOf(compile(updated, { target: targets.ascendA2 }))).toBe("gm");
    const held = compile(moved, { target: targets.ascendA2 });
    expect(residencyOf(held)).toBe("ub");
    expect(cycles(compile(moved, { target: targets.ascendA2, residency: "gm" }))).toBeLessThan(cycles(held));
    expect(held.diagnostics).toEqual([]);
  });

  it("says nothing where the full load is the fastest", () => {
    const kernel = compile(columns, { target: targets.ascendA2 });
    expect(residencyOf(kernel)).toBe("ub");
    expect(kernel.diagnostics).toEqual([]);
  });

  it.each([
    ["tile", { tile: [8, 16] }],
    ["view", { view: [64, 16] }],
    ["profile", { profile: "strict" }],
    ["lowering", { lowering: "row-copy" }],
    ["rotate", { rotate: "on" }],
  ] as const)("is judged by the full load where a %s is typed", (_, schedule) => {
    expect(residencyOf(compile(few, { target: targets.ascendA2 }))).toBe("gm");
    expect(residencyOf(compile({ ...few, schedule }, { target: targets.ascendA2 }))).toBe("ub");
  });

  it("is refused where no full load is legal: gm is no silent fallback", () => {
    const func = onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 });
    for (const target of ascend) {
      const result = tryCompile(func, { target });
      expect(result.ok).toBe(false);
      expect(!result.ok && result.diagnostics.map(({ code }) => code)).toEqual(["TC402"]);
    }
  });
});
