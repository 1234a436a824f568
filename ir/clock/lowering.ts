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
 * `direct` is every gather of a target that is no Ascend core: its lanes, or its one core, read and write in place.
 */
import { gatherAccesses, indexDims, type AccessMap, type OutOfBounds } from "../access.js";
import type { Residency } from "../schedule.js";
import type { Target } from "../target.js";
import { alignUp, dtypeBytes, elementCount, type Shape, type TensorType } from "../types.js";

export type GatherClass =
  "whole-tile" | "per-row" | "row-copy" | "mgather" | "row-fetch" | "scalar" | "direct";

/** A gather as a tile program runs it. */
export interface TiledGather {
  readonly map: AccessMap;
  readonly oob: OutOfBounds;
  readonly data: TensorType;
  readonly indices: TensorType;
  readonly residency: Residency;
  /** The largest output tile, in elements. */
  readonly tile: Shape;
  /** Output dims along which some tiles are shorter. */
  readonly ragged: ReadonlySet<number>;
  /** Whether each run of the gather finds a freshly loaded index tile, which it may overwrite. */
  readonly freshIndices: boolean;
  /** Bytes of UB that the program's own buffers leave free. */
  readonly spareBytes: number;
}

/** Vector instructions by what they read: one tile and a scalar, or two tiles. */
export interface Steps {
  readonly scalar: number;
  readonly tile: number;
}

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

export function lowerGather(gather: TiledGather, target: Target): GatherLowering {
  if (target.kind !== "ascend") return { ...nothing, class: "direct" };
  if (gather.residency === "gm" && isTable(gather)) return mgather(gather, target);
  if (gather.residency === "gm") return isRows(gather) ? rowFetch(gather) : scalar(gather);
  if (!isVector(gather, target)) return isRows(gather) ? rowCopy(gather) : scalar(gather);
  return wholeTile(gather, target) ?? perRow(gather, target);
}

const last = (shape: Shape): number => shape[shape.length - 1] ?? 1;

/** TGATHER: flat 32-bit indices, one for each output element of the last dim. */
function isVector({ map, oob, data, indices }: TiledGather, target: Target): boolean {
  const dims = indexDims(map);
  return (
    gatherAccesses(map).length === 1 &&
    dims.length > 0 &&
    dims[dims.length - 1] === map.outRank - 1 &&
    indices.dtype === "i32" &&
    target.vectorGatherBytes.includes(dtypeBytes[data.dtype]) &&
    oob !== "wrap"
  );
}

/** Whole rows of data's last dim: the output's last dim is no index dim. */
function isRows({ map }: TiledGather): boolean {
  const inner = map.outRank - 1;
  const direct = map.results[map.results.length - 1];
  return inner >= 0 && !indexDims(map).includes(inner) && direct?.kind === "direct" && direct.dim === inner;
}

/** MGATHER: rows of a table of rank 2 by a list of 32-bit indices. */
function isTable({ map, oob, data, indices }: TiledGather): boolean {
  return (
    data.shape.length === 2 &&
    map.results[0]?.kind === "indirect" &&
    map.results[1]?.kind === "direct" &&
    indices.shape.length === 1 &&
    indices.dtype === "i32" &&
    dtypeBytes[data.dtype] <= 4 &&
    (oob === "clamp" || oob === "zero" || oob === "unchecked")
  );
}

const countsFromEnd = (map: AccessMap): boolean =>
  gatherAccesses(map).some(({ access }) => access.negative === "from-end");

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
function addressing({ map, data }: TiledGather): { readonly scaled: boolean; readonly based: boolean } {
  const dim = map.results.findIndex((result) => result.kind === "indirect");
  return { scaled: dim < data.shape.length - 1, based: data.shape.length > 1 };
}

/** Undefined where the index tile cannot be turned into addresses in place, as a whole. */
function wholeTile(gather: TiledGather, target: Target): GatherLowering | undefined {
  const { map, oob, data, tile, ragged, freshIndices, spareBytes } = gather;
  const size = dtypeBytes[data.dtype];
  const { scaled, based } = addressing(gather);
  const followed = new Set(indexDims(map));
  // Index tile and output tile are one matrix, its rows the dims in front of the last.
  const matrix = tile.every((extent, d) => extent === 1 || followed.has(d));
  const folds = tile.every((_, d) => d === 0 || d === tile.length - 1 || !ragged.has(d));
  const pitch = (bytes: number): number => alignUp(last(tile) * bytes, target.blockBytes) / bytes;
  const rows = elementCount(tile.slice(0, -1));
  const base = based ? rows * alignUp(last(tile) * 4, target.blockBytes) : 0;
  const fits =
    freshIndices &&
    matrix &&
    folds &&
    (size === 4 || pitch(4) === pitch(size)) &&
    (oob === "clamp" || oob === "unchecked") &&
    (!countsFromEnd(map) || size === 4) &&
    base <= spareBytes;
  if (!fits) return undefined;
  return {
    class: "whole-tile",
    adds: based ? [{ what: "base", bytes: base }] : [],
    steps: sum(
      countsFromEnd(map) ? fromEnd : noSteps,
      policySteps[oob],
      { scalar: scaled ? 1 : 0, tile: 0 },
      { scalar: 0, tile: based ? 1 : 0 },
    ),
    // One row of `base` is written element by element; the others differ from it by a constant.
    once: based ? { scalars: last(tile), steps: Math.max(0, rows - 1) } : { scalars: 0, steps: 0 },
    waits: 0,
  };
}

/** Scratch rows of the plan (footprint.ts): an address row and a spare one. */
const plannedRows = 2;

function perRow(gather: TiledGather, target: Target): GatherLowering {
  const { map, oob, tile } = gather;
  const { scaled, based } = addressing(gather);
  const inner = map.outRank - 1;
  const iota = map.results.some((result) => result.kind === "direct" && result.dim === inner);
  const marks = oob === "zero" || oob === "error" ? 2 : 0;
  const rows = Math.max(0, 1 + (iota ? 1 : 0) + marks - plannedRows);
  const rowBytes = alignUp(last(tile) * 4, target.blockBytes);
  return {
    class: "per-row",
    adds: [
      ...(rows > 0 ? [{ what: "rows", bytes: rows * rowBytes } as const] : []),
      ...(oob === "zero" ? [{ what: "zeros", bytes: target.blockBytes } as const] : []),
    ],
    steps: sum(
      // The index row is another output row's too: the steps work on a copy.
      countsFromEnd(map) ? fromEnd : { scalar: 1, tile: 0 },
      policySteps[oob],
      { scalar: (scaled ? 1 : 0) + (based ? 1 : 0), tile: iota ? 1 : 0 },
    ),
    once: { scalars: iota ? last(tile) : 0, steps: marks > 0 ? 1 : 0 },
    waits: 0,
  };
}

const wideIndices = ({ indices }: TiledGather): boolean => dtypeBytes[indices.dtype] === 8;

/** 64-bit indices are on the scalar pipe already; others come from V and go back to it. */
const rowCopy = (gather: TiledGather): GatherLowering => ({
  ...nothing,
  class: "row-copy",
  waits: wideIndices(gather) ? 1 : 2,
});

const scalar = (gather: TiledGather): GatherLowering => ({
  ...nothing,
  class: "scalar",
  waits: wideIndices(gather) ? 0 : 2,
});

function mgather({ map, oob, tile }: TiledGather, target: Target): GatherLowering {
  // MGATHER's own `zero` takes a negative index for a large one, which is outside as well.
  const steps = sum(countsFromEnd(map) ? fromEnd : noSteps, oob === "clamp" ? clamp : noSteps);
  const changed = steps.scalar + steps.tile > 0;
  const bytes = alignUp((tile[0] ?? 1) * 4, target.blockBytes);
  return {
    ...nothing,
    class: "mgather",
    adds: changed ? [{ what: "addresses", bytes }] : [],
    steps,
    waits: changed ? 1 : 0,
  };
}

/** MTE2 and MTE3 to the scalar unit and V, and both back to MTE2. */
const rowFetch = ({ oob }: TiledGather): GatherLowering => ({
  ...nothing,
  class: "row-fetch",
  waits: oob === "zero" || oob === "error" ? 5 : 4,
});
