/** WGSL to read in review: one file a form of kernel, validated by Dawn. `vitest -u` writes them anew. */
import { describe, expect, it } from "vitest";
import { defaultLimits, emitWgsl, targetOf } from "../../backends/webgpu/index.js";
import {
  targets,
  type Func,
  type Schedule,
  type Sizes,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";
import { program } from "../../src/api/program.js";
import { requireGpu } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";

const elements = (
  dtype: "u8" | "f16" | "f32" | "f64" | "c128",
  index: "i32" | "i64",
  oob: string,
): SourceFunc =>
  program({
    op: "onnx.gather_elements",
    attrs: { axis: 1, oob },
    data: { dtype, shape: [6, 64] },
    indices: { dtype: index, shape: [6, 64] },
  });

const openRows = parsed(`dim V <= 500
dim N <= 4096
func @rows(%data: tensor<Vx64xf32>, %indices: tensor<Nxi32>) -> tensor<Nx64xf32> {
  %output = access.gather %data, %indices (d0, d1) -> (from_end(%indices[d0]), d1) {oob = error}
  return %output
}
`);

const pagedRows =
  parsed(`func @paged(%data: tensor<8x16x64xf16>, %x: tensor<50xi32>, %indices: tensor<5xi32>) -> tensor<50x64xf16> {
  %output = access.gather %data, %x, %indices (d0, d1) let t = fill(%x[d0] in 80) -> (%indices[t div 16], t mod 16, d1) {oob = error}
  return %output
}
`);

const pagesInOrder =
  parsed(`func @pages(%data: tensor<8x16x64xf16>, %indices: tensor<8xi32>) -> tensor<120x64xf16> {
  %output = access.gather %data, %indices (d0, d1) -> (%indices[d0 div 16], d0 mod 16, d1) {oob = error}
  return %output
}
`);

const software = targetOf(defaultLimits, true);

const goldens: Readonly<Record<string, readonly [Func, Schedule, Sizes?, Target?]>> = {
  "rows-f32": [onnx.gather({ data: ["f32", [9, 64]], indices: ["i32", [50]], axis: 0 }), {}],
  "elements-f32": [elements("f32", "i32", "error"), {}],
  "elements-f16-i64": [elements("f16", "i64", "error"), {}],
  "elements-u8-zero": [elements("u8", "i32", "zero"), {}],
  "elements-f64-clamp": [elements("f64", "i32", "clamp"), {}],
  "elements-c128-wrap": [elements("c128", "i64", "wrap"), {}],
  "shared-indices": [onnx.gather({ data: ["f32", [32, 64]], indices: ["i32", [16]], axis: 1 }), {}],
  tuples: [onnx.gatherNd({ data: ["f32", [6, 7, 16]], indices: ["i64", [20, 2]] }), {}],
  "odd-rows-f32": [onnx.gather({ data: ["f32", [9, 7]], indices: ["i32", [10]], axis: 0 }), {}],
  "odd-rows-u8": [onnx.gather({ data: ["u8", [9, 7]], indices: ["i32", [10]], axis: 0 }), {}],
  "open-rows-f32": [openRows, { residency: "gm" }, { V: 9, N: 50 }],
  "paged-rows-f16": [pagedRows, {}],
  "pages-in-software": [pagesInOrder, { tile: [64, 64] }, {}, software],
  "rows-in-software": [
    onnx.gather({ data: ["f32", [9, 64]], indices: ["i32", [50]], axis: 0 }),
    { tile: [16, 64] },
    {},
    software,
  ],
  "staged-f32": [elements("f32", "i32", "error"), { residency: "ub", tile: [2, 64] }],
};

describe.each(Object.entries(goldens))(
  "%s",
  (name, [func, schedule, sizes = {}, target = targets.webgpu]) => {
    const { code } = emitWgsl(compile(func, { ...schedule, target }).bind(sizes).tile, { target });

    it("is as reviewed", async () => {
      await expect(code).toMatchFileSnapshot(`goldens/${name}.wgsl`);
      expect(code.split("\n").length).toBeLessThan(80);
    });

    it("is valid WGSL", async (context) => {
      const gpu = await requireGpu();
      if (gpu === undefined) {
        context.skip();
        return;
      }
      const info = await gpu.device.createShaderModule({ code }).getCompilationInfo();
      expect(info.messages.map((message) => message.message)).toEqual([]);
    });
  },
);
