/**
 * Plan of how a CPU moves a gather's elements. Pointers advance with the output dims, and the longest
 * contiguous runs are copied. If each element has its own index, several elements move at a time.
 */
import { defined } from "../../ir/defined.js";
import { gatheredTable } from "../../ir/access.js";
import { gatherAddresses } from "../../ir/addressing.js";
import { inputOf, inputsOf, outputBytes, outputOf, type TileFunc } from "../../ir/func.js";
import { dimsOf, isConstant, scale, sub, type Linear } from "../../ir/linear.js";
import { indexBytes } from "../../ir/policy.js";
import { walkedSizes, type Region } from "../../ir/tile.js";
import { at } from "../../ir/types.js";
import { maxSizesOf, planGather, type GatherAt, type GatherPlan } from "../plan/gather.js";
import { stridedIndices, type StridedIndex } from "../plan/strided-indices.js";
import type { PagedDims } from "../plan/page.js";
import { commonRun, type Run } from "../plan/runs.js";
import { beyondSteps } from "../plan/stages.js";
import { copyMethod } from "./code.js";
import { comparedTogether, type ComparedVector } from "./compared.js";
import {
  isOutput,
  pointerWalkOf,
  type Lookup,
  type PlacedRegion,
  type PointerWalk,
} from "./memory-addresses.js";
import { lookupTable, type Table } from "./table.js";
import { unrollAndJamOf, type UnrollAndJam } from "./unroll-and-jam.js";
import { unrolledValues, type UnrolledValues } from "./unrolled-values.js";

/** Number of elements that one iteration of the innermost loop of an unrolled gather copies. */
export const unroll = 16;
/** Number of short rows that one iteration of the row loop of an unrolled gather copies. */
export const rowsTogether = 4;
/** Longer rows take so long to copy that one check for four of them saves nothing. */
const shortRowBytes = 16;

/**
 * Indices of a turn that are compared by vectors, and resolved one by one only where one of them is not in
 * range as it stands.
 */
interface CheckedTogether {
  readonly resolved: readonly StridedIndex[];
  readonly vectors: readonly ComparedVector[];
}

/**
 * Strategy by which a gather resolves indices and copies elements. `rows`: each index copies contiguous data
 * at once. `one by one`: each element by itself. All others take several elements or rows in one loop
 * iteration.
 */
export type GatherStrategy =
  | { readonly by: "rows" }
  | ({ readonly by: "rows together" } & CheckedTogether)
  | { readonly by: "from the table" }
  | { readonly by: "one by one" }
  | ({ readonly by: "checked together"; readonly unrollAndJam?: UnrollAndJam } & CheckedTogether);

/**
 * Plan of the WebAssembly code of a gather: pointers, index lookups, byte ranges that are copied at once, and
 * strategy.
 */
export interface CpuGather extends GatherPlan {
  /** Bytes of an output element. */
  readonly elementBytes: number;
  readonly data: PointerWalk;
  /** Addresses of the elements from which a value is computed; empty if elements are only copied. */
  readonly reads: readonly PointerWalk[];
  readonly output: PointerWalk;
  /** Addresses of the index values, one for each pointer into an index tensor. */
  readonly indices: readonly PointerWalk[];
  /** By index operand; undefined for a sum. */
  readonly lookups: readonly (Lookup | undefined)[];
  /** Bytes of data between neighbours of a row along each output dim. */
  readonly rowBy: readonly number[];
  /** Run of bytes that is copied at once. */
  readonly run: Run;
  /** Plan of a table: each index is looked up before anything moves. */
  readonly table?: Table;
  readonly moving: GatherStrategy;
  /** Present if elements are computed in vectors. */
  readonly unrolled?: UnrolledValues;
}

/**
 * Returns the plan of the WebAssembly code of a gather. `place`: returns the memory, offsets and strides of a
 * region.
 */
export function planCpuGather(
  func: TileFunc,
  gather: GatherAt,
  place: (region: Region) => PlacedRegion,
): CpuGather {
  const { stmt, loops } = gather;
  const { to } = stmt;
  const rank = walkedSizes(stmt).length;
  const addresses = gatherAddresses(stmt, place);
  const core = planGather(func, gather, addresses);
  const { last, page } = core;
  const dtypes = inputsOf(func).map(({ type }) => type.dtype);
  const elementBytes = outputBytes(func);
  const walkTo = (table: number, address: Linear): PointerWalk =>
    pointerWalkOf(place(at(stmt.from, table)).memory, address, at(dtypes, table), rank);
  const data = walkTo(gatheredTable, addresses.data);
  const computed = core.values === undefined ? [] : stmt.map.reads;
  const output = pointerWalkOf(place(to).memory, addresses.output, outputOf(func).type.dtype, rank);
  const { indices, lookups } = lookupsOf(func, core, place);
  const added = { at: 0, terms: beyondSteps(addresses.data) };
  const dims = new Set([...addresses.indices, added].flatMap(dimsOf));
  const moves = core.values === undefined;
  const table =
    moves && page === undefined
      ? lookupTable(dims, maxSizesOf(to.sizes, loops), scale(added, elementBytes), core.ranges)
      : undefined;
  const rowBy = data.by.map((step, d) =>
    page !== undefined && d === last ? page.step * elementBytes : step,
  );
  const run = commonRun(to.sizes, [output.by, rowBy], elementBytes, last + 1);
  const unrolled = unrolledValues(
    {
      sizes: to.sizes,
      loops,
      values: core.values,
      indices: core.indexSteps.map(({ form }) => form),
      reads: addresses.reads,
    },
    computed.map(({ table }) => at(dtypes, table)),
    output,
  );
  return {
    ...core,
    // A promise that is broken is told too: it costs no more.
    reports:
      isOutput(place(to), func) &&
      (core.reports || core.indexSteps.some(({ rule }) => rule?.outside === "promised")),
    elementBytes,
    data,
    reads: computed.map(({ table }, k) => walkTo(table, at(addresses.reads, k))),
    output,
    indices,
    lookups,
    rowBy,
    run: page === undefined ? run : alongPage(run, page, [output.by, rowBy], last),
    ...defined({ table }),
    moving: movingOf(core, { data, indices, lookups, run, table }),
    ...defined({ unrolled }),
  };
}

/**
 * Returns the pointers into the index tensors (the result's field `indices`), and the location of each index
 * operand's value (field `lookups`). A location is a pointer and a byte offset from the pointer; undefined
 * for a sum. Values of one tensor at a constant distance use one pointer.
 */
function lookupsOf(
  func: TileFunc,
  { indexSteps: forms, stmt }: GatherPlan,
  place: (region: Region) => PlacedRegion,
): Pick<CpuGather, "indices" | "lookups"> {
  const planned: { readonly table: number; first: Linear }[] = [];
  const walks = forms.map(({ table, form }): number | undefined => {
    if (table === undefined) return undefined;
    const lookup = planned.find((lookup) => lookup.table === table && isConstant(sub(lookup.first, form)));
    if (lookup === undefined) return planned.push({ table, first: form }) - 1;
    if (form.at < lookup.first.at) lookup.first = form;
    return planned.indexOf(lookup);
  });
  const indices = planned.map(({ table, first }) => {
    const { dtype } = inputOf(func, table).type;
    return pointerWalkOf(place(at(stmt.from, table)).memory, first, dtype, walkedSizes(stmt).length);
  });
  const lookups = forms.map(({ table, form, index }): Lookup | undefined => {
    const walk = walks[index];
    if (table === undefined || walk === undefined) return undefined;
    const { dtype } = inputOf(func, table).type;
    return { walk, shift: (form.at - at(planned, walk).first.at) * indexBytes(dtype), dtype };
  });
  return { indices, lookups };
}

interface GatheredData extends Pick<CpuGather, "data" | "indices" | "lookups" | "run"> {
  readonly table: Table | undefined;
}

/**
 * Returns the strategy of a gather. Whole rows are copied if index values are constant along the innermost
 * output dim, or along blocks (pages) of the dim. Otherwise elements are copied.
 */
function movingOf(core: GatherPlan, data: GatheredData): GatherStrategy {
  const { last, page, stmt } = core;
  const rank = stmt.to.sizes.length;
  return last < rank - 1 || rank === 0 || page !== undefined
    ? rowMoving(core, data)
    : elementMoving(core, data);
}

/**
 * Returns the strategy of a gather that copies rows. One iteration copies several rows if the rows are short
 * and vectors can check the indices; else one row.
 */
function rowMoving(core: GatherPlan, { data, run, table, ...rest }: GatheredData): GatherStrategy {
  const { last, loops, page, stmt, values } = core;
  const isShort = run.outer === last + 1 && run.times === undefined && run.bytes <= shortRowBytes;
  // Instructions add no negative numbers to an address.
  const apart = page !== undefined || values !== undefined || table !== undefined || !ascends(data);
  const together = isShort && !apart ? togetherAlong(core, rest, rowsTogether) : undefined;
  const enough = last >= 0 && at(maxSizesOf(stmt.to.sizes, loops), last) >= rowsTogether;
  return together !== undefined && enough ? { by: "rows together", ...together } : { by: "rows" };
}

/**
 * Returns the strategy of a gather that copies elements. One iteration copies several elements if vectors can
 * check the index values, or if all indices are resolved in a table; else one element.
 */
function elementMoving(core: GatherPlan, { data, table, ...rest }: GatheredData): GatherStrategy {
  const { mayBeNone, stages, stmt, values } = core;
  if (values !== undefined || !ascends(data)) return { by: "one by one" };
  if (table !== undefined) return { by: mayBeNone ? "one by one" : "from the table" };
  const together = togetherAlong(core, rest, unroll);
  if (together === undefined) return { by: "one by one" };
  // Parts of a dim that another index operand follows do not go side by side.
  const alone = stages
    .slice(0, -1)
    .every((stage) => stage.indices.length === 0 && stage.adds.terms.length === 0);
  const unrollAndJam = alone ? unrollAndJamOf(stmt.to.sizes) : undefined;
  return { by: "checked together", ...together, ...defined({ unrollAndJam }) };
}

/**
 * Returns the index operands of a gather and the vectors that check the index values, for `step` elements or
 * rows per iteration. Undefined if vectors cannot compare the values.
 */
function togetherAlong(
  core: GatherPlan,
  { indices, lookups }: Pick<CpuGather, "indices" | "lookups">,
  step: number,
): CheckedTogether | undefined {
  const resolved = stridedIndices(core);
  if (resolved === undefined) return undefined;
  const vectors = comparedTogether(resolved, lookups, indices, core.last, step);
  return vectors === undefined ? undefined : { resolved, vectors };
}

const ascends = ({ by }: PointerWalk): boolean => by.every((step) => step >= 0);

/**
 * Returns the rows of a page copied at once, where they lie side by side in both places and are long enough
 * together.
 */
const alongPage = (
  run: Run,
  { by }: PagedDims,
  stridesByDim: readonly (readonly number[])[],
  last: number,
): Run =>
  run.outer === last + 1 &&
  run.times === undefined &&
  copyMethod(run.bytes * by) === "memory.copy" &&
  stridesByDim.every((steps) => steps[last] === run.bytes)
    ? { outer: last, bytes: run.bytes, times: last }
    : run;
