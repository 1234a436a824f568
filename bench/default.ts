/**
 * npm run bench:default: the compiler's own schedule beside the best of the whole grid of candidates, in cycles of ascend-a2
 * under residency auto: the ten workloads of the benchmarks and ten other gathers.
 */
import { cyclesOf, formatBuffers, outputOf, type AccessFunc, type Target, type Tiling } from "../ir/index.js";
import { candidates, clockOf, fits, variants, withDefaults } from "../passes/index.js";
import { accessOf } from "../src/api/access.js";
import { compile, onnx, pypto, targets, type SourceFunc } from "../src/index.js";
import { table } from "../src/report/table.js";
import { count, describe, workloads, type Workload } from "./workloads.js";

const target = targets.ascendA2;

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
    for (const variant of variants(tiling, on.ubSafeBytes)) {
      looked++;
      const { cycles } = clockOf(variant);
      if (best === undefined || cycles < best.cycles) best = { cycles, tiling: variant };
    }
  };
  visit(start, 0);
  return { best, looked };
}

const named = [...workloads.map((w) => [describe(w), sourceOf(w)] as const), ...others];
const rows = named.map(([name, func]) => {
  const { tile } = compile(func, { target, residency: "auto" });
  const chosen = clockOfProgram(func);
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error(`${name} has an access level`);
  const all = (["ub", "gm"] as const)
    .filter((residency) => residency === "ub" || gather.paired.length === 0)
    .map((residency) => bestOf(gather, residency, target));
  const best = Math.min(...all.map((found) => found.best?.cycles ?? Infinity));
  const fastest = all.find((found) => found.best?.cycles === best)?.best?.tiling.schedule;
  const { schedule } = tile;
  const looked = all.reduce((sum, found) => sum + found.looked, 0);
  const shown = (s: typeof schedule | undefined): string =>
    s === undefined
      ? ""
      : `${s.residency} [${s.tile?.join()}] x${s.buffers === undefined ? "" : formatBuffers(s.buffers)} order ${s.order?.join("")} view ${s.view?.join()}`;
  return {
    name,
    elements: count(outputOf(func).type.shape),
    chosen,
    best,
    looked,
    of: shown(schedule),
    fastest: shown(fastest),
  };
});

function clockOfProgram(func: SourceFunc): number {
  const { tile } = compile(func, { target, residency: "auto" });
  return cyclesOf(tile, target).cycles;
}

if (process.argv.includes("--json")) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else {
  console.log(
    table(
      ["gather", "default", "best", "over %", "candidates", "schedule", "the best's"],
      rows.map((r) => [
        r.name,
        r.chosen,
        r.best,
        Number((100 * (r.chosen / r.best - 1)).toFixed(2)),
        r.looked,
        r.of,
        r.fastest,
      ]),
    ),
  );
}
