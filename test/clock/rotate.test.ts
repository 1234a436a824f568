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
const columns = onnx.gather({ data: ["f32", [2048, 40]], indices: ["i32", [400_000]], axis: 0 });
/** Views of the indices are tasks, and each of them takes the table's five slabs in turn; 48 cores are no multiple of five. */
const schedule: Schedule = { residency: "ub", tile: [512, 8], view: [512, 40], order: [0, 1] };

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

  it("keeps the factor where the tasks of a core all load one slab, and says so", () => {
    const alike = { ...target, sameSlabFactor: 100 };
    const shape = { data: ["f32", [4096, 8]], axis: 0 } as const;
    const one = onnx.gather({ ...shape, indices: ["i32", [96]] });
    const plain = { residency: "ub", view: [2, 8], order: [0, 1], buffers: 1, cores: 48 } as const;
    const runs = (["off", "on"] as const).map((rotate) =>
      compile(one, { ...plain, tile: [2, 8], rotate, target: alike }),
    );
    const [off, on] = runs.map(({ tile }) => cyclesOf(tile, alike).cycles);
    expect(on).toBe(off);
    expect(on).toBeGreaterThan(100_000);
    expect(runs[1]!.diagnostics).toMatchObject([
      { code: "TC913", message: "rotate = on changes nothing: each core has at most one task" },
    ]);
  });

  it("changes no cycles of tasks that load slabs of their own in views", () => {
    const own = { ...target, sameSlabFactor: 1000 };
    const func = onnx.gather({ data: ["f32", [64, 48]], indices: ["i32", [48]], axis: 0 });
    const views = { residency: "ub", tile: [48, 8], view: [48, 16], order: [1, 0], buffers: 1 } as const;
    const [off, on] = (["off", "on"] as const).map((rotate) =>
      compile(func, { ...views, rotate, target: own }),
    );
    expect(cyclesOf(off!.tile, own).cycles).toBe(cyclesOf(on!.tile, own).cycles);
    expect(cyclesOf(off!.tile, own).cycles).toBeLessThan(20_000);
    expect(on!.diagnostics).toMatchObject([{ code: "TC913" }]);
  });

  it.each([
    { order: [0, 1], view: [8, 40] },
    { order: [1, 0], view: [8, 8] },
    { order: [1, 0], view: [8, 16] },
  ])("loses the factor exactly where a core's tasks load several slabs: %o", ({ order, view }) => {
    const own = { ...target, sameSlabFactor: 1000 };
    const func = onnx.gather({ data: ["f32", [64, 40]], indices: ["i32", [48]], axis: 0 });
    const views = [6, Math.ceil(40 / view[1]!)] as const;
    const inView = view[1]! / 8;
    /** Slabs of the tasks, in order: loops over views outside, then that over tiles of a view. */
    const slabs: number[] = [];
    const outer = order.map((d) => (d === 0 || view[1]! < 40 ? views[d]! : 1));
    for (let first = 0; first < outer[0]!; first++)
      for (let second = 0; second < outer[1]!; second++)
        for (let tile = 0; tile < inView; tile++)
          slabs.push((order[0] === 1 ? first : second) * inView + tile);
    for (let cores = 1; cores <= 32; cores++) {
      const expected = slabs.some((slab, task) => task >= cores && slab !== slabs[task - cores]);
      const [off, on] = (["off", "on"] as const).map((rotate) =>
        compile(func, { residency: "ub", tile: [8, 8], view, order, cores, buffers: 1, rotate, target: own }),
      );
      const memory = [off!, on!].map(({ tile }) => cyclesOf(tile, own).memory);
      expect([cores, memory[1]! < memory[0]!]).toEqual([cores, expected]);
      expect([cores, on!.diagnostics.some(({ code }) => code === "TC913")]).toEqual([cores, !expected]);
      expect(walkOf(on!.tile, own).memory).toBe(memory[1]);
    }
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
