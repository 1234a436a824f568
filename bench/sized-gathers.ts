/**
 * Gathers of the sizes at which schedules differ, the same ones in every run: from rows of a few bytes to
 * outputs of millions of elements.
 */
import { elementCount, outputOf, type DType, type SourceFunc } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import { onnx, pypto } from "../src/index.js";

const policies = ["error", "clamp", "zero", "wrap"] as const;
const dtypes: readonly DType[] = ["f32", "f16", "f32", "i8", "i64"];

/** Returns `count` gathers of random sizes that the seed determines. Each output has 500 to 2^23 elements. */
export function sizedGathers(count: number, seed: number): SourceFunc[] {
  const draw = lcg(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(draw() * of.length)]!;
  /** Returns a random extent, uniform in its logarithm. Every third one on average is a power of two. */
  const extent = (most: number): number => {
    const log = draw() * Math.log2(most);
    return Math.round(2 ** (draw() < 1 / 3 ? Math.round(log) : log));
  };
  const one = (): SourceFunc => {
    const [dtype, oob] = [pick(dtypes), pick(policies)];
    const indexType = pick(["i32", "i32", "i64"] as const);
    switch (pick(["rows", "middle", "columns", "elements", "deep elements", "tuples", "pypto"] as const)) {
      case "rows":
        return onnx.gather({
          data: [dtype, [extent(30_000), extent(2_000)]],
          indices: [indexType, draw() < 0.3 ? [extent(50), extent(500)] : [extent(20_000)]],
          axis: 0,
          oob,
        });
      case "middle":
        return onnx.gather({
          data: [dtype, [extent(150), extent(1_000), extent(300)]],
          indices: [indexType, [extent(1_000)]],
          axis: 1,
          oob,
        });
      case "columns":
        return onnx.gather({
          data: [dtype, [extent(3_000), extent(2_000)]],
          indices: [indexType, [extent(1_000)]],
          axis: 1,
          oob,
        });
      case "elements": {
        const [rows, columns, axis] = [extent(4_000), extent(4_000), pick([0, 1])];
        const indices = axis === 0 ? [extent(4_000), columns] : [rows, extent(4_000)];
        return onnx.gatherElements({
          data: [dtype, [rows, columns]],
          indices: [indexType, indices],
          axis,
          oob,
        });
      }
      case "deep elements": {
        const [data, axis] = [[extent(60), extent(200), extent(200)], pick([0, 1, 2])];
        const indices = data.map((size, d) => (d === axis ? extent(200) : size));
        return onnx.gatherElements({ data: [dtype, data], indices: [indexType, indices], axis, oob });
      }
      case "tuples":
        return onnx.gatherNd({
          data: [dtype, [extent(200), extent(200), extent(200)]],
          indices: ["i64", [extent(10_000), pick([1, 2, 3])]],
          oob,
        });
      case "pypto": {
        const [rows, columns, dim] = [extent(1_000), extent(3_000), pick([0, 1])];
        const index = dim === 0 ? [extent(rows), columns] : [rows, extent(columns)];
        return pypto.gather({ input: ["f32", [rows, columns]], index: ["i32", index], dim, oob });
      }
    }
  };
  const found: SourceFunc[] = [];
  while (found.length < count) {
    const func = one();
    const elements = elementCount(outputOf(func).type.shape);
    if (elements >= 500 && elements <= 2 ** 23) found.push(func);
  }
  return found;
}
