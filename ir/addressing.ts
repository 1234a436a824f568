/**
 * Addresses of elements: the single derivation for executors, code generators and counts.
 *
 * Every address is a linear form in elements. Output dims add a step, index operands add a stride, and loop
 * variables add the offsets of regions.
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

/** Position of a region in a memory: its start along each dim, and the stride of each dim in elements. */
export interface Place {
  readonly offsets: readonly Linear[];
  readonly strides: readonly number[];
}

/**
 * Returns the address of the element at coordinates inside a place, in elements from the start of the place's
 * memory.
 */
export const addressOf = (coords: readonly Linear[], place: Place): Linear =>
  sumOf(coords.map((coord, k) => scale(add(coord, at(place.offsets, k)), at(place.strides, k))));

/** Returns the address of the first element of a place, in elements from the start of its memory. */
export const startOf = (place: Place): Linear =>
  sumOf(place.offsets.map((offset, k) => scale(offset, at(place.strides, k))));

/**
 * Addresses of a gather, in elements, as linear forms in the dims of its output tile, its index operands and
 * the loop variables.
 */
export interface GatherAddresses {
  /** The element of the data that is read; the first of several. */
  readonly data: Linear;
  /** The element of each read, in the memory of its table. */
  readonly reads: readonly Linear[];
  /**
   * The index value of each index operand, in the memory of its table; of an index operand that reads nothing
   * the sum itself.
   */
  readonly indices: readonly Linear[];
  /** The element that is written. */
  readonly output: Linear;
}

/**
 * Returns the addresses of a gather. `place` gives the location of a region in its memory; a region of UB may
 * have been elided to a region of gm.
 */
export const gatherAddresses = (stmt: GatherStmt, place: (region: Region) => Place): GatherAddresses => ({
  ...inputAddresses(stmt, place),
  output: addressOf(stmt.map.write.at, place(stmt.to)),
});

/**
 * Returns the addresses that a gather reads. The output's address is left out, because an empty output may
 * have no memory.
 */
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
 * Returns the place of a gather's region in global memory. For a UB copy, this is the region that its load
 * reads or that its store writes.
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

/**
 * Returns a form over the dims of a tile as a form over the dims of its tensor. `offsets`: where the tile
 * starts in the tensor.
 */
export const overTensor = (form: Linear, offsets: readonly Linear[]): Linear =>
  substitute(form, (of) => {
    // Terms lie behind the dims of a tile.
    const offset = of.kind === "dim" ? offsets[of.dim] : undefined;
    return of.kind === "dim" && offset !== undefined ? sub(dim(of.dim), offset) : undefined;
  });

/**
 * Returns the map of a tile program over whole tensors, from the map over its regions. Undefined if the
 * program has no gather, if no store takes the gather's tile, or if the map differs between tiles.
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
 * Returns the gather of a map over whole tensors, all in global memory. `extents`: the sizes of each operand;
 * by default those of its type.
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
 * Returns the body of a program whose output has no elements. The body is empty unless an index value may
 * still be rejected. Then the body is a loop without iterations around the gather, so that the program states
 * the map.
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

/**
 * Returns the value of r at which a gather's reduction chunk starts. For a segmented reduction it returns 0,
 * because r is a position in the index list in every chunk.
 */
const firstElement = ({ map, chunk }: GatherStmt): Linear =>
  chunk === undefined || map.reduced?.segment !== undefined ? constant(0) : chunk.from;

/**
 * Returns the map with the number of elements of the full reduction. `chunk`: the part of the reduction that
 * one run of the gather takes.
 */
export const fullReduction = (map: AccessMap, chunk: ReductionChunk | undefined): AccessMap =>
  map.reduced === undefined || chunk === undefined
    ? map
    : { ...map, reduced: { ...map.reduced, max: chunk.of } };

/**
 * Returns the number of an output element in the output tensor, as a form in the tile's dims. Reports of
 * out-of-range indices use this number. Undefined if no store takes the gather's tile.
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

/** Returns the step of an address along each output dim. */
export const stepsOf = (address: Linear, rank: number): number[] =>
  Array.from({ length: rank }, (_, d) => stepAlong(address, "dim", d));

/**
 * Returns the strides of an address, in elements, along each of the first `indices` index operands of a map;
 * 0 for an index operand that does not change the address.
 */
export const indexStrides = (address: Linear, indices: number): readonly number[] =>
  Array.from({ length: indices }, (_, s) => stepAlong(address, "index", s));
