/**
 * Where elements lie: the one derivation of addresses, for executors, code generators and counts.
 *
 * Every address is a linear form in elements: output dims move it by a step, index operands by a stride, loop variables by what
 * the regions' offsets say.
 */
import {
  dataCoords,
  formsOf,
  gatheredTable,
  indexPoints,
  isRead,
  mapForms,
  type AccessMap,
} from "./access.js";
import { ofEach, operandNamed, outputOf, type Operand, type TileFunc } from "./func.js";
import {
  add,
  constant,
  dim,
  loopVariables,
  scale,
  stepAlong,
  sub,
  substitute,
  sumOf,
  type Linear,
} from "./linear.js";
import { mayReject } from "./policy.js";
import { outputRegion, type Task } from "./task/index.js";
import type { GatherStmt, ReductionChunk, Region, Stmt } from "./tile.js";
import { at, elementCount, invariant, strides } from "./types.js";

/** A region's place in a memory: where it starts along each dim, and elements between neighbours there. */
export interface Place {
  readonly offsets: readonly Linear[];
  readonly strides: readonly number[];
}

/** The element that coordinates inside a place name, counted from the start of its memory. */
export const addressOf = (coords: readonly Linear[], place: Place): Linear =>
  sumOf(coords.map((coord, k) => scale(add(coord, at(place.offsets, k)), at(place.strides, k))));

/** The first element of a place. */
export const startOf = (place: Place): Linear =>
  sumOf(place.offsets.map((offset, k) => scale(offset, at(place.strides, k))));

/** Addresses of a gather as forms in the dims of its output tile, its index operands and the loop variables. */
export interface GatherAddresses {
  /** The element of the data that is read; the first of several. */
  readonly data: Linear;
  /** The element of each read, in the memory of its table. */
  readonly reads: readonly Linear[];
  /** The index value of each index operand, in the memory of its table; of an index operand that reads nothing the sum itself. */
  readonly indices: readonly Linear[];
  /** The element that is written. */
  readonly output: Linear;
}

/** `place` says where the memory of a region is; a region of UB may have been elided to one of gm. */
export const gatherAddresses = (stmt: GatherStmt, place: (region: Region) => Place): GatherAddresses => ({
  ...inputAddresses(stmt, place),
  output: addressOf(stmt.map.write.at, place(stmt.to)),
});

/** Returns the addresses without that of the output, which may be stored nowhere if it is empty. */
export function inputAddresses(
  stmt: GatherStmt,
  place: (region: Region) => Place,
): Omit<GatherAddresses, "output"> {
  const starts = stmt.from.map(place);
  return {
    data: addressOf(dataCoords(stmt.map), at(starts, gatheredTable)),
    reads: stmt.map.reads.map(({ table, at: coords }) => addressOf(coords, at(starts, table))),
    indices: stmt.map.indices.map(({ value }) =>
      isRead(value) ? addressOf(value.at, at(starts, value.table)) : value,
    ),
  };
}

/**
 * Where a gather's region lies in global memory, whatever was copied: its own place, the one its load takes it from, or
 * the one its store puts it at.
 */
export function tensorPlace(func: TileFunc, { loads, store }: Task, region: Region): Place {
  const stored = store?.stmt.from === region.buffer ? store.stmt.to : undefined;
  const copied = loads.get(region.buffer)?.stmt.from ?? stored;
  const operand = operandNamed(func, (copied ?? region).buffer);
  invariant(operand !== undefined, `%${region.buffer} is no tensor and no copy of one`);
  const offsets = region.offsets.map((offset, k) =>
    copied === undefined ? offset : add(at(copied.offsets, k), offset),
  );
  return { offsets, strides: strides(operand.type.shape) };
}

/** A form over the dims of a tile as one over those of the tensor in which the tile starts at some offsets. */
export const overTensor = (form: Linear, offsets: readonly Linear[]): Linear =>
  substitute(form, (of) => {
    // Terms lie behind the dims of a tile.
    const offset = of.kind === "dim" ? offsets[of.dim] : undefined;
    return of.kind === "dim" && offset !== undefined ? sub(dim(of.dim), offset) : undefined;
  });

/**
 * The map of a tile program over whole tensors, from that inside its regions. Undefined where it differs from one tile to the
 * next, or where no store takes the gather's tile, and of a program without a gather.
 */
export function mapOverTensors(func: TileFunc, task: Task): AccessMap | undefined {
  const { gather } = task;
  const region = outputRegion(func, task);
  if (gather === undefined || region === undefined) return undefined;
  const { stmt } = gather;
  const placed = (form: Linear): Linear => overTensor(form, [...region.offsets, firstElement(stmt)]);
  const starts = [...stmt.from.map((from) => tensorPlace(func, task, from)), region];
  const map = mapForms(stmt.map, placed, ({ table, at: coords }) =>
    coords.map((coord, k) => add(placed(coord), at(at(starts, table).offsets, k))),
  );
  const isDynamic = formsOf(map).some((form) => loopVariables(form).size > 0);
  return isDynamic ? undefined : fullReduction(map, stmt.chunk);
}

/**
 * Returns the gather of a map over whole tensors, all in global memory. `extents`: of each operand.
 */
export function gatherOverTensors(
  map: AccessMap,
  operands: readonly Operand[],
  extents: readonly (readonly Linear[])[] = operands.map(({ type }) => type.shape.map(constant)),
): GatherStmt {
  const regions = operands.map(({ name, type }, k): Region => ({
    buffer: name,
    offsets: type.shape.map(() => constant(0)),
    sizes: at(extents, k),
  }));
  const { inputs, output } = ofEach({ operands }, regions);
  return {
    op: "gather",
    from: inputs,
    to: output,
    map,
    origins: inputs.slice(gatheredTable + 1).map(({ offsets }) => offsets),
  };
}

/**
 * Returns the body of a program whose output has no elements. It has no statement, but where an index value
 * may be rejected all the same: then a loop of no tasks, around the gather that states the map.
 */
export function emptyBody(
  map: AccessMap,
  operands: readonly Operand[],
  extents?: readonly (readonly Linear[])[],
): readonly Stmt[] {
  const points = indexPoints(map);
  if (!mayReject(map) || elementCount(points) === 0) return [];
  const none = constant(0);
  const body = [gatherOverTensors(map, operands, extents)];
  return [{ op: "for", iv: "t0", lower: none, upper: none, step: 1, mode: "parallel", body }];
}

/** Where r begins in a run of a gather; in a bag, r is the place in its list whatever the run. */
const firstElement = ({ map, chunk }: GatherStmt): Linear =>
  chunk === undefined || map.reduced?.segment !== undefined ? constant(0) : chunk.from;

/** The map of a run with the terms of all. */
export const fullReduction = (map: AccessMap, chunk: ReductionChunk | undefined): AccessMap =>
  map.reduced === undefined || chunk === undefined
    ? map
    : { ...map, reduced: { ...map.reduced, max: chunk.of } };

/**
 * The number of an output element in the output tensor, as a form in the tile's dims: what a bad index is reported by.
 * Undefined for a tile that no store behind the gather takes.
 */
export function outputPosition(func: TileFunc, task: Task): Linear | undefined {
  const region = outputRegion(func, task);
  if (region === undefined) return undefined;
  const place = { offsets: region.offsets, strides: strides(outputOf(func).type.shape) };
  return addressOf(
    region.sizes.map((_, d) => dim(d)),
    place,
  );
}

/** How far an address moves with each output dim. */
export const stepsOf = (address: Linear, rank: number): number[] =>
  Array.from({ length: rank }, (_, d) => stepAlong(address, "dim", d));

/** Returns the strides of an address along the index operands of a map: 0 for one that picks among nothing. */
export const indexStrides = (address: Linear, indices: number): readonly number[] =>
  Array.from({ length: indices }, (_, s) => stepAlong(address, "index", s));
