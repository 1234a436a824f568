/**
 * The plan of a call that writes points in the caller's arrays, or in a copy of the base: rows of updates go
 * where index values lead, by the walk that gathers read by. Updates that are no rows as they lie are made
 * first, by a gather over the domain.
 */
import { gatherOver, isMove, isRead, type AccessMap, type Read } from "../../ir/access.js";
import { elementAddress, gatherOverTensors, stepsOf } from "../../ir/addressing.js";
import { defined } from "../../ir/defined.js";
import { derivedOnce } from "../../ir/derived-once.js";
import { inputsOf, operandsOf, outputBytes, type Operand, type TileFunc } from "../../ir/func.js";
import { constant, type Linear } from "../../ir/linear.js";
import { mayReject } from "../../ir/policy.js";
import { at, elementCount, strides, type DType } from "../../ir/types.js";
import { typeOf } from "../../ir/values/index.js";
import { indexTables } from "../index-inputs.js";
import { indexSteps } from "../index-walk.js";
import { stagesOf } from "../plan/stages.js";
import { scatterMapOf } from "../scatter-map.js";
import { GatherWalk, rowOf } from "./walk.js";

/**
 * Source of a scatter's updates. `input`: an input with the updates in domain order, from element `first`.
 * `made`: a gather that computes the updates.
 */
export type Updates =
  | { readonly kind: "input"; readonly operand: Operand; readonly dtype: DType; readonly first: number }
  | { readonly kind: "made"; readonly tile: TileFunc; readonly dtype: DType };

/**
 * Plan to write a scatter's updates row by row. A row is a contiguous range of updates that goes to a
 * contiguous range of the output.
 */
export interface ScatterRows {
  readonly updates: Updates;
  /** Position in the output, in elements, of the first write if all index values are 0. */
  readonly start: number;
  /** Position of the first value of each index operand in its input. */
  readonly starts: readonly number[];
  /** First dim of a row; all later dims belong to the row. */
  readonly outer: number;
  readonly rowElements: number;
  /** Maximum number of bytes that are moved at once. */
  readonly unit: 1 | 2 | 4 | 8;
  /** Cached iterators over the rows, by unit in bytes. */
  readonly walks: Map<number, GatherWalk>;
}

/** Plan for executing a scatter: the access map, and the rows in which updates are written. */
export interface ScatterPlan {
  readonly tile: TileFunc;
  /** Map over whole tensors. */
  readonly map: AccessMap;
  /** Inputs with indices, of which a call keeps a copy for its report. */
  readonly indices: readonly Operand[];
  /** True if an index value may end the run. */
  readonly mayReject: boolean;
  /** Plan to write the updates row by row; absent if points are executed one by one. */
  readonly rows?: ScatterRows;
}

/**
 * Returns the plan of a scatter, and keeps it for the next call with the same program. Throws a CompileError
 * (TC505) if the program's tiles do not run each point once, in a valid order.
 */
export const scatterPlanOf = derivedOnce(planScatter);

/**
 * Returns the plan of a scatter. Throws a CompileError (TC505) if the program's tiles do not run each point
 * once, in a valid order.
 */
function planScatter(tile: TileFunc): ScatterPlan {
  const map = scatterMapOf(tile);
  const tables = indexTables(map, tile);
  const rows = rowsOf(tile, map);
  return {
    tile,
    map,
    indices: inputsOf(tile).filter((_, table) => tables.has(table)),
    mayReject: mayReject(map),
    ...defined({ rows }),
  };
}

/** Returns the plan to write a scatter's updates in rows; undefined if updates must be written one by one. */
function rowsOf(tile: TileFunc, map: AccessMap): ScatterRows | undefined {
  const updates = updatesOf(tile, map);
  if (updates === undefined) return undefined;
  const addresses = map.indices.map(({ value }) => (isRead(value) ? elementOf(tile, value) : value));
  const written = elementOf(tile, map.write);
  const stages = stagesOf(addresses, written);
  const rank = map.domain.length;
  const last = at(stages, stages.length - 1).dim;
  const { outer, rowElements } = rowOf(map.domain, stepsOf(written, rank), last);
  const bytes = outputBytes(tile);
  const between = written.terms.filter(({ of }) => of.kind !== "dim" || of.dim < outer);
  const steps = [rowElements, written.at, ...between.map((term) => term.by)];
  if (updates.kind === "input") steps.push(updates.first);
  const isSet = map.write.combine === "set";
  const unit = ([8, 4, 2] as const).find(
    (size) => (isSet || size === bytes) && steps.every((step) => (step * bytes) % size === 0),
  );
  return {
    updates,
    start: written.at,
    starts: addresses.map((form) => form.at),
    outer,
    rowElements,
    unit: unit ?? 1,
    walks: new Map(),
  };
}

/**
 * Returns the iterator over the rows of a scatter, with addresses in units of `unit` bytes. Each unit has one
 * iterator, which is cached in `walks`.
 */
export function scatterWalkOf({ map, tile }: ScatterPlan, { walks }: ScatterRows, unit: number): GatherWalk {
  const existing = walks.get(unit);
  if (existing !== undefined) return existing;
  const addresses = map.indices.map(({ value }) => (isRead(value) ? elementOf(tile, value) : value));
  const address = elementOf(tile, map.write);
  const walk = new GatherWalk(tile, {
    indexSteps: indexSteps(map, addresses, tile.operands),
    stages: stagesOf(addresses, address),
    address,
    table: map.write.table,
    rank: map.domain.length,
    scale: outputBytes(tile) / unit,
  });
  walks.set(unit, walk);
  return walk;
}

/** Returns the number of the element of an operand at some coordinates. */
const elementOf = ({ operands }: TileFunc, { table, at: coords }: Read): Linear =>
  elementAddress(at(operands, table).type.shape, coords);

/** Returns the source of a scatter's updates; undefined if updates must be written one by one. */
function updatesOf(tile: TileFunc, map: AccessMap): Updates | undefined {
  const types = map.reads.map(({ table }) => at(tile.operands, table).type.dtype);
  const { domain, reads } = map;
  const [read] = reads;
  // A value that is the fill bits keeps its point, and later index values are still looked up.
  const isOfValue = indexSteps(
    map,
    map.indices.map(() => constant(0)),
    tile.operands,
  ).some((step) => step.isOfValue === true);
  if (read === undefined || isOfValue) return undefined;
  const dtype = isMove(map) ? at(types, 0) : typeOf(map.value, types);
  if (isMove(map) && map.reduced === undefined) {
    const address = elementOf(tile, read);
    const by = strides(domain);
    const isDense =
      address.terms.every(({ of }) => of.kind === "dim") &&
      stepsOf(address, domain.length).every((step, d) => step === by[d] || at(domain, d) === 1);
    if (isDense) return { kind: "input", operand: at(tile.operands, read.table), dtype, first: address.at };
  }
  return { kind: "made", tile: updatesGather(tile, map, dtype), dtype };
}

/**
 * Returns a gather that computes the updates of all points of a scatter. Points that are skipped get an
 * arbitrary value.
 */
function updatesGather(tile: TileFunc, map: AccessMap, dtype: DType): TileFunc {
  const used = [
    ...new Set(
      [...map.reads, ...map.indices.flatMap(({ value }) => (isRead(value) ? [value] : []))].map(
        ({ table }) => table,
      ),
    ),
  ];
  const renamed = <T extends Read>(read: T): T => ({ ...read, table: used.indexOf(read.table) });
  const { domain, reduced, value } = map;
  const over = gatherOver(domain, used.length, {
    ...defined({ reduced }),
    value,
    reads: map.reads.map(renamed),
    indices: map.indices.map((index) => ({
      ...index,
      ...(index.outOfRange === "skip" ? { outOfRange: "zero" as const } : {}),
      value: isRead(index.value) ? renamed(index.value) : index.value,
    })),
  });
  const inputs = used.map((table) => at(tile.operands, table));
  const names = new Set(inputs.map(({ name }) => name));
  const name =
    ["updates", ...inputs.map((_, k) => `updates${k}`)].find((free) => !names.has(free)) ?? "updates";
  const type = { dtype, shape: domain };
  const keyed = inputs.map((operand) => ({ ...operand, inout: false }));
  const operands = [...keyed, at(operandsOf([...inputs, { name, type }], false), inputs.length)];
  return {
    level: "tile",
    name: tile.name,
    operands,
    schedule: {},
    body: elementCount(domain) === 0 ? [] : [gatherOverTensors(over, operands)],
    ...defined({ target: tile.target }),
  };
}
