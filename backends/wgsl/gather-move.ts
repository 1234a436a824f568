/**
 * Plan of how a kernel moves a gather's elements, chosen from its addresses.
 *
 * `rows`: the elements that one index value serves are copied by accesses of 4, 8 or 16 bytes. `across`: rows that no access of 16 bytes divides are written by 16 bytes, across their ends. `groups`: elements of the innermost dim are gathered one by one, and four of them, or as many as 16 bytes hold, move together. `words`: elements of whole words, one at a time. `computed`: neighbouring elements that fill whole words are computed together. `packed`: 8- and 16-bit elements whose rows share words.
 */
import { defined } from "../../ir/defined.js";
import { countsFromBound, gatheredTable, isRead } from "../../ir/access.js";
import {
  gatherAddresses,
  overTensor,
  tensorPlace,
  type GatherAddresses,
  type Place,
} from "../../ir/addressing.js";
import {
  elementsOf,
  inputOf,
  inputsOf,
  outputBytes,
  outputOf,
  type Operand,
  type TileFunc,
} from "../../ir/func.js";
import { dimRanges, rangesOf, reductionLength } from "../../ir/intervals/intervals.js";
import { boundOf, rangeOf, residue, type Ranges } from "../../ir/intervals/range.js";
import {
  atomsOf,
  constant,
  dim,
  dimsOf,
  innerForms,
  isAffine,
  isConstant,
  largestValue,
  loopForm,
  loopVariables,
  mod,
  scale,
  indicesOf,
  stepAlong,
  sub,
  type Linear,
  type Term,
} from "../../ir/linear.js";
import { neverNegative } from "../../ir/intervals/loop-bounds.js";
import { ubBuffers } from "../../ir/regions.js";
import { readsAlone } from "../../ir/target.js";
import { sizeRanges } from "../../ir/symbols/symbols.js";
import type { Located, Task } from "../../ir/task/index.js";
import { ubStrides, type ForStmt, type GatherStmt } from "../../ir/tile.js";
import { indexBytes, type IndexRule } from "../../ir/policy.js";
import {
  assertNever,
  at,
  bitsOf,
  invariant,
  isSigned,
  meanBytes,
  type DType,
  type Shape,
} from "../../ir/types.js";
import { planGather, type GatherPlan } from "../plan/gather.js";
import { pageAlong, type PagedDims } from "../plan/page.js";
import { beginsAtMultiples } from "../plan/step-advance.js";
import { beyondSteps, isOverPoint } from "../plan/stages.js";
import type { IndexStep } from "../index-walk.js";
import { fusedDims, laneRowDim, rowsEndToEnd, type LaneTile } from "./lane-tile.js";
import { loadMove, type LoadMove } from "./load-move.js";
import type { Arithmetic } from "./arithmetic.js";
import { proveValue, type ProvedValue } from "./value-proofs.js";
import { sizeOfElement } from "./value-steps.js";
import { readsAlong, type ValueUnit } from "./value-unit.js";

/** Number of 32-bit words in one access to an array. */
export type AccessWords = 1 | 2 | 4;

/**
 * Plan of an index operand in a kernel: the element type, and the method by which the index value is read and
 * resolved.
 */
export interface IndexMove extends IndexStep {
  /** Element type of the index tensor; absent for a sum. */
  readonly dtype?: DType;
  /** True if the value is resolved in 128-bit arithmetic, which no sum exceeds; else in 32 bits. */
  readonly int128: boolean;
  /**
   * Sum of one index value, as it is read, and a form. Present if two 32-bit words suffice to decide which
   * element the sum names.
   */
  readonly inWords?: SumInWords;
  /** Four neighbours are read and resolved together. */
  readonly four: boolean;
  /**
   * Values that are reported are held as signed numbers, 2^31 below what they name: adapters in software
   * compare these faster.
   */
  readonly biased: boolean;
  /** 32-bit words of one access of the table that it is read from. */
  readonly words: AccessWords;
  /**
   * Place of the value in an access of several that index operands share; absent where it is read by itself.
   */
  readonly shared?: SharedAccess;
}

/**
 * Index value that is the sum of a loaded value and a linear expression. `of`: index of the loaded index
 * operand. `rest`: the expression, at least 0 and less than 2^31.
 */
export interface SumInWords {
  readonly of: number;
  readonly rest: Linear;
}

/**
 * Position of an index value in an access that reads several values. `place`: 0-based position among
 * `elements` values.
 */
export interface SharedAccess {
  readonly elements: number;
  readonly place: number;
}

/**
 * Method by which a kernel writes a 32-bit word with elements of several rows. `recomputed`: one lane writes
 * the whole word. `merged`: each row inserts bits atomically.
 */
export type SharedWords =
  | {
      readonly by: "recomputed";
      readonly data: Linear;
      readonly reads: readonly Linear[];
      readonly indices: readonly Linear[];
      /** Offsets of the tile in the output, by dim. */
      readonly offsets: readonly Linear[];
    }
  | { readonly by: "merged" };

/**
 * Method (`how`) by which a lane moves output elements. `group`: number of elements along the innermost dim
 * that the lane moves at a time; for `packed`, the number of elements in a 32-bit word.
 */
export type Unit =
  /**
   * `fourAlong`: the output dim along which a lane takes four rows at a time, their indices read together.
   */
  | { readonly how: "rows"; readonly group: number; readonly width: AccessWords; readonly fourAlong?: number }
  | { readonly how: "groups"; readonly group: number }
  /**
   * Groups of 16 bytes, each from at most two neighbouring rows that are contiguous in the output. `width`:
   * 32-bit words in one access of the data. `row`: number of these accesses in a row.
   */
  | {
      readonly how: "across";
      readonly group: number;
      readonly width: 1 | 2;
      readonly row: number;
      readonly along: number;
    }
  | { readonly how: "words"; readonly group: 1; readonly width: AccessWords }
  | ({ readonly how: "computed"; readonly width: AccessWords } & ValueUnit)
  | { readonly how: "packed"; readonly group: number; readonly shared: SharedWords };

/**
 * Rows along output dim `dim` that a lane copies page by page. Within a page, index values are constant, and
 * the rows are contiguous in data and output.
 */
export interface PageRun extends PagedDims {
  readonly dim: number;
  /** True if a page begins at the start of the tile, in every iteration. */
  readonly aligned: boolean;
}

/** Plan of a gather in a WGSL kernel. `unit`: the elements that a lane moves at a time. */
export interface GatherMove {
  readonly kind: "gather";
  readonly stmt: GatherStmt;
  readonly unit: Unit;
  /** Number of words in one access of each operand, in operand order. */
  readonly widths: readonly AccessWords[];
  /** Sizes of the current tile with fused dims, and the extents of a whole tile. */
  readonly sizes: readonly Linear[];
  readonly tile: Shape;
  /** Load of the data into the unified buffer that the gather reads; absent if the data is read in place. */
  readonly staged?: LoadMove;
  readonly addresses: GatherAddresses;
  /** Computation of an element; absent if elements move without change. */
  readonly values?: ProvedValue;
  /** True for adapters in software, whose lanes read alone, and shift vectors one number at a time. */
  readonly inSoftware: boolean;
  readonly indices: readonly IndexMove[];
  /** Ranges of dims, index operands and loop variables. */
  readonly ranges: Ranges;
  /** Rows that are copied by the page, as long as they lie end to end. */
  readonly page?: PageRun;
  /**
   * Output dims that an index operand, or a quotient or remainder in the data's address, follows, and those
   * that share what was resolved.
   */
  readonly resolved: readonly number[];
  readonly sharing: readonly number[];
  /** Sizes of shared dims that may be zero: then nothing is read, and no index can be wrong. */
  readonly maybeEmpty: readonly Linear[];
  /** Terms of a sum that are read before the first of them is taken in. */
  readonly reductionUnroll: 1 | 4;
  /** The bytes of an element that has none. */
  readonly fill: Uint8Array;
  /**
   * True if the gather may report an index value: one out of range by its policy, or the end of a segment
   * that is too long.
   */
  readonly reports: boolean;
}

/** Bytes of the widest access. */
const vectorBytes = 16;

/** Figures of a device that shape its kernels. */
interface DeviceShape {
  /** See the target's figure. */
  readonly laneBytes: number;
  readonly arithmetic: Arithmetic;
}

/**
 * Returns the plan of a gather in a WGSL kernel: widths of accesses, addresses, index operands, and the group
 * of elements that a lane moves at a time.
 */
export function gatherMove(
  func: TileFunc,
  task: Task,
  gather: Located<GatherStmt>,
  { laneBytes, arithmetic }: DeviceShape,
): GatherMove {
  const { stmt, loops } = gather;
  const loaded = stagedLoad(func, task, stmt);
  const widest = loaded?.(false);
  const inTensor = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  const addresses = gatherAddresses(stmt, (region) =>
    region.buffer === widest?.buffer.name
      ? { offsets: region.offsets, strides: ubStrides(widest.buffer) }
      : tensorPlace(func, task, region),
  );
  const plan = planGather(func, gather, addresses);
  const values =
    plan.values === undefined ? undefined : proveValue(plan.values, reductionLength(stmt.map), arithmetic);
  const dims = stmt.to.sizes.map((_, d) => d);
  const dependencies = resolvedDims(addresses, values);
  const sharing = dims.filter((d) => !dependencies.has(d));
  const isTable = plan.indexSteps.some(({ table }) => table === gatheredTable);
  const setting: Setting = { func, stmt, loops, staged: widest, sharing, laneBytes, isTable, values };
  const walks = walksOf(setting, addresses);
  const { asItLies } = walks;
  const unit: Unit = unitOf(setting, walks, isSimple(plan) && isAffine(addresses.data)) ?? {
    how: "packed",
    group: 4 / outputBytes(func),
    shared: isTable ? { by: "merged" } : sharedWords(func, plan, inTensor, tensorPlace(func, task, stmt.to)),
  };
  // The words of a packed row are its own.
  const walk = unit.how === "packed" ? asItLies : walks.walk;
  const staged = stagedFor(setting, unit, loaded);
  const accesses = indexAccesses(setting, walk, unit, plan);
  const valueWidths = widthsOfReads(setting, asItLies, unit, staged !== undefined);
  const widths = widthsOf(setting, asItLies, unit, staged).map(
    (width, table): AccessWords => accesses[table]?.words ?? valueWidths[table] ?? width,
  );
  const ranges = { ...plan.ranges, dims: dimRanges(walk.tile, stmt.map) };
  const last = walk.tile.length - 1;
  const inSoftware = readsAlone(laneBytes);
  const page = unit.how === "rows" && inSoftware ? pageRun(walk, ranges, loops) : undefined;
  return {
    kind: "gather",
    stmt,
    unit,
    widths,
    ...(unit.how === "across"
      ? rowsEndToEnd(walk, { outer: unit.along, inner: last, row: at(walk.tile, last) })
      : { sizes: walk.sizes, tile: walk.tile }),
    ...defined({ staged }),
    addresses: walk.addresses,
    ...defined({ values }),
    inSoftware,
    indices: plan.indexSteps.map((step) =>
      indexMove(setting, step, { walk, plan, widths, accesses, ranges }),
    ),
    ranges,
    ...defined({ page }),
    resolved: dims.filter((d) => dependencies.has(d)),
    sharing,
    maybeEmpty: sharing
      .map((d) => at(stmt.to.sizes, d))
      .filter((size) => neverNegative(sub(size, constant(1)), loops).kind !== "holds"),
    // Adapters in software have no load under way while they compute.
    reductionUnroll: inSoftware || reductionLength(stmt.map) < 4 ? 1 : 4,
    fill: plan.fill,
    reports: plan.reports,
  };
}

/**
 * Returns the output dims on which index values depend. Without a computed value, also the dims in a quotient
 * or remainder in the address of a read: what is computed finds its reads at each element.
 */
function resolvedDims(
  { indices, reads }: GatherAddresses,
  values: ProvedValue | undefined,
): ReadonlySet<number> {
  const beyond = values === undefined ? reads.map((read) => ({ at: 0, terms: beyondSteps(read) })) : [];
  return new Set([...indices, ...beyond].flatMap(dimsOf));
}

/** Returns the tile of a gather as it lies, and as lanes walk it. */
function walksOf({ stmt, staged, sharing, values }: Setting, addresses: GatherAddresses): Walks {
  const tile = stmt.to.sizes.map((size) => largestValue(size) ?? 0);
  const asItLies: LaneTile = { sizes: stmt.to.sizes, tile, addresses };
  // Lanes that stage rows keep to them.
  if (staged !== undefined || values !== undefined) return { asItLies, walk: asItLies };
  const isResolved = tile.map((_, d) => !sharing.includes(d));
  return { asItLies, walk: fusedDims(asItLies, isResolved) };
}

/** Returns the load of a gather's data into a workgroup buffer, for lanes that move elements by `unit`. */
function stagedFor(
  { staged, isTable, laneBytes, values }: Setting,
  unit: Unit,
  loaded: ReturnType<typeof stagedLoad>,
): LoadMove | undefined {
  const load = unit.how === "packed" || isTable || values !== undefined ? loaded?.(true) : staged;
  // GPUs read single elements of a slab by an address, not by a component of a vector at an address.
  const bySingleWords = !readsAlone(laneBytes) && (unit.how === "groups" || unit.how === "words");
  return load === undefined || !bySingleWords ? load : { ...load, stagedWidth: 1 };
}

/** Facts of a gather's plan that the moves of all index operands share. */
interface IndexSetting {
  readonly walk: LaneTile;
  readonly plan: GatherPlan;
  /** See {@link GatherMove}. */
  readonly widths: readonly AccessWords[];
  /** Accesses of the inputs, see {@link indexAccesses}. */
  readonly accesses: readonly (IndexAccess | undefined)[];
  readonly ranges: Ranges;
}

/** Returns the plan of an index operand in a kernel. */
function indexMove(
  { func, stmt, loops, laneBytes }: Setting,
  step: IndexStep,
  { walk, plan, widths, accesses, ranges }: IndexSetting,
): IndexMove {
  const { table } = step;
  const form = at(walk.addresses.indices, step.index);
  const access = table === undefined ? undefined : accesses[table];
  const words = table === undefined ? 1 : at(widths, table);
  const elements = access?.elements ?? 1;
  return {
    ...step,
    form,
    biased: readsAlone(laneBytes),
    words,
    ...(elements === 1 ? {} : { shared: { elements, place: placeIn(form, elements, loops) ?? 0 } }),
    ...(table === undefined ? {} : { dtype: inputOf(func, table).type.dtype }),
    int128: needsInt128(step, stmt),
    ...defined({ inWords: sumInWords(func, step, plan, ranges) }),
    four: table !== gatheredTable && access === undefined && words === 4,
  };
}

/**
 * Returns a function that plans the load of a gather's data into a workgroup buffer. Undefined if the gather
 * reads the data from global memory. The function's argument `byWords`: true if the kernel also reads single
 * 32-bit words of the data.
 */
function stagedLoad(
  func: TileFunc,
  task: Task,
  stmt: GatherStmt,
): ((byWords: boolean) => LoadMove) | undefined {
  const { buffer } = at(stmt.from, gatheredTable);
  const staged = ubBuffers(func).get(buffer);
  if (staged === undefined) return undefined;
  const load = task.loads.get(buffer);
  invariant(load !== undefined, `%${buffer} is read, and one load fills it`);
  return (byWords) => loadMove(func, task, load, staged, byWords);
}

/**
 * True if a lane can resolve the index values of several neighbouring output elements together. Each index
 * operand must then read an index tensor at an affine position without index values, and have a policy. If an
 * element may be missing, no policy may report it, and the fill must be 0.
 */
function isSimple({ stmt, indexSteps, mayBeNone, fill }: GatherPlan): boolean {
  const reported = indexSteps.some(({ rule }) => rule?.outside === "report");
  return (
    (!mayBeNone || (!reported && fill.every((byte) => byte === 0))) &&
    indexSteps.every(
      ({ table, rule, form, index }) =>
        table !== undefined &&
        table !== gatheredTable &&
        rule !== undefined &&
        rule.extent > 0 &&
        rule.excluded === undefined &&
        countsFromBound(at(stmt.map.indices, index)) &&
        isAffine(form) &&
        indicesOf(form).length === 0,
    )
  );
}

/**
 * Returns the method by which a kernel writes 32-bit words with elements of several rows. `recomputed`
 * requires that a lane can address elements of all rows; else the method is `merged`.
 */
function sharedWords(
  func: TileFunc,
  { indexSteps, stmt }: GatherPlan,
  inTensor: GatherAddresses,
  { offsets }: Place,
): SharedWords {
  const data = overTensor(inTensor.data, offsets);
  const addresses = inTensor.indices.map((address) => overTensor(address, offsets));
  const reads = inTensor.reads.map((address) => overTensor(address, offsets));
  const forms = [...reads, ...addresses];
  const inputs = inputsOf(func).map(({ type }) => type);
  const ranges = rangesOf(stmt.map, inputs, stmt.map.domain, {
    symbols: sizeRanges(func.symbolic?.symbols ?? []),
  });
  const same = forms.every((form) => loopVariables(form).size === 0);
  const narrow = indexSteps.every((step) => !needsInt128(step, stmt));
  if (!same || !narrow || forms.some((form) => isLarge(form, ranges))) return { by: "merged" };
  return { by: "recomputed", data, reads, indices: addresses, offsets };
}

/** True if an index operand must be resolved in 128-bit arithmetic. */
export const needsInt128 = ({ table, rule, index }: IndexStep, { map }: GatherStmt): boolean =>
  table === undefined || rule === undefined || !countsFromBound(at(map.indices, index));

/**
 * Returns an index value as the sum of one loaded value and a linear expression below 2^31. Undefined if the
 * index value has no equivalent sum.
 */
export function sumInWords(
  func: TileFunc,
  { table, rule, form }: IndexStep,
  { indexSteps }: GatherPlan,
  ranges: Ranges,
): SumInWords | undefined {
  if (table !== undefined || rule === undefined || rule.extent === 0) return undefined;
  if (rule.wrapNegativeBy !== undefined || !reportsOrEnds(rule.outside)) return undefined;
  const isRaw = (term: Term): boolean =>
    term.of.kind === "index" && at(indexSteps, term.of.index).rule === undefined;
  const [raw, ...others] = form.terms.filter(isRaw);
  if (raw?.of.kind !== "index" || raw.by !== 1 || others.length > 0) return undefined;
  const { table: read } = at(indexSteps, raw.of.index);
  const type = read === undefined ? undefined : inputOf(func, read).type.dtype;
  // A sum with a number of 64 bits without a sign can leave 64 bits.
  if (type === undefined || (indexBytes(type) === 8 && !isSigned(type))) return undefined;
  const rest = { at: form.at, terms: form.terms.filter((term) => !isRaw(term)) };
  const inside = [rest, ...atomsOf(rest).flatMap(innerForms)].every((inner) => {
    const [least, max] = rangeOf(inner, ranges);
    return least >= 0 && max < 2 ** 31 && indicesOf(inner).every((s) => at(indexSteps, s).rule !== undefined);
  });
  return inside ? { of: raw.of.index, rest } : undefined;
}

const reportsOrEnds = (outside: IndexRule["outside"]): boolean => outside === "report" || outside === "none";

interface Setting {
  readonly func: TileFunc;
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
  readonly staged: LoadMove | undefined;
  /** Output dims that share what was resolved. */
  readonly sharing: readonly number[];
  readonly laneBytes: number;
  /** True if the data also holds index values, which are read word by word. */
  readonly isTable: boolean;
  /** Steps of the elements; absent where they move as they are. */
  readonly values: ProvedValue | undefined;
}

/** The tile as it lies, which vectors of neighbours follow, and as lanes walk it. */
interface Walks {
  readonly asItLies: LaneTile;
  readonly walk: LaneTile;
}

/**
 * Returns the group of elements that a lane of a gather moves at a time; undefined if groups may share an
 * output word. `simple`: true if a lane can resolve the index values of several neighbouring output elements
 * together.
 */
function unitOf(setting: Setting, { asItLies, walk }: Walks, simple: boolean): Unit | undefined {
  const { func, staged, sharing, isTable } = setting;
  const size = outputBytes(func);
  if (setting.values !== undefined) {
    const single = size < 4 ? undefined : ({ how: "words", group: 1, width: 1 } as const);
    return valuesUnit(setting, asItLies, size, setting.values) ?? single;
  }
  const last = walk.sizes.length - 1;
  const words = size < 4 ? undefined : ({ how: "words", group: 1, width: wordsOf(size, setting) } as const);
  if (last < 0) return words;
  if (!sharing.includes(last)) {
    const group = Math.min(4, vectorBytes / size);
    const grouped =
      simple &&
      (staged === undefined || size <= 4) &&
      startsIn(setting, asItLies.addresses.output, outputOf(func), group) &&
      residue(at(asItLies.sizes, last), group, setting.loops) === 0;
    return grouped ? { how: "groups", group } : words;
  }
  const width = rowWidth(setting, walk, size);
  if (width === undefined) return words;
  const across = simple ? acrossRows(setting, walk, width, size) : undefined;
  if (across !== undefined) return across;
  const group = (4 * width) / size;
  const short = (largestValue(at(asItLies.sizes, last)) ?? Infinity) <= group;
  const fourAlong =
    simple && !isTable && width === 4 && short && readsAlone(setting.laneBytes)
      ? fourRows(setting, asItLies)
      : undefined;
  return { how: "rows", group, width, ...defined({ fourAlong }) };
}

/** Neighbours that a lane computes together, at most: what they share is computed once. */
const valueGroups = [8, 4, 2] as const;

/**
 * Statements of a unit, at most. A driver compiles each of them: eight elements of a sum of two floats took
 * Dawn's adapter in software half a second, and ten such sums gigabytes.
 */
const unitStatements = 256;

/**
 * Returns the largest group of neighbouring elements that a lane can compute together, in whole 32-bit words
 * of the output. Undefined if there is none. `size`: bytes of an output element.
 */
function valuesUnit(
  setting: Setting,
  { sizes, addresses }: LaneTile,
  size: number,
  values: ProvedValue,
): Unit | undefined {
  const { func, loops, stmt } = setting;
  const last = sizes.length - 1;
  if (last < 0) return undefined;
  const reads = stmt.map.reads.map(({ table }, k) => ({
    address: at(addresses.reads, k),
    type: inputOf(func, table).type.dtype,
  }));
  // Where lanes write side by side, each stores one access: two of each would leave gaps between lanes.
  const maxWords = readsAlone(setting.laneBytes) ? Infinity : 4;
  for (const group of valueGroups) {
    const words = (group * size) / 4;
    const fills =
      words >= 1 &&
      words <= maxWords &&
      startsIn(setting, addresses.output, outputOf(func), group) &&
      residue(at(sizes, last), group, loops) === 0;
    if (!fills) continue;
    const along = readsAlong(reads, addresses.indices, { dim: last, count: group, loops });
    if (along !== undefined && group * sizeOfElement(values, along) <= unitStatements)
      return { how: "computed", group, width: Math.min(4, words) as AccessWords, reads: along };
  }
  return undefined;
}

/**
 * Returns the words of an element's access. Staged data, and data that holds index values too, is read by
 * single words.
 */
const wordsOf = (size: number, { staged, isTable }: Setting): AccessWords =>
  staged !== undefined || isTable ? 1 : ((size / 4) as AccessWords);

/**
 * Returns the widest access, in 32-bit words, that divides the rows of data and output into whole accesses.
 * Undefined if there is none. `size`: bytes of an element.
 */
function rowWidth(setting: Setting, { sizes, addresses }: LaneTile, size: number): AccessWords | undefined {
  const { func, staged, isTable, loops } = setting;
  const last = sizes.length - 1;
  const data = inputOf(func, gatheredTable);
  const widths: readonly AccessWords[] =
    isTable || staged?.stagedWidth === 1 ? [1] : staged === undefined ? [4, 2, 1] : [4, 1];
  return widths.find((width) => {
    const group = (4 * width) / size;
    return (
      group >= 1 &&
      (staged === undefined
        ? startsIn(setting, addresses.data, data, group)
        : startsAtMultiples(addresses.data, last, group, loops)) &&
      startsIn(setting, addresses.output, outputOf(func), group) &&
      residue(at(sizes, last), group, loops) === 0
    );
  });
}

/**
 * True if runs of `group` elements along the innermost dim are contiguous in a tensor and start at multiples
 * of `group`.
 */
const startsIn = ({ func, loops, stmt }: Setting, address: Linear, tensor: Operand, group: number): boolean =>
  startsAtMultiples(address, stmt.to.sizes.length - 1, group, loops) &&
  residue(elementsOf(func, tensor), group, loops) === 0;

/** Returns the number of 32-bit words in one access of each operand, in operand order. */
function widthsOf(
  setting: Setting,
  asItLies: LaneTile,
  unit: Unit,
  staged: LoadMove | undefined,
): AccessWords[] {
  const { func, stmt, isTable, values } = setting;
  const size = meanBytes(inputOf(func, gatheredTable).type.dtype);
  const [data, output] = wordsPerAccess(unit, size);
  const along =
    unit.how === "groups" ? stmt.to.sizes.length - 1 : unit.how === "rows" ? unit.fourAlong : undefined;
  const inFours = (table: number): boolean =>
    along !== undefined &&
    (unit.how !== "groups" || unit.group === 4) &&
    readInFours(setting, asItLies, along, table);
  return [
    ...inputsOf(func).map((_, table): AccessWords => {
      if (table === gatheredTable) return staged?.width ?? (isTable || values !== undefined ? 1 : data);
      return inFours(table) ? 4 : 1;
    }),
    output,
  ];
}

/**
 * Returns the number of 32-bit words in one access, for each input of a gather with arithmetic. Undefined for
 * an input that is read by single words. `isStaged`: true if the data is read from workgroup memory.
 */
function widthsOfReads(
  { func, loops, stmt, laneBytes }: Setting,
  { addresses, sizes }: LaneTile,
  unit: Unit,
  isStaged: boolean,
): readonly (AccessWords | undefined)[] {
  return inputsOf(func).map((tensor, table) => {
    if (unit.how !== "computed" || readsAlone(laneBytes)) return undefined;
    if (table === gatheredTable && isStaged) return undefined;
    if (stmt.map.indices.some(({ value }) => isRead(value) && value.table === table)) return undefined;
    const reads = stmt.map.reads.flatMap((read, k) => (read.table === table ? [k] : []));
    const perWord = 32 / bitsOf(tensor.type.dtype);
    const steps = { dim: sizes.length - 1, count: unit.group, loops };
    return ([4, 2] as const).find(
      (width) =>
        reads.length > 0 &&
        unit.group % (width * perWord) === 0 &&
        residue(elementsOf(func, tensor), width * perWord, loops) === 0 &&
        reads.every(
          (k) =>
            unit.reads[k] === "words" && beginsAtMultiples(at(addresses.reads, k), width * perWord, steps),
        ),
    );
  });
}

/** Words of an access of index values, and the values that it holds. */
interface IndexAccess {
  readonly words: AccessWords;
  readonly elements: number;
}

/**
 * Returns, for each input, the access by which lanes read index values: several values at once, or one 64-bit
 * value. Undefined for an input that is read in another way.
 */
function indexAccesses(
  setting: Setting,
  { addresses }: LaneTile,
  unit: Unit,
  { indexSteps, stmt }: GatherPlan,
): readonly (IndexAccess | undefined)[] {
  const { func, loops, laneBytes } = setting;
  const isByVectors = unit.how === "groups" || (unit.how === "rows" && unit.fourAlong !== undefined);
  return inputsOf(func).map((tensor, table) => {
    const steps = indexSteps.filter((step) => step.table === table);
    const isRead = stmt.map.reads.some((read) => read.table === table);
    const isPlain = steps.every((step) => !needsInt128(step, stmt));
    if (table === gatheredTable || isRead || !isPlain || steps.length === 0) return undefined;
    if (readsAlone(laneBytes) || unit.how === "packed" || isByVectors) return undefined;
    const perValue = bitsOf(tensor.type.dtype) / 32;
    if (perValue < 1) return undefined;
    const forms = steps.map(({ index }) => at(addresses.indices, index));
    const elements = [4, 2].find(
      (count) =>
        unit.how !== "across" &&
        steps.length > count / 2 &&
        count * perValue <= 4 &&
        residue(elementsOf(func, tensor), count, loops) === 0 &&
        forms.every((form) => placeIn(form, count, loops) !== undefined),
    );
    return elements === undefined && perValue === 1
      ? undefined
      : { words: (perValue * (elements ?? 1)) as AccessWords, elements: elements ?? 1 };
  });
}

/**
 * Returns the remainder of an address by a number, where it is the same for every element; undefined where it
 * is not.
 */
const placeIn = (form: Linear, of: number, loops: readonly ForStmt[]): number | undefined =>
  isAffine(form) && form.terms.every((term) => !isOverPoint(term) || term.by % of === 0)
    ? residue(loopForm(form), of, loops)
    : undefined;

/**
 * Returns the numbers of 32-bit words in one access of the data in global memory and in one access of the
 * output. `size`: bytes of an element.
 */
function wordsPerAccess(unit: Unit, size: number): readonly [data: AccessWords, output: AccessWords] {
  switch (unit.how) {
    case "rows":
    case "words":
      return [unit.width, unit.width];
    case "across":
      return [unit.width, 4];
    case "computed":
      return [1, unit.width];
    case "groups":
      return [size === 16 ? 4 : size === 8 ? 2 : 1, size === 1 ? 1 : size === 2 ? 2 : 4];
    case "packed":
      return [1, 1];
    default:
      return assertNever(unit);
  }
}

/** True if one access reads the index values of four neighbours along a dim from a table. */
const readInFours = (
  { func, stmt, loops }: Setting,
  { addresses }: LaneTile,
  along: number,
  table: number,
): boolean =>
  bitsOf(inputOf(func, table).type.dtype) >= 32 &&
  residue(elementsOf(func, inputOf(func, table)), 4, loops) === 0 &&
  stmt.map.indices.every(
    ({ value }, s) =>
      !isRead(value) || value.table !== table || startsAtMultiples(at(addresses.indices, s), along, 4, loops),
  );

/**
 * Returns the output dim before the innermost if one access can read the index values of four rows along the
 * dim; else undefined.
 */
function fourRows(setting: Setting, walk: LaneTile): number | undefined {
  const { func, stmt, loops } = setting;
  const d = stmt.to.sizes.length - 2;
  if (d < 0 || residue(at(walk.sizes, d), 4, loops) !== 0) return undefined;
  const tables = inputsOf(func).flatMap((_, table) => (table === gatheredTable ? [] : [table]));
  return tables.every((table) => readInFours(setting, walk, d, table)) ? d : undefined;
}

/** Bytes from which on a row fills accesses of 4 bytes of a whole subgroup. */
const longRowBytes = 128;

/**
 * Returns the {@link Unit} `across` for a tile of short rows: a lane writes groups of 16 bytes, and a group
 * may span two neighbouring rows. Undefined if accesses of 16 bytes fit within rows already, or if the rows,
 * the storage of the data or the device do not allow such groups. `width`: 32-bit words in one access of the
 * data; `size`: bytes of an element.
 */
function acrossRows(
  setting: Setting,
  { sizes, tile, addresses }: LaneTile,
  width: AccessWords,
  size: number,
): Unit | undefined {
  const { func, loops, sharing, staged, isTable, laneBytes } = setting;
  const { output, data, indices } = addresses;
  const last = sizes.length - 1;
  const along = laneRowDim(tile);
  const elements = at(sizes, last);
  if (width === 4 || readsAlone(laneBytes) || staged !== undefined || isTable) return undefined;
  if (along === undefined || sharing.includes(along) || !isConstant(elements)) return undefined;
  const row = (elements.at * size) / (4 * width);
  const pieces = 4 / width;
  const group = vectorBytes / size;
  const others = {
    at: output.at,
    terms: output.terms.filter(({ of }) => of.kind !== "dim" || of.dim !== along),
  };
  const isPossible =
    elements.at * size < longRowBytes &&
    (row >= pieces - 1 || 2 * row === pieces) &&
    sharing.every((d) => d === last || at(tile, d) === 1) &&
    [data, ...indices].every(isAffine) &&
    stepAlong(output, "dim", along) === elements.at &&
    startsIn(setting, others, outputOf(func), group) &&
    residue(scale(at(sizes, along), elements.at), group, loops) === 0;
  return isPossible ? { how: "across", group, width, row, along } : undefined;
}

/**
 * True if an address is contiguous along dim `along` and each group of `group` elements starts at an address
 * that is a multiple of `group`.
 */
export function startsAtMultiples(
  address: Linear,
  along: number,
  group: number,
  loops: readonly ForStmt[],
): boolean {
  const others = address.terms.filter(
    (term) => isOverPoint(term) && !(term.of.kind === "dim" && term.of.dim === along),
  );
  return (
    stepAlong(address, "dim", along) === 1 &&
    others.every(({ by }) => by % group === 0) &&
    residue(loopForm(address), group, loops) === 0
  );
}

/**
 * Returns the rows that a lane copies page by page, along the dim of {@link laneRowDim}; undefined if there
 * are no contiguous pages. A page is a range of the dim over which index values are constant.
 */
function pageRun(
  { sizes, tile, addresses }: LaneTile,
  ranges: Ranges,
  loops: readonly ForStmt[],
): PageRun | undefined {
  const d = laneRowDim(tile);
  const row = at(sizes, sizes.length - 1);
  if (d === undefined || !isConstant(row)) return undefined;
  const { data, indices, output } = addresses;
  const page = pageAlong(d, data, indices);
  const endToEnd = [page?.step, stepAlong(output, "dim", d)].every((step) => step === row.at);
  if (page === undefined || !endToEnd || isLarge(mod(page.form, page.by), ranges)) return undefined;
  const start = sub(page.form, dim(d));
  return { ...page, dim: d, aligned: residue(start, page.by, loops) === 0 };
}

/** True if a linear expression has a quotient or a remainder whose dividend may be 2^32 or more. */
export const isLarge = (form: Linear, ranges: Ranges): boolean =>
  atomsOf(form).some(
    (of) => (of.kind === "div" || of.kind === "mod") && boundOf(of.of, ranges, "most") >= 2 ** 32,
  );
