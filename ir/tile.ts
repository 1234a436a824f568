/**
 * The tile level: loops, memory spaces, addresses; nothing implied.
 *
 * One gather statement serves every operator and residency: each of its operands is a region of a `gm` or a `ub`
 * buffer. One sync statement serves every target: a pipe flag on Ascend, a workgroup barrier on WebGPU.
 */
import type { AccessMap, OutOfBounds } from "./access.js";
import type { IndexExpr } from "./expr.js";
import {
  at,
  dtypeBytes,
  elementCount,
  strides,
  type DType,
  type Shape,
  type Space,
  type Span,
} from "./types.js";

/** MTE2 moves gm to ub, V gathers, MTE3 moves ub to gm, S walks addresses one by one. */
export type Pipe = "MTE2" | "V" | "MTE3" | "S";
export const pipes: readonly Pipe[] = ["MTE2", "V", "MTE3", "S"];

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
  readonly offsets: readonly IndexExpr[];
  readonly sizes: readonly IndexExpr[];
}

export interface ForStmt {
  readonly op: "for";
  readonly iv: string;
  readonly lower: IndexExpr;
  readonly upper: IndexExpr;
  readonly step: number;
  /** `parallel`: iterations are tasks, dealt to the cores in blocks. */
  readonly mode: "parallel" | "serial";
  readonly body: readonly Stmt[];
  readonly span?: Span;
}

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

export interface GatherStmt {
  readonly op: "gather";
  readonly data: Region;
  readonly indices: Region;
  readonly to: Region;
  readonly map: AccessMap;
  readonly oob: OutOfBounds;
  /** Where the region of indices starts in the index tensor, for reports of an index out of range. */
  readonly origin: readonly IndexExpr[];
  /** The UB buffer the vector gather keeps its addresses in, where the target needs one. */
  readonly scratch?: string;
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

export type Stmt = ForStmt | AllocStmt | LoadStmt | GatherStmt | StoreStmt | SyncStmt;

/** Bytes of one copy of a UB tile. */
export const ubBytes = (buffer: UbBuffer): number =>
  elementCount(buffer.shape.slice(0, -1)) * buffer.rowBytes;

/** Elements between neighbours of a UB tile along each dim: rows are padded. */
export function ubStrides(buffer: UbBuffer): number[] {
  const result = strides(buffer.shape);
  for (let k = buffer.shape.length - 2; k >= 0; k--) {
    const inner = buffer.rowBytes / dtypeBytes[buffer.dtype];
    result[k] = k === buffer.shape.length - 2 ? inner : at(result, k + 1) * at(buffer.shape, k + 1);
  }
  return result;
}

/** Every statement of a body, those inside a loop after it. */
export const flatten = (body: readonly Stmt[]): readonly Stmt[] =>
  body.flatMap((stmt) => (stmt.op === "for" ? [stmt, ...flatten(stmt.body)] : [stmt]));

/** The one gather of a tile program; absent when its output is empty. */
export const findGather = (body: readonly Stmt[]): GatherStmt | undefined =>
  flatten(body).find((stmt) => stmt.op === "gather");

/** The space of an operand: a parameter lives in gm, everything else in ub. */
export const spaceOf = (buffer: string, params: ReadonlySet<string>): Space =>
  params.has(buffer) ? "gm" : "ub";

/** The pipe that runs a gather: vector, unless 64-bit indices or rows from gm need the scalar unit or MTE2. */
export function gatherPipe(indexDtype: DType, data: Space): Pipe {
  if (data === "gm") return "MTE2";
  return indexDtype === "i64" || indexDtype === "u64" ? "S" : "V";
}
