/**
 * The tile level: loops, memory spaces, addresses; nothing implied.
 *
 * One gather statement serves every operator and residency: each of its operands is a region of a `gm` or a
 * `ub` buffer. One sync statement serves every target: a pipe flag on Ascend, a workgroup barrier on WebGPU.
 */
import { formsOf, mapForms, type AccessMap } from "./access.js";
import { constant, min, soleAtom, sub, type Linear } from "./linear.js";
import {
  assertNever,
  at,
  bitsOf,
  elementCount,
  strides,
  type DType,
  type Shape,
  type Span,
} from "./types.js";

/**
 * Hardware pipes (instruction queues) of a core. MTE2: copies from global memory to the unified buffer (UB).
 * V: vector unit. MTE3: copies from UB to global memory. S: scalar unit.
 */
export const pipes = ["MTE2", "V", "MTE3", "S"] as const;
/**
 * Hardware pipe (instruction queue) of a core. Statements on different pipes run at the same time if no sync
 * orders the statements.
 */
export type Pipe = (typeof pipes)[number];

/** Row-major buffer for a tile in the unified buffer (UB). Innermost rows are padded to `rowBytes` bytes. */
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

/** Rectangular region of a tensor or a buffer: the start and the size along each dim, in elements. */
export interface Region {
  readonly buffer: string;
  readonly offsets: readonly Linear[];
  readonly sizes: readonly Linear[];
}

/** Loop statement over the tiles of a dim, with variable `iv` from `lower` to `upper` (exclusive). */
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

/** Statement that allocates a buffer in the unified buffer (UB). */
export interface AllocStmt {
  readonly op: "alloc";
  readonly buffer: UbBuffer;
  readonly span?: Span;
}

/** Statement that copies a region of global memory to a tile in the unified buffer (UB). */
export interface LoadStmt {
  readonly op: "load";
  readonly from: Region;
  readonly to: string;
  readonly span?: Span;
}

/** Part of a reduction: the range of elements that one execution of a gather statement combines. */
export interface ReductionChunk {
  /**
   * UB tiles that hold the reduction's partial results. If the program does not fix the number of reduction
   * elements, a tile also holds that number.
   */
  readonly into: readonly string[];
  /**
   * Reduction elements of the chunk: from `from` up to but not including `to`, out of `of`. A chunk that
   * begins at 0 starts the partial results; a chunk that ends at `of` writes the output elements.
   */
  readonly from: Linear;
  readonly to: Linear;
  readonly of: number;
}

/**
 * Statement that executes a gather, or one chunk of a gather's reduction. The operands are regions of global
 * memory or of tiles in the unified buffer (UB).
 */
export interface GatherStmt {
  readonly op: "gather";
  /** Region in which each input of the function is read, in the order of the map's tables. */
  readonly from: readonly Region[];
  readonly to: Region;
  /** Access map, in coordinates inside the regions. */
  readonly map: AccessMap;
  /**
   * Start of each index input's region, as coordinates in the index tensor. Entry k belongs to input k + 1.
   */
  readonly origins: readonly (readonly Linear[])[];
  /** Absent: all terms at once. The map then has those of the longest run. */
  readonly chunk?: ReductionChunk;
  /**
   * UB buffers that the statement alone writes and reads: addresses of a vector gather, and what a value is
   * computed in.
   */
  readonly scratch?: readonly string[];
  readonly span?: Span;
}

/**
 * Statement that executes points of a scatter in row-major order. Each point writes a value to the element
 * that index values select, or writes nothing.
 */
export interface ScatterStmt {
  readonly op: "scatter";
  /**
   * Regions of the inputs, in the order of the inputs. Input 0 is left out if it is a base that the map does
   * not read.
   */
  readonly from: readonly Region[];
  readonly to: Region;
  /** Relates coordinates inside the regions; its domain is the whole one. */
  readonly map: AccessMap;
  /** Points along each dim of the domain. */
  readonly sizes: readonly Linear[];
  /** The first of them in the domain. */
  readonly origin: readonly Linear[];
  readonly span?: Span;
}

/** Statement that sets every element of a tile in the unified buffer (UB) to the same bits. */
export interface FillStmt {
  readonly op: "fill";
  readonly to: string;
  /** Bits of an element as an unsigned decimal. */
  readonly bits: string;
  readonly span?: Span;
}

/** Statement that copies a tile in the unified buffer (UB) to a region of global memory. */
export interface StoreStmt {
  readonly op: "store";
  readonly from: string;
  readonly to: Region;
  readonly span?: Span;
}

/**
 * Statement that synchronizes two hardware pipes: `to` waits for earlier statements of `from`. `lag` 0: waits
 * for all statements before the current execution of the sync. `lag` 1: waits for all statements before the
 * previous execution of the sync.
 */
export interface SyncStmt {
  readonly op: "sync";
  readonly from: Pipe;
  readonly to: Pipe;
  readonly lag: 0 | 1;
  readonly span?: Span;
}

/** Statement of a tile program, including loops. */
export type Stmt =
  ForStmt | AllocStmt | LoadStmt | GatherStmt | ScatterStmt | FillStmt | StoreStmt | SyncStmt;
/** Statement that reads or writes elements: load, gather, scatter, fill or store. */
export type MovingStmt = Exclude<Stmt, ForStmt | AllocStmt | SyncStmt>;

/** True if a statement reads or writes elements. */
export const isMoving = (stmt: Stmt): stmt is MovingStmt =>
  stmt.op !== "for" && stmt.op !== "alloc" && stmt.op !== "sync";

/** Read or write of a tensor, or of a tile in the unified buffer (UB), by a statement. */
export interface StmtAccess {
  readonly buffer: string;
  readonly write: boolean;
  /** Region that is accessed; absent for a UB tile that the statement accesses completely. */
  readonly region?: Region;
  /** True if a write leaves other elements of the tile as they are. */
  readonly updates?: true;
  /**
   * True if the tile only holds values of the statement itself, between its start and its end or its next
   * run.
   */
  readonly temporary?: true;
}

const regionAccess = (region: Region, write: boolean): StmtAccess => ({
  buffer: region.buffer,
  write,
  region,
});

/**
 * Returns the reads and then the writes of a statement. The list is empty for loops, allocations and syncs.
 */
export function accessesOf(stmt: Stmt): readonly StmtAccess[] {
  switch (stmt.op) {
    case "load":
      return [regionAccess(stmt.from, false), { buffer: stmt.to, write: true }];
    case "store":
      return [{ buffer: stmt.from, write: false }, regionAccess(stmt.to, true)];
    case "gather":
      return [
        ...stmt.from.map((region) => regionAccess(region, false)),
        regionAccess(stmt.to, true),
        ...[...(stmt.chunk?.into ?? []), ...(stmt.scratch ?? [])].map(
          (buffer) => ({ buffer, write: true, temporary: true }) as const,
        ),
      ];
    case "scatter":
      return [
        ...stmt.from.map((region) => regionAccess(region, false)),
        { ...regionAccess(stmt.to, true), updates: true },
      ];
    case "fill":
      return [{ buffer: stmt.to, write: true }];
    case "for":
    case "alloc":
    case "sync":
      return [];
    default:
      return assertNever(stmt);
  }
}

/**
 * Returns the position of the input to which the first region of a scatter belongs: 0, or 1 if the scatter
 * does not read input 0. `inputs`: number of inputs of the function.
 */
export const firstTable = (stmt: ScatterStmt, inputs: number): number => inputs - stmt.from.length;

/** True if a statement computes the points of an access map: a gather or a scatter. */
export const isComputation = (stmt: Stmt): stmt is GatherStmt | ScatterStmt =>
  stmt.op === "gather" || stmt.op === "scatter";

/** Returns the gather or scatter of a body, also inside loops; undefined if there is none. */
export const computationIn = (body: readonly Stmt[]): GatherStmt | ScatterStmt | undefined =>
  flatten(body).find(isComputation);

/** True if a body contains a scatter or a fill, also inside loops. */
export const hasScatter = (body: readonly Stmt[]): boolean =>
  body.some((stmt) => stmt.op === "scatter" || stmt.op === "fill" || hasScatter(children(stmt)));

/**
 * Returns the regions that a statement reads or writes. Tiles that are accessed completely are not included.
 */
export const regionsOf = (stmt: Stmt): readonly Region[] =>
  accessesOf(stmt).flatMap(({ region }) => region ?? []);

/** Returns the statements in the body of a loop; an empty list for any other statement. */
export const children = (stmt: Stmt): readonly Stmt[] => (stmt.op === "for" ? stmt.body : []);

/**
 * Returns the linear expressions in a statement: bounds, offsets, sizes and access map coordinates.
 * Statements in the body of a loop are not included.
 */
export function formsOfStmt(stmt: Stmt): readonly Linear[] {
  if (stmt.op === "for") return [stmt.lower, stmt.upper];
  const renamed =
    stmt.op === "gather"
      ? [
          ...stmt.origins.flat(),
          ...formsOf(stmt.map),
          ...(stmt.chunk === undefined ? [] : [stmt.chunk.from, stmt.chunk.to]),
        ]
      : stmt.op === "scatter"
        ? [...stmt.sizes, ...stmt.origin, ...formsOf(stmt.map)]
        : [];
  return [...renamed, ...regionsOf(stmt).flatMap(({ offsets, sizes }) => [...offsets, ...sizes])];
}

/** Returns a loop whose body is replaced by `inside(body)`; returns any other statement unchanged. */
export const withChildren = (stmt: Stmt, inside: (body: readonly Stmt[]) => readonly Stmt[]): Stmt =>
  stmt.op === "for" ? { ...stmt, body: inside(stmt.body) } : stmt;

/**
 * Returns a statement with all linear expressions replaced by `form`, also in the body of a loop. `map`:
 * replaces the access maps of gathers and scatters; by default applies `form` to the map's expressions.
 */
export function mapStatement(
  stmt: Stmt,
  form: (form: Linear) => Linear,
  map: (map: AccessMap) => AccessMap = (from) => mapForms(from, form),
): Stmt {
  const region = ({ buffer, offsets, sizes }: Region): Region => ({
    buffer,
    offsets: offsets.map(form),
    sizes: sizes.map(form),
  });
  switch (stmt.op) {
    case "for":
      return {
        ...stmt,
        lower: form(stmt.lower),
        upper: form(stmt.upper),
        body: stmt.body.map((one) => mapStatement(one, form, map)),
      };
    case "load":
      return { ...stmt, from: region(stmt.from) };
    case "store":
      return { ...stmt, to: region(stmt.to) };
    case "gather": {
      const { chunk } = stmt;
      return {
        ...stmt,
        from: stmt.from.map(region),
        to: region(stmt.to),
        ...(chunk === undefined ? {} : { chunk: { ...chunk, from: form(chunk.from), to: form(chunk.to) } }),
        map: map(stmt.map),
        origins: stmt.origins.map((origin) => origin.map(form)),
      };
    }
    case "scatter":
      return {
        ...stmt,
        from: stmt.from.map(region),
        to: region(stmt.to),
        map: map(stmt.map),
        sizes: stmt.sizes.map(form),
        origin: stmt.origin.map(form),
      };
    case "fill":
    case "alloc":
    case "sync":
      return stmt;
    default:
      return assertNever(stmt);
  }
}

/**
 * Returns the sizes over which a gather statement computes: the output tile's sizes, followed in a reduction
 * by the number of elements that the statement combines.
 */
export const walkedSizes = ({ map, to, chunk }: GatherStmt): readonly Linear[] =>
  map.reduced === undefined
    ? to.sizes
    : [...to.sizes, chunk === undefined ? constant(map.reduced.max) : lengthOf(chunk)];

/** Returns the number of reduction elements in a chunk. */
function lengthOf({ from, to }: ReductionChunk): Linear {
  const only = soleAtom(to);
  return only?.kind === "min" ? min(sub(only.of[0], from), sub(only.of[1], from)) : sub(to, from);
}

/**
 * Returns the size in bytes of one copy of a tile in the unified buffer (UB), including the padding of rows.
 */
export const ubBytes = (buffer: UbBuffer): number =>
  elementCount(buffer.shape.slice(0, -1)) * buffer.rowBytes;

/**
 * Returns the end, in bytes, of the highest of some buffers in the unified buffer (UB); 0 without buffers.
 */
export const ubEnd = (buffers: Iterable<UbBuffer>): number =>
  Math.max(
    0,
    ...[...buffers].flatMap((buffer) => (buffer.addresses ?? []).map((start) => start + ubBytes(buffer))),
  );

/** Returns the strides of the dims of a tile in the unified buffer (UB), in elements. */
export function ubStrides(buffer: Pick<UbBuffer, "dtype" | "shape" | "rowBytes">): number[] {
  const result = strides(buffer.shape);
  for (let k = buffer.shape.length - 2; k >= 0; k--) {
    const inner = (8 * buffer.rowBytes) / bitsOf(buffer.dtype);
    result[k] = k === buffer.shape.length - 2 ? inner : at(result, k + 1) * at(buffer.shape, k + 1);
  }
  return result;
}

/**
 * Returns all statements of a body in order, including statements inside loops. A loop precedes the
 * statements of the loop's body.
 */
export const flatten = (body: readonly Stmt[]): readonly Stmt[] =>
  body.flatMap((stmt) => [stmt, ...flatten(children(stmt))]);
