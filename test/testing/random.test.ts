import { describe, expect, it } from "vitest";
import { CompileError, inputOf, parseModule, type TensorType } from "../../ir/index.js";
import { compile, directml, fromHost, numpy, onnx, run, targets, type Kernel } from "../../src/index.js";
import { asHost } from "../../src/formats/tensor.js";
import { assertThat } from "../../src/testing/index.js";
import { simulateBytes } from "../../backends/sim/index.js";
import { randomData, randomIndices, randomInputs } from "../../src/testing/random.js";

const values = (type: TensorType, bytes: Uint8Array): number[] =>
  type.dtype === "i64"
    ? [...new BigInt64Array(bytes.buffer, 0, bytes.byteLength / 8)].map(Number)
    : [...new Int32Array(bytes.buffer, 0, bytes.byteLength / 4)];

const drawn = (kernel: Kernel, seed = 1): number[] => {
  const { type } = inputOf(kernel.tile, 1);
  return values(type, randomIndices(type, kernel.tile, seed).bytes);
};

const textKernel = (text: string): Kernel => {
  const { module, diagnostics } = parseModule(text, "t.tir");
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!);
};

describe("random indices", () => {
  it("stay below the extent of the dim that a tile program gathers along", () => {
    const kernel =
      textKernel(`func @g(%x: gm<2x50xf32>, %i: gm<2x200xi32>, %y: gm<2x200xf32>) target("webgpu") {
  gather %x[0, 0][2, 50], %i[0, 0][2, 200] to %y[0, 0][2, 200] (d0, d1) -> (d0, %i[d0, d1]) {oob = error, origin = [0, 0]}
}
`);
    expect(Math.min(...drawn(kernel))).toBe(0);
    expect(Math.max(...drawn(kernel))).toBe(49);
  });

  it("follow each component of a tuple, wherever it stands", () => {
    const last = compile(onnx.gatherNd({ data: ["f32", [3, 40]], indices: ["i64", [300, 2]] }), {
      target: targets.webgpu,
    });
    const tuples = drawn(last);
    expect(Math.max(...tuples.filter((_, k) => k % 2 === 0))).toBe(2);
    expect(Math.max(...tuples.filter((_, k) => k % 2 === 1))).toBe(39);

    const first = textKernel(`func @g(%x: gm<3x40xf32>, %i: gm<2x300xi32>, %y: gm<300xf32>) target("webgpu") {
  gather %x[0, 0][3, 40], %i[0, 0][2, 300] to %y[0][300] (d0) -> (%i[0, d0], %i[1, d0]) {oob = error, origin = [0, 0]}
}
`);
    const rows = drawn(first);
    expect(Math.max(...rows.slice(0, 300))).toBe(2);
    expect(Math.max(...rows.slice(300))).toBe(39);
  });

  it("stay below the smallest dim that reads the same component", () => {
    const kernel = textKernel(`func @g(%x: gm<3x40xf32>, %i: gm<300xi32>, %y: gm<300xf32>) target("webgpu") {
  gather %x[0, 0][3, 40], %i[0][300] to %y[0][300] (d0) -> (%i[d0], %i[d0]) {oob = error, origin = [0]}
}
`);
    expect(Math.max(...drawn(kernel))).toBe(2);
  });

  it("follow a tuple behind the leading ones that DirectML ignores", () => {
    const func = directml.gatherNd({
      InputTensor: { DataType: "FLOAT32", Sizes: [1, 1, 3, 40] },
      IndicesTensor: { DataType: "INT32", Sizes: [1, 1, 300, 2] },
      InputDimensionCount: 2,
      IndicesDimensionCount: 2,
    });
    const kernel = compile(func, { target: targets.webgpu });
    const { type } = inputOf(func, 1);
    const tuples = values(type, randomIndices(type, kernel.tile, 1).bytes);
    expect(Math.max(...tuples.filter((_, k) => k % 2 === 0))).toBe(2);
    expect(Math.max(...tuples.filter((_, k) => k % 2 === 1))).toBe(39);
  });

  it.each(["i8", "u8", "i16", "u16"] as const)(
    "are drawn for every element of %s, and never negative",
    (dtype) => {
      const kernel = compile(numpy.take({ a: ["f32", [300]], indices: [dtype, [4000]], axis: 0 }));
      const { type } = inputOf(kernel.tile, 1);
      const drawn = Array.from(fromHost(type, randomIndices(type, kernel.tile, 1).bytes) as Int8Array);
      expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
      expect(new Set(drawn.filter((_, k) => k % 4 !== 0)).size).toBeGreaterThan(100);
    },
  );

  it("are drawn of data that index values are read from", () => {
    const kernel = textKernel(`func @chase(%x: tensor<64xi32>) -> tensor<64xi32> {
  %y = access.gather %x (d0) -> (%x[d0]) {oob = error}
  return %y
}
`);
    const { output } = simulateBytes(kernel, randomInputs(kernel, 1));
    expect(Math.max(...new Int32Array(output.buffer))).toBeLessThan(64);
    assertThat(kernel).toMoveAtMost({ bytes: 32 * 256 + 256 });
  });

  it("are drawn below the extents of their own table where there are several", () => {
    const kernel =
      textKernel(`func @paged(%kv: tensor<4096x8xf32>, %bt: tensor<64xi32>, %t: tensor<500xi32>) -> tensor<500x8xf32> {
  %y = access.gather %kv, %bt, %t (d0, d1) let p = error(%t[d0] in 64) -> (%bt[p], d1) {oob = error}
  return %y
}
`);
    const { report } = simulateBytes(kernel, randomInputs(kernel, 1));
    assertThat(kernel).toMoveAtMost({ bytes: report.bytesRead + report.bytesWritten });
    expect(() => {
      assertThat(kernel).toMoveAtMost({ bytes: report.bytesRead + report.bytesWritten - 1 });
    }).toThrow("1 B more than");
  });

  it("are drawn for a program whose target only the caller knows", async () => {
    const named = { ...onnx.gather({ data: ["f32", [9, 2]], indices: ["i64", [50]] }), target: "my.json" };
    const kernel = compile(named, { findTarget: () => targets.cpu });
    const [data, indices] = [inputOf(kernel.tile, 0), inputOf(kernel.tile, 1)];
    const given = asHost("indices", randomIndices(indices.type, kernel.tile, 3));
    const { outputs } = await run(kernel, {
      data: randomData(data.type, 3).bytes,
      indices: given.bytes,
    });
    expect(outputs.output.length).toBe(100);
  });
});

describe("random data", () => {
  it("is the same for the same seed, and another for another", () => {
    const type: TensorType = { dtype: "u8", shape: [33] };
    expect(randomData(type, 5)).toEqual(randomData(type, 5));
    expect(randomData(type, 5)).not.toEqual(randomData(type, 6));
    expect(randomData(type, 5).bytes.byteLength).toBe(33);
  });

  it("has every byte value about as often, at every place of a word", () => {
    const { bytes } = randomData({ dtype: "f32", shape: [2 ** 16] }, 7);
    for (let place = 0; place < 4; place++) {
      const counts = new Array<number>(256).fill(0);
      for (let k = place; k < bytes.length; k += 4) counts[bytes[k]!]!++;
      const chiSquare = counts.reduce((sum, count) => sum + (count - 256) ** 2 / 256, 0);
      // 255 degrees of freedom: 330 is passed once in a thousand draws, 150 hardly ever undercut.
      expect(chiSquare).toBeGreaterThan(150);
      expect(chiSquare).toBeLessThan(330);
    }
  });

  it("is 0 or 1 for bool", () => {
    const { bytes } = randomData({ dtype: "bool", shape: [1001] }, 1);
    expect(new Set(bytes)).toEqual(new Set([0, 1]));
  });

  it.each([
    ["f32", "2147483647xf32 takes 8589934588 B, more than the 4294967296 B of one array"],
    ["string", "the data is 2147483647 strings; one array holds at most 16777216"],
  ] as const)("of %s that no array holds is a diagnostic", (dtype, says) => {
    const draw = (): unknown => randomData({ dtype, shape: [2 ** 31 - 1] }, 1);
    expect(draw).toThrow(CompileError);
    expect(draw).toThrow(`error[TC502]: ${says}`);
  });
});
