/** Five programs of docs/tuning.md: what `tune` finds for each on ascend-a2, beside the default. */
import { formatEntry, formatShape, type DType, type ResolvedSchedule, type Shape } from "../ir/index.js";
import { onnx, targets, type SourceFunc } from "../src/index.js";
import { tune } from "../src/tune/index.js";
import type { Rows } from "./markdown-table.js";

const gather = (data: readonly [DType, Shape], indices: Shape): SourceFunc =>
  onnx.gather({ data, indices: ["i32", indices] });

/** As the commands of the page state them, and why the best is as it is. */
const programs: readonly (readonly [name: string, func: SourceFunc, why: string])[] = [
  [
    "embedding",
    gather(["f32", [50257, 768]], [4096]),
    "the table is read once, and the output stays in L2: global memory is busy all the time",
  ],
  ["experts' rows", gather(["bf16", [8192, 4096]], [16384]), "stores (MTE3), at 26 B a cycle"],
  [
    "KV pages",
    gather(["bf16", [2048, 16, 8, 128]], [64, 32]),
    "rows of pages are fetched: a full load would pass columns of all pages through UB",
  ],
  [
    "sorted columns",
    onnx.gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 1 }),
    "reads of both inputs: global memory is busy all the time",
  ],
  [
    "small table",
    gather(["f32", [256, 64]], [8, 512]),
    "each core loads the table once, most of it from L2, and copies rows within UB",
  ],
];

/**
 * Formats the residency (memory in which an operand is kept) and the tile of a schedule as Markdown for a
 * table cell.
 */
export const shownSchedule = ({ residency, tile }: ResolvedSchedule): string =>
  `\`${formatEntry(residency)}\` \`${formatShape(tile)}\``;

/**
 * Computes the documentation table of five programs. Each row has the best schedule, its estimated cycles,
 * the decrease of the cycles from the default schedule in percent, and an explanation.
 */
export async function fiveProgramsTable(): Promise<Rows> {
  const rows: (readonly (string | number)[])[] = [];
  for (const [name, func, why] of programs) {
    const { best, default: standard } = await tune(func, { target: targets.ascendA2 });
    const less = 100 * (1 - best.cycles / standard.cycles);
    const against = less === 0 ? "the default" : `${less.toFixed(1)} % less`;
    rows.push([name, shownSchedule(best.schedule), best.cycles, against, why]);
  }
  return [["Program", "Best", "Cycles", "Against the default", "Why"], ...rows];
}
