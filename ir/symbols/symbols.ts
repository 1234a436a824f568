/**
 * Sizes that a program leaves open. A symbol is the outermost extent of a tensor, so strides are numbers
 * whatever its size; it may also stand in coordinates and bounds. Binding is substitution (`bind.ts`).
 */
import type { AccessMap, IndexOperand } from "../access.js";
import { constant, symbol, type Linear } from "../linear.js";
import type { ForStmt } from "../tile.js";
import type { Shape } from "../types.js";

/** Symbol for a dynamic size, from 0 to `most` elements. */
export interface Sym {
  readonly name: string;
  readonly most: number;
}

/** True if a text is a symbol name. No name begins with X, which separates extents. */
export const isSymbolName = (text: string): boolean => /^[A-WYZ][A-Z0-9_]*$/.test(text);

/**
 * Index operand whose bound may be a sum of symbols. If `extent` is absent under a policy, the bound is the
 * largest that the coordinates allow.
 */
export interface SymbolicIndex extends Omit<IndexOperand, "extent" | "wrapNegativeBy" | "dynamic"> {
  readonly extent?: Linear;
  /** `extent`: counts from the bound. */
  readonly wrapNegativeBy?: Linear | "extent";
}

/** Access map in which index bounds and coordinates may name symbols. */
export interface SymbolicMap extends Omit<AccessMap, "indices"> {
  readonly indices: readonly SymbolicIndex[];
}

/** Parts of a function that depend on symbols. */
export interface Symbolic {
  /** In the order of their declarations. */
  readonly symbols: readonly Sym[];
  /** The symbol that is the outermost extent of each operand; null where that is a number. */
  readonly outermost: readonly (string | null)[];
  /**
   * Symbols that are extents of a scatter's domain; null where that is a number. Absent of a gather, whose
   * domain is the output's.
   */
  readonly domain?: readonly (string | null)[];
  readonly map: SymbolicMap;
}

/** Sizes of symbols in elements, by name. */
export type Sizes = Readonly<Record<string, number>>;

/** True if a symbol may have this size, in elements. */
export const takesSize = ({ most }: Sym, size: number): boolean =>
  Number.isSafeInteger(size) && size >= 0 && size <= most;

/** Formats the sizes that a symbol takes: `dim N <= 4096 says 0 to 4096`. */
export const sizesTaken = ({ name, most }: Sym): string => `dim ${name} <= ${most} says 0 to ${most}`;

/** Returns the maximum size of each symbol, in elements. */
export const maxSizes = (symbols: readonly Sym[]): Sizes =>
  Object.fromEntries(symbols.map(({ name, most }) => [name, most]));

/**
 * Returns the extents of a tensor as linear forms. The outermost extent is the symbol `outermost`; if that is
 * null, it is a number like the others. `shape`: the extents at the symbol's maximum size.
 */
export const extentsOver = (shape: Shape, outermost: string | null): readonly Linear[] =>
  shape.map((extent, d) => (d === 0 && outermost !== null ? symbol(outermost) : constant(extent)));

/** Returns the range of each symbol's size, by the symbol's name. */
export const sizeRanges = (
  symbols: readonly Sym[],
): ReadonlyMap<string, readonly [least: number, most: number]> =>
  new Map(symbols.map(({ name, most }) => [name, [0, most]]));

/**
 * Returns one loop for each symbol of a program, from 1 to the symbol's maximum size, to enclose the
 * program's loops. A property that holds in every iteration then holds for every size. Size 0 is left out: it
 * shares no code with other sizes ({@link dynamicFormOf}).
 */
export const sizesAround = ({ symbolic }: { readonly symbolic?: Symbolic }): readonly ForStmt[] =>
  (symbolic?.symbols ?? []).map(({ name, most }) => sizeLoop(name, 1, most));

/** Returns one loop for each symbol, with one iteration, at the given size. */
export const sizesAt = (sizes: ReadonlyMap<string, number>): readonly ForStmt[] =>
  [...sizes].map(([name, size]) => sizeLoop(name, size, size));

const sizeLoop = (iv: string, least: number, max: number): ForStmt => ({
  op: "for",
  iv,
  lower: constant(least),
  upper: constant(max + 1),
  step: 1,
  mode: "parallel",
  body: [],
});
