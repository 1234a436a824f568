/**
 * The tile level: loops, memory spaces, addresses; nothing implied.
 *
 * One gather statement serves every operator and residency: each of its operands is a region of a `gm` or a `ub`
 * buffer. One sync statement serves every target: a pipe flag on Ascend, a workgroup barrier on WebGPU.
 */
import type { AccessMap } from "./access.js";
import { constant, min, soleAtom, sub, type Linear } from "./linear.js";
import { at, bitsOf, elementCount, strides, type DType, type Shape, type Span } from "./types.js";

/** MTE2 moves gm to ub, V gathers, MTE3 moves ub to gm, S walks addresses one by one. */
export const pipes = ["MTE2", "V", "MTE3", "S"] as const;
/** A pipeline of a core; statements on different pipes run at one time unless a sync orders them. */
export type Pipe = (typeof pipes)[number];

/** A tile of a tensor in UB: row-major, each innermost row padded to `rowBytes`. */
export interface UbBuffer {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  readonly rowBytes: number;
  /** 2: the writer alternates between two copies, and readers see the one written last. */
  readonly buffers: 1 | 2;
  /** Byte address of each copy, once allocated. */
  readonly addresses?: readonly number[];
}

/** A box of a buffer: offsets and sizes in elements. */
export interface Region {
  readonly buffer: string;
  readonly offsets: readonly Linear[];
  readonly sizes: readonly Linear[];
}

/** A loop over tiles of a dim. */
export interface ForStmt {
  readonly op: "for";
  readonly iv: string;
  readonly lower: Linear;
  readonly upper: Linear;
  readonly step: number;
  /** `parallel`: iterations are tasks, dealt to the cores in blocks. */
  readonly mode: "parallel" | "serial";
  readonly body: readonly Stmt[];
  readonly span?: Span;
}

/** Takes a buffer of UB. */
export interface AllocStmt {
  readonly op: "alloc";
  readonly buffer: UbBuffer;
  readonly span?: Span;
}

/** gm to ub, to the origin of the destination. */
export interface LoadStmt {
  readonly op: "load";
  readonly from: Region;
  readonly to: string;
  readonly span?: Span;
}

/** The terms that one run of a gather takes in, of all that its elements have. */
export interface Part {
  /** What the terms come to so far, and where their number is not told by the program, that number: tiles of UB. */
  readonly into: readonly string[];
  /** Counted from the first term of an element. A run from 0 sets what terms come to, one up to `of` makes the elements. */
  readonly from: Linear;
  readonly to: Linear;
  readonly of: number;
}

/** The one statement that gathers: each operand lies in gm or in ub. */
export interface GatherStmt {
  readonly op: "gather";
  /** Where each input of the function is read, in the order of the map's tables. */
  readonly from: readonly Region[];
  readonly to: Region;
  /** Relates coordinates inside the regions. */
  readonly map: AccessMap;
  /** Where the region of each index input starts in its tensor, by table from 1. */
  readonly origins: readonly (readonly Linear[])[];
  /** Absent: all terms at once. The map then has those of the longest run. */
  readonly part?: Part;
  /** UB buffers that the statement alone writes and reads: addresses of a vector gather, and what a value is computed in. */
  readonly scratch?: readonly string[];
  readonly span?: Span;
}

/** ub to gm, from the origin of the source. */
export interface StoreStmt {
  readonly op: "store";
  readonly from: string;
  readonly to: Region;
  readonly span?: Span;
}

/**
 * `to` waits for all that `from` was given before the latest run of this statement (`lag` 0), or before the one
 * `lag` runs earlier: with two buffers the previous user of a slot is two iterations back.
 */
export interface SyncStmt {
  readonly op: "sync";
  readonly from: Pipe;
  readonly to: Pipe;
  readonly lag: 0 | 1;
  readonly span?: Span;
}

/** A statement of a tile program. */
export type Stmt = ForStmt | AllocStmt | LoadStmt | GatherStmt | StoreStmt | SyncStmt;

/** The sizes of all that a gather walks over: of its output tile, and behind them the number of terms. */
export const walkedSizes = ({ map, to, part }: GatherStmt): readonly Linear[] =>
  map.reduced === undefined
    ? to.sizes
    : [...to.sizes, part === undefined ? constant(map.reduced.most) : lengthOf(part)];

/** How many terms a run takes in. */
function lengthOf({ from, to }: Part): Linear {
  const only = soleAtom(to);
  return only?.kind === "min" ? min(sub(only.of[0], from), sub(only.of[1], from)) : sub(to, from);
}

/** Bytes of one copy of a UB tile. */
export const ubBytes = (buffer: UbBuffer): number =>
  elementCount(buffer.shape.slice(0, -1)) * buffer.rowBytes;

/** Elements between neighbours of a UB tile along each dim: rows are padded. */
export function ubStrides(buffer: Pick<UbBuffer, "dtype" | "shape" | "rowBytes">): number[] {
  const result = strides(buffer.shape);
  for (let k = buffer.shape.length - 2; k >= 0; k--) {
    const inner = (8 * buffer.rowBytes) / bitsOf(buffer.dtype);
    result[k] = k === buffer.shape.length - 2 ? inner : at(result, k + 1) * at(buffer.shape, k + 1);
  }
  return result;
}

/** Every statement of a body, those inside a loop after it. */
export const flatten = (body: readonly Stmt[]): readonly Stmt[] =>
  body.flatMap((stmt) => (stmt.op === "for" ? [stmt, ...flatten(stmt.body)] : [stmt]));
