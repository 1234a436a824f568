/** Cores that share slabs of the data, loaded in one order or apart. */
import { describe, expect, it } from "vitest";
import {
  cyclesOf,
  estimatesOfTile,
  isResolved,
  parseModule,
  printModule,
  walkOf,
  type Schedule,
} from "../../ir/index.js";
import { withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { compile, onnx, targets } from "../../src/index.js";
import { simulate } from "../../backends/sim/index.js";

/** The factor as boards have it with L2 bypassed. */
const target = { ...targets.ascendA2, sameSlabFactor: 1.54 };
const columns = onnx.gather({ data: ["f32", [2048, 16]], indices: ["i32", [400_000]], axis: 0 });
/** Views of the indices are tasks, and all of them load the same slabs of the table. */
const schedule: Schedule = { residency: "ub", tile: [512, 8], view: [512, 16], order: [0, 1] };

const tileOf = (rotate: "on" | "off", own = target) =>
  compile(columns, { ...schedule, rotate, target: own }).tile;

/** The tiling of a schedule with every choice made. */
function accessTiling(full: Schedule) {
  if (!isResolved(full)) throw new Error("a compiled program has a schedule with every choice made");
  return withDefaults(accessOf(columns, { target })!, "ub", target).with(full);
}

describe("a rotation of tasks", () => {
  it("keeps the factor of shared slabs away, in the clock, its walk and the estimate", () => {
    const [off, on] = [tileOf("off"), tileOf("on")];
    expect(cyclesOf(off, target).memory).toBeGreaterThan(1.1 * cyclesOf(on, target).memory);
    for (const tile of [off, on]) {
      expect(walkOf(tile, target).memory).toBe(cyclesOf(tile, target).memory);
      const tiling = accessTiling(tile.schedule);
      const ratio = estimatesOfTile()(tiling) / cyclesOf(tile, target).cycles;
      expect(ratio).toBeGreaterThan(0.98);
      expect(ratio).toBeLessThan(1.02);
    }
  });

  it("changes no cycles where nobody knows better, and none of tasks that load slabs of their own", () => {
    const own = targets.ascendA2;
    expect(cyclesOf(tileOf("on", own), own).cycles).toBe(cyclesOf(tileOf("off", own), own).cycles);
    const rows = onnx.gather({ data: ["f32", [64, 4096]], indices: ["i32", [64]], axis: 1 });
    const alone = (rotate: "on" | "off") => compile(rows, { residency: "ub", tile: [1, 64], rotate, target });
    expect(cyclesOf(alone("on").tile, target).cycles).toBe(cyclesOf(alone("off").tile, target).cycles);
    expect(alone("on").diagnostics).toMatchObject([{ code: "TC913" }]);
    expect(alone("off").diagnostics).toEqual([]);
  });

  it("is printed and read back, and is a loop over the tasks of a core on Ascend alone", () => {
    const kernel = compile(columns, { ...schedule, rotate: "on", target });
    expect(kernel.text("tile")).toContain("rotate = on");
    const { module } = parseModule(kernel.text("tile"), "k.tir");
    expect(module.funcs[0]!.schedule.rotate).toBe("on");
    expect(printModule(module)).toBe(kernel.text("tile"));
    expect(kernel.pto().code).toContain("get_block_idx() + (run + get_block_idx()) % own *");
    expect(compile(columns, { ...schedule, rotate: "off", target }).pto().code).not.toContain("own");
    const onGpu = compile(columns, { rotate: "on", target: targets.webgpu });
    expect(onGpu.diagnostics.map(({ code }) => code)).toContain("TC913");
    expect(onGpu.wgsl().code).toBe(compile(columns, { target: targets.webgpu }).wgsl().code);
  });

  it("changes no bit", () => {
    const func = onnx.gather({ data: ["f32", [32, 16]], indices: ["i32", [96]], axis: 0 });
    const data = Float32Array.from({ length: 512 }, (_, k) => k);
    const indices = Int32Array.from({ length: 96 }, (_, k) => (k * 7) % 32);
    const bits = (rotate: "on" | "off") =>
      simulate(compile(func, { residency: "ub", tile: [8, 8], view: [8, 16], rotate, target }), {
        data,
        indices,
      });
    expect(bits("on").outputs).toEqual(bits("off").outputs);
  });
});
