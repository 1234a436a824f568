/** Workgroup memory on a GPU: what it costs decides where the data of a gather are read, and how large a slab is. */
import { describe, expect, it } from "vitest";
import { targetOf } from "../../backends/webgpu/target.js";
import { idleFactor, laneShare } from "../../ir/clock/workgroup-memory.js";
import { gpuFigureNames } from "../../ir/gpu-figures.js";
import { deviceClassOf, defaultLimits, outputOf, targets, type Func, type Target } from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";

const { webgpu } = targets;
/** Columns of [4096, 1024], which bench:webgpu calls W3. */
const columns = onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 });
const elements = (rows: number, columns: number): Func =>
  onnx.gatherElements({
    data: ["f32", [rows, columns]],
    indices: ["i32", [rows, columns]],
    axis: 1,
  });

const residencyOf = (func: Func, target: Target): unknown => {
  const { tile } = compile(func, { target });
  expect(outputOf(tile).type.shape.length).toBe(2);
  return tile.schedule.residency;
};

describe("lanes in flight", () => {
  it("are those whose workgroup memory a core holds", () => {
    // 64 lanes, of 16 elements each, share 16 KiB: 256 B for a lane where a full core has 32.
    expect(laneShare(16384, [4, 256], webgpu)).toBe(32 / 256);
    expect(laneShare(8192, [2, 1024], webgpu)).toBe(1 / 2);
    expect(laneShare(0, [2, 1024], webgpu)).toBe(1);
    expect(laneShare(16384, [4, 256], targets.ascendA2)).toBe(1);
  });

  it("leave memory idle below the share that hides what they wait for", () => {
    expect(idleFactor(16384, [4, 256], webgpu)).toBe(4);
    expect(idleFactor(8192, [2, 1024], webgpu)).toBe(1);
  });
});

describe("where data are read on a GPU", () => {
  it("is global memory where a slab would leave few lanes in flight", () => {
    expect(residencyOf(columns, webgpu)).toBe("gm");
    expect(residencyOf(elements(900, 300), webgpu)).toBe("gm");
    // A device with more workgroup memory gets no larger slab for it.
    const large = targetOf({ ...defaultLimits, maxComputeWorkgroupStorageSize: 65536 });
    expect(residencyOf(columns, large)).toBe("gm");
    expect(residencyOf(elements(4096, 1024), large)).toBe(residencyOf(elements(4096, 1024), webgpu));
  });

  it("is a slab of 8 KiB where half of the lanes are in flight with it", () => {
    const { tile } = compile(elements(4096, 1024), { target: webgpu });
    expect(tile.schedule).toMatchObject({ residency: "ub", tile: [2, 1024] });
  });

  it("hangs on the figures: with as much memory for each lane, columns are staged", () => {
    expect(residencyOf(columns, { ...webgpu, laneStorageBytes: 256 })).toBe("ub");
    expect(residencyOf(columns, { ...webgpu, laneStorageBytes: 256, clearBytesPerCycle: 1 })).toBe("gm");
  });

  it("has a range for each figure, and a class of devices", () => {
    for (const figure of gpuFigureNames) {
      const { range, kind } = webgpu.sources[figure];
      expect(kind).toBe("assumption");
      expect(range?.[0]).toBeLessThan(webgpu[figure]);
      expect(range?.[1]).toBeGreaterThan(webgpu[figure]);
    }
    expect(deviceClassOf(webgpu)).toBe("gpu");
    expect(deviceClassOf(targetOf(defaultLimits, true))).toBe("software");
  });
});

describe("an adapter in software", () => {
  it("does not know these figures", () => {
    const software = targetOf(defaultLimits, true);
    expect(idleFactor(16384, [4, 256], software)).toBe(1);
  });
});
