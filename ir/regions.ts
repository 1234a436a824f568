/**
 * Facts about the statements of a tile program: which regions and buffers they touch, and which pipe runs
 * them.
 */
import { operandNamed, type Func, type TileFunc } from "./func.js";
import { accessesOf, isMoving, type Pipe, type Stmt, type UbBuffer } from "./tile.js";
import { bitsOf, InternalError, type DType, type Shape } from "./types.js";

/** Read or write of a buffer in the unified buffer (UB) by a statement. */
export interface UbAccess {
  readonly buffer: UbBuffer;
  readonly write: boolean;
  /** True if a write leaves other elements of the tile as they are. */
  readonly updates?: true;
}

/**
 * Returns the buffers that a tile program allocates in the unified buffer (UB) at the top level of its body,
 * by name.
 */
export function ubBuffers(func: TileFunc): ReadonlyMap<string, UbBuffer> {
  const buffers = new Map<string, UbBuffer>();
  for (const stmt of func.body) if (stmt.op === "alloc") buffers.set(stmt.buffer.name, stmt.buffer);
  return buffers;
}

/** True if a name is the name of an operand (tensor parameter) of the function. */
export const isParam = (func: TileFunc, name: string): boolean => operandNamed(func, name) !== undefined;

/** Returns the element type and shape of an operand or UB buffer. Undefined for an unknown name. */
export function typeOfBuffer(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  name: string,
): { readonly dtype: DType; readonly shape: Shape } | undefined {
  return operandNamed(func, name)?.type ?? buffers.get(name);
}

/** Returns the names of the tiles in the unified buffer (UB) that a statement accesses completely. */
export const fullBuffers = (stmt: Stmt): readonly string[] =>
  accessesOf(stmt).flatMap(({ buffer, region }) => (region === undefined ? [buffer] : []));

/** True if some index input has 64-bit values, which no vector unit supports. */
export const hasWideIndices = ({ operands }: Pick<Func, "operands">): boolean =>
  operands.some(({ role, type }) => role === "indices" && bitsOf(type.dtype) === 64);

/**
 * Returns the hardware pipe (instruction queue) on which a gather runs. For data in global memory: MTE2. For
 * data in the unified buffer (`inUb`): S for 64-bit index values, else V.
 */
export const gatherPipe = (func: Pick<Func, "operands">, inUb: boolean): Pipe =>
  inUb ? (hasWideIndices(func) ? "S" : "V") : "MTE2";

/**
 * Returns the hardware pipe (instruction queue) on which a statement runs. Undefined for loops, allocations
 * and syncs.
 */
export function pipeOf(stmt: Stmt, func: TileFunc): Pipe | undefined {
  if (stmt.op === "load") return "MTE2";
  if (stmt.op === "store") return "MTE3";
  if (stmt.op === "scatter") return isParam(func, stmt.to.buffer) ? "MTE3" : "S";
  if (stmt.op !== "gather") return isMoving(stmt) ? "V" : undefined;
  const [data] = stmt.from;
  return gatherPipe(func, data === undefined || !isParam(func, data.buffer));
}

/**
 * Returns the reads and writes of UB buffers by a statement. Throws an InternalError for a buffer that the
 * program does not allocate.
 */
export const ubAccesses = (stmt: Stmt, func: TileFunc, buffers = ubBuffers(func)): UbAccess[] =>
  accessesOf(stmt).flatMap(({ buffer: name, write, updates }) => {
    if (isParam(func, name)) return [];
    const buffer = buffers.get(name);
    if (buffer === undefined) throw new InternalError(`buffer %${name} has no alloc`);
    return [{ buffer, write, ...(updates === true ? { updates } : {}) }];
  });

/** Returns a function that computes and caches the UB accesses of a statement ({@link ubAccesses}). */
export function accessLookup(func: TileFunc): (stmt: Stmt) => readonly UbAccess[] {
  const buffers = ubBuffers(func);
  const cached = new Map<Stmt, readonly UbAccess[]>();
  return (stmt) => {
    const accesses = cached.get(stmt) ?? ubAccesses(stmt, func, buffers);
    cached.set(stmt, accesses);
    return accesses;
  };
}
