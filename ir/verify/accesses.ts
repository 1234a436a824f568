/** Which pipe runs a statement, and which UB buffers it touches. */
import type { TileFunc } from "../func.js";
import { gatherPipe, type Pipe, type Stmt, type UbBuffer } from "../tile.js";
import { assertNever, InternalError } from "../types.js";

export interface UbAccess {
  readonly buffer: UbBuffer;
  readonly write: boolean;
}

export function ubBuffers(func: TileFunc): ReadonlyMap<string, UbBuffer> {
  return new Map(
    func.body.flatMap((stmt) => (stmt.op === "alloc" ? [[stmt.buffer.name, stmt.buffer] as const] : [])),
  );
}

export const isParam = (func: TileFunc, name: string): boolean =>
  name === func.data.name || name === func.indices.name || name === func.output.name;

export function pipeOf(stmt: Stmt, func: TileFunc): Pipe | undefined {
  switch (stmt.op) {
    case "load":
      return "MTE2";
    case "store":
      return "MTE3";
    case "gather":
      return gatherPipe(func.indices.type.dtype, isParam(func, stmt.data.buffer) ? "gm" : "ub");
    case "for":
    case "alloc":
    case "sync":
      return undefined;
    default:
      return assertNever(stmt);
  }
}

export function ubAccesses(stmt: Exclude<Stmt, { op: "for" }>, func: TileFunc): UbAccess[] {
  const buffers = ubBuffers(func);
  const touch = (name: string, write: boolean): UbAccess[] => {
    if (isParam(func, name)) return [];
    const buffer = buffers.get(name);
    if (buffer === undefined) throw new InternalError(`buffer %${name} has no alloc`);
    return [{ buffer, write }];
  };
  switch (stmt.op) {
    case "load":
      return touch(stmt.to, true);
    case "store":
      return touch(stmt.from, false);
    case "gather":
      return [
        ...touch(stmt.data.buffer, false),
        ...touch(stmt.indices.buffer, false),
        ...touch(stmt.to.buffer, true),
        ...(stmt.scratch === undefined ? [] : touch(stmt.scratch, true)),
      ];
    case "alloc":
    case "sync":
      return [];
    default:
      return assertNever(stmt);
  }
}

/** `ubAccesses` for a program that runs its statements many times: each is looked at once. */
export function accessLookup(func: TileFunc): (stmt: Exclude<Stmt, { op: "for" }>) => readonly UbAccess[] {
  const known = new Map<Stmt, readonly UbAccess[]>();
  return (stmt) => {
    const found = known.get(stmt) ?? ubAccesses(stmt, func);
    known.set(stmt, found);
    return found;
  };
}
