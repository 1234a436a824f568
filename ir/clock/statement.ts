/**
 * Work of one tile statement on its pipe, and the cycles that it takes: a whole number, rounded up once.
 *
 * The sizes of a statement are those of the region that it fills. The sizes of its other regions follow from
 * them.
 */
import { gatheredTable, isMove } from "../access.js";
import { inputOf, operandNamed, outputOf, type Operand, type TileFunc } from "../func.js";
import { largestValue, loopVariables, type Linear } from "../linear.js";
import { pipeOf, ubBuffers } from "../regions.js";
import { targetFacts, type Target } from "../target.js";
import { isGather, statementsOf } from "../task/statements.js";
import type { PlacedTensor, Instructions, LoweringFacts, Lowerings } from "../tiling/gather-lowering.js";
import {
  folded,
  gatherWork,
  transactionBytes,
  touchedBy,
  type GatherSetting,
} from "../tiling/gather-work.js";
import { scatterSetting, scatterWork } from "./scatter-work.js";
import { noWork, type OperandReads, type PipeWork, type Work } from "./work.js";
import { loweringsOf } from "../tiling/lowering.js";
import {
  children,
  ubBytes,
  ubStrides,
  type FillStmt,
  type GatherStmt,
  type LoadStmt,
  type MovingStmt,
  type Pipe,
  type Stmt,
  type StoreStmt,
  type UbBuffer,
} from "../tile.js";
import { hitsOfReads, memoryPrice, memoryTraffic } from "./price.js";

import {
  alignUp,
  assertNever,
  at,
  byteCount,
  elementCount,
  InternalError,
  invariant,
  meanBytes,
  strides,
  type Shape,
} from "../types.js";

/**
 * Returns the extents that determine a statement's work, in elements, or in points for a scatter. The list is
 * empty for a fill.
 */
export function sizesOf(stmt: MovingStmt): readonly Linear[] {
  switch (stmt.op) {
    case "load":
      return stmt.from.sizes;
    case "gather":
    case "store":
      return stmt.to.sizes;
    case "scatter":
      return stmt.sizes;
    case "fill":
      return [];
    default:
      return assertNever(stmt);
  }
}

/** Bytes transferred in global memory, as one number for each operand of a function. */
export type TransferBytes = readonly number[];

/** Returns the reads of an operand of which all cores together move so many bytes. */
function readsOf({ type }: Operand, all: number): OperandReads {
  const bytes = Math.min(all, byteCount(type));
  return { bytes, times: bytes === 0 ? 0 : all / bytes };
}

/**
 * Returns the fraction, 0 to 1, of each operand's loads that L2 supplies; 0 on targets without a DMA engine.
 * `transferred`: bytes that all cores together transfer, by operand.
 */
export const hitsOf = (
  transferred: TransferBytes,
  operands: readonly Operand[],
  target: Target,
): readonly number[] =>
  targetFacts[target.kind].dmaEngine
    ? operands.map((operand, k) => hitsOfReads(readsOf(operand, transferred[k] ?? 0), target))
    : operands.map(() => 0);

/**
 * Returns the cycles, rounded up, that global memory needs if each of `cores` busy cores transfers the bytes
 * `transferred`. `factor`: slowdown of reads of the data on targets with a DMA engine, and of all transfers
 * on other targets.
 */
export function memoryCycles(
  transferred: TransferBytes,
  operands: readonly Operand[],
  target: Target,
  cores: number,
  factor: number,
): number {
  if (!targetFacts[target.kind].dmaEngine)
    return Math.ceil(
      (transferred.reduce((sum, bytes) => sum + bytes, 0) * cores * factor) / target.gmReadBytesPerCycle,
    );
  let written = 0;
  const reads: OperandReads[] = [];
  for (const [k, operand] of operands.entries()) {
    const all = (transferred[k] ?? 0) * cores;
    const { bytes, times } = readsOf(operand, all);
    if (operand.role === "output") written += all;
    else if (bytes > 0) reads.push({ bytes, times: (k === gatheredTable ? factor : 1) * times });
  }
  const traffic = memoryTraffic({ operands: reads, written, readsBypassL2: false }, target);
  return Math.ceil(memoryPrice(traffic, target).cycles);
}

/**
 * Returns the program's UB buffers (result field `buffers`) and two functions. Function `gathered` returns
 * the access map, inputs and output of a gather statement; `moved` returns the tensor that a load or store
 * copies. Each tensor has its type and, for a tile in UB, the tile's strides in elements.
 */
function placedIn(func: TileFunc) {
  const buffers = ubBuffers(func);
  const placed = (operand: Operand, tile: string): PlacedTensor => {
    if (tile === operand.name) return { type: operand.type };
    const buffer = buffers.get(tile);
    if (buffer === undefined) throw new InternalError(`buffer %${tile} has no alloc`);
    return { type: operand.type, inTile: ubStrides(buffer) };
  };
  return {
    buffers,
    gathered: (stmt: GatherStmt): Omit<GatherSetting, "lowering"> => ({
      map: stmt.map,
      inputs: stmt.from.map(({ buffer }, table) => placed(inputOf(func, table), buffer)),
      output: placed(outputOf(func), stmt.to.buffer),
    }),
    moved: (stmt: LoadStmt | StoreStmt): PlacedTensor => {
      const [gm, ub] = stmt.op === "load" ? [stmt.from.buffer, stmt.to] : [stmt.to.buffer, stmt.from];
      const operand = operandNamed(func, gm);
      invariant(operand !== undefined, `%${gm} is no parameter`);
      return placed(operand, ub);
    },
  };
}

/**
 * Returns the possible lowerings (choices of instructions) of a program's gather. Undefined if the program
 * has no gather.
 */
export function loweringsOfProgram(func: TileFunc, target: Target): Lowerings | undefined {
  // A search reads the clock of each of its programs once: more would be spent on remembering their tasks
  // than on their gathers.
  const gather = statementsOf(func).find(isGather)?.stmt;
  if (gather === undefined) return undefined;
  const { buffers, gathered } = placedIn(func);
  return loweringsOf({ ...gathered(gather), ...factsOf(gather, func, buffers, target) }, target);
}

/**
 * Work of one statement, with the hardware pipe that executes the statement and the operand that is
 * transferred.
 */
export interface StatementWork extends PipeWork {
  readonly pipe: Pipe;
  /**
   * Position, in the function, of the operand whose bytes pass through global memory; for a gather, of the
   * data.
   */
  readonly operand: number;
}

/**
 * Returns a function that computes the work of a program's statement from the statement's sizes. `lowering`:
 * instructions of the gather; undefined for a program without a gather.
 */
export function workloadOf(
  func: TileFunc,
  target: Target,
  lowering: Instructions | undefined,
): (stmt: MovingStmt, sizes: Shape) => StatementWork {
  const { gathered, moved, buffers } = placedIn(func);
  const transfers = new Map<MovingStmt, PlacedTensor>();
  const settings = new Map<MovingStmt, GatherSetting>();
  const workOf = (stmt: MovingStmt, sizes: Shape): Work => {
    if (stmt.op === "gather") {
      invariant(lowering !== undefined, "a program with a gather has a lowering");
      const setting = settings.get(stmt) ?? { ...gathered(stmt), lowering };
      settings.set(stmt, setting);
      return gatherWork(setting, sizes, target);
    }
    if (stmt.op === "scatter") return scatterWork(scatterSetting(stmt, func), sizes, target);
    if (stmt.op === "fill") return { ...noWork, copies: 1, copied: filledBytes(stmt, buffers) };
    const tensor = transfers.get(stmt) ?? moved(stmt);
    transfers.set(stmt, tensor);
    return transferWork(tensor, sizes, target);
  };
  return (stmt, sizes) => {
    const pipe = pipeOf(stmt, func);
    invariant(pipe !== undefined, `${stmt.op} runs on a pipe`);
    return { pipe, operand: operandOf(stmt, func), work: workOf(stmt, sizes) };
  };
}

/**
 * Returns the index of the operand whose bytes a statement transfers in global memory. For a gather or a
 * fill, returns the index of the data.
 */
function operandOf(stmt: MovingStmt, func: TileFunc): number {
  const name =
    stmt.op === "load"
      ? stmt.from.buffer
      : stmt.op === "store" || stmt.op === "scatter"
        ? outputOf(func).name
        : undefined;
  return name === undefined ? gatheredTable : func.operands.findIndex((operand) => operand.name === name);
}

const filledBytes = ({ to }: FillStmt, buffers: ReadonlyMap<string, UbBuffer>): number => {
  const buffer = buffers.get(to);
  return buffer === undefined ? 0 : ubBytes(buffer);
};

/**
 * Returns the work of a copy between a tensor region and a tile in the unified buffer (UB). `sizes`: extents
 * of the region.
 */
export function transferWork({ type, inTile = [] }: PlacedTensor, sizes: Shape, target: Target): Work {
  if (elementCount(sizes) === 0) return noWork;
  const size = meanBytes(type.dtype);
  const [burst = 1, rows = 1, ...outer] = folded(sizes, strides(type.shape), inTile);
  // Only a DMA engine stops at two dims.
  const [inOne, repeated] = targetFacts[target.kind].dmaEngine
    ? [rows, elementCount(outer)]
    : [rows * elementCount(outer), 1];
  const padded = repeated * inOne * alignUp(burst * size, transactionBytes(target));
  return {
    ...noWork,
    instructions: repeated * Math.ceil(inOne / target.dmaRows),
    bursts: repeated * inOne,
    padded,
    bytes: elementCount(sizes) * size,
    cleared: targetFacts[target.kind].runsOnWebgpu ? padded : 0,
    touched: targetFacts[target.kind].dmaEngine
      ? repeated * inOne * touchedBy(burst * size, { type }, target)
      : padded,
  };
}

/**
 * Returns the properties of a program's gather from which the possible lowerings (choices of instructions)
 * are derived.
 */
function factsOf(
  stmt: GatherStmt,
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  target: Target,
): Omit<LoweringFacts, "map" | "inputs" | "output"> {
  const output = outputOf(func).type.shape;
  const [data, ...indices] = stmt.from;
  invariant(data !== undefined, "a gather reads its data");
  const taken = [...buffers.values()].reduce(
    (sum, buffer) =>
      sum +
      (isMove(stmt.map) && stmt.scratch?.includes(buffer.name) === true
        ? 0
        : ubBytes(buffer) * buffer.buffers),
    0,
  );
  const body = bodyWith(func.body, stmt);
  return {
    tile: stmt.to.sizes.map((size, d) => largestValue(size) ?? at(output, d)),
    ragged: new Set(stmt.to.sizes.flatMap((size, d) => (loopVariables(size).size === 0 ? [] : [d]))),
    freshIndices: indices.every(({ buffer }) =>
      body.some((other) => other.op === "load" && other.to === buffer),
    ),
    spareBytes: (func.schedule.ubBytes ?? target.ubBytes) - taken,
    ...(func.schedule.lowering === undefined ? {} : { requested: func.schedule.lowering }),
  };
}

/** Returns the innermost body that holds a statement. */
function bodyWith(body: readonly Stmt[], stmt: Stmt): readonly Stmt[] {
  if (body.includes(stmt)) return body;
  return body.map((other) => bodyWith(children(other), stmt)).find((inner) => inner.length > 0) ?? [];
}
