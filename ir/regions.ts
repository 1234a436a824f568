/** Facts about the statements of a tile program: which regions and buffers they touch, and which pipe runs them. */
import { operandNamed, type Func, type TileFunc } from "./func.js";
import { type Pipe, type Region, type Stmt, type UbBuffer } from "./tile.js";
import { assertNever, bitsOf, InternalError, type DType, type Shape } from "./types.js";

/** One access of a statement to a UB buffer. */
export interface UbAccess {
  readonly buffer: UbBuffer;
  readonly write: boolean;
}

/** By name; allocs stand at the top. */
export function ubBuffers(func: TileFunc): ReadonlyMap<string, UbBuffer> {
  const found = new Map<string, UbBuffer>();
  for (const stmt of func.body) if (stmt.op === "alloc") found.set(stmt.buffer.name, stmt.buffer);
  return found;
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

interface Named {
  /** Regions that it states. */
  readonly regions: readonly Region[];
  /** UB buffers that it names as a whole, without a region. */
  readonly whole: readonly string[];
}

const nothing: Named = { regions: [], whole: [] };

function named(stmt: Stmt): Named {
  switch (stmt.op) {
    case "load":
      return { regions: [stmt.from], whole: [stmt.to] };
    case "store":
      return { regions: [stmt.to], whole: [stmt.from] };
    case "gather":
      return {
        regions: [...stmt.from, stmt.to],
        whole: [...(stmt.part?.into ?? []), ...(stmt.scratch ?? [])],
      };
    case "for":
    case "alloc":
    case "sync":
      return nothing;
    default:
      return assertNever(stmt);
  }
}

/** Every region that a statement names. */
export const regionsOf = (stmt: Stmt): readonly Region[] => named(stmt).regions;
/** Buffers that a statement takes whole. */
export const wholeBuffers = (stmt: Stmt): readonly string[] => named(stmt).whole;

/** Whether some index values have 64 bits, which no vector unit takes. */
export const hasWideIndices = ({ operands }: Pick<Func, "operands">): boolean =>
  operands.some(({ role, type }) => role === "indices" && bitsOf(type.dtype) === 64);

/** Vector, unless 64-bit indices or rows from gm need the scalar unit or MTE2. */
export function pipeOf(stmt: Stmt, func: TileFunc): Pipe | undefined {
  switch (stmt.op) {
    case "load":
      return "MTE2";
    case "store":
      return "MTE3";
    case "gather": {
      const [data] = stmt.from;
      if (data !== undefined && isParam(func, data.buffer)) return "MTE2";
      return hasWideIndices(func) ? "S" : "V";
    }
    case "for":
    case "alloc":
    case "sync":
      return undefined;
    default:
      return assertNever(stmt);
  }
}

/** Every access of a statement to UB. */
export function ubAccesses(stmt: Stmt, func: TileFunc, buffers = ubBuffers(func)): UbAccess[] {
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
        ...stmt.from.flatMap((region) => touch(region.buffer, false)),
        ...touch(stmt.to.buffer, true),
        ...[...(stmt.part?.into ?? []), ...(stmt.scratch ?? [])].flatMap((name) => touch(name, true)),
      ];
    case "for":
    case "alloc":
    case "sync":
      return [];
    default:
      return assertNever(stmt);
  }
}

/** `ubAccesses` for a program that runs its statements many times: each is looked at once. */
export function accessLookup(func: TileFunc): (stmt: Stmt) => readonly UbAccess[] {
  const buffers = ubBuffers(func);
  const known = new Map<Stmt, readonly UbAccess[]>();
  return (stmt) => {
    const found = known.get(stmt) ?? ubAccesses(stmt, func, buffers);
    known.set(stmt, found);
    return found;
  };
}
