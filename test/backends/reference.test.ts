import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import {
  dim,
  RunError,
  index,
  taskOfTile,
  type Operand,
  type OutOfBounds,
  gatherOver,
  readData,
  type Linear,
} from "../../ir/index.js";
import { parsedTile } from "../support/parsed.js";

const bytes = (...values: number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const data = {
  type: { dtype: "u8", shape: [2, 3] },
  bytes: Uint8Array.from([10, 11, 12, 20, 21, 22]),
} as const;

describe("the definition that an access map states", () => {
  const run = (map: string, oob: OutOfBounds, ...indices: number[]): number[] => {
    const text = `func @g(%x: gm<2x3xu8>, %i: gm<3xi32>, %y: gm<3xu8>) target("cpu") {
  gather %x[0, 0][2, 3], %i[0][3] to %y[0][3] ${map} {oob = ${oob}, origin = [0]}
}`;
    const tile = parsedTile(text);
    const inputs = {
      data,
      indices: { type: { dtype: "i32", shape: [3] }, bytes: bytes(...indices) },
    } as const;
    return [...referenceOfMap(taskOfTile(tile).gather!.stmt.map, tile.operands, inputs)];
  };

  it("takes each coordinate from where the map says", () => {
    // y[d] = x[i[d], d]
    expect(run("(d0) -> (%i[d0], d0)", "error", 1, 0, 1)).toEqual([20, 11, 22]);
    // y[d] = x[i[d], i[d]]
    expect(run("(d0) -> (%i[d0], %i[d0])", "error", 1, 0, 1)).toEqual([21, 10, 21]);
  });

  it("counts from the end, and gives zero bits, where the map says so", () => {
    expect(run("(d0) -> (from_end(%i[d0]), d0)", "zero", -1, -2, 2)).toEqual([20, 11, 0]);
    expect(run("(d0) -> (%i[d0], d0)", "wrap", -1, 3, 4)).toEqual([20, 21, 12]);
    expect(run("(d0) -> (%i[d0], d0)", "clamp", -9, 0, 9)).toEqual([10, 11, 22]);
  });

  it("rejects the first output element whose index is out of range", () => {
    try {
      run("(d0) -> (%i[d0], d0)", "error", 1, 2, -1);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(RunError);
      expect((thrown as RunError).diagnostics[0]).toMatchObject({
        code: "TC601",
        data: { position: 1, value: "2", axis: 0, extent: 2, point: [1] },
      });
      return;
    }
    throw new Error("the index was not rejected");
  });

  it("resolves an index that picks another one first", () => {
    // y[d] = x[i[j[d]]], 2 elements; an inner value without an element ends its element.
    const operands: readonly Operand[] = [
      { name: "x", role: "data", type: { dtype: "u8", shape: [4] } },
      { name: "j", role: "indices", type: { dtype: "i32", shape: [3] } },
      { name: "y", role: "output", type: { dtype: "u8", shape: [3] } },
    ];
    const at = (coord: Linear) => ({ table: 1, at: [coord] });
    const map = gatherOver([3], 2, {
      indices: [
        { value: at(dim(0)), outOfRange: "zero", extent: 3 },
        { value: at(index(0)), outOfRange: "zero", extent: 4 },
      ],
      ...readData([index(1)]),
    });
    const inputs = {
      data: { type: operands[0]!.type, bytes: Uint8Array.from([5, 6, 7, 8]) },
      indices: { type: operands[1]!.type, bytes: bytes(1, 2, 3) },
    };
    // j = [1, 2, 3]: y[0] = x[j[1]] = x[2], y[1] = x[j[2]] = x[3], and j has no element 3.
    expect([...referenceOfMap(map, operands, inputs)]).toEqual([7, 8, 0]);
  });
});
