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
import {
  ubStrides,
  type GatherStmt,
  type ReductionChunk,
  type Region,
  type Stmt,
  type UbBuffer,
} from "./tile.js";
import { at, elementCount, invariant, strides, type Shape } from "./types.js";

/** Position of a region in a memory, in elements: the start coordinate and the stride of each dim. */
export interface Place {
  readonly offsets: readonly Linear[];
  readonly strides: readonly number[];
}

/**
 * Returns the position of a region in the memory that it names: a tensor, or one of `buffers` in the unified
 * buffer (UB).
 */
export function placeIn(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  { buffer, offsets }: Region,
): Place {
  const [ub, operand] = [buffers.get(buffer), operandNamed(func, buffer)];
  if (ub !== undefined) return { offsets, strides: ubStrides(ub) };
  invariant(operand !== undefined, `%${buffer} is defined`);
  return { offsets, strides: strides(operand.type.shape) };
}

/**
 * Returns the address of an element, in elements from the start of the memory. `coords`: coordinates of the
 * element relative to the region's start. `place`: position of the region in the memory.
 */
export const addressOf = (coords: readonly Linear[], place: Place): Linear =>
  sumOf(coords.map((coord, k) => scale(add(coord, at(place.offsets, k)), at(place.strides, k))));

/** Returns the address of an element in the memory of a whole tensor, in elements. */
export const elementAddress = (shape: Shape, coords: readonly Linear[]): Linear =>
  addressOf(coords, { offsets: shape.map(() => constant(0)), strides: strides(shape) });

/**
 * Returns the address of the first element of a region, in elements from the start of the memory that
 * contains the region.
 */
export const startOf = (place: Place): Linear =>
  sumOf(place.offsets.map((offset, k) => scale(offset, at(place.strides, k))));

/**
 * Addresses at which a gather statement reads and writes, in elements. Each is a linear expression of the
 * output tile's dims, the index operands and the loop variables.
 */
export interface GatherAddresses {
  /** Address of the data element that is read; if several are read, of the first. */
  readonly data: Linear;
  /** Address of the element of each read, in the memory that holds the input. */
  readonly reads: readonly Linear[];
  /**
   * For an index operand that reads a tensor: the address of the index value. For an index operand that is a
   * sum: the sum, which is no address.
   */
  readonly indices: readonly Linear[];
  /** Address of the element that is written. */
  readonly output: Linear;
}

/**
 * Returns the addresses at which a gather reads and writes, in elements. `place`: returns the position of a
 * region in the memory that contains the region.
 */
export const gatherAddresses = (stmt: GatherStmt, place: (region: Region) => Place): GatherAddresses => ({
  ...inputAddresses(stmt, place),
  output: addressOf(stmt.map.write.at, place(stmt.to)),
});

/**
 * Returns the addresses at which a gather reads, in elements. `place`: returns the position of a region in
 * the memory that contains the region.
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
 * Returns the position in global memory of a region that a gather accesses. For a tile in the unified buffer
 * (UB), returns the tensor region of the tile's load or store. Throws an InternalError if the program does
 * not copy the tile.
 */
export function tensorPlace(func: TileFunc, { loads, store }: Task, region: Region): Place {
  const stored = store?.stmt.from === region.buffer ? store.stmt.to : undefined;
  const copied = loads.get(region.buffer)?.stmt.from ?? stored;
  const operand = operandNamed(func, (copied ?? region).buffer);
  invariant(operand !== undefined, `%${region.buffer} is neither a tensor nor a copy of a tensor`);
  const offsets = region.offsets.map((offset, k) =>
    copied === undefined ? offset : add(at(copied.offsets, k), offset),
  );
  return { offsets, strides: strides(operand.type.shape) };
}

/**
 * Rewrites a linear expression of a tile's dims as an expression of the dims of the tensor that contains the
 * tile. `offsets`: coordinates of the tile's start in the tensor.
 */
export const overTensor = (form: Linear, offsets: readonly Linear[]): Linear =>
  substitute(form, (of) => {
    // Terms lie behind the dims of a tile.
    const offset = of.kind === "dim" ? offsets[of.dim] : undefined;
    return of.kind === "dim" && offset !== undefined ? sub(dim(of.dim), offset) : undefined;
  });

/**
 * Returns the access map of a gather's tile program in coordinates of the whole tensors, not of the tiles.
 * Undefined for a scatter, if the program has no gather or store, or if its tiles have different access maps.
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
 * Returns a gather statement that applies an access map to whole tensors in global memory. `extents`: sizes
 * of each operand's dims, in elements; by default the sizes in the operand's type.
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
 * Returns the body of a program whose output has no elements: an empty list if no index value can be
 * rejected. Otherwise the body is the gather inside a loop of 0 iterations; the loop keeps the index check in
 * the program.
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
 * Returns the number of the reduction element at which a gather's chunk of reduction elements starts. For a
 * segmented reduction it returns 0, because elements are then numbered by position in the index list.
 */
const firstElement = ({ map, chunk }: GatherStmt): Linear =>
  chunk === undefined || map.reduced?.segment !== undefined ? constant(0) : chunk.from;

/**
 * Returns the map with its reduction extended from one chunk to all reduction elements. A map without a
 * reduction, or without a chunk, is returned unchanged. `chunk`: part of the reduction that one execution of
 * the gather combines.
 */
export const fullReduction = (map: AccessMap, chunk: ReductionChunk | undefined): AccessMap =>
  map.reduced === undefined || chunk === undefined
    ? map
    : { ...map, reduced: { ...map.reduced, max: chunk.of } };

/**
 * Returns the flat row-major position of an output element in the output tensor, as a linear expression of
 * the tile's dims. Undefined if no store copies the gather's tile.
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

/**
 * Returns the change of an address, in elements, when the coordinate of an output dim grows by 1. The result
 * has one entry for each output dim. `rank`: number of output dims.
 */
export const stepsOf = (address: Linear, rank: number): number[] =>
  Array.from({ length: rank }, (_, d) => stepAlong(address, "dim", d));

/**
 * Returns the change of an address, in elements, when an index value grows by 1. The result has one entry for
 * each of the first `indices` index operands.
 */
export const indexStrides = (address: Linear, indices: number): readonly number[] =>
  Array.from({ length: indices }, (_, s) => stepAlong(address, "index", s));
