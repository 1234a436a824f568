import { expect, it } from "vitest";
import { clockVersion, cyclesOf } from "../../ir/index.js";
import { compile, gatherElements, onnx, pypto, targets } from "../../src/index.js";

/** Kernels of every class of gather and every kind of machine: what a change of the clock is likely to move. */
const kernels = [
  compile(gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 }), {
    tile: [64, 32],
    buffers: 1,
  }),
  compile(gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0, oob: "clamp" }), {
    tile: [64, 16],
    buffers: 1,
  }),
  compile(onnx.gather({ data: ["f16", [512, 96]], indices: ["i64", [300]], axis: 0 }), {
    residency: "gm",
    tile: [16, 96],
  }),
  compile(pypto.gather({ input: ["f32", [64, 80]], index: ["i32", [64, 64]], dim: 1 }), {
    target: targets.ascend950,
    profile: "head",
    tile: [8, 64],
    buffers: 1,
  }),
  compile(gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 }), {
    target: targets.cpu,
    tile: [64, 16],
  }),
  compile(onnx.gather({ data: ["f32", [4096, 64]], indices: ["i32", [1000]], axis: 0 }), {
    target: targets.webgpu,
    tile: [4, 64],
  }),
];

it("a clock that gives other cycles has another version: raise clockVersion, then -u", () => {
  const cycles = kernels.map(({ tile, target }) => `${target.name} ${cyclesOf(tile, target).cycles}`);
  expect({ clockVersion, cycles }).toMatchInlineSnapshot(`
    {
      "clockVersion": 5,
      "cycles": [
        "ascend-a2 3244",
        "ascend-a2 2342",
        "ascend-a2 1287",
        "ascend-950 1536",
        "cpu 3695",
        "webgpu 892",
      ],
    }
  `);
});
