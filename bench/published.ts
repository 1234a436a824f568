/** Cycles that others published beside those of the clock, as docs/cost-model.md shows them. */
import { cyclesOfWork } from "../ir/clock/price.js";
import { noWork, type Work } from "../ir/clock/work.js";
import { targets, walkOf, type DType, type Shape, type Target, type TileFunc } from "../ir/index.js";
import { gatherOfRows, loadOf } from "../test/support/tile-programs.js";
import type { Rows } from "./markdown-table.js";

const target = targets.ascendA2;

/**
 * Returns the estimated cycles, on one core, of the first statement with the given name in a tile program.
 * Returns NaN if the program has no statement with the name.
 */
export const cyclesIn = (func: TileFunc, name: "load" | "gather", on: Target = target): number =>
  walkOf(func, on).events.find((event) => event.name === name)?.cycles ?? NaN;

/** Returns the estimated cycles of work on the vector unit of `ascend-a2`. */
export const vectorCycles = (work: Partial<Work>): number =>
  cyclesOfWork({ ...noWork, ...work }, "V", target, 1, 0);

/**
 * Row of a documentation table: a published cycle count (`published`) and the estimate of the cost model
 * (`model`). `cells` has the columns before these two.
 */
export interface PublishedRow {
  readonly cells: readonly (string | number)[];
  readonly published: number;
  readonly model: number;
}

const rowOf = (cells: PublishedRow["cells"], published: number, model: number): PublishedRow => ({
  cells,
  published,
  model,
});

/** testcase/tload/main.cpp: extents as declared, outermost first, columns of `dn` as rows; cycles. */
const tloads: readonly (readonly [
  name: string,
  dtype: DType,
  box: Shape,
  instructions: number,
  cycles: number,
])[] = [
  ["f32 128x128", "f32", [1, 1, 1, 128, 128], 1, 776],
  ["f32 256x64", "f32", [2, 2, 2, 32, 64], 8, 2624],
  ["f32 128x127", "f32", [1, 1, 1, 128, 127], 1, 773],
  ["i16 128x127", "i16", [1, 1, 1, 128, 127], 1, 519],
  ["u8 128x127", "u8", [1, 1, 1, 128, 127], 1, 392],
  ["i16 64x128, dynamic", "i16", [1, 1, 32, 2, 128], 32, 8576],
  ["i16 64x128, static", "i16", [1, 1, 32, 2, 128], 32, 8576],
  ["f32 256x60", "f32", [2, 2, 2, 32, 60], 8, 2497],
  ["f32 64x128, by columns", "f32", [1, 1, 32, 4, 64], 32, 8704],
  ["f32 255x64, by columns", "f32", [2, 2, 2, 8, 255], 8, 8352],
];

/** Published and estimated cycles of loads from global memory into the unified buffer (UB). */
export const loads: readonly PublishedRow[] = tloads.map(([name, dtype, box, instructions, cycles]) =>
  rowOf(
    [name, box.join("x"), instructions],
    cycles,
    cyclesIn(loadOf(dtype, box), "load") + instructions * target.loadLatencyCycles,
  ),
);

/** testcase/tmov/main.cpp: instructions and blocks of each, as TMov.hpp issues them; cycles. */
const tmovs: readonly (readonly [name: string, instructions: number, blocks: number, cycles: number])[] = [
  ["f32 64x128", 1, 64 * 16, 1029],
  ["f32 15x23 of 16x24", 15, 3, 120],
  ["f32 63x125 of 64x128", 63, 16, 1323],
];

/** Published and estimated cycles of copies within the unified buffer (UB). */
export const copies: readonly PublishedRow[] = tmovs.map(([name, instructions, blocks, cycles]) =>
  rowOf(
    [name, instructions],
    cycles,
    vectorCycles({ copies: instructions, copied: instructions * blocks * 32 }),
  ),
);

/**
 * testcase/tadds and others: rows and columns of 4-byte elements; tiles that the instruction reads; cycles.
 */
const instructions: readonly (readonly [
  name: string,
  tile: readonly [number, number],
  read: 1 | 2,
  cycles: number,
])[] = [
  ["adds f32", [32, 64], 1, 57],
  ["adds i32", [31, 128], 1, 70],
  ["adds f32", [7, 448], 1, 77],
  ["adds f32", [256, 16], 1, 266],
  ["muls f32", [32, 64], 1, 58],
  ["muls i32", [31, 128], 1, 70],
  ["muls f32", [7, 448], 1, 77],
  ["muls f32", [256, 16], 1, 266],
  ["mins f32", [64, 64], 1, 87],
  ["mins i32", [64, 64], 1, 68],
  ["add i32", [64, 64], 2, 151],
  ["mul i32", [64, 64], 2, 152],
  ["max i32", [64, 64], 2, 151],
  ["sub i32", [64, 64], 2, 132],
];

/** Published and estimated cycles of element-wise vector instructions. */
export const steps: readonly PublishedRow[] = instructions.map(([name, [height, width], read, cycles]) => {
  const stepRepeats = read * height * Math.ceil((width * 4) / target.vectorBytes);
  return rowOf([name, `${height}x${width}`], cycles, vectorCycles({ steps: 1, stepRepeats }));
});

/** Measured and estimated cycles of a gather of one row on an Ascend 910B3. */
export const rowGather: PublishedRow = rowOf(
  ["64 f32 in UB"],
  46.6,
  Math.floor(cyclesIn(gatherOfRows(1, 64), "gather") - 2 * (target.stepCycles + target.stepRepeatCycles)),
);

const tableOf = (head: readonly string[], rows: readonly PublishedRow[]): Rows => [
  [...head, "Published", "Model"],
  ...rows.map(({ cells, published, model }) => [...cells, published, model]),
];

/** Returns the documentation table of published and estimated cycles of loads. */
export const loadsTable = (): Rows => tableOf(["Load", "Extents", "DMA instructions"], loads);
/**
 * Returns the documentation table of published and estimated cycles of copies within the unified buffer (UB).
 */
export const copiesTable = (): Rows => tableOf(["Copy", "Instructions"], copies);
/** Returns the documentation table of published and estimated cycles of vector instructions. */
export const stepsTable = (): Rows => tableOf(["Step", "Tile"], steps);
/**
 * Returns the documentation table of the one-row gather: cycles measured on an Ascend 910B3, estimated by a
 * published cost model, and estimated by tilec.
 */
export const rowGatherTable = (): Rows => [
  ["Row", "Measured on a 910B3", "Executable cost model", "Model"],
  [...rowGather.cells, rowGather.published, 29, rowGather.model],
];
