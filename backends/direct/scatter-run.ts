/**
 * A call of a scatter: all of its index values are looked at before anything that the caller holds is
 * written.
 */
import { outputBytes, outputOf, isInPlace, type TileFunc } from "../../ir/func.js";
import { RunError } from "../../ir/diagnostic.js";
import { outOfRange } from "../../ir/policy.js";
import { elementCount } from "../../ir/types.js";
import { checkScatter } from "../check-points.js";
import { mapAddresses } from "../map-addresses.js";
import { coordinates, inputTensor, unitsAt, unitsOf, type HostInputs } from "../memory.js";
import { baseBytes, pointByPoint } from "../point-by-point.js";
import { badIndexAt, type MappedInputs } from "../resolved-indices.js";
import { blockRows, type AddressOffsets, type Block } from "./block.js";
import { combineRows } from "./combine-rows.js";
import type { RowArray } from "./move-rows.js";
import { scatterWalkOf, type ScatterPlan, type ScatterRows, type Updates } from "./scatter-plan.js";
import type { RowVisitor } from "./walk.js";
import { writeRows } from "./write-rows.js";

/**
 * Function that executes the gather that computes a scatter's updates. Returns the bytes of the updates,
 * row-major over the domain, in memory that the next call may overwrite.
 */
export type MakesUpdates = (tile: TileFunc, inputs: HostInputs) => Generator<number, Uint8Array>;

/** Elements between two looks at the clock. */
const elementsAtOnce = 2 ** 16;

/**
 * Executes a scatter and returns the output's bytes, which may be the base's own memory. Yields the progress
 * as a number of output elements, which may be a fraction. Throws a RunError, with an in-place base
 * unchanged: TC601 for an index out of range, TC607 for a forbidden duplicate.
 */
export function* scatterSteps(
  plan: ScatterPlan,
  inputs: HostInputs,
  makesUpdates: MakesUpdates,
): Generator<number, Uint8Array> {
  const { map, rows, tile } = plan;
  const mapped: MappedInputs = { map, operands: tile.operands, inputs };
  if (rows === undefined) return yield* pointByPoint(mapped, mapAddresses(mapped));
  const source = yield* updatesIn(mapped, rows.updates, makesUpdates);
  if (map.write.duplicates === "error") yield* checkScatter(mapped);
  else if (plan.mayReject && isInPlace(tile))
    for (const _ of walkRows(plan, rows, inputs, rows.unit, new Checker(mapped, rows))) yield 0;
  const target = baseBytes(mapped, map.write, outputOf(tile));
  if (map.write.combine === "set") {
    const unit = unitFor(rows.unit, [source, target]);
    const [from, to] = [unitsAt(source, unit), unitsAt(target, unit)];
    const scale = outputBytes(tile) / unit;
    yield* walkRows(plan, rows, inputs, unit, new Writer(mapped, rows, from, to, scale, writeRows));
    return target;
  }
  // Units of what is written in place may be a copy, where its bytes begin between two units.
  const [from, to] = [
    unitsOf(source, rows.updates.dtype).units,
    unitsOf(target, outputOf(tile).type.dtype).units,
  ];
  const combine = combineRows(map.write.combine, outputOf(tile).type.dtype, rows.updates.dtype);
  yield* walkRows(plan, rows, inputs, rows.unit, new Writer(mapped, rows, from, to, 1, combine));
  if (to.buffer !== target.buffer) target.set(new Uint8Array(to.buffer, to.byteOffset, target.length));
  return target;
}

/**
 * Generates the updates of a scatter and returns the bytes; yields regularly. Throws a RunError (TC601) for
 * the first output position whose update has an index out of range.
 */
function* updatesIn(
  mapped: MappedInputs,
  updates: Updates,
  makesUpdates: MakesUpdates,
): Generator<number, Uint8Array> {
  if (updates.kind === "input") return inputTensor(mapped.inputs, updates.operand).bytes;
  if (mapped.map.domain.includes(0)) return new Uint8Array();
  try {
    return yield* makesUpdates(updates.tile, mapped.inputs);
  } catch (thrown) {
    const point = thrown instanceof RunError ? thrown.diagnostics[0]?.data?.["point"] : undefined;
    throw Array.isArray(point) ? badIndexAt(mapped, point as number[]) : thrown;
  }
}

/**
 * Passes all rows of a scatter's domain to `visitor`, slice by slice. After each slice, yields the progress
 * as a number of output elements, which may be a fraction.
 */
function* walkRows(
  plan: ScatterPlan,
  rows: ScatterRows,
  inputs: HostInputs,
  unit: number,
  visitor: RowVisitor,
): Generator<number, void> {
  const { domain } = plan.map;
  const [extent = 1, ...inner] = domain;
  const walk = scatterWalkOf(plan, rows, unit);
  const start = (rows.start * outputBytes(plan.tile)) / unit;
  const step = Math.max(1, Math.floor(elementsAtOnce / elementCount(inner)));
  const elements = elementCount(outputOf(plan.tile).type.shape);
  for (let from = 0; from < extent; from += step) {
    walk.bind(inputs);
    try {
      walk.walk(visitor, domain, start, rows.starts, noLoops, from, Math.min(extent, from + step));
    } finally {
      walk.release();
    }
    yield (Math.min(extent, from + step) / extent) * elements;
  }
}

const noLoops: ReadonlyMap<string, number> = new Map();

/** Returns the plan's unit, or a smaller one where an array starts between two of them. */
const unitFor = (unit: ScatterRows["unit"], arrays: readonly Uint8Array[]): ScatterRows["unit"] =>
  ([8, 4, 2] as const).find(
    (size) => size <= unit && arrays.every(({ byteOffset }) => byteOffset % size === 0),
  ) ?? 1;

/** Reports the first point with an index out of range. */
class Checker implements RowVisitor {
  constructor(
    private readonly mapped: MappedInputs,
    private readonly rows: ScatterRows,
  ) {}

  block({ bad }: Block, _from: number, _count: number, first: number): void {
    if (bad < blockRows) this.reject(first + bad);
  }

  row(_address: number, _row: number): void {
    // Its index values are in range.
  }

  none(first: number, _count: number, element: number): void {
    if (element === outOfRange) this.reject(first);
  }

  private reject(row: number): never {
    const { domain } = this.mapped.map;
    const { outer } = this.rows;
    const point = coordinates(row, domain.slice(0, outer));
    throw badIndexAt(this.mapped, [...point, ...domain.slice(outer).map(() => 0)]);
  }
}

/** Writes rows, but those of points that are skipped. */
class Writer extends Checker {
  private readonly units: number;
  private readonly begin: number;

  constructor(
    mapped: MappedInputs,
    rows: ScatterRows,
    private readonly source: RowArray,
    private readonly target: RowArray,
    scale: number,
    private readonly write: typeof writeRows,
  ) {
    super(mapped, rows);
    this.units = rows.rowElements * scale;
    this.begin = rows.updates.kind === "input" ? rows.updates.first * scale : 0;
  }

  override block(block: Block, base: number, count: number, first: number): void {
    super.block(block, base, count, first);
    const { anyEnded, ended } = block;
    for (let k = 0; k < count;) {
      let end = anyEnded ? k + 1 : count;
      if (anyEnded) while (end < count && ended[end] === ended[k]) end++;
      if (!anyEnded || ended[k] === 0) this.put(block.addresses, base, k, end, first);
      k = end;
    }
  }

  override row(address: number, row: number): void {
    this.put(atBase, address, 0, 1, row);
  }

  /** Writes rows of a block. `first`: the number of the block's first row. */
  private put(addresses: AddressOffsets, base: number, from: number, end: number, first: number): void {
    const { begin, source, target, units } = this;
    this.write(source, target, addresses, base, units, from, end, begin + (first + from) * units);
  }
}

/** A row by itself. */
const atBase = new Int32Array(1);
