import { describe, expect, it } from "vitest";
import {
  bytesOf,
  type Diagnostic,
  type DType,
  type Schedule,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import { onnx, targets, tryCompile } from "../../src/index.js";
import { neededBytes, type JudgedGather } from "../oracle/budget.js";

const error = (result: ReturnType<typeof tryCompile>): Diagnostic | undefined =>
  result.ok ? undefined : result.diagnostics.find((d) => d.severity === "error");

interface Trial {
  readonly name: string;
  readonly func: SourceFunc;
  readonly gather: Omit<JudgedGather, "elementBytes" | "indexBytes">;
  readonly tile: readonly number[];
}

const trials = (dtype: DType, index: DType): Trial[] => {
  const wide = index === "i64";
  return [
    {
      name: "gather of 96 rows of 70 by 50 indices, tile [9, 33]",
      func: onnx.gather({ data: [dtype, [96, 70]], indices: [index, [50]], axis: 0 }),
      gather: { op: "gather", axis: 0, batchDims: 0, dataShape: [96, 70], indexShape: [50] },
      tile: [9, 33],
    },
    {
      name: "gather along the last dim, tile [7, 5, 3]",
      func: onnx.gather({ data: [dtype, [20, 61]], indices: [index, [10, 6]], axis: 1 }),
      gather: { op: "gather", axis: 1, batchDims: 0, dataShape: [20, 61], indexShape: [10, 6] },
      tile: [7, 5, 3],
    },
    {
      name: "gather_elements along dim 1 with a shorter index, tile [5, 40, 9]",
      func: onnx.gatherElements({ data: [dtype, [12, 40, 17]], indices: [index, [11, 30, 16]], axis: 1 }),
      gather: {
        op: "gather_elements",
        axis: 1,
        batchDims: 0,
        dataShape: [12, 40, 17],
        indexShape: [11, 30, 16],
      },
      tile: [5, 40, 9],
    },
    ...(wide
      ? [
          {
            name: "gather_nd of pairs with one batch dim, tile [1, 6, 5]",
            func: onnx.gatherNd({ data: [dtype, [3, 8, 9, 13]], indices: [index, [3, 20, 2]], batchDims: 1 }),
            gather: {
              op: "gather_nd",
              axis: 0,
              batchDims: 1,
              dataShape: [3, 8, 9, 13],
              indexShape: [3, 20, 2],
            },
            tile: [1, 6, 5],
          } as const,
        ]
      : []),
  ];
};

const chips: readonly Target[] = [targets.ascendA2, targets.ascend950, targets.webgpu];
const kinds = (["i8", "f16", "f32", "f64", "c128"] as const).flatMap((dtype) =>
  (["i32", "i64"] as const).map((index) => [dtype, index] as const),
);

describe("a budget in bytes", () => {
  it.each(kinds)(
    "is met exactly and missed by one byte: %s by %s, every operator and target",
    (dtype, index) => {
      for (const { name, func, gather, tile } of trials(dtype, index)) {
        const judged = { ...gather, elementBytes: bytesOf(dtype), indexBytes: bytesOf(index) };
        for (const target of chips) {
          for (const buffers of [1, 2] as const) {
            const bytes = neededBytes(
              judged,
              { tile, profile: "strict", residency: "ub", buffers },
              target.kind,
            );
            const schedule: Schedule = { tile, buffers, residency: "ub" };
            const met = tryCompile(func, { ...schedule, target, ubBytes: bytes });
            const taken = met.ok ? met.kernel.footprint!.bytes : undefined;
            // On an Ascend core what the instructions add takes the place of the scratch.
            expect([name, target.name, target.kind === "ascend" ? taken! <= bytes : taken]).toEqual([
              name,
              target.name,
              target.kind === "ascend" ? true : bytes,
            ]);
            const missed = tryCompile(func, { ...schedule, target, ubBytes: bytes - 1 });
            expect([name, error(missed)?.data?.["bytes"] ?? error(missed)?.code]).toEqual([
              name,
              error(missed)?.code === "TC402" ? "TC402" : bytes,
            ]);
            expect(missed.ok).toBe(false);
          }
        }
      }
    },
  );
});

describe("the tile entry along each dim", () => {
  /** One more element along a dim, at a budget that fits the smaller tile exactly. */
  it("grows to the largest that fits and no further", () => {
    const gather = { op: "gather_elements", axis: 0, batchDims: 0, elementBytes: 4, indexBytes: 4 } as const;
    const judged = { ...gather, dataShape: [16, 100], indexShape: [16, 100] };
    const func = onnx.gatherElements({ data: ["f32", [16, 100]], indices: ["i32", [16, 100]], axis: 0 });
    const bytes = (columns: number) =>
      neededBytes(judged, { tile: [16, columns], profile: "strict", residency: "ub", buffers: 1 }, "ascend");
    // 8 columns of f32 fill a block: 9 to 16 columns take the same bytes, 17 a block a row more, in all three tiles.
    expect([8, 9, 16, 17].map(bytes)).toEqual([1600, 3200, 3200, 4800]);
    for (const [columns, legal] of [
      [8, true],
      [9, true],
      [16, true],
      [17, false],
    ] as const) {
      const result = tryCompile(func, { target: targets.ascendA2, tile: [16, columns], ubBytes: 3200 });
      expect([columns, result.ok]).toEqual([columns, legal]);
    }
    const refused = error(tryCompile(func, { target: targets.ascendA2, tile: [16, 17], ubBytes: 3200 }));
    expect(refused).toMatchObject({
      code: "TC401",
      data: { nearestTile: [16, 16], bytes: 4800, budget: 3200 },
    });
  });

  it.each([
    { tile: 19, tasks: 2 },
    { tile: 20, tasks: 1 },
    { tile: 21, tasks: 1 },
  ])("of an extent of 20 may be $tile: $tasks tiles", ({ tile, tasks }) => {
    const func = onnx.gather({ data: ["f32", [5, 20]], indices: ["i32", [6]], axis: 0 });
    const result = tryCompile(func, { target: targets.ascendA2, tile: [6, tile] });
    if (!result.ok) throw new Error("a free dim takes any tile");
    const text = result.kernel.text("tile");
    expect(text.match(/\bfor %t1 /g)?.length ?? 0).toBe(tasks - 1);
    expect(result.kernel.diagnostics.some((d) => d.code === "TC906")).toBe(tile > 20);
  });

  it("keeps the gather dim whole when the output tile cuts it", () => {
    const func = onnx.gatherElements({ data: ["f32", [64, 8]], indices: ["i32", [64, 8]], axis: 0 });
    const result = tryCompile(func, { target: targets.ascendA2, tile: [10, 8], profile: "head" });
    expect(result.ok && result.kernel.access?.tiles).toEqual([
      [64, 8],
      [10, 8],
    ]);
    expect(error(tryCompile(func, { target: targets.ascendA2, tile: [10, 8] }))?.code).toBe("TC301");
  });
});

describe("the longest gather dim of f32 by i32 with 8 of 16 columns", () => {
  const strict = (rows: number, target: Target, options: Schedule = {}) =>
    tryCompile(onnx.gatherElements({ data: ["f32", [rows, 16]], indices: ["i32", [rows, 16]], axis: 0 }), {
      target,
      tile: [rows, 8],
      ...options,
    });

  // (budget - 64 B of scratch) / (3 tiles of 32 B a row, times the buffers)
  it.each([
    { target: targets.ascendA2, buffers: 1, rows: 2047 },
    { target: targets.ascendA2, buffers: 2, rows: 1023 },
    { target: targets.ascend950, buffers: 1, rows: 2644 },
    { target: targets.ascend950, buffers: 2, rows: 1322 },
  ] as const)("is $rows on $target.name with $buffers buffers a tile", ({ target, buffers, rows }) => {
    expect(Math.floor((target.ubBytes - 64) / (3 * 32 * buffers))).toBe(rows);
    expect(strict(rows, target, { buffers }).ok).toBe(true);
    expect(strict(rows + 1, target, { buffers }).ok).toBe(false);
  });

  it("is that of one buffer where the tile is all there is, whatever buffers says", () => {
    const whole = (rows: number) =>
      tryCompile(onnx.gatherElements({ data: ["f32", [rows, 8]], indices: ["i32", [rows, 8]], axis: 0 }), {
        target: targets.ascendA2,
        tile: [rows, 8],
        buffers: 2,
      });
    expect(whole(2047).ok).toBe(true);
    expect(whole(2048).ok).toBe(false);
  });
});
