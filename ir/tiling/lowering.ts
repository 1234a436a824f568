/**
 * Which instructions a gather becomes on its target, decided once: the footprint, the clock and a code generator read
 * the same answer.
 *
 * On Ascend, after PTO-ISA's instructions (TGATHER, TMOV, MGATHER, TLOAD, GetValue and SetValue):
 *
 *   whole-tile  data in UB: address steps on the whole index tile, in place, then one TGATHER
 *   per-row     data in UB: the same for each row, in scratch rows
 *   row-copy    data in UB: for each row a scalar index and a copy of blocks
 *   mgather     data in gm: MGATHER fetches rows of a table
 *   row-fetch   data in gm: for each row a scalar index and a load
 *   scalar      anything else: element by element on the scalar unit
 *
 * What a class adds to UB takes what the program's buffers leave free. Where that is too little, the next class that adds less
 * is taken: `row-fetch` and `scalar` add nothing, so a tile that fits its footprint always has a lowering.
 *
 * `direct` is every gather of a target that is no Ascend core: its lanes, or its one core, read and write in place.
 */
import {
  countsFromBound,
  gatheredTable,
  indexed,
  isRead,
  policyOf,
  type AccessMap,
  type OutOfBounds,
  type Read,
  type Site,
} from "../access.js";
import { inputOf, inputsOf } from "../func.js";
import { dimsOf, isConstant, sitesOf, soleAtom, type Linear } from "../linear.js";
import type { Residency } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { alignUp, at, bytesOf, elementCount, type Shape, type TensorType } from "../types.js";
import type { Loop } from "./loops.js";
import { dataResidency } from "./residency.js";
import type { TiledGather } from "./tiled.js";

/** The instructions that a gather becomes on an Ascend core (docs/pto.md). */
export type GatherClass =
  "whole-tile" | "per-row" | "row-copy" | "mgather" | "row-fetch" | "scalar" | "direct";

/** What of a tiled gather its lowering depends on. */
export interface LoweringFacts {
  readonly map: AccessMap;
  readonly data: TensorType;
  readonly indices: readonly TensorType[];
  /** Of the data. */
  readonly residency: Residency;
  /** The largest output tile, in elements. */
  readonly tile: Shape;
  /** Output dims along which some tiles are shorter. */
  readonly ragged: ReadonlySet<number>;
  /** Whether each run of the gather finds freshly loaded index tiles, which it may overwrite. */
  readonly freshIndices: boolean;
  /** Bytes of UB that the program's own buffers leave free. */
  readonly spareBytes: number;
  /** Rows of 32-bit values that the program's own scratch buffer holds. */
  readonly scratchRows: number;
}

/** Vector instructions by what they read: one tile and a scalar, or two tiles. */
export interface Steps {
  readonly scalar: number;
  readonly tile: number;
}

/** A class with what it adds to UB, in bytes, and to time. */
export interface GatherLowering {
  readonly class: GatherClass;
  /** What the lowering keeps in UB beside the program's buffers, in bytes. */
  readonly adds: readonly {
    readonly what: "base" | "rows" | "zeros" | "addresses";
    readonly bytes: number;
  }[];
  /** Steps on index values: for each run (`whole-tile`, `mgather`), for each row (`per-row`). */
  readonly steps: Steps;
  /** Once per core, before the first task. */
  readonly once: { readonly scalars: number; readonly steps: number };
  /** Waits between pipes that a run needs beside the program's own syncs. */
  readonly waits: number;
}

const noSteps: Steps = { scalar: 0, tile: 0 };
const nothing = { adds: [], steps: noSteps, once: { scalars: 0, steps: 0 }, waits: 0 } as const;

const direct: GatherLowering = { ...nothing, class: "direct" };

/** What of a footprint leaves room for a lowering. */
interface Taken {
  /** Bytes of UB. */
  readonly planned: number;
  readonly parts: readonly { readonly part: string; readonly tile: Shape }[];
}

/** The lowering of a gather under a schedule. */
export function loweringOf(
  tiling: TiledGather & { readonly loops: readonly Loop[]; readonly footprint: Taken },
): GatherLowering {
  const { gather, schedule, target, tile, extents, operands, loops, footprint } = tiling;
  if (!targetFacts[target.kind].vectorUnit) return direct;
  const looped = new Set(loops.map((loop) => loop.dim));
  const ragged = tile.flatMap((entry, d) => {
    const view = Math.min(at(schedule.view, d), at(extents, d));
    return looped.has(d) && (view % entry !== 0 || at(extents, d) % entry !== 0) ? [d] : [];
  });
  const innermost = loops.at(-1);
  return lowerGather(
    {
      map: gather.map,
      data: inputOf(gather, gatheredTable).type,
      indices: inputsOf(gather)
        .slice(1)
        .map(({ type }) => type),
      residency: dataResidency(gather, schedule),
      tile,
      ragged: new Set(ragged),
      // A load leaves the serial loops that its operand does not follow.
      freshIndices: operands
        .slice(1, -1)
        .every(({ inUb, follows }) => inUb && (innermost?.mode !== "serial" || follows.has(innermost.dim))),
      spareBytes: schedule.ubBytes - footprint.planned,
      scratchRows: footprint.parts.find(({ part }) => part === "scratch")?.tile[0] ?? 0,
    },
    target,
  );
}

/** The class of a gather on a target, which footprint, clock and code generation read. */
export function lowerGather(gather: LoweringFacts, target: Target): GatherLowering {
  if (!targetFacts[target.kind].vectorUnit) return direct;
  const found = classesOf(gather, target).find(
    ({ adds }) => adds.reduce((sum, { bytes }) => sum + bytes, 0) <= gather.spareBytes,
  );
  return found ?? scalar(gather);
}

/** The classes that a gather may have, the best first. */
function classesOf(gather: LoweringFacts, target: Target): GatherLowering[] {
  // No index names an element of data that has none: each is looked at, and reads as its policy says.
  if (elementCount(gather.data.shape) === 0) return [];
  if (gather.residency === "gm") {
    const tables = isTable(gather) ? [mgather(gather, target)] : [];
    return isRows(gather) ? [...tables, rowFetch(gather)] : tables;
  }
  if (isVector(gather, target)) {
    const whole = takesWholeTile(gather, target) ? [wholeTile(gather, target)] : [];
    return [...whole, perRow(gather, target)];
  }
  return isRows(gather) ? [rowCopy()] : [];
}

const last = (shape: Shape): number => shape[shape.length - 1] ?? 1;

/**
 * Whether a map has the form that PTO-ISA gathers by: data and one tensor of indices, which is read at output dims, each value of it
 * alone in a coordinate of the data. `inputs`: of the gather.
 */
export const hasPtoForm = (map: AccessMap, inputs: number): boolean => inputs === 2 && isPlain(map);

/** A site that reads an index input at dims and constants, under a bound that negative values count from. */
interface PlainSite extends Site {
  readonly value: Read;
  readonly keep: OutOfBounds;
  readonly below: number;
}

const isPlainSite = (site: Site): site is PlainSite =>
  isRead(site.value) &&
  site.keep !== "any" &&
  site.below !== undefined &&
  countsFromBound(site) &&
  site.value.at.every((coord) => isConstant(coord) || soleAtom(coord)?.kind === "dim");

// Asked for each tile that is weighed.
const known = new WeakMap<AccessMap, boolean>();

function isPlain(map: AccessMap): boolean {
  const found = known.get(map) ?? plain(map);
  known.set(map, found);
  return found;
}

/**
 * Whether a coordinate is one output dim or one site that stands nowhere else, and every site is plain, reads the same dims of its
 * table as the others, and leaves zero bits where there is no element, all under one policy.
 */
function plain({ sites, results, fill }: AccessMap): boolean {
  const atoms = results.map(soleAtom);
  const direct = atoms.flatMap((of) => (of?.kind === "dim" ? [of.dim] : []));
  const picked = atoms.flatMap((of) => (of?.kind === "site" ? [of.site] : []));
  const patterns = new Map<number, string>();
  return (
    direct.length + picked.length === results.length &&
    new Set(direct).size === direct.length &&
    picked.length === sites.length &&
    new Set(picked).size === sites.length &&
    sites.length > 0 &&
    fill === undefined &&
    sites.every((site) => {
      if (!isPlainSite(site) || site.value.table === gatheredTable || site.keep !== sites[0]?.keep)
        return false;
      const { table } = site.value;
      const pattern = site.value.at.map((coord) => dimsOf(coord).join()).join(";");
      const known = patterns.get(table) ?? pattern;
      patterns.set(table, known);
      return known === pattern;
    })
  );
}

/** The one site of a map that has no other and picks along one dim of the data. */
function onlySite(map: AccessMap): PlainSite | undefined {
  if (!isPlain(map)) return undefined;
  const { results } = map;
  const sites = map.sites.filter(isPlainSite);
  const picking = results.filter((coord) => sitesOf(coord).length > 0);
  const [only] = picking;
  return sites.length === 1 && picking.length === 1 && only !== undefined && soleAtom(only)?.kind === "site"
    ? sites[0]
    : undefined;
}

const isDim = (coord: Linear | undefined, dim: number): boolean => {
  const only = coord === undefined ? undefined : soleAtom(coord);
  return only?.kind === "dim" && only.dim === dim;
};

const has32BitIndices = ({ indices }: LoweringFacts): boolean =>
  indices.every((index) => index.dtype === "i32");

/** TGATHER: flat 32-bit indices, one for each output element of the last dim. */
function isVector(gather: LoweringFacts, target: Target): boolean {
  const { map, data } = gather;
  const site = onlySite(map);
  const inner = map.outRank - 1;
  return (
    site !== undefined &&
    isDim(site.value.at[site.value.at.length - 1], inner) &&
    !site.value.at.slice(0, -1).some((coord) => isDim(coord, inner)) &&
    has32BitIndices(gather) &&
    target.vectorGatherBytes.includes(bytesOf(data.dtype)) &&
    site.keep !== "wrap"
  );
}

/** Whole rows of data's last dim: no index follows the output's last dim. */
function isRows({ map }: LoweringFacts): boolean {
  const inner = map.outRank - 1;
  return inner >= 0 && !indexed(map).has(inner) && isDim(map.results[map.results.length - 1], inner);
}

/** MGATHER: rows of a table of rank 2 by a list of 32-bit indices. */
function isTable(gather: LoweringFacts): boolean {
  const { map, data, indices } = gather;
  const site = onlySite(map);
  return (
    data.shape.length === 2 &&
    site !== undefined &&
    isRows(gather) &&
    indices.length === 1 &&
    site.value.at.length === 1 &&
    isDim(site.value.at[0], 0) &&
    has32BitIndices(gather) &&
    bytesOf(data.dtype) <= 4 &&
    (site.keep === "clamp" || site.keep === "zero" || site.keep === "unchecked")
  );
}

const countsFromEnd = (map: AccessMap): boolean => map.sites.some((site) => site.fromEnd !== undefined);

/** i + n for a negative i: mins, maxs, muls, add. */
const fromEnd: Steps = { scalar: 3, tile: 1 };
const clamp: Steps = { scalar: 2, tile: 0 };
/** 1 where an index was outside, else 0: a clamped copy, then sub, mins, maxs, mul. */
const outside: Steps = { scalar: clamp.scalar + 2, tile: 2 };

/** What a policy does to an index that may lie outside its extent. `wrap` is never vectorised. */
const policySteps: Readonly<Record<OutOfBounds, Steps>> = {
  unchecked: noSteps,
  clamp,
  // The flat address of a zero where the mark is set: muls, adds, mul, add.
  zero: sum(outside, { scalar: 2, tile: 2 }),
  // The largest mark so far.
  error: sum(outside, { scalar: 0, tile: 1 }),
  wrap: noSteps,
};

function sum(...steps: readonly Steps[]): Steps {
  return steps.reduce((a, b) => ({ scalar: a.scalar + b.scalar, tile: a.tile + b.tile }), noSteps);
}

/** The flat address of an index in the data tile: times the gather dim's stride, plus where its row begins. */
function addressing({ map, data }: LoweringFacts): { readonly scaled: boolean; readonly based: boolean } {
  const dim = map.results.findIndex((coord) => sitesOf(coord).length > 0);
  return { scaled: dim < data.shape.length - 1, based: data.shape.length > 1 };
}

/** Bytes of an i32 for each element of an output tile. */
const addressBytes = (tile: Shape, target: Target): number =>
  elementCount(tile.slice(0, -1)) * alignUp(last(tile) * 4, target.blockBytes);

/** Whether the index tile can be turned into addresses in place, as a whole. */
function takesWholeTile(
  { map, data, indices, tile, ragged, freshIndices }: LoweringFacts,
  target: Target,
): boolean {
  const size = bytesOf(data.dtype);
  const keep = policyOf(map);
  const followed = indexed(map);
  // Index tile and output tile are one matrix, its rows the dims in front of the last.
  const along = (onlySite(map)?.value.at ?? []).flatMap(dimsOf);
  const inOrder = along.every((d, k) => k === 0 || at(along, k - 1) < d);
  const matrix =
    inOrder &&
    along.length === indices[0]?.shape.length &&
    tile.every((extent, d) => extent === 1 || followed.has(d));
  const folds = tile.every((_, d) => d === 0 || d === tile.length - 1 || !ragged.has(d));
  const pitch = (bytes: number): number => alignUp(last(tile) * bytes, target.blockBytes) / bytes;
  return (
    freshIndices &&
    matrix &&
    folds &&
    (size === 4 || pitch(4) === pitch(size)) &&
    (keep === "clamp" || keep === "unchecked") &&
    (!countsFromEnd(map) || size === 4)
  );
}

function wholeTile(gather: LoweringFacts, target: Target): GatherLowering {
  const { map, tile } = gather;
  const { scaled, based } = addressing(gather);
  return {
    class: "whole-tile",
    adds: based ? [{ what: "base", bytes: addressBytes(tile, target) }] : [],
    steps: sum(
      countsFromEnd(map) ? fromEnd : noSteps,
      policySteps[policyOf(map)],
      { scalar: scaled ? 1 : 0, tile: 0 },
      { scalar: 0, tile: based ? 1 : 0 },
    ),
    // `base` is written element by element.
    once: { scalars: based ? elementCount(tile) : 0, steps: 0 },
    waits: 0,
  };
}

function perRow(gather: LoweringFacts, target: Target): GatherLowering {
  const { map, tile, scratchRows } = gather;
  const keep = policyOf(map);
  const { scaled, based } = addressing(gather);
  const inner = map.outRank - 1;
  const iota = map.results.some((coord) => dimsOf(coord).includes(inner));
  const marks = keep === "zero" || keep === "error" ? 2 : 0;
  const rows = Math.max(0, 1 + (iota ? 1 : 0) + marks - scratchRows);
  const rowBytes = alignUp(last(tile) * 4, target.blockBytes);
  return {
    class: "per-row",
    adds: [
      ...(rows > 0 ? [{ what: "rows", bytes: rows * rowBytes } as const] : []),
      ...(keep === "zero" ? [{ what: "zeros", bytes: target.blockBytes } as const] : []),
    ],
    steps: sum(
      // The index row is another output row's too: the steps work on a copy.
      countsFromEnd(map) ? fromEnd : { scalar: 1, tile: 0 },
      policySteps[keep],
      { scalar: (scaled ? 1 : 0) + (based ? 1 : 0), tile: iota ? 1 : 0 },
    ),
    once: { scalars: iota ? last(tile) : 0, steps: marks > 0 ? 1 : 0 },
    waits: 0,
  };
}

const wideIndices = ({ indices }: LoweringFacts): boolean =>
  indices.some(({ dtype }) => bytesOf(dtype) === 8);

/** The scalar unit reads the indices and V copies, whichever of them the program has wait: to the other one and back. */
const rowCopy = (): GatherLowering => ({ ...nothing, class: "row-copy", waits: 2 });

/** 64-bit indices of a tile in UB are on the scalar pipe already; otherwise there and back. */
const scalar = (gather: LoweringFacts): GatherLowering => ({
  ...nothing,
  class: "scalar",
  waits: gather.residency === "ub" && wideIndices(gather) ? 0 : 2,
});

function mgather({ map, tile }: LoweringFacts, target: Target): GatherLowering {
  // MGATHER's own `zero` takes a negative index for a large one, which is outside as well.
  const steps = sum(countsFromEnd(map) ? fromEnd : noSteps, policyOf(map) === "clamp" ? clamp : noSteps);
  const changed = steps.scalar + steps.tile > 0;
  const bytes = alignUp((tile[0] ?? 1) * 4, target.blockBytes);
  return {
    ...nothing,
    class: "mgather",
    adds: changed ? [{ what: "addresses", bytes }] : [],
    steps,
    // MGATHER waits for V, and V for the load of the indices.
    waits: 1,
  };
}

/** MTE2 and MTE3 to the scalar unit and V, and both back to MTE2. */
const rowFetch = ({ map }: LoweringFacts): GatherLowering => ({
  ...nothing,
  class: "row-fetch",
  waits: map.sites.some(({ keep }) => keep === "zero" || keep === "error") ? 5 : 4,
});
