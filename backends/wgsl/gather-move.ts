/**
 * How a kernel moves a gather's elements, decided from its addresses.
 *
 * `rows`: an index serves a run of the innermost dim, copied 16 bytes at a time. `groups`: the innermost dim is gathered
 * element by element, four at a time or what 16 bytes hold. Both need runs of the output that start and end at multiples of
 * that. `words`: an element at a time. `packed`: 8- and 16-bit elements whose rows share words.
 */
import { plainSites, gatheredTable, indexed } from "../../ir/access.js";
import {
  gatherAddresses,
  overTensor,
  tensorPlace,
  type GatherAddresses,
  type Place,
} from "../../ir/addressing.js";
import { elementsOf, inputOf, inputsOf, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { constant, largestValue, loopPart, sitesOf, stepAlong, sub, type Linear } from "../../ir/linear.js";
import { indexRule, type IndexRule } from "../../ir/policy.js";
import { neverNegative, residue } from "../../ir/ranges.js";
import { ubBuffers } from "../../ir/regions.js";
import type { Located, Task } from "../../ir/task/index.js";
import { ubStrides, type ForStmt, type GatherStmt, type Region } from "../../ir/tile.js";
import { at, bytesOf, elementCount, invariant, type Shape } from "../../ir/types.js";
import { joinedDims, type Walk } from "./joined-dims.js";
import { loadMove, type LoadMove } from "./load-move.js";

/** 32-bit words of one access. */
export type Width = 1 | 2 | 4;

/** An index value of the map, and how it becomes a coordinate of the data. */
export interface ResolvedSite {
  /** The data dim whose coordinate it is: what the kernel's names are numbered by. */
  readonly axis: number;
  readonly table: number;
  readonly rule: IndexRule;
  /** The element of its table, over the dims of the output tile. */
  readonly address: Linear;
  /** Four neighbours are read and resolved together. */
  readonly four: boolean;
}

/**
 * What becomes of a word that belongs to several rows. `recomputed`: the lane whose row holds its first element writes it
 * whole, the other elements by the same relation over the whole tensor. `merged`: each row puts in its own bits atomically,
 * because in other tiles that relation is another.
 */
export type SharedWords =
  | {
      readonly by: "recomputed";
      readonly data: Linear;
      readonly sites: readonly Linear[];
      /** Where the tile starts in the output. */
      readonly offsets: readonly Linear[];
    }
  | { readonly by: "merged" };

interface Common {
  readonly kind: "gather";
  readonly stmt: GatherStmt;
  /** Elements of the innermost dim that a lane moves at a time; of a packed gather, those of a word. */
  readonly group: number;
  /** The output dim along which a lane takes four rows at a time, their indices read together; absent where it takes one. */
  readonly fourAlong?: number;
  /** Of one access of each operand, in their order. */
  readonly widths: readonly Width[];
  /** Sizes of this tile as lanes walk it, and extents of a whole one. */
  readonly sizes: readonly Linear[];
  readonly tile: Shape;
  /** How the data gets to the unified buffer that it is read from; absent where it is read in place. */
  readonly staged?: LoadMove;
  readonly addresses: GatherAddresses;
  readonly sites: readonly ResolvedSite[];
  /** Output dims along which indices are resolved, and those that share what was resolved. */
  readonly resolved: readonly number[];
  readonly sharing: readonly number[];
  /** Sizes of shared dims that may be zero: then nothing is read, and no index can be wrong. */
  readonly maybeEmpty: readonly Linear[];
}

export type GatherMove = Common &
  ({ readonly how: "rows" | "groups" | "words" } | { readonly how: "packed"; readonly shared: SharedWords });

/** Bytes of the widest access. */
export const vectorBytes = 16;

/** Whether lanes do not read side by side, as on adapters in software: what each reads and writes should then lie together. */
export const readsAlone = (laneBytes: number): boolean => laneBytes <= vectorBytes;

/** `laneBytes`: see the target's figure. */
export function gatherMove(
  func: TileFunc,
  task: Task,
  { stmt, loops }: Located<GatherStmt>,
  laneBytes: number,
): GatherMove {
  const loaded = stagedLoad(func, task, stmt);
  const staged = loaded?.(false);
  const inTensor = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  const place = (region: Region): Place =>
    region.buffer === staged?.buffer.name
      ? { offsets: region.offsets, strides: ubStrides(staged.buffer) }
      : tensorPlace(func, task, region);
  const addresses = gatherAddresses(stmt, place);
  const access = accessOf({ func, stmt, addresses, loops, staged, laneBytes });
  const load = access.how === "packed" ? loaded?.(true) : staged;
  const follows = indexed(stmt.map);
  const dims = stmt.to.sizes.map((_, d) => d);
  const sharing = dims.filter((d) => !follows.has(d));
  const tile = stmt.to.sizes.map((size) => largestValue(size) ?? 0);
  const asItLies: Walk = { sizes: stmt.to.sizes, tile, addresses };
  // Lanes that stage rows keep to them, and the words of a packed row are its own.
  const walk =
    access.how === "packed" || load !== undefined
      ? asItLies
      : joinedDims(
          asItLies,
          dims.map((d) => follows.has(d)),
        );
  const common: Common = {
    kind: "gather",
    stmt,
    group: access.group,
    ...(access.fourAlong === undefined ? {} : { fourAlong: access.fourAlong }),
    widths: load === undefined ? access.widths : [load.width, ...access.widths.slice(1)],
    sizes: walk.sizes,
    tile: walk.tile,
    ...(load === undefined ? {} : { staged: load }),
    addresses: walk.addresses,
    sites: plainSites(stmt.map).map((site, s) => {
      const { table } = site.value;
      return {
        axis: stmt.map.results.findIndex((result) => sitesOf(result).includes(s)),
        table,
        rule: indexRule(site, inputOf(func, table).type.dtype),
        address: at(walk.addresses.sites, s),
        four: at(access.widths, table) === 4,
      };
    }),
    resolved: dims.filter((d) => follows.has(d)),
    sharing,
    maybeEmpty: sharing
      .map((d) => at(stmt.to.sizes, d))
      .filter((size) => neverNegative(sub(size, constant(1)), loops).kind !== "holds"),
  };
  return access.how === "packed"
    ? { ...common, how: "packed", shared: sharedWords(inTensor, tensorPlace(func, task, stmt.to)) }
    : { ...common, how: access.how };
}

/** The load of the data of a full load; undefined where it is read in place. Asked for by words, or as wide as it can be. */
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

/** Whether the relation of output and inputs is the same in every tile: then it holds for the tensors as wholes. */
function sharedWords(inTensor: GatherAddresses, { offsets }: Place): SharedWords {
  const data = overTensor(inTensor.data, offsets);
  const sites = inTensor.sites.map((address) => overTensor(address, offsets));
  const moves = [data, ...sites].some((form) => loopPart(form).terms.length > 0);
  return moves ? { by: "merged" } : { by: "recomputed", data, sites, offsets };
}

interface Access {
  readonly how: GatherMove["how"];
  readonly group: number;
  readonly fourAlong?: number;
  readonly widths: readonly Width[];
}

interface Setting {
  readonly func: TileFunc;
  readonly stmt: GatherStmt;
  readonly addresses: GatherAddresses;
  readonly loops: readonly ForStmt[];
  readonly staged: LoadMove | undefined;
  readonly laneBytes: number;
}

function accessOf(setting: Setting): Access {
  const { func, stmt, addresses, loops, staged, laneBytes } = setting;
  const { type } = inputOf(func, gatheredTable);
  const size = bytesOf(type.dtype);
  const rank = stmt.to.sizes.length;
  const widths = (data: Width, output: Width, index: (table: number) => Width = () => 1): Width[] => [
    ...inputsOf(func).map((_, table) => (table === gatheredTable ? data : index(table))),
    output,
  ];
  const plain: Access =
    size < 4
      ? { how: "packed", group: 4 / size, widths: widths(1, 1) }
      : { how: "words", group: 1, widths: widths(1, 1) };
  if (rank === 0 || elementCount(type.shape) === 0) return plain;
  const inRuns = (address: Linear, group: number): boolean =>
    startsAtMultiples(address, rank - 1, group, loops);
  const starts = (address: Linear, tensor: Operand, group: number): boolean =>
    inRuns(address, group) && residue(elementsOf(func, tensor), group, loops) === 0;
  const whole = (group: number): boolean =>
    starts(addresses.output, outputOf(func), group) && wholeRuns(setting, rank - 1, group);
  const innermost = at(stmt.to.sizes, rank - 1);
  if (!indexed(stmt.map).has(rank - 1)) {
    const group = vectorBytes / size;
    const copies =
      staged === undefined
        ? starts(addresses.data, inputOf(func, gatheredTable), group)
        : staged.stagedWidth === 4 && inRuns(addresses.data, group);
    if (!copies || !whole(group)) return plain;
    const short = (largestValue(innermost) ?? Infinity) <= group;
    const fourAlong = short && readsAlone(laneBytes) ? fourRows(setting) : undefined;
    return fourAlong === undefined
      ? { how: "rows", group, widths: widths(4, 4) }
      : { how: "rows", group, fourAlong, widths: widths(4, 4, () => 4) };
  }
  const group = Math.min(4, vectorBytes / size);
  if ((staged !== undefined && size > 4) || !whole(group)) return plain;
  const four = (table: number): boolean => group === 4 && readInFours(setting, rank - 1, table);
  const data = size === 16 ? 4 : size === 8 ? 2 : 1;
  const output = size === 1 ? 1 : size === 2 ? 2 : 4;
  return { how: "groups", group, widths: widths(data, output, (table) => (four(table) ? 4 : 1)) };
}

/** Whether the tile ends at a multiple along a dim. */
const wholeRuns = ({ stmt, loops }: Setting, d: number, group: number): boolean =>
  residue(at(stmt.to.sizes, d), group, loops) === 0;

/** Whether four neighbours along a dim find their index values of a table in one read. */
const readInFours = ({ func, stmt, addresses, loops }: Setting, along: number, table: number): boolean =>
  bytesOf(inputOf(func, table).type.dtype) >= 4 &&
  residue(elementsOf(func, inputOf(func, table)), 4, loops) === 0 &&
  plainSites(stmt.map).every(
    ({ value }, s) => value.table !== table || startsAtMultiples(at(addresses.sites, s), along, 4, loops),
  );

/**
 * The dim next to the rows, where lanes do not read side by side, a row is one access, and an index for each of four rows lies
 * in one read.
 */
function fourRows(setting: Setting): number | undefined {
  const { stmt } = setting;
  const d = stmt.to.sizes.length - 2;
  const tables = new Set(plainSites(stmt.map).map(({ value }) => value.table));
  const inFours = d >= 0 && wholeRuns(setting, d, 4) && [...tables].every((t) => readInFours(setting, d, t));
  return inFours ? d : undefined;
}

/** Whether runs of `group` elements along a dim, from a multiple of it, lie together and start at multiples of it. */
export function startsAtMultiples(
  address: Linear,
  along: number,
  group: number,
  loops: readonly ForStmt[],
): boolean {
  const others = address.terms.filter(
    ({ of }) => of.kind === "site" || (of.kind === "dim" && of.dim !== along),
  );
  return (
    stepAlong(address, "dim", along) === 1 &&
    others.every(({ by }) => by % group === 0) &&
    residue(loopPart(address), group, loops) === 0
  );
}
