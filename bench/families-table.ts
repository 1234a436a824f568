/**
 * Families of sizes: programs with an open symbol, and what a table of at most six ranges costs over their
 * sizes.
 */
import { bindSizes, CompileError, cyclesOf, type Func } from "../ir/index.js";
import { compile, targets, type Kernel } from "../src/index.js";
import { tableRecord, taskHash, taskOf, taskRecord, tuneSizes } from "../src/tune/index.js";
import type { Rows } from "./markdown-table.js";
import { parsed } from "../test/support/parsed.js";

/** Target that the benchmark programs with dynamic sizes are compiled and tuned for. */
export const target = targets.ascendA2;
/** Maximum number of schedules that each search estimates with the cost model. */
export const budget = 50;

/** Benchmark program with the dynamic size N, and the values of N to tune for. */
export interface Family {
  readonly name: string;
  readonly text: string;
  readonly sizes: readonly number[];
}

const doublings = (from: number, to: number): readonly number[] =>
  from >= to ? [to] : [from, ...doublings(2 * from, to)];

/**
 * Three benchmark programs with the dynamic size N: embedding rows, `gather_elements`, and pages of a
 * decoder's cache.
 */
export const families: readonly Family[] = [
  {
    name: "embedding rows f32[50257,768] by N",
    text: `dim N <= 4096
func @embedding(%e: tensor<50257x768xf32>, %i: tensor<Nxi32>) -> tensor<Nx768xf32> schedule {residency = gm} {
  %y = access.gather %e, %i (d0, d1) -> (from_end(%i[d0]), d1) {oob = error}
  return %y
}
`,
    sizes: [1, 4, 16, 48, ...doublings(64, 4096)],
  },
  {
    name: "gather_elements f32[1024,1024] by [N,1024]",
    text: `dim N <= 4096
func @elements(%x: tensor<1024x1024xf32>, %i: tensor<Nx1024xi32>) -> tensor<Nx1024xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0, d1], d1) {oob = error}
  return %y
}
`,
    sizes: [1, 4, 16, ...doublings(64, 4096)],
  },
  {
    name: "paged decode f16[2048,16,8,128] by [N,32] pages",
    text: `dim N <= 64
func @pages(%cache: tensor<2048x16x8x128xf16>, %pages: tensor<Nx32xi32>) -> tensor<Nx32x16x8x128xf16> schedule {residency = gm} {
  %y = access.gather %cache, %pages (d0, d1, d2, d3, d4) -> (%pages[d0, d1], d2, d3, d4) {oob = error}
  return %y
}
`,
    sizes: doublings(1, 64),
  },
];

/**
 * Returns the program with the dynamic size N bound to a value. Throws a CompileError if the value is not
 * legal for N.
 */
export function boundTo(func: Func, N: number): Func {
  const bound = bindSizes(func, { N });
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  return bound.func;
}

const cyclesAt = (kernel: Kernel, N: number): number => cyclesOf(kernel.bind({ N }).tile, target).cycles;

/**
 * Estimated cycles of three schedules at one value of N (`size`): the best schedule found (`best`), the tuned
 * schedule (`table`), and the default schedule (`plain`).
 */
export interface SizeCosts {
  readonly size: number;
  readonly best: number;
  readonly table: number;
  readonly plain: number;
}

/**
 * Program with the dynamic size N and the tuning results: number of ranges of N with separate schedules
 * (`ranges`), and estimated cycles at each requested value of N (`rows`). `most` is the largest requested
 * value of N.
 */
export interface TunedFamily {
  readonly func: Func;
  readonly most: number;
  readonly ranges: number;
  /** Cycles at each requested value of N. */
  readonly rows: readonly SizeCosts[];
  /**
   * Returns the estimated cycles at another value of N. `best`: estimated cycles of the best schedule that a
   * search found for that value.
   */
  readonly costsAt: (size: number, best: number) => SizeCosts;
}

/**
 * Tunes a program over several values of N. Resolves to the number of ranges of N with separate schedules,
 * and the estimated cycles at each value. Rejects if the text has no function.
 */
export async function tunedFamily({ text, sizes }: Family): Promise<TunedFamily> {
  const func = parsed(text);
  const result = await tuneSizes(func, { target, sizes: { N: sizes }, budget });
  const task = taskOf(func, { target });
  const records = [taskRecord(task, 1, "0"), tableRecord(taskHash(task), result)];
  const [withTable, without] = [compile(func, { target, records }), compile(func, { target })];
  const costsAt = (size: number, best: number): SizeCosts => ({
    ...{ size, best },
    table: cyclesAt(withTable, size),
    plain: cyclesAt(without, size),
  });
  return {
    ...{ func, most: Math.max(...sizes), ranges: result.pieces.length, costsAt },
    rows: result.sizes.map(({ size, best }) => costsAt(size, best.cycles)),
  };
}

/**
 * Computes the documentation table of the embedding program with the dynamic size N. For each N, a row has
 * the estimated cycles of the best schedule, of the tuned schedules, and without tuning.
 */
export async function familyTable(): Promise<Rows> {
  const [embedding] = families;
  if (embedding === undefined) throw new Error("there are families");
  const { rows } = await tunedFamily(embedding);
  return [
    ["N", "best", "table", "without a table"],
    ...rows.map(({ size, best, table, plain }) => [size, best, table, plain]),
  ];
}
