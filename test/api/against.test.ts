import { describe, expect, it } from "vitest";
import { parseModule, type TileFunc } from "../../ir/index.js";
import { definedOutput, differenceFrom } from "../../src/api/against.js";
import { differencesBetween } from "../../src/formats/tensor.js";
import { CompileError, onnx, targets } from "../../src/index.js";

/** One element picked out of five, in tensors of two dims. */
const [tile] = parseModule(
  `func @one(%x: gm<1x5xi16>, %i: gm<1x1xi32>, %y: gm<1x1xi16>) target("cpu") {
    gather %x[0, 0][1, 5], %i[0, 0][1, 1] to %y[0, 0][1, 1] (d0, d1) -> (d0, %i[d0, d1]) {oob = error, origin = [0, 0]}
  }`,
  "one.tir",
).module.funcs as readonly [TileFunc];
const inputs = {
  data: { type: tile.operands[0]!.type, bytes: new Uint8Array(Int16Array.of(10, 11, 12, 13, 14).buffer) },
  indices: { type: tile.operands[1]!.type, bytes: new Uint8Array(Int32Array.of(3).buffer) },
};

describe("a tile program's definition", () => {
  it.each([
    ["a scalar index", onnx.gather({ data: ["i16", [5]], indices: ["i32", []], axis: 0 })],
    ["one index", onnx.gather({ data: ["i16", [5]], indices: ["i32", [1]], axis: 0 })],
    ["ones alone", onnx.gatherElements({ data: ["i16", [1, 5]], indices: ["i32", [1, 1]], axis: 1 })],
  ])("may lack ones in front: %s", (_what, definition) => {
    expect(definedOutput(definition, tile, inputs)).toEqual(new Uint8Array(Int16Array.of(13).buffer));
  });

  it("has its elements", () => {
    const other = onnx.gather({ data: ["i16", [5]], indices: ["i32", [2]], axis: 0 });
    expect(() => definedOutput(other, tile, inputs)).toThrow(CompileError);
  });
});

describe("a difference", () => {
  it("is counted in elements, and the first one named with what wrote it", () => {
    const [wide] = parseModule(
      `func @wide(%x: gm<5xi16>, %i: gm<4xi32>, %y: gm<4xi16>) target("cpu") {
        for %t = 0 to 4 step 2 parallel {
          gather %x[0][5], %i[%t][2] to %y[%t][2] (d0) -> (%i[d0]) {oob = error, origin = [%t]}
        }
      }`,
      "wide.tir",
    ).module.funcs as readonly [TileFunc];
    const type = { dtype: "i16", shape: [4] } as const;
    const value = (...values: number[]) => ({ type, bytes: new Uint8Array(Int16Array.from(values).buffer) });
    const at = Int32Array.of(4, 3, 2, 1);
    const given = {
      data: { type: wide.operands[0]!.type, bytes: new Uint8Array(10) },
      indices: { type: wide.operands[1]!.type, bytes: new Uint8Array(at.buffer) },
    };
    const ran = { tile: wide, target: targets.cpu, inputs: given, backend: "sim" } as const;
    expect(differenceFrom(ran, value(1, 2, 3, 4), value(1, 2, 3, 4), "mine")).toBeUndefined();
    expect(differenceFrom(ran, value(1, 2, 3, 4), value(1, 2, 259, 5), "mine")).toMatchObject({
      code: "TC610",
      message: "mine: 2 of 4 elements differ; first at [2]: got 259, expected 3",
      data: { element: 2, count: 2 },
      notes: [
        "indices[2] = 2",
        "produced by tile [2] of task 1 on core 1",
        expect.stringContaining("%t = 2"),
      ],
    });
  });

  it("of strings is one of their words", () => {
    const type = { dtype: "string", shape: [3] } as const;
    const words = (...strings: string[]) => ({ type, bytes: new Uint8Array(), strings });
    expect(differencesBetween(words("a", "b", "c"), words("a", "b", "c"))).toBeUndefined();
    expect(differencesBetween(words("a", "b", "c"), words("a", "x", "y"))).toEqual({ first: 1, count: 2 });
  });
});
