/** Facts about the statements of a tile program: which regions and buffers they touch, and which pipe runs them. */
import { operandNamed, type Func, type TileFunc } from "./func.js";
import { accessesOf, isMoving, type Pipe, type Stmt, type UbBuffer } from "./tile.js";
import { bitsOf, InternalError, type DType, type Shape } from "./types.js";

/** One access of a statement to a UB buffer. */
export interface UbAccess {
  readonly buffer: UbBuffer;
  readonly write: boolean;
  /** True if a write leaves other elements of the tile as they are. */
  readonly updates?: true;
}

/** By name; allocs stand at the top. */
export function ubBuffers(func: TileFunc): ReadonlyMap<string, UbBuffer> {
  const buffers = new Map<string, UbBuffer>();
  for (const stmt of func.body) if (stmt.op === "alloc") buffers.set(stmt.buffer.name, stmt.buffer);
  return buffers;
}

/** Whether a name is an operand of the function. */
export const isParam = (func: TileFunc, name: string): boolean => operandNamed(func, name) !== undefined;

/** Element type and extents of a parameter or a UB buffer. */
export function typeOfBuffer(
  func: TileFunc,
  buffers: ReadonlyMap<string, UbBuffer>,
  name: string,
): { readonly dtype: DType; readonly shape: Shape } | undefined {
  return operandNamed(func, name)?.type ?? buffers.get(name);
}

/** Returns the UB tiles that a statement takes whole, without a region. */
export const fullBuffers = (stmt: Stmt): readonly string[] =>
  accessesOf(stmt).flatMap(({ buffer, region }) => (region === undefined ? [buffer] : []));

/** Whether some index values have 64 bits, which no vector unit takes. */
export const hasWideIndices = ({ operands }: Pick<Func, "operands">): boolean =>
  operands.some(({ role, type }) => role === "indices" && bitsOf(type.dtype) === 64);

/** Returns the pipe of a gather, by whether its data lies in UB: rows are fetched by the pipe of the loads. */
export const gatherPipe = (func: Pick<Func, "operands">, inUb: boolean): Pipe =>
  inUb ? (hasWideIndices(func) ? "S" : "V") : "MTE2";

/** Returns the pipe of a statement: one that only touches UB runs on V, but a gather by 64-bit indices and a scatter on S. */
export function pipeOf(stmt: Stmt, func: TileFunc): Pipe | undefined {
  if (stmt.op === "load") return "MTE2";
  if (stmt.op === "store") return "MTE3";
  if (stmt.op === "scatter") return isParam(func, stmt.to.buffer) ? "MTE3" : "S";
  if (stmt.op !== "gather") return isMoving(stmt) ? "V" : undefined;
  const [data] = stmt.from;
  return gatherPipe(func, data === undefined || !isParam(func, data.buffer));
}

/** Returns every access of a statement to UB. Throws an InternalError for a buffer that has no alloc. */
export const ubAccesses = (stmt: Stmt, func: TileFunc, buffers = ubBuffers(func)): UbAccess[] =>
  accessesOf(stmt).flatMap(({ buffer: name, write, updates }) => {
    if (isParam(func, name)) return [];
    const buffer = buffers.get(name);
    if (buffer === undefined) throw new InternalError(`buffer %${name} has no alloc`);
    return [{ buffer, write, ...(updates === true ? { updates } : {}) }];
  });

/** `ubAccesses` for a program that runs its statements many times: each is looked at once. */
export function accessLookup(func: TileFunc): (stmt: Stmt) => readonly UbAccess[] {
  const buffers = ubBuffers(func);
  const cached = new Map<Stmt, readonly UbAccess[]>();
  return (stmt) => {
    const accesses = cached.get(stmt) ?? ubAccesses(stmt, func, buffers);
    cached.set(stmt, accesses);
    return accesses;
  };
}
