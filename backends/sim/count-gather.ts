/**
 * Counts of what a gather reads in place. Index values whose positions depend on the output element alone are
 * counted by region. Other reads depend on values: the rows of the data that a tile fetches, and index values
 * that are read through other index values. They are looked up stage by stage, each once for everything
 * inside the stage. Outputs that share their index values and lie together in the data are counted as one.
 */
import { gatheredTable, isMove, isRead, type Read } from "../../ir/access.js";
import {
  inputAddresses,
  stepsOf,
  tensorPlace,
  fullReduction,
  type GatherAddresses,
} from "../../ir/addressing.js";
import { inputOf, inputsOf, type TileFunc } from "../../ir/func.js";
import {
  constant,
  dimsOf,
  evaluate,
  isConstant,
  iv,
  loopForm,
  loopVariables,
  indicesOf,
  soleAtom,
  type Linear,
} from "../../ir/linear.js";
import { isParam } from "../../ir/regions.js";
import type { Task } from "../../ir/task/index.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, meanBytes } from "../../ir/types.js";
import { valuePlan, type ValueStep } from "../../ir/values/index.js";
import { GatherWalk, rowOf, type RowVisitor } from "../direct/walk.js";
import { pointsOf } from "../region-points.js";
import { indexReader, inputTensor, type HostInputs } from "../memory.js";
import { beyondSteps, stagesOf } from "../plan/stages.js";
import { IndexWalk, indexSteps, reductionRange, type IndexStep } from "../index-walk.js";
import type { Counter } from "./counter.js";
import { forEachGroup, iterationsOf } from "./iteration-groups.js";
import { Runs } from "./runs.js";
import { counterOf, type Counters } from "./summary.js";

/** A gather of a tile program, and the loops around it. */
interface Gathering {
  readonly func: TileFunc;
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
  /** In the tensors. */
  readonly addresses: Omit<GatherAddresses, "output">;
}

/** Adds the global-memory traffic of a gather's inputs to the traffic counters of the inputs. */
export function countGather(
  func: TileFunc,
  task: Task,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  inputs: HostInputs,
  counters: Counters,
): void {
  const addresses = inputAddresses(stmt, (region) => tensorPlace(func, task, region));
  const gathering: Gathering = { func, stmt, loops, addresses };
  /** Tables whose values are counted as they are looked up. */
  const tracked = new Map<number, Counter>();
  let fetched: Counter | undefined;
  stmt.from.forEach(({ buffer }, table) => {
    if (!isParam(func, buffer)) return;
    const counter = counterOf(counters, inputOf(func, table));
    counter.transfers += iterationsOf(loops);
    if (table === gatheredTable) fetched = counter;
    const reads = readsOf(gathering, table);
    const isValue = table !== gatheredTable && stmt.map.reads.some((read) => read.table === table);
    // An element without a value reads nothing that others, and none of its terms, are made from.
    if (!isValue && stmt.map.reduced === undefined && readApart(reads.map(({ read }) => read)))
      countReads(gathering, table, reads, counter);
    else tracked.set(table, counter);
  });
  if (fetched === undefined && tracked.size === 0) return;
  const count = isMove(stmt.map) ? countNamed : countComputed;
  count(gathering, inputs, fetched, tracked);
}

interface ReadAt {
  readonly read: Read;
  readonly address: Linear;
}

/** Returns the index operands that read a table. */
const readsOf = ({ stmt, addresses }: Gathering, table: number): readonly ReadAt[] =>
  stmt.map.indices.flatMap(({ value }, index) =>
    isRead(value) && value.table === table ? [{ read: value, address: at(addresses.indices, index) }] : [],
  );

/**
 * True if two output elements that differ in a dim of the reads never read the same value. Each coordinate is
 * then a constant, or one dim that is the same in all reads.
 */
function readApart(reads: readonly Read[]): boolean {
  const dims = reads.map((read) => read.at.map((coord) => (isConstant(coord) ? "" : dimAlone(coord))));
  return dims.every((coords) => coords.every((dim, k) => dim !== undefined && dim === dims[0]?.[k]));
}

function dimAlone(coord: Linear): number | undefined {
  const only = soleAtom(coord);
  return only?.kind === "dim" ? only.dim : undefined;
}

/**
 * Adds the traffic of a gather's reads of one index tensor in global memory to `counter`. An index value
 * counts once per tile.
 */
function countReads(
  { func, stmt, loops }: Gathering,
  table: number,
  reads: readonly ReadAt[],
  counter: Counter,
): void {
  const [first] = reads;
  if (first === undefined) return;
  const rank = stmt.to.sizes.length;
  const by = stepsOf(first.address, rank);
  const dims = new Set(dimsOf(first.address));
  const components = [...new Set(reads.map(({ address }) => loopForm(address).at))];
  forEachGroup(loops, stmt.to.sizes, (sizes, times) => {
    if (sizes.includes(0)) return;
    const runs = new Runs();
    for (const component of components) runs.add(component, 1);
    for (let d = rank - 1; d >= 0; d--) if (dims.has(d)) runs.repeat(at(sizes, d), at(by, d));
    runs.report(counter, meanBytes(inputOf(func, table).type.dtype), times);
  });
}

/** The values of a tile that are read in place, in the order of their first reads. */
interface TrackedTable {
  readonly positions: Set<number>;
  readonly runs: Runs;
}

/**
 * Adds the traffic of a gather to counters; the gather only moves elements and computes no values. `fetched`:
 * counter of the data; undefined if the data is not read from global memory. `trackedTables`: counters of
 * index tensors in global memory, by number of the input; each index value that is read counts once per tile.
 */
function countNamed(
  { func, stmt, loops, addresses }: Gathering,
  inputs: HostInputs,
  fetched: Counter | undefined,
  trackedTables: ReadonlyMap<number, Counter>,
): void {
  const rank = stmt.to.sizes.length;
  const indices = indexSteps(stmt.map, addresses.indices, func.operands);
  const stages = stagesOf(addresses.indices, addresses.data);
  const address = addresses.data;
  const walk = new GatherWalk(func, {
    indexSteps: indices,
    stages,
    address,
    rank,
    scale: 1,
    isRead: trackedTables.size > 0,
  });
  const by = stepsOf(addresses.data, rank);
  const followed = [{ at: 0, terms: beyondSteps(addresses.data) }, ...addresses.indices].flatMap(dimsOf);
  const [firstFollowed, last] = [Math.min(...followed), at(stages, stages.length - 1).dim];
  const { starts, variables } = walk;
  const forms = [...stmt.to.sizes, ...starts, ...variables.map(iv)];

  walk.bind(inputs);
  forEachGroup(loops, forms, (values, times) => {
    const sizes = values.slice(0, rank);
    if (sizes.includes(0)) return;
    const env = new Map(variables.map((name, k) => [name, at(values, rank + starts.length + k)]));
    const tracked = new Map(
      [...trackedTables.keys()].map((table): [number, TrackedTable] => [table, newTrackedTable()]),
    );
    const { outer, rowElements } = rowOf(sizes, by, last);
    const first = Math.min(outer, firstFollowed);
    const runs = new Runs();
    const once = sizes.map((size, d) => (d < first ? 1 : size));
    walk.walk(rowsInto(runs, rowElements, tracked), once, 0, values.slice(rank, rank + starts.length), env);
    for (let d = first - 1; d >= 0; d--) runs.repeat(at(sizes, d), at(by, d));
    if (fetched !== undefined)
      runs.report(fetched, meanBytes(inputOf(func, gatheredTable).type.dtype), times);
    for (const [table, counter] of trackedTables)
      tracked.get(table)?.runs.report(counter, meanBytes(inputOf(func, table).type.dtype), times);
  });
}

/**
 * Adds the traffic of a gather that computes values to traffic counters. `fetched`: counter of the data;
 * undefined if the data is not read from global memory. `trackedTables`: counters of inputs, by number of the
 * input. An element of these inputs counts once in each tile.
 */
function countComputed(
  { func, stmt, loops, addresses }: Gathering,
  inputs: HostInputs,
  fetched: Counter | undefined,
  trackedTables: ReadonlyMap<number, Counter>,
): void {
  const fullMap = fullReduction(stmt.map, stmt.chunk);
  const walk = new IndexWalk(indexSteps(fullMap, addresses.indices, func.operands));
  const readers = inputsOf(func).map((operand, table) =>
    walk.steps.some((step) => step.table === table)
      ? indexReader(inputTensor(inputs, operand).bytes, operand.type.dtype)
      : undefined,
  );
  const types = stmt.map.reads.map(({ table }) => inputOf(func, table).type.dtype);
  const { steps, reduction } = valuePlan(stmt.map.value, types);
  const variables = [
    ...new Set([...addresses.indices, ...addresses.reads].flatMap((form) => [...loopVariables(form)])),
  ];
  const rank = stmt.to.sizes.length;
  const { from, to, of } = stmt.chunk ?? { from: constant(0), to: constant(0), of: 0 };
  forEachGroup(loops, [...stmt.to.sizes, from, to, ...variables.map(iv)], (values, times) => {
    const sizes = values.slice(0, rank);
    const run = stmt.chunk === undefined ? undefined : { from: at(values, rank), to: at(values, rank + 1) };
    const env = new Map(variables.map((name, k) => [name, at(values, rank + 2 + k)]));
    const tracked = new Map(
      [...trackedTables.keys()].map((table): [number, TrackedTable] => [table, newTrackedTable()]),
    );
    const runs = new Runs();
    /** True if all of some index operands have a value. */
    const taken = (steps: readonly IndexStep[], dims: readonly number[]): boolean => {
      let ended = false;
      for (const step of steps) {
        // What is read at dims alone is read whatever the others name.
        if (ended && (step.table === undefined || indicesOf(step.form).length > 0)) continue;
        if (step.table !== undefined) noteIn(tracked, step.table, walk.position(step, dims, env));
        if (walk.takeFrom(step, readers, dims, env) < 0) ended = true;
      }
      return !ended;
    };
    const read = (steps: readonly ValueStep[], dims: readonly number[]): void => {
      for (const step of steps) {
        if (step.kind !== "read") continue;
        const { table } = at(stmt.map.reads, step.read);
        const position = evaluate(at(addresses.reads, step.read), env, { dims, indices: walk.indices });
        if (table === gatheredTable) runs.add(position, 1);
        else noteIn(tracked, table, position);
      }
    };
    for (const dims of pointsOf(sizes)) {
      if (!taken(walk.outerSteps, dims)) continue;
      if (reduction !== undefined) {
        const [first, end] = reductionRange(stmt.map, walk.indices, run);
        for (let r = first; r < end; r++) {
          const here = [...dims, r];
          if (taken(walk.reductionSteps, here)) read(reduction.steps, here);
        }
      }
      if (run === undefined || run.to === of) read(steps, dims);
    }
    if (fetched !== undefined)
      runs.report(fetched, meanBytes(inputOf(func, gatheredTable).type.dtype), times);
    for (const [table, counter] of trackedTables)
      tracked.get(table)?.runs.report(counter, meanBytes(inputOf(func, table).type.dtype), times);
  });
}

/** Notes a value where it is first read. */
function noteIn(tracked: ReadonlyMap<number, TrackedTable>, table: number, position: number): void {
  const place = tracked.get(table);
  if (place === undefined || place.positions.has(position)) return;
  place.positions.add(position);
  place.runs.add(position, 1);
}

const newTrackedTable = (): TrackedTable => ({ positions: new Set(), runs: new Runs() });

/**
 * Returns a visitor that adds each row of a gather to `runs`, as a range of `length` elements. `tracked`:
 * inputs, by number, for which the visitor records the elements that are read.
 */
function rowsInto(runs: Runs, length: number, tracked: ReadonlyMap<number, TrackedTable>): RowVisitor {
  const rows: RowVisitor = {
    block({ addresses, anyEnded, ended }, from, count) {
      if (!anyEnded) for (let k = 0; k < count; k++) runs.add(from + (addresses[k] ?? 0), length);
      else for (let k = 0; k < count; k++) if (ended[k] === 0) runs.add(from + (addresses[k] ?? 0), length);
    },
    row(address) {
      runs.add(address, length);
    },
    none() {
      // Nothing is fetched.
    },
  };
  if (tracked.size === 0) return rows;
  return {
    ...rows,
    read(table, position) {
      noteIn(tracked, table, position);
    },
  };
}
