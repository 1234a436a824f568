/**
 * Sizes that a program leaves open. A symbol is the outermost extent of a tensor, so strides are numbers whatever its size; it
 * may also stand in coordinates and bounds. Binding is substitution (`bind.ts`).
 */
import type { AccessMap, IndexOperand } from "../access.js";
import { constant, symbol, type Linear } from "../linear.js";
import type { ForStmt } from "../tile.js";
import type { Shape } from "../types.js";

/** A size that is open, from 0 to `max` elements. */
export interface Sym {
  readonly name: string;
  readonly most: number;
}

/** X separates extents. */
export const isSymbolName = (text: string): boolean => /^[A-WYZ][A-Z0-9_]*$/.test(text);

/** An index operand whose bound is a sum of symbols, or open: absent beside a policy, it is the largest that its coordinates allow. */
export interface SymbolicIndex extends Omit<IndexOperand, "extent" | "wrapNegativeBy" | "dynamic"> {
  readonly extent?: Linear;
  /** `extent`: counts from the bound. */
  readonly wrapNegativeBy?: Linear | "extent";
}

/** An access map over symbols. */
export interface SymbolicMap extends Omit<AccessMap, "indices"> {
  readonly indices: readonly SymbolicIndex[];
}

/** What of a function is made of symbols. */
export interface Symbolic {
  /** In the order of their declarations. */
  readonly symbols: readonly Sym[];
  /** The symbol that is the outermost extent of each operand; null where that is a number. */
  readonly outermost: readonly (string | null)[];
  /** Symbols that are extents of a scatter's domain; null where that is a number. Absent of a gather, whose domain is the output's. */
  readonly domain?: readonly (string | null)[];
  readonly map: SymbolicMap;
}

/** Sizes of symbols in elements, by name. */
export type Sizes = Readonly<Record<string, number>>;

/** Whether a symbol may have a size, in elements. */
export const takesSize = ({ most }: Sym, size: number): boolean =>
  Number.isSafeInteger(size) && size >= 0 && size <= most;

/** `dim N <= 4096 says 0 to 4096`: the sizes that a symbol takes. */
export const sizesTaken = ({ name, most }: Sym): string => `dim ${name} <= ${most} says 0 to ${most}`;

/** Every symbol at its most. */
export const maxSizes = (symbols: readonly Sym[]): Sizes =>
  Object.fromEntries(symbols.map(({ name, most }) => [name, most]));

/** The extents of a tensor whose outermost one is a symbol, or null where all are numbers. `shape` has them at the most. */
export const extentsOver = (shape: Shape, outermost: string | null): readonly Linear[] =>
  shape.map((extent, d) => (d === 0 && outermost !== null ? symbol(outermost) : constant(extent)));

/** What sizes can be, by the names of their symbols. */
export const sizeRanges = (
  symbols: readonly Sym[],
): ReadonlyMap<string, readonly [least: number, most: number]> =>
  new Map(symbols.map(({ name, most }) => [name, [0, most]]));

/**
 * Symbols as loops over their sizes, around all others: what holds in every iteration holds for every size but 0, which has no
 * code in common with others (`dynamicFormOf`).
 */
export const sizesAround = ({ symbolic }: { readonly symbolic?: Symbolic }): readonly ForStmt[] =>
  (symbolic?.symbols ?? []).map(({ name, most }) => sizeLoop(name, 1, most));

/** The same for one size of each. */
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
