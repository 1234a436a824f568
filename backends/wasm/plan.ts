/**
 * Plan of the code of a tile program, made before any code is written. It decides which copies are left out,
 * how many bytes the others move at once, where indices are resolved, and how many elements move together.
 *
 * On a CPU, the unified buffer is memory like any other. A gather therefore reads its indices where a load
 * finds them, and writes its output where a store puts it. Data tiles are copied: a contiguous slab in a
 * first-level cache serves random reads that would miss in the tensor.
 */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, outputOf, type TileFunc } from "../../ir/func.js";
import { add, constant, div, type Linear } from "../../ir/linear.js";
import { ubBuffers } from "../../ir/regions.js";
import { sizesAround } from "../../ir/symbols/symbols.js";
import { taskOfTile, type ParallelNest } from "../../ir/task/index.js";
import { flatten, hasScatter, type Region, type Stmt } from "../../ir/tile.js";
import { bytesOf, elementsInByte, invariant, isPacked, rowsFillBytes } from "../../ir/types.js";
import { elide, type Elided } from "../plan/elide.js";
import { fuseTasks } from "../plan/fuse-tasks.js";
import { joinRuns } from "../plan/join-runs.js";
import { commonRun, type Run } from "../plan/runs.js";
import { elementCopies, splitElements, splitTasks } from "../plan/split-tasks.js";
import { writtenBy } from "../plan/written.js";
import { planCpuGather, type CpuGather } from "./gather-plan.js";
import { planCpuScatter, type CpuScatter } from "./scatter-plan.js";
import { placing, type PlacedRegion } from "./memory-addresses.js";
import { sizeParameters } from "./sizes.js";
import { jammed, unrollAndJamOf } from "./unroll-and-jam.js";

/** Plan of a tile program's WebAssembly code: all decisions that are made before emission. */
export interface WasmPlan {
  /** Program for which the plan was made. */
  readonly source: TileFunc;
  /** Program from which code is emitted: long tasks are split, short tasks fused, and copies removed. */
  readonly func: TileFunc;
  readonly nest: ParallelNest;
  /** Names of the function's parameters: numbers that depend on the sizes of symbols. */
  readonly params: readonly string[];
  /** Tasks whose elements make a slice: what a thread takes without looking up. */
  readonly tasksPerSlice: number;
  /** The program before copies were left out, and those that were. */
  readonly copied: TileFunc;
  readonly gone: Elided["gone"];
  /** The other loads and stores. */
  readonly copies: ReadonlyMap<Stmt, CopyPlan>;
  /** Absent when the output is empty, and of a scatter. */
  readonly gather?: CpuGather;
  readonly scatter?: CpuScatter;
}

/**
 * Plan of a load or store, which copies a region from `from` to `to`. `run`: byte range that is contiguous in
 * source and destination and is copied at once.
 */
export interface CopyPlan {
  readonly to: PlacedRegion;
  readonly from: PlacedRegion;
  readonly sizes: readonly Linear[];
  readonly elementBytes: number;
  readonly run: Run;
}

/**
 * Returns the plan of a tile program's WebAssembly code. Throws a CompileError (TC505) if the program has a
 * scatter for which no WebAssembly code can be emitted.
 */
export function planWasm(source: TileFunc): WasmPlan {
  return hasScatter(source.body) ? planPoints(source) : planElements(source);
}

/**
 * Returns the plan of a scatter program's WebAssembly code. Throws a CompileError (TC505) if no WebAssembly
 * code can be emitted for the scatter.
 */
function planPoints(source: TileFunc): WasmPlan {
  const { nest } = taskOfTile(source);
  return {
    source,
    copied: source,
    func: source,
    gone: new Set(),
    nest,
    params: sizeParameters(source, nest),
    tasksPerSlice: 1,
    copies: copiesIn(source),
    scatter: planCpuScatter(source, placing(source)),
  };
}

/**
 * Returns the plan of a gather program's WebAssembly code, after splitting long tasks, fusing short tasks and
 * removing unnecessary copies.
 */
function planElements(source: TileFunc): WasmPlan {
  const copied = rowsToUnrollAndJam(splitTasks(joinRuns(writtenBy(source))));
  // Data in rows that begin inside a byte are no box of bytes: they are read where they lie.
  const { func, gone } = elide(
    copied,
    (table) => table === gatheredTable && rowsFillBytes(inputOf(copied, table).type),
  );
  const around = sizesAround(source);
  const task = taskOfTile(func);
  const place = placing(func);
  const copies = copiesIn(func);
  const gather = task.gather === undefined ? undefined : planCpuGather(func, task.gather, place);
  const { nest } = task;
  const elements = elementCopies(taskOfTile(copied).nest.body, [
    ...around,
    ...nest.loops.map(({ stmt }) => stmt),
  ]);
  const tasksPerSlice = Math.max(1, Math.floor(splitElements / Math.max(1, elements)));
  const head = {
    source,
    copied,
    func,
    gone,
    nest,
    params: sizeParameters(func, nest),
    tasksPerSlice,
    copies,
  };
  return gather === undefined ? head : { ...head, gather };
}

/** Returns the copy plan of each load and store statement of a program. */
function copiesIn(func: TileFunc): ReadonlyMap<Stmt, CopyPlan> {
  const place = placing(func);
  const buffers = ubBuffers(func);
  const fullRegion = (name: string, region: Region): PlacedRegion => {
    const buffer = buffers.get(name);
    invariant(buffer !== undefined, `%${name} has no alloc`);
    return place({ buffer: name, offsets: buffer.shape.map(() => constant(0)), sizes: region.sizes });
  };
  const copies = new Map<Stmt, CopyPlan>();
  for (const stmt of flatten(func.body)) {
    if (stmt.op === "load")
      copies.set(stmt, copyPlan(func, fullRegion(stmt.to, stmt.from), place(stmt.from), stmt.from));
    if (stmt.op === "store")
      copies.set(stmt, copyPlan(func, place(stmt.to), fullRegion(stmt.from, stmt.to), stmt.to));
  }
  return copies;
}

/** Fuses short tasks if they have no rows for unroll-and-jam. */
function rowsToUnrollAndJam(func: TileFunc): TileFunc {
  const { gather } = taskOfTile(func);
  return gather === undefined || unrollAndJamOf(gather.stmt.to.sizes) !== undefined
    ? func
    : fuseTasks(func, jammed);
}

/**
 * Returns the plan of the copy of a region between two memories. Packed elements (several in a byte) are
 * copied as whole bytes.
 */
function copyPlan(func: TileFunc, to: PlacedRegion, from: PlacedRegion, { buffer, sizes }: Region): CopyPlan {
  const operand = func.operands.find(({ name }) => name === buffer) ?? outputOf(func);
  const { dtype } = operand.type;
  if (isPacked(dtype)) return bytesPlan(to, from, sizes, elementsInByte(dtype));
  const elementBytes = bytesOf(dtype);
  const strides = [to, from].map((placed) => placed.strides.map((stride) => stride * elementBytes));
  return { to, from, sizes, elementBytes, run: commonRun(sizes, strides, elementBytes, 0) };
}

/**
 * Returns the plan that copies packed elements as whole bytes. `each`: number of elements in a byte. Rows and
 * regions must start at whole bytes.
 */
function bytesPlan(to: PlacedRegion, from: PlacedRegion, sizes: readonly Linear[], each: number): CopyPlan {
  const last = sizes.length - 1;
  const inBytes = (placed: PlacedRegion): PlacedRegion => ({
    memory: placed.memory,
    offsets: placed.offsets.map((offset, k) => (k === last ? div(offset, each) : offset)),
    strides: placed.strides.map((stride, k) => (k === last ? stride : stride / each)),
  });
  const rows = sizes.map((size, k) => (k === last ? div(add(size, constant(each - 1)), each) : size));
  const [target, source] = [inBytes(to), inBytes(from)];
  const run = commonRun(rows, [target.strides, source.strides], 1, 0);
  return { to: target, from: source, sizes: rows, elementBytes: 1, run };
}
