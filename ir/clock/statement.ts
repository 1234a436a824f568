/**
 * What one tile statement asks of its pipe, counted, and the cycles that takes: a whole number, rounded up once.
 *
 * A statement's sizes are those of the box it fills: all its other regions follow from them.
 */
import {
  followedBy,
  gatheredTable,
  inputTile,
  isRead,
  pickedFrom,
  rowElements,
  type AccessMap,
} from "../access.js";
import { inputOf, inputsOf, operandNamed, outputOf, type Operand, type TileFunc } from "../func.js";
import { largestValue, loopVariables, type Linear } from "../linear.js";
import { isParam, ubBuffers } from "../regions.js";
import { targetFacts, type Target } from "../target.js";
import { isGather, statementsOf } from "../task/statements.js";
import {
  ubBytes,
  ubStrides,
  type GatherStmt,
  type LoadStmt,
  type Pipe,
  type Stmt,
  type StoreStmt,
  type UbBuffer,
} from "../tile.js";
import {
  alignUp,
  at,
  contiguousRun,
  bytesOf,
  elementCount,
  InternalError,
  invariant,
  strides,
  type Shape,
  type TensorType,
} from "../types.js";
import { lowerGather, type GatherLowering, type LoweringFacts } from "../tiling/lowering.js";

export type Moving = LoadStmt | StoreStmt | GatherStmt;

/** The sizes that a statement's work depends on. */
export function boxOf(stmt: Moving): readonly Linear[] {
  return stmt.op === "load" ? stmt.from.sizes : stmt.to.sizes;
}

/** Counts, in the units of the target's figures. */
export interface Work {
  /** DMA instructions. */
  readonly instructions: number;
  /** Bytes that cross between global memory and the core, in whole blocks; in whole cache lines off Ascend. */
  readonly padded: number;
  /** Bytes of the elements alone. */
  readonly bytes: number;
  /** Rows of vector gathers, and their repeats beyond the first of each row. */
  readonly rows: number;
  readonly repeats: number;
  /** Vector instructions on index values, and the repeats of all tiles they read. */
  readonly steps: number;
  readonly stepRepeats: number;
  /** Copies within UB, and their bytes in whole blocks. */
  readonly copies: number;
  readonly copied: number;
  /** Accesses of the scalar unit. */
  readonly scalars: number;
  /** Waits between pipes within the statement. */
  readonly waits: number;
}

/** What asks for nothing. */
export const noWork: Work = {
  instructions: 0,
  padded: 0,
  bytes: 0,
  rows: 0,
  repeats: 0,
  steps: 0,
  stepRepeats: 0,
  copies: 0,
  copied: 0,
  scalars: 0,
  waits: 0,
};

/** Whole cycles of a statement's work on one of `cores` busy cores; monotone in each count. */
export function cyclesOfWork(work: Work, pipe: Pipe, target: Target, cores: number): number {
  const store = pipe === "MTE3";
  const startup = store ? target.storeStartupCycles : target.loadStartupCycles;
  const rate = store ? target.storeBytesPerCycle : target.loadBytesPerCycle;
  return Math.ceil(
    work.instructions * startup +
      Math.max(work.padded / rate, (work.padded * cores) / target.gmBytesPerCycle) +
      work.rows * target.gatherRowCycles +
      work.repeats * target.gatherRepeatCycles +
      work.steps * target.stepCycles +
      work.stepRepeats * target.stepRepeatCycles +
      work.copies * target.copyStartupCycles +
      work.copied / target.copyBytesPerCycle +
      work.scalars * target.scalarCycles +
      work.waits * target.syncCycles,
  );
}

/** Whole cycles that so many bytes of one core take of global memory, which `cores` busy cores share evenly. */
export const sharedCycles = (bytes: number, target: Target, cores: number): number =>
  Math.ceil((bytes * cores) / target.gmBytesPerCycle);

/** A tensor as a statement finds it: in a tile in UB, with so many elements between neighbours there, or in place. */
export interface Held {
  readonly type: TensorType;
  readonly inTile?: readonly number[];
}

/** What the work of a gather depends on beside its sizes. */
export interface GatherSetting {
  readonly map: AccessMap;
  /** By table. */
  readonly inputs: readonly Held[];
  readonly output: Held;
  readonly lowering: GatherLowering;
}

type Buffers = ReadonlyMap<string, UbBuffer>;

/** The work of each statement of one program, by its sizes. */
export interface Workload {
  readonly lowering: GatherLowering | undefined;
  readonly workOf: (stmt: Moving, sizes: Shape) => Work;
}

export function workload(func: TileFunc, target: Target): Workload {
  const buffers = ubBuffers(func);
  // A search reads the clock of each of its programs once: more would be spent on remembering their tasks than on their gathers.
  const gather = statementsOf(func).find(isGather)?.stmt;
  const lowering =
    gather === undefined ? undefined : lowerGather(factsOf(gather, func, buffers, target), target);
  const held = (operand: Operand, tile: string): Held => {
    if (tile === operand.name) return { type: operand.type };
    const buffer = buffers.get(tile);
    if (buffer === undefined) throw new InternalError(`buffer %${tile} has no alloc`);
    return { type: operand.type, inTile: ubStrides(buffer) };
  };
  const settingOf = (stmt: GatherStmt): GatherSetting => {
    invariant(lowering !== undefined, "a program with a gather has a lowering");
    return {
      map: stmt.map,
      inputs: stmt.from.map(({ buffer }, table) => held(inputOf(func, table), buffer)),
      output: held(outputOf(func), stmt.to.buffer),
      lowering,
    };
  };
  const moved = (stmt: LoadStmt | StoreStmt): Held => {
    const [gm, ub] = stmt.op === "load" ? [stmt.from.buffer, stmt.to] : [stmt.to.buffer, stmt.from];
    const operand = operandNamed(func, gm);
    invariant(operand !== undefined, `%${gm} is no parameter`);
    return held(operand, ub);
  };
  const transfers = new Map<Moving, Held>();
  const settings = new Map<Moving, GatherSetting>();
  return {
    lowering,
    workOf(stmt, sizes) {
      if (stmt.op === "gather") {
        const setting = settings.get(stmt) ?? settingOf(stmt);
        settings.set(stmt, setting);
        return gatherWork(setting, sizes, target);
      }
      const tensor = transfers.get(stmt) ?? moved(stmt);
      transfers.set(stmt, tensor);
      return transferWork(tensor, sizes, target);
    },
  };
}

/** A row in global memory moves as whole blocks of UB through a DMA engine, as whole cache lines elsewhere. */
export const granule = (target: Target): number =>
  targetFacts[target.kind].dmaEngine ? target.blockBytes : target.burstBytes;

/**
 * A box between a tensor and its UB tile. Dims that follow each other in both fold into one; one DMA instruction covers
 * the two innermost that are left, as a number of rows of one length.
 */
export function transferWork({ type, inTile = [] }: Held, sizes: Shape, target: Target): Work {
  if (elementCount(sizes) === 0) return noWork;
  const size = bytesOf(type.dtype);
  const [burst = 1, rows = 1, ...outer] = folded(sizes, strides(type.shape), inTile);
  // Only a DMA engine stops at two dims.
  const [inOne, repeated] = targetFacts[target.kind].dmaEngine
    ? [rows, elementCount(outer)]
    : [rows * elementCount(outer), 1];
  return {
    ...noWork,
    instructions: repeated * Math.ceil(inOne / target.dmaRows),
    padded: repeated * inOne * alignUp(burst * size, granule(target)),
    bytes: elementCount(sizes) * size,
  };
}

/** Extents of a box after folding, innermost first: elements that lie together, rows of them, and what repeats those. */
function folded(sizes: Shape, inTensor: Shape, inTile: Shape): number[] {
  const dims = [{ extent: 1, tensor: 1, tile: 1 }];
  for (let k = sizes.length - 1; k >= 0; k--) {
    const [extent, tensor, tile] = [at(sizes, k), at(inTensor, k), at(inTile, k)];
    if (extent === 1) continue;
    const inner = at(dims, dims.length - 1);
    if (tensor === inner.tensor * inner.extent && tile === inner.tile * inner.extent) inner.extent *= extent;
    else dims.push({ extent, tensor, tile });
  }
  return dims.map((dim) => dim.extent);
}

export function gatherWork(setting: GatherSetting, sizes: Shape, target: Target): Work {
  if (elementCount(sizes) === 0) return noWork;
  const { map, inputs, lowering } = setting;
  const data = at(inputs, gatheredTable);
  const size = bytesOf(data.type.dtype);
  const elements = elementCount(sizes);
  const inner = sizes[sizes.length - 1] ?? 1;
  const { steps, waits } = lowering;
  const repeatsOf = (bytes: number): number => Math.ceil(bytes / target.vectorBytes);
  const components = map.sites.length;
  /** Steps that run so many times, over so many repeats each. */
  const addresses = (times: number, repeats: number): Pick<Work, "steps" | "stepRepeats"> => ({
    steps: times * (steps.scalar + steps.tile),
    stepRepeats: times * (steps.scalar + 2 * steps.tile) * repeats,
  });
  const vector = (): Pick<Work, "rows" | "repeats"> => {
    const rows = elements / inner;
    return { rows, repeats: rows * (repeatsOf(inner * size) - 1) };
  };
  switch (lowering.class) {
    case "whole-tile":
      return { ...noWork, ...vector(), ...addresses(1, (elements / inner) * repeatsOf(inner * 4)), waits };
    case "per-row":
      return { ...noWork, ...vector(), ...addresses(elements / inner, repeatsOf(inner * 4)), waits };
    case "row-copy": {
      const { picks, burst, rows, outer } = picked(setting, sizes);
      const copies = picks * rows * outer;
      const copied = copies * alignUp(burst * size, target.blockBytes);
      return {
        ...noWork,
        ...lookups(setting, picks, target),
        copies,
        copied,
        scalars: picks * components,
        waits,
      };
    }
    case "mgather":
    case "row-fetch": {
      const { picks, burst, rows, outer } = picked(setting, sizes);
      const looked = lookups(setting, picks, target);
      return {
        ...noWork,
        ...addresses(1, repeatsOf(picks * 4)),
        instructions: picks * outer * Math.ceil(rows / target.dmaRows) + looked.instructions,
        padded: picks * outer * rows * alignUp(burst * size, target.blockBytes) + looked.padded,
        bytes: elements * size + looked.bytes,
        scalars: picks * components,
        waits,
      };
    }
    case "scalar": {
      // 8 and 16 bytes move as words of 4: each is read and written.
      const scalars = elements * (components + 2 * Math.max(1, size / 4));
      const looked = lookups(setting, elements, target);
      if (data.inTile !== undefined) return { ...noWork, ...looked, scalars, waits };
      return {
        ...noWork,
        instructions: elements + looked.instructions,
        padded: elements * alignUp(size, target.blockBytes) + looked.padded,
        bytes: elements * size + looked.bytes,
        scalars,
        waits,
      };
    }
    case "direct":
      return direct(setting, sizes, target);
  }
}

/** The index values that are read in global memory, so many times each: every read is a transfer of its own. */
function lookups({ map, inputs }: GatherSetting, times: number, target: Target) {
  const sizes = map.sites.flatMap(({ value }) => {
    if (!isRead(value) || value.table === gatheredTable) return [];
    const { type, inTile } = at(inputs, value.table);
    return inTile === undefined ? [bytesOf(type.dtype)] : [];
  });
  return {
    instructions: times * sizes.length,
    padded: times * sizes.reduce((sum, bytes) => sum + alignUp(bytes, target.blockBytes), 0),
    bytes: times * sizes.reduce((sum, bytes) => sum + bytes, 0),
  };
}

/** The lowering of a tile program's gather; absent where there is no gather. */
export const programLowering = (func: TileFunc, target: Target): GatherLowering | undefined =>
  workload(func, target).lowering;

/** How often an index is looked up, and the box that each names. */
function picked({ map, inputs, output }: GatherSetting, sizes: Shape) {
  const first = pickedFrom(map);
  const box = sizes.slice(first);
  const within = ({ type, inTile = strides(type.shape) }: Held): Shape =>
    inTile.slice(inTile.length - box.length);
  const [burst = 1, rows = 1, ...outer] = folded(box, within(at(inputs, gatheredTable)), within(output));
  return { picks: elementCount(sizes.slice(0, first)), burst, rows, outer: elementCount(outer) };
}

/** How far a read that only leaves the first level of caches is, beside one that leaves the second. */
const nearby = 1 / 12;

/**
 * Lanes, or a core behind its caches: they start the output's rows, copy the rows that indices name piece by piece or take
 * single elements, and read the indices and write the output where these live in global memory.
 */
function direct({ map, inputs, output }: GatherSetting, sizes: Shape, target: Target): Work {
  const data = at(inputs, gatheredTable);
  const { dtype, shape } = data.type;
  const size = bytesOf(dtype);
  const elements = elementCount(sizes);
  const inRow = rowElements(map, sizes, shape);
  const row = inRow * size;
  const rows = elements / inRow;
  const pieces = inRow === 1 ? elements : rows * Math.ceil(row / target.vectorBytes);
  let [instructions, bytes, padded] = [0, 0, 0];
  const add = (part: { readonly bytes: number; readonly padded: number; readonly runs: number }): void => {
    instructions += part.runs;
    bytes += part.bytes;
    padded += part.padded;
  };
  for (let table = gatheredTable + 1; table < inputs.length; table++) {
    const { type, inTile } = at(inputs, table);
    if (inTile === undefined) add(inPlace(inputTile(map, table, sizes, type.shape), type, target));
  }
  if (output.inTile === undefined) add(inPlace(sizes, output.type, target));
  const slab = inPlace(inputTile(map, gatheredTable, sizes, shape), data.type, target).padded;
  const near = rows * Math.min(1, slab / target.firstLevelBytes);
  let far = 0;
  if (data.inTile === undefined) {
    const line = granule(target);
    const fetched = rows * alignUp(row, line);
    const kept = Math.min(1, target.secondLevelBytes / Math.max(1, slab));
    const once = Math.min(fetched, slab * sharedPart(map, sizes, output.type.shape));
    const lines = Math.ceil((kept * once + (1 - kept) * fetched) / line);
    // What a cache holds passes it again, as far as the traffic counts it.
    add({
      bytes: elements * size,
      padded: Math.max(elements * size, lines * line),
      runs: row < line ? 0 : rows,
    });
    far = row < line ? lines : 0;
  }
  return {
    ...noWork,
    rows: elements / (sizes[sizes.length - 1] ?? 1),
    repeats: Math.ceil(pieces / target.lanes),
    instructions,
    bytes,
    padded,
    scalars: far + near * nearby,
  };
}

/** What a box owes of a slab that the output shares along the dims that the data does not follow. */
function sharedPart(map: AccessMap, sizes: Shape, output: Shape): number {
  const follows = followedBy(map, gatheredTable);
  let part = 1;
  for (let d = 0; d < sizes.length; d++) if (!follows.has(d)) part = (part * at(sizes, d)) / at(output, d);
  return part;
}

/** A box of a tensor, read or written where it is. */
function inPlace(sizes: Shape, { dtype, shape }: TensorType, target: Target) {
  const elements = elementCount(sizes);
  if (elements === 0) return { bytes: 0, padded: 0, runs: 0 };
  const run = contiguousRun(sizes, shape);
  const runs = elements / run;
  const size = bytesOf(dtype);
  return { bytes: elements * size, padded: runs * alignUp(run * size, granule(target)), runs };
}

/** What a program's gather asks of its lowering. */
function factsOf(stmt: GatherStmt, func: TileFunc, buffers: Buffers, target: Target): LoweringFacts {
  const output = outputOf(func).type.shape;
  const [data, ...indices] = stmt.from;
  invariant(data !== undefined, "a gather reads its data");
  const taken = [...buffers.values()].reduce((sum, buffer) => sum + ubBytes(buffer) * buffer.buffers, 0);
  const body = bodyWith(func.body, stmt);
  return {
    map: stmt.map,
    data: inputOf(func, gatheredTable).type,
    indices: inputsOf(func)
      .slice(1)
      .map(({ type }) => type),
    residency: isParam(func, data.buffer) ? "gm" : "ub",
    tile: stmt.to.sizes.map((size, d) => largestValue(size) ?? at(output, d)),
    ragged: new Set(stmt.to.sizes.flatMap((size, d) => (loopVariables(size).size === 0 ? [] : [d]))),
    freshIndices: indices.every(({ buffer }) =>
      body.some((other) => other.op === "load" && other.to === buffer),
    ),
    spareBytes: (func.schedule.ubBytes ?? target.ubBytes) - taken,
    scratchRows: (stmt.scratch === undefined ? undefined : buffers.get(stmt.scratch)?.shape[0]) ?? 0,
  };
}

/** The innermost body that holds a statement. */
function bodyWith(body: readonly Stmt[], stmt: Stmt): readonly Stmt[] {
  if (body.includes(stmt)) return body;
  return (
    body
      .map((other) => (other.op === "for" ? bodyWith(other.body, stmt) : []))
      .find((found) => found.length > 0) ?? []
  );
}
