/**
 * npm run bench:ascend: the compiler's own schedules on Ascend targets by their clock, beside the lower bound
 * of any schedule. The ten workloads of the benchmarks, W7 with its pairs in 64 bits, and ten other gathers.
 */
import { cyclesOf, isResolved, programLowerBound, Tiling, type Target } from "../ir/index.js";
import { compile, onnx, pypto, targets, type SourceFunc } from "../src/index.js";
import { table } from "../src/report/table.js";
import { parseFlags, shared } from "./flags.js";
import { gathers, type Named } from "./gathers.js";
import { geometricMean } from "./statistics.js";

const others: readonly Named[] = [
  ["u8 axis 0", onnx.gatherElements({ data: ["u8", [1024, 4096]], indices: ["i32", [1024, 4096]], axis: 0 })],
  [
    "64-bit data",
    onnx.gatherElements({ data: ["i64", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 1 }),
  ],
  ["tuples of scalars", onnx.gatherNd({ data: ["f32", [64, 64]], indices: ["i64", [1_000_000, 2]] })],
  ["short rows in UB", onnx.gather({ data: ["f32", [2048, 8]], indices: ["i32", [524288]], axis: 0 })],
  [
    "f16 axis 0",
    onnx.gatherElements({ data: ["f16", [1024, 4096]], indices: ["i32", [1024, 4096]], axis: 0 }),
  ],
  [
    "zero outside",
    onnx.gatherElements({
      data: ["f32", [1024, 4096]],
      indices: ["i32", [1024, 4096]],
      axis: 0,
      oob: "zero",
    }),
  ],
  ["pages of bf16", onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 })],
  [
    "short last tiles",
    pypto.gather({ input: ["f32", [300, 4001]], index: ["i32", [300, 4001]], dim: 0, oob: "clamp" }),
  ],
  [
    "i64 along the last of four dims",
    onnx.gatherElements({ data: ["f32", [8, 16, 32, 1024]], indices: ["i64", [8, 16, 32, 1024]], axis: 3 }),
  ],
  [
    "wrap by 1024",
    onnx.gatherElements({
      data: ["f32", [1024, 4096]],
      indices: ["i32", [1024, 4096]],
      axis: 0,
      oob: "wrap",
    }),
  ],
];

const { json } = parseFlags("bench:ascend", "the default schedules beside the lower bound, in cycles", {
  json: shared.json,
});

const all: readonly Named[] = [...gathers.slice(0, 10), ...others];

/**
 * Returns a row of the bench:ascend table for a gather on a target. Figures: estimated cycles of the
 * compiler's schedule, lower bound in cycles of all schedules, and the ratio of estimate to lower bound.
 * Throws if the compiled program has no complete schedule.
 */
function row(name: string, func: SourceFunc, target: Target) {
  const { tile, access } = compile(func, { target, residency: "auto" });
  const { cycles, lowering } = cyclesOf(tile, target);
  if (access === undefined || !isResolved(access.schedule)) throw new Error(`${name} has a schedule`);
  const bound = programLowerBound(new Tiling(access, access.schedule, target));
  return {
    target: target.name,
    name,
    cycles,
    bound: bound.cycles,
    limit: bound.limit,
    ratio: cycles / bound.cycles,
    class: lowering?.class ?? "",
  };
}

const rows = [targets.ascendA2, targets.ascendA3, targets.ascend950].flatMap((target) =>
  all.map(([name, func]) => row(name, func, target)),
);
if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else {
  console.log(
    table(
      ["target", "gather", "cycles", "lower bound", "set by", "ratio", "class"],
      rows.map((r) => [r.target, r.name, r.cycles, r.bound, r.limit, Number(r.ratio.toFixed(2)), r.class]),
    ),
  );
  for (const target of new Set(rows.map((r) => r.target))) {
    const own = rows.filter((r) => r.target === target && r.name !== "u8 axis 0");
    console.log(
      `${target}: ${geometricMean(own.map((r) => r.ratio)).toFixed(2)} in the geometric mean without u8 axis 0`,
    );
  }
}
