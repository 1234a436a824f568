/**
 * Sizes that a program leaves open. A symbol is the outermost extent of a tensor, so strides are numbers
 * whatever its size; it may also stand in coordinates and bounds. Binding is substitution (`bind.ts`).
 */
import type { AccessMap, IndexOperand } from "../access.js";
import { constant, symbol, type Linear } from "../linear.js";
import type { ForStmt } from "../tile.js";
import type { Shape } from "../types.js";

/** Symbol: the name of a dynamic size, which is from 0 to `most` elements. */
export interface Sym {
  readonly name: string;
  readonly most: number;
}

/** True if a text is a valid name of a symbol (dynamic size). Names do not begin with X. */
export const isSymbolName = (text: string): boolean => /^[A-WYZ][A-Z0-9_]*$/.test(text);

/**
 * Index operand whose extent may be a linear expression of symbols (dynamic sizes). An absent extent is
 * derived from the coordinates.
 */
export interface SymbolicIndex extends Omit<IndexOperand, "extent" | "wrapNegativeBy" | "dynamic"> {
  readonly extent?: Linear;
  /** Number that is added to a negative value; `extent`: the operand's own extent. */
  readonly wrapNegativeBy?: Linear | "extent";
}

/** Access map in which index bounds and coordinates may contain symbols (dynamic sizes). */
export interface SymbolicMap extends Omit<AccessMap, "indices"> {
  readonly indices: readonly SymbolicIndex[];
}

/** Parts of an access or tile function that depend on symbols (dynamic sizes). */
export interface Symbolic {
  /** Symbols, in the order of declaration. */
  readonly symbols: readonly Sym[];
  /** For each operand, the symbol that is the outermost extent; null if the outermost extent is a number. */
  readonly outermost: readonly (string | null)[];
  /**
   * For each dim of a scatter's domain, the symbol that is the extent; null if the extent is a number. Absent
   * for a gather, whose domain is the output's shape.
   */
  readonly domain?: readonly (string | null)[];
  readonly map: SymbolicMap;
}

/** Sizes of symbols (dynamic sizes) in elements, by symbol name. */
export type Sizes = Readonly<Record<string, number>>;

/** True if a size, in elements, is valid for a symbol: an integer from 0 to the symbol's maximum. */
export const takesSize = ({ most }: Sym, size: number): boolean =>
  Number.isSafeInteger(size) && size >= 0 && size <= most;

/** Returns a clause for messages with the sizes that a symbol may have: `dim N <= 4096 says 0 to 4096`. */
export const sizesTaken = ({ name, most }: Sym): string => `dim ${name} <= ${most} says 0 to ${most}`;

/** Returns the maximum sizes of symbols, in elements, by symbol name. */
export const maxSizes = (symbols: readonly Sym[]): Sizes =>
  Object.fromEntries(symbols.map(({ name, most }) => [name, most]));

/**
 * Returns the extents of a scatter's domain as linear expressions: symbols, and constants for all other dims.
 * `domain`: extents in elements, with the maximum size of each symbol. `names`: symbol of each extent, or
 * null.
 */
export const domainOver = (domain: Shape, names: Symbolic["domain"] = []): readonly Linear[] =>
  domain.map((extent, d) => {
    const name = names[d] ?? null;
    return name === null ? constant(extent) : symbol(name);
  });

/**
 * Returns the extents of a tensor as linear expressions: the symbol `outermost` for dim 0, constants for all
 * other dims. If `outermost` is null, all extents are constants. `shape`: extents in elements, with the
 * symbol's maximum size for dim 0.
 */
export const extentsOver = (shape: Shape, outermost: string | null): readonly Linear[] =>
  domainOver(shape, [outermost]);

/** Returns the ranges of symbols' sizes, from 0 to the maximum, by symbol name. */
export const sizeRanges = (
  symbols: readonly Sym[],
): ReadonlyMap<string, readonly [least: number, most: number]> =>
  new Map(symbols.map(({ name, most }) => [name, [0, most]]));

/**
 * Returns one loop for each symbol of a program. The loop's variable takes the sizes from 1 to the symbol's
 * maximum. Size 0 is excluded, because separate code handles size 0.
 */
export const sizesAround = ({ symbolic }: { readonly symbolic?: Symbolic }): readonly ForStmt[] =>
  (symbolic?.symbols ?? []).map(({ name, most }) => sizeLoop(name, 1, most));

/**
 * Returns one loop for each symbol, with a single iteration in which the loop's variable is the symbol's
 * size.
 */
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
