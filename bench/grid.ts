/** Twenty gathers and the best of the whole grid of candidates of each, in cycles of ascend-a2 under residency auto. */
import type { AccessFunc, Target, Tiling } from "../ir/index.js";
import { candidates, clockOf, fits, variants, withDefaults } from "../passes/index.js";
import { accessOf } from "../src/api/access.js";
import { onnx, pypto, targets, type SourceFunc } from "../src/index.js";
import { describe, workloads, type Workload } from "./workloads.js";

export const target = targets.ascendA2;

function sourceOf(w: Workload): SourceFunc {
  const data = [w.dtype, w.data] as const;
  const indices = [w.indexType, w.indices] as const;
  switch (w.op) {
    case "gather":
      return onnx.gather({ data, indices, axis: w.axis });
    case "gather_elements":
      return onnx.gatherElements({ data, indices, axis: w.axis });
    case "gather_nd":
      return onnx.gatherNd({ data, indices: ["i64", w.indices] });
  }
}

const others: readonly (readonly [string, SourceFunc])[] = [
  ["KV pages", onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 })],
  [
    "long elements",
    onnx.gatherElements({ data: ["f32", [32768, 1024]], indices: ["i32", [32768, 1024]], axis: 1 }),
  ],
  [
    "tall elements",
    onnx.gatherElements({ data: ["f32", [64, 16384]], indices: ["i32", [64, 16384]], axis: 0 }),
  ],
  [
    "clamped columns",
    pypto.gather({ input: ["f32", [300, 4000]], index: ["i32", [300, 4000]], dim: 0, oob: "clamp" }),
  ],
  ["a line", onnx.gather({ data: ["f32", [16384]], indices: ["i32", [1_000_000]], axis: 0 })],
  ["embedding f16", onnx.gather({ data: ["f16", [32000, 4096]], indices: ["i64", [8, 512]], axis: 0 })],
  ["68 tasks", onnx.gather({ data: ["f32", [1000, 1088]], indices: ["i32", [4099]], axis: 0 })],
  ["selected rows", pypto.indexSelect({ input: ["f32", [512, 513]], index: ["i32", [77]], dim: 0 })],
  [
    "batched pairs",
    onnx.gatherNd({ data: ["f32", [16, 128, 96]], indices: ["i64", [16, 500, 1]], batchDims: 1 }),
  ],
  [
    "middle axis",
    onnx.gather({ data: ["f16", [32, 500, 48]], indices: ["i32", [900]], axis: 1, oob: "clamp" }),
  ],
];

/** The fewest cycles of all candidates of a residency. */
function bestOf(gather: AccessFunc, residency: "ub" | "gm", on: Target) {
  const { start, free, entries } = candidates(withDefaults(gather, residency, on));
  let best: { readonly cycles: number; readonly tiling: Tiling } | undefined;
  let looked = 0;
  const visit = (tiling: Tiling, k: number): void => {
    // Larger entries only take more.
    if (!fits(tiling, on.ubSafeBytes)) return;
    const d = free[k];
    if (d !== undefined) {
      for (const entry of entries.get(d) ?? [])
        visit(tiling.with({ tile: tiling.schedule.tile.map((old, e) => (e === d ? entry : old)) }), k + 1);
      return;
    }
    for (const variant of variants(tiling)) {
      if (!fits(variant, on.ubSafeBytes)) continue;
      looked++;
      const { cycles } = clockOf(variant);
      if (best === undefined || cycles < best.cycles) best = { cycles, tiling: variant };
    }
  };
  visit(start, 0);
  return { best, looked };
}

/** The ten workloads of the benchmarks, and ten others. */
export const gathers: readonly (readonly [string, SourceFunc])[] = [
  ...workloads.map((w) => [describe(w), sourceOf(w)] as const),
  ...others,
];

/** The best of the grid over every residency that the gather has. */
export function bestOfGrid(name: string, func: SourceFunc) {
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error(`${name} has an access level`);
  const all = (["ub", "gm"] as const)
    .filter((residency) => residency === "ub" || gather.paired.length === 0)
    .map((residency) => bestOf(gather, residency, target));
  const best = Math.min(...all.map((found) => found.best?.cycles ?? Infinity));
  const fastest = all.find((found) => found.best?.cycles === best)?.best?.tiling.schedule;
  return { best, fastest, looked: all.reduce((sum, found) => sum + found.looked, 0) };
}
