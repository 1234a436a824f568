/** A function at one of the three levels, and a module of them. A function holds one gather. */
import { checkArgument } from "./argument.js";
import { defined } from "./defined.js";
import type { AccessMap } from "./access.js";
import type { Attrs } from "./attrs.js";
import { entryCalled } from "./entry-of.js";
import type { Framework } from "./framework.js";
import type { PyptoLevel } from "./profile.js";
import type { Schedule } from "./schedule.js";
import { extentsOver, type Symbolic, type Sym } from "./symbols/symbols.js";
import type { Operators } from "./ops/op-def.js";
import type { Stmt } from "./tile.js";
import { constant, scale, type Env, type Linear } from "./linear.js";
import { at, bytesOf, elementCount, byteAligned, type Shape, type Span, type TensorType } from "./types.js";

/**
 * Levels of a function, from high to low. `source`: an operator of a framework. `access`: an access map.
 * `tile`: loops and addresses.
 */
export const levels = ["source", "access", "tile"] as const;
/** Level of a function's representation: operator, access map or tile program ({@link levels}). */
export type Level = (typeof levels)[number];

/** Named tensor: a name with an element type and a shape. */
export interface Value {
  readonly name: string;
  readonly type: TensorType;
}

/**
 * Roles of an operand in a gather. The role is also the operand's default key in options and reports ({@link
 * keyOf}).
 */
export const roles = ["data", "indices", "output"] as const;
/** Role of an operand in a gather: `data`, `indices` or `output`. */
export type Role = (typeof roles)[number];

/**
 * Operand of a function: a tensor in global memory that the function reads or writes, with the tensor's role.
 */
export interface Operand extends Value {
  readonly role: Role;
  /**
   * Key of the operand for callers and reports: the operand's name, if the role is not unique. Absent: the
   * role is the key.
   */
  readonly key?: string;
  /** True if the result of the function is this tensor: it is written in place. Default false. */
  readonly inout?: boolean;
}

/**
 * Returns the operands of a function, each with a role. In a scatter, and in a gather with one input or more
 * than two, the key of an input is the input's name. `values`: tensors in text order: data, other inputs,
 * output. `isGather`: false for a scatter.
 */
export function operandsOf(values: readonly Value[], isGather = true): readonly Operand[] {
  const [output, inputs] = [values.length - 1, values.slice(0, -1)];
  const named = !isGather || inputs.length !== 2;
  const shadowed = named && inputs.some(({ name }) => name === ("output" satisfies Role));
  return values.map((value, place) => {
    const role = place === output ? "output" : place === 0 ? "data" : "indices";
    const isNamed = role === "output" ? shadowed : named;
    return { ...value, role, ...(isNamed ? { key: value.name } : {}) };
  });
}

interface FuncHead {
  readonly name: string;
  /** The inputs in the order of the text, which is their number in the access map, then the output. */
  readonly operands: readonly Operand[];
  /** Absent: the compiler's default. */
  readonly target?: string;
  readonly schedule: Schedule;
  readonly span?: Span;
}

/**
 * Function at the source level: an operator of the user's framework, such as `onnx.gather`,
 * `directml.gather_nd` or `pypto.index_select`.
 */
export interface SourceFunc extends FuncHead {
  readonly level: "source";
  /** Dialect and operator, `onnx.gather_elements`. */
  readonly op: string;
  readonly attrs: Attrs;
  /**
   * Operators among which `op` is looked up. The text does not state them. Absent: the built-in operators.
   */
  readonly operators?: Operators;
  readonly opSpan?: Span;
}

/**
 * Operator of a framework, such as PyPTO's `gather`, that a function at the access level represents. The
 * function must satisfy the operator's rules for types and ranks.
 */
export interface FrameworkOp {
  /** Its name in the framework: `gather`. */
  readonly name: string;
  /** Source of the accepted types and ranks, if the program states one. Absent: the profile decides. */
  readonly level?: PyptoLevel;
}

/** Function at the access level: one canonical gather or scatter as an access map. */
export interface AccessFunc extends FuncHead {
  readonly level: "access";
  readonly map: AccessMap;
  /**
   * Dims, such as the axis of gather_elements, that are a gather dim of the data and, with the same number,
   * an output dim. Profiles may require the full extent of view and tile along these dims.
   */
  readonly sharedDims: readonly number[];
  /**
   * Framework that cuts the tiles of the operator itself: its tile of the data may reach beyond the output.
   */
  readonly framework?: Framework;
  /**
   * Operator of the framework that it is: its types and ranks are judged where a text states the gather, too.
   */
  readonly frameworkOp?: FrameworkOp;
  /** Sizes that the program leaves open: everything else then states it at the most that they may be. */
  readonly symbolic?: Symbolic;
  /**
   * Tiles of the inputs, as text states them and `enforce-full-load` derives them from the schedule's tile.
   */
  readonly tiles?: readonly Shape[];
  readonly opSpan?: Span;
}

/** Function at the tile level (tile program): explicit loops, memory spaces and addresses. */
export interface TileFunc extends FuncHead {
  readonly level: "tile";
  readonly body: readonly Stmt[];
  /**
   * Parts that depend on symbols (dynamic sizes); operands then have the maximum sizes. Absent in a program
   * with fixed sizes, such as the result of `bindTile`.
   */
  readonly symbolic?: Symbolic;
  /**
   * The program that this one is at some sizes, as `bindTile` notes it: no part of the text. `dynamicFormOf`
   * reads it.
   */
  readonly dynamicForm?: DynamicForm;
}

/** Tile program with dynamic sizes: one program for all sizes of the symbols. */
export type DynamicTile = TileFunc & { readonly symbolic: Symbolic };

/**
 * Program with dynamic sizes from which a tile program with fixed sizes was made, and the values of the
 * dynamic sizes.
 */
export interface DynamicForm {
  readonly program: DynamicTile;
  /** Values by name, of the symbols and of the index bounds that depend on symbols. No value is 0. */
  readonly values: Env;
  /**
   * Operands and body of the tile program when it was made. A program with other operands or another body was
   * changed since.
   */
  readonly bound: Pick<TileFunc, "operands" | "body">;
}

/** Function at any of the three levels: source, access or tile. */
export type Func = SourceFunc | AccessFunc | TileFunc;

/** Contents of a `.tir` file: functions, and the declared symbols (named dynamic sizes). */
export interface Module {
  /** Declared symbols, in order. Absent: the symbols that the functions use. */
  readonly symbols?: readonly Sym[];
  readonly funcs: readonly Func[];
}

/**
 * Returns the symbols (named dynamic sizes) of a function, in declaration order. The list is empty for a
 * function with fixed sizes, and for a function that is not at the access level.
 */
export const dynamicSymbols = (func: Func): readonly Sym[] =>
  func.level === "access" ? (func.symbolic?.symbols ?? []) : [];

type HasOperands = Pick<FuncHead, "operands">;

const isOutput = ({ role }: Pick<Operand, "role">): boolean => role === "output";

/** Returns the input operands of a function, in order. */
export const inputsOf = ({ operands }: HasOperands): readonly Operand[] =>
  operands.filter((operand) => !isOutput(operand));
/** Returns the index of the output in the list of a function's operands. */
export const outputPlace = ({ operands }: HasOperands): number => operands.findLastIndex(isOutput);
/** Returns the output operand of a function. */
export function outputOf(func: HasOperands): Operand {
  checkArgument("outputOf", "program", func);
  return at(func.operands, outputPlace(func));
}
/** Returns the input that a program writes in place; undefined for an output with memory of its own. */
export const inoutOf = ({ operands }: HasOperands): Operand | undefined =>
  operands.find(({ inout }) => inout === true);
/** True if a program writes the output in the memory of an input. */
export const isInPlace = (func: HasOperands): boolean => inoutOf(func) !== undefined;
/**
 * Splits a list with one entry for each operand into the entries of the inputs and the entry of the output.
 */
export function ofEach<T>(
  func: HasOperands,
  list: readonly T[],
): { readonly inputs: readonly T[]; readonly output: T } {
  const output = outputPlace(func);
  return { inputs: list.filter((_, place) => place !== output), output: at(list, output) };
}
/** Returns the size of an output element in bytes. Throws an InternalError if the element type is packed. */
export const outputBytes = (func: HasOperands): 1 | 2 | 4 | 8 | 16 =>
  bytesOf(byteAligned(outputOf(func).type.dtype));
/**
 * Returns the input of a function at a position, counted from 0 as in the access map. Throws an InternalError
 * if the position is out of range.
 */
export function inputOf(func: HasOperands, table: number): Operand {
  checkArgument("inputOf", "program", func);
  return at(func.operands, table);
}
/** Returns the operand of a function with the given name; undefined if there is none. */
export const operandNamed = ({ operands }: HasOperands, name: string): Operand | undefined =>
  operands.find((operand) => operand.name === name);
/**
 * Returns the number of elements of an operand of a tile program, as a linear expression of the program's
 * dynamic sizes.
 */
export function elementsOf({ operands, symbolic }: TileFunc, operand: Operand): Linear {
  const { shape } = operand.type;
  const [outermost = constant(1)] = extentsOver(
    shape,
    symbolic?.outermost[operands.indexOf(operand)] ?? null,
  );
  return scale(outermost, elementCount(shape.slice(1)));
}

/** Returns the key of an operand in options and reports: the role, or the name if the role is not unique. */
export const keyOf = ({ role, key }: Pick<Operand, "role" | "key">): string => key ?? role;

/**
 * Returns the value in `given` for an input: under the input's key, or else under the input's name. Undefined
 * if there is none, or if the name is the key of another input.
 */
export const givenFor = <T>(
  func: HasOperands,
  operand: Operand,
  given: Readonly<Record<string, T>>,
): T | undefined =>
  entryCalled(
    given,
    { key: keyOf(operand), name: operand.name },
    inputsOf(func).map((input) => ({ key: keyOf(input) })),
  );

/**
 * Returns a copy of a function without a PyPTO rule profile in the schedule. PyPTO's full-load rule does not
 * apply to the copy.
 */
export function withoutProfile<F extends Pick<FuncHead, "schedule">>(func: F): F {
  const { profile: _, ...schedule } = func.schedule;
  return { ...func, schedule };
}

/**
 * Returns a copy of a function whose schedule contains only the PyPTO rule profile, if the function has one.
 */
export function unscheduled<F extends Pick<FuncHead, "schedule">>(func: F): F {
  const { profile } = func.schedule;
  return { ...func, schedule: defined({ profile }) };
}
