/** A function at one of the three levels, and a module of them. A function holds one gather. */
import type { AccessMap, OutOfBounds } from "./access.js";
import type { Schedule } from "./schedule.js";
import type { Stmt } from "./tile.js";
import type { Shape, Span, TensorType } from "./types.js";

export type Level = "source" | "access" | "tile";
export const levels: readonly Level[] = ["source", "access", "tile"];

export interface Value {
  readonly name: string;
  readonly type: TensorType;
}

export type AttrValue = number | string | readonly number[];
export type Attrs = Readonly<Record<string, AttrValue>>;

interface FuncHead {
  readonly name: string;
  readonly data: Value;
  readonly indices: Value;
  readonly output: Value;
  /** Absent: the compiler's default. */
  readonly target?: string;
  readonly schedule: Schedule;
  readonly span?: Span;
}

/** What the user's framework said: `onnx.gather`, `directml.gather_nd`, `pypto.index_select`, … */
export interface SourceFunc extends FuncHead {
  readonly level: "source";
  /** Dialect and operator, `onnx.gather_elements`. */
  readonly op: string;
  readonly attrs: Attrs;
  readonly opSpan?: Span;
}

/** One canonical gather. Shapes are effective: leading ones that a dialect ignores are gone. */
export interface AccessFunc extends FuncHead {
  readonly level: "access";
  readonly map: AccessMap;
  readonly oob: OutOfBounds;
  /**
   * Dims that are a gather dim of the data and, with the same number, a dim of the output: gather_elements' axis.
   * The `strict` profile pins them.
   */
  readonly paired: readonly number[];
  /** Operand tiles, once `enforce-full-load` derived them from the schedule's tile. */
  readonly tiles?: { readonly data: Shape; readonly indices: Shape };
  readonly opSpan?: Span;
}

export interface TileFunc extends FuncHead {
  readonly level: "tile";
  readonly body: readonly Stmt[];
}

export type Func = SourceFunc | AccessFunc | TileFunc;

export interface Module {
  readonly funcs: readonly Func[];
}
