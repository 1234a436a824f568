/**
 * What the code of a tile program does, decided before any of it is written: which copies are left out, how far the others go
 * at once, where indices are resolved and how many elements move together.
 *
 * On a CPU the unified buffer is memory like any other, so a gather reads its indices where a load finds them, and writes its
 * output where a store puts it. Data tiles are copied: a slab side by side in a first-level cache answers random reads that
 * the tensor would miss.
 */
import { plainSites, gatheredTable, indexed, isPlain } from "../../ir/access.js";
import { gatherAddresses, siteStrides, startOf, stepsOf } from "../../ir/addressing.js";
import { inputOf, outputOf, type TileFunc } from "../../ir/func.js";
import { constant, loopPart, sub, type Linear } from "../../ir/linear.js";
import { indexRule, type IndexRule } from "../../ir/policy.js";
import { feedingOf, locate, ubBuffers, type Feeding } from "../../ir/regions.js";
import { sizesAround } from "../../ir/symbols/symbols.js";
import { parallelNest, type ParallelNest } from "../../ir/tasks.js";
import { flatten, type ForStmt, type GatherStmt, type Region, type Stmt } from "../../ir/tile.js";
import { at, bytesOf, elementCount, invariant, type DType } from "../../ir/types.js";
import { jamOf, type Jam } from "./jam.js";
import { joined } from "./joined.js";
import { largest } from "./largest.js";
import { isOutput, placing, type Placed, type Walk } from "./places.js";
import { commonRun, type Run } from "./runs.js";
import { sitesPlan, type SitesPlan } from "./sites-plan.js";
import { parametersOf } from "./sizes.js";
import { elementsMoved, sliced, sliceElements } from "./slices.js";
import { tableOf, type Table } from "./table.js";

export interface WasmPlan {
  /** The program as it was given. */
  readonly source: TileFunc;
  /** The program that is emitted: its long tasks are cut, short ones joined. */
  readonly func: TileFunc;
  readonly nest: ParallelNest;
  /** Numbers that the sizes of symbols tell, by name: parameters of the function. */
  readonly told: readonly string[];
  /** Tasks whose elements make a slice: what a thread takes without looking up. */
  readonly tasksPerSlice: number;
  /** Loads and stores that are left out. */
  readonly elided: ReadonlySet<Stmt>;
  /** The other loads and stores. */
  readonly boxes: ReadonlyMap<Stmt, BoxPlan>;
  /** Absent when the output is empty. */
  readonly gather?: GatherPlan | SitesPlan;
}

export interface BoxPlan {
  readonly to: Placed;
  readonly from: Placed;
  readonly sizes: readonly Linear[];
  readonly elementBytes: number;
  readonly run: Run;
}

/** Where indices are resolved before anything moves, if they are. */
export const tableIn = ({ gather }: Pick<WasmPlan, "gather">): Table | undefined =>
  gather?.kind === "gather" ? gather.table : undefined;

/** A site, resolved from the walk of its table. */
export interface SitePlan {
  readonly walk: number;
  /** Bytes from the walk to this site's value. */
  readonly shift: number;
  readonly rule: IndexRule;
  /** Bytes of data between neighbouring values. */
  readonly stride: number;
}

/** Elements of one iteration of the innermost loop. */
export const unroll = 16;

/**
 * `rows`: what lies together behind an index is copied at once. `checked together`: the indices of `unroll` elements are
 * compared by vectors, and one by one only where one of them is not in range as it stands. `from the table`: resolved
 * before, `unroll` a turn. `one by one`: the policy may name no element, or the indices do not lie together.
 */
export type Moving = "rows" | "checked together" | "from the table" | "one by one";

/** A gather of the three operators' kind. */
export interface GatherPlan {
  readonly kind: "gather";
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
  readonly elementBytes: number;
  readonly data: Walk;
  readonly output: Walk;
  /** One for each index input. */
  readonly indices: readonly Walk[];
  readonly sites: readonly SitePlan[];
  /** The innermost output dim that an index follows: everything inside it shares its indices. -1: none. */
  readonly last: number;
  readonly run: Run;
  readonly table?: Table;
  readonly moving: Moving;
  /** Where elements are checked together. */
  readonly jam?: Jam;
  /** Whether some site can come out as no element. */
  readonly mayBeNone: boolean;
  /** Whether an index out of range is reported: by the output element that is written. */
  readonly reports: boolean;
}

export function planWasm(source: TileFunc): WasmPlan {
  const empty = elementCount(outputOf(source).type.shape) === 0;
  const func = empty ? { ...source, body: [] } : joined(sliced(source));
  const around = sizesAround(source);
  const all = locate(func.body, around);
  const feeding = feedingOf(all);
  const { standIns, elided } = inPlace(feeding);
  const place = placing(func, standIns);
  const buffers = ubBuffers(func);
  const whole = (name: string, region: Region): Placed => {
    const buffer = buffers.get(name);
    invariant(buffer !== undefined, `%${name} has no alloc`);
    return place({ buffer: name, offsets: buffer.shape.map(() => constant(0)), sizes: region.sizes });
  };
  const boxes = new Map<Stmt, BoxPlan>();
  for (const stmt of flatten(func.body)) {
    if (elided.has(stmt)) continue;
    if (stmt.op === "load")
      boxes.set(stmt, boxPlan(func, whole(stmt.to, stmt.from), place(stmt.from), stmt.from));
    if (stmt.op === "store")
      boxes.set(stmt, boxPlan(func, place(stmt.to), whole(stmt.from, stmt.to), stmt.to));
  }
  const gather = feeding === undefined ? undefined : planGather(func, feeding, place);
  const nest = parallelNest(func.body, around);
  const moved = elementsMoved(nest.body, [...around, ...nest.loops.map(({ stmt }) => stmt)]);
  const tasksPerSlice = Math.max(1, Math.floor(sliceElements / Math.max(1, moved)));
  const head = { source, func, nest, told: parametersOf(func, nest), tasksPerSlice, elided, boxes };
  return gather === undefined ? head : { ...head, gather };
}

/** Index tiles stay where they are loaded from, and the output tile is written where it is stored. */
function inPlace(feeding: Feeding | undefined): {
  readonly standIns: ReadonlyMap<string, Region>;
  readonly elided: ReadonlySet<Stmt>;
} {
  const standIns = new Map<string, Region>();
  const elided = new Set<Stmt>();
  const stmt = feeding?.gather.stmt;
  if (feeding === undefined || stmt?.op !== "gather") return { standIns, elided };
  const data = at(stmt.from, gatheredTable).buffer;
  for (const [buffer, { stmt: load }] of feeding.loads) {
    if (load.op !== "load" || buffer === data) continue;
    standIns.set(buffer, load.from);
    elided.add(load);
  }
  const store = feeding.store?.stmt;
  if (store?.op === "store") {
    standIns.set(store.from, store.to);
    elided.add(store);
  }
  return { standIns, elided };
}

function boxPlan(func: TileFunc, to: Placed, from: Placed, { buffer, sizes }: Region): BoxPlan {
  const operand = func.operands.find(({ name }) => name === buffer) ?? outputOf(func);
  const elementBytes = bytesOf(operand.type.dtype);
  const strides = [to, from].map((placed) => placed.strides.map((stride) => stride * elementBytes));
  return { to, from, sizes, elementBytes, run: commonRun(sizes, strides, elementBytes, 0) };
}

function planGather(
  func: TileFunc,
  feeding: Feeding,
  place: (region: Region) => Placed,
): GatherPlan | SitesPlan | undefined {
  const { stmt, loops } = feeding.gather;
  if (stmt.op !== "gather") return undefined;
  return isPlain(stmt.map) ? plainPlan(func, stmt, loops, place) : sitesPlan(func, stmt, loops, place);
}

function plainPlan(
  func: TileFunc,
  stmt: GatherStmt,
  loops: readonly ForStmt[],
  place: (region: Region) => Placed,
): GatherPlan {
  const { map, to } = stmt;
  const rank = to.sizes.length;
  const addresses = gatherAddresses(stmt, place);
  const places = stmt.from.map(place);
  const dtype = (table: number): DType => inputOf(func, table).type.dtype;
  const elementBytes = bytesOf(dtype(gatheredTable));
  const walk = ({ memory }: Placed, start: Linear, address: Linear, unit: number): Walk => ({
    memory,
    start: loopPart(start),
    by: stepsOf(address, rank).map((step) => step * unit),
  });
  const data = walk(at(places, gatheredTable), addresses.data, addresses.data, elementBytes);
  const output = walk(place(to), addresses.output, addresses.output, elementBytes);

  const tables = [...new Set(plainSites(map).map(({ value }) => value.table))];
  const indices = tables.map((table) => {
    const first = plainSites(map).findIndex(({ value }) => value.table === table);
    const placed = at(places, table);
    return walk(placed, startOf(placed), at(addresses.sites, first), bytesOf(dtype(table)));
  });
  const sites = siteStrides(addresses.data, plainSites(map).length).map((stride, site): SitePlan => {
    const own = at(plainSites(map), site);
    const { table } = own.value;
    const fixed = sub(loopPart(at(addresses.sites, site)), startOf(at(places, table)));
    return {
      walk: tables.indexOf(table),
      shift: fixed.at * bytesOf(dtype(table)),
      rule: indexRule(own, dtype(table)),
      stride: stride * elementBytes,
    };
  });
  const last = Math.max(-1, ...indexed(map));
  const table = tableOf(
    map,
    to.sizes.map((size) => largest(size, loops)),
  );
  const mayBeNone = sites.some(({ rule }) => rule.mayBeNone);
  const reports =
    isOutput(place(to), func) &&
    sites.some(({ rule }) => rule.outside === "report" || rule.outside === "promised");
  const moving = last < rank - 1 || rank === 0 ? "rows" : movingElements(rank, sites, indices, table);
  const jam = moving === "checked together" ? jamOf(to.sizes) : undefined;
  return {
    kind: "gather",
    stmt,
    loops,
    elementBytes,
    data,
    output,
    indices,
    sites,
    last,
    run: commonRun(to.sizes, [output.by, data.by], elementBytes, last + 1),
    ...(table === undefined ? {} : { table }),
    moving,
    ...(jam === undefined ? {} : { jam }),
    mayBeNone,
    reports,
  };
}

function movingElements(
  rank: number,
  sites: readonly SitePlan[],
  indices: readonly Walk[],
  table: Table | undefined,
): Moving {
  if (table !== undefined) return sites.some(({ rule }) => rule.mayBeNone) ? "one by one" : "from the table";
  const [only, ...others] = sites;
  if (only === undefined || others.length > 0 || only.rule.below === 0) return "one by one";
  const { bytes } = only.rule;
  return bytes >= 4 && at(at(indices, only.walk).by, rank - 1) === bytes ? "checked together" : "one by one";
}
