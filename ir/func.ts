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
 * Levels of a function, from the framework's operator (`source`) through the access map (`access`) to loops
 * and addresses (`tile`).
 */
export const levels = ["source", "access", "tile"] as const;
/** Level to which a function is lowered. */
export type Level = (typeof levels)[number];

/** Tensor with a name. */
export interface Value {
  readonly name: string;
  readonly type: TensorType;
}

/** Roles that an operand can have in its gather. Reports use the role as a key. */
export const roles = ["data", "indices", "output"] as const;
/** Role of an operand in its gather. */
export type Role = (typeof roles)[number];

/** Tensor in global memory that a function reads or writes. */
export interface Operand extends Value {
  readonly role: Role;
  /**
   * Key of the operand for callers and reports where its role is not enough. It is the operand's name, in a
   * program with other inputs than data and indices.
   */
  readonly key?: string;
  /** True if the result of the function is this tensor: it is written in place. Default false. */
  readonly inout?: boolean;
}

/**
 * Returns the operands of a function from its tensors in the order of the text: the data, the index inputs,
 * the output. Keys are unique: the output's key is its role, or the output's name if an input is called
 * `output`. The inputs of a scatter have their names as keys.
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
 * Function as the user's framework states it: `onnx.gather`, `directml.gather_nd`, `pypto.index_select`, …
 */
export interface SourceFunc extends FuncHead {
  readonly level: "source";
  /** Dialect and operator, `onnx.gather_elements`. */
  readonly op: string;
  readonly attrs: Attrs;
  /**
   * The operators among which `op` is, as the text was read with them: no part of the text. Absent: the
   * built-in ones.
   */
  readonly operators?: Operators;
  readonly opSpan?: Span;
}

/** Operator of a framework that a gather implements, such as PyPTO's `gather`. */
export interface FrameworkOp {
  /** Its name in the framework: `gather`. */
  readonly name: string;
  /** Level of its types and ranks, where the program states it in place of its profile. */
  readonly level?: PyptoLevel;
}

/**
 * Function at the access level: one canonical gather or scatter as a map. Shapes are effective: leading dims
 * that a dialect ignores are removed.
 */
export interface AccessFunc extends FuncHead {
  readonly level: "access";
  readonly map: AccessMap;
  /**
   * Dims that are a gather dim of the data and, with the same number, a dim of the output: gather_elements'
   * axis. Profiles pin view and tile along them.
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

/** Function at the tile level: explicit loops, memory spaces and addresses. */
export interface TileFunc extends FuncHead {
  readonly level: "tile";
  readonly body: readonly Stmt[];
  /**
   * Sizes that the body leaves open; operands are then stated at the most. Absent in what runs: `bindTile`
   * gives that.
   */
  readonly symbolic?: Symbolic;
  /**
   * The program that this one is at some sizes, as `bindTile` notes it: no part of the text. `dynamicFormOf`
   * reads it.
   */
  readonly dynamicForm?: DynamicForm;
}

/** Tile program with symbolic sizes: the same program serves all sizes. */
export type DynamicTile = TileFunc & { readonly symbolic: Symbolic };

/**
 * Origin of a tile program at fixed sizes: the program with symbols, and the values of its sizes and bounds.
 */
export interface DynamicForm {
  readonly program: DynamicTile;
  /** By name: the sizes, and the bounds that `IndexOperand.open` names. None is 0. */
  readonly values: Env;
  /** The program at these sizes is of these very objects; one that holds others was altered. */
  readonly bound: Pick<TileFunc, "operands" | "body">;
}

/** Function at one of the three levels. */
export type Func = SourceFunc | AccessFunc | TileFunc;

/** Contents of a `.tir` file. */
export interface Module {
  /** Sizes that functions leave open, as they are declared. Absent: those that the functions name. */
  readonly symbols?: readonly Sym[];
  readonly funcs: readonly Func[];
}

/**
 * Returns the symbols whose sizes a program at the access level leaves dynamic, in the order of their
 * declarations; an empty list for other programs.
 */
export const dynamicSymbols = (func: Func): readonly Sym[] =>
  func.level === "access" ? (func.symbolic?.symbols ?? []) : [];

type HasOperands = Pick<FuncHead, "operands">;

const isOutput = ({ role }: Pick<Operand, "role">): boolean => role === "output";

/** Returns the operands of a function that are inputs, in order. */
export const inputsOf = ({ operands }: HasOperands): readonly Operand[] =>
  operands.filter((operand) => !isOutput(operand));
/**
 * Returns the position of the output among the operands of a function. Lists with an entry for each operand
 * have the output's entry at the same position.
 */
export const outputPlace = ({ operands }: HasOperands): number => operands.findLastIndex(isOutput);
/** Returns the operand that a function writes. */
export function outputOf(func: HasOperands): Operand {
  checkArgument("outputOf", "program", func);
  return at(func.operands, outputPlace(func));
}
/**
 * Splits a list that has one entry for each operand: into the entries of the inputs, and the entry of the
 * output.
 */
export function ofEach<T>(
  func: HasOperands,
  list: readonly T[],
): { readonly inputs: readonly T[]; readonly output: T } {
  const output = outputPlace(func);
  return { inputs: list.filter((_, place) => place !== output), output: at(list, output) };
}
/** Returns the bytes of an element of the output. */
export const outputBytes = (func: HasOperands): 1 | 2 | 4 | 8 | 16 =>
  bytesOf(byteAligned(outputOf(func).type.dtype));
/** Returns an input of a function by its number in the access map. */
export function inputOf(func: HasOperands, table: number): Operand {
  checkArgument("inputOf", "program", func);
  return at(func.operands, table);
}
/** Returns the operand with a name; undefined if there is none. */
export const operandNamed = ({ operands }: HasOperands, name: string): Operand | undefined =>
  operands.find((operand) => operand.name === name);
/** Returns the number of elements of an operand of a tile program, as a form over its dynamic sizes. */
export function elementsOf({ operands, symbolic }: TileFunc, operand: Operand): Linear {
  const { shape } = operand.type;
  const [outermost = constant(1)] = extentsOver(
    shape,
    symbolic?.outermost[operands.indexOf(operand)] ?? null,
  );
  return scale(outermost, elementCount(shape.slice(1)));
}

/**
 * Returns the key of an operand for callers and reports: its role, or its name where several operands have
 * the role.
 */
export const keyOf = ({ role, key }: Pick<Operand, "role" | "key">): string => key ?? role;

/**
 * Returns the entry of `given` for an input, under the input's key or else its name. Undefined if there is no
 * entry. The name does not count if it is another input's key.
 */
export const givenFor = <T>(
  func: HasOperands,
  operand: Operand,
  given: Readonly<Record<string, T>>,
): T | undefined =>
  entryCalled(given, { key: keyOf(operand), name: operand.name }, inputsOf(func).map(keyOf));

/** Returns a function without the profile of its schedule, so that no rule of a profile applies to it. */
export function withoutProfile<F extends Pick<FuncHead, "schedule">>(func: F): F {
  const { profile: _, ...schedule } = func.schedule;
  return { ...func, schedule };
}

/** Returns a function with an empty schedule, except the profile by which its operator was checked. */
export function unscheduled<F extends Pick<FuncHead, "schedule">>(func: F): F {
  const { profile } = func.schedule;
  return { ...func, schedule: defined({ profile }) };
}
