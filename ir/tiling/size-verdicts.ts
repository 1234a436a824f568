/**
 * The budget rule as a formula in a size: what a schedule takes of UB for every size of a symbol, or of a
 * table that index values look up, and up to which it fits.
 */
import { followedDims } from "../access.js";
import { inputsOf, keyOf } from "../func.js";
import { largestThat } from "../intervals/intervals.js";
import type { Sym } from "../symbols/symbols.js";
import { alignUp, at, maxElements, meanBytes } from "../types.js";
import { ubCapacity, type FootprintEntry } from "./footprint.js";
import { isLookup } from "./residency.js";
import type { Tiling } from "./tiling.js";

/**
 * Size limit of a schedule: the largest size of one symbol, or length of one index tensor, for which the
 * tiles fit the unified buffer (UB). All other symbols have their maximum sizes.
 */
export interface SizeVerdict {
  /** Variable of the formula: a symbol, or `len(bt)`, the number of elements of index tensor `bt`. */
  readonly symbol: string;
  /** Maximum of the symbol, or length of the table. */
  readonly most: number;
  /**
   * Condition on the bytes of the unified buffer (UB): `96 N + 64 <= 196608`. If rows are padded to a block,
   * terms have the form `round32(4 P)`.
   */
  readonly formula: string;
  /** Largest size that fits, for a symbol at most its maximum. Undefined if not even size 0 fits. */
  readonly fits: number | undefined;
}

/** Formats a {@link SizeVerdict}: `96 N + 64 <= 196608 bytes: legal for N <= 2047`. */
export function formatSizeVerdict({ symbol, most, formula, fits }: SizeVerdict): string {
  if (fits === undefined) return `${formula} bytes: no size of ${symbol} fits`;
  const note = symbol.startsWith("len(") ? `; it is ${most}` : fits === most ? ", its maximum" : "";
  return `${formula} bytes: legal for ${symbol} <= ${fits}${note}`;
}

/**
 * Returns the size limit for each symbol (dynamic extent) and index tensor whose size changes the bytes in
 * the unified buffer (UB).
 */
export function sizeVerdicts(tiling: Tiling): SizeVerdict[] {
  const { symbolic } = tiling.gather;
  return [
    ...(symbolic?.symbols ?? []).flatMap((symbol) => ofSymbol(tiling, symbol, symbolic?.outermost ?? [])),
    ...ofTables(tiling, symbolic?.outermost ?? []),
  ];
}

/** An operand's dim whose extent is open. */
interface DynamicDim {
  readonly operand: number;
  readonly dim: number;
}

/**
 * Returns the size limit for one symbol (dynamic extent), as a list. The list is empty if the symbol does not
 * change the bytes in the unified buffer (UB). `outermost`: symbol of each operand's outermost dim, or null.
 */
function ofSymbol(tiling: Tiling, { name, most }: Sym, outermost: readonly (string | null)[]): SizeVerdict[] {
  const { gather } = tiling;
  const dynamic = inputsOf(gather).flatMap((_, operand): DynamicDim[] =>
    outermost[operand] === name && followedDims(gather.map, operand)[0] === undefined
      ? [{ operand, dim: 0 }]
      : [],
  );
  return verdict(tiling, dynamic, name, most).map(({ formula, fitsUpTo }) => ({
    symbol: name,
    most,
    formula,
    fits: fitsUpTo(most),
  }));
}

/**
 * Returns the size limit for each index tensor that is read at positions computed from index values. Index
 * tensors with several dims longer than 1, or with a dynamic outermost extent, are omitted.
 */
function ofTables(tiling: Tiling, outermost: readonly (string | null)[]): SizeVerdict[] {
  const { gather } = tiling;
  return inputsOf(gather).flatMap((operand, table): SizeVerdict[] => {
    const { shape } = operand.type;
    const long = shape.flatMap((extent, k) => (extent > 1 ? [k] : []));
    const [dim = 0] = long;
    const named = typeof outermost[table] === "string";
    if (operand.role !== "indices" || !isLookup(gather, table) || named || long.length > 1) return [];
    if (followedDims(gather.map, table)[dim] !== undefined) return [];
    const symbol = `len(${keyOf(operand)})`;
    return verdict(tiling, [{ operand: table, dim }], symbol, at(shape, dim)).map(
      ({ formula, fitsUpTo }) => ({ symbol, most: at(shape, dim), formula, fits: fitsUpTo(maxElements) }),
    );
  });
}

/**
 * Returns a list with one size limit for the operand dims in `dynamic`; an empty list if no tile has such a
 * dim. `name`, `extent`: name of the size in texts, and the present extent. Result fields: `formula` is the
 * condition on the UB bytes as text, such as `96 N + 64 <= 196608`; `fitsUpTo` is a function that returns the
 * largest size that fits.
 */
function verdict(tiling: Tiling, dynamic: readonly DynamicDim[], name: string, extent: number) {
  const { need, target } = tiling;
  const capacity = ubCapacity(tiling);
  const dimOf = new Map(dynamic.map(({ operand, dim }) => [operand, dim]));
  const dimIn = ({ use }: FootprintEntry): number | undefined =>
    typeof use === "string" ? undefined : dimOf.get(use.operand);
  const all = [...need.parts, ...need.written];
  const entries = all.flatMap((entry) => {
    const dim = dimIn(entry);
    return dim === undefined ? [] : [{ entry, dim }];
  });
  if (entries.length === 0) return [];
  const padded = ({ entry, dim }: { entry: FootprintEntry; dim: number }): boolean =>
    dim === entry.tile.length - 1 && need.rule === "full";
  const lines = entries.filter((piece) => !padded(piece)).map(({ entry }) => entry.counted / extent);
  const each = lines.reduce((sum, bytes) => sum + bytes, 0);
  const rows = entries
    .filter(padded)
    .map(({ entry }) => ({ by: meanBytes(entry.dtype), buffers: entry.buffers }));
  const rest = all.reduce((sum, entry) => sum + (dimIn(entry) === undefined ? entry.counted : 0), 0);
  const block = target.blockBytes;
  const bytes = (size: number): number =>
    each * size +
    rows.reduce((sum, { by, buffers }) => sum + buffers * alignUp(Math.max(1, size) * by, block), rest);
  const extents = [
    ...(each === 0 ? [] : [`${each} ${name}`]),
    ...rows.map(({ by, buffers }) => `${buffers === 1 ? "" : `${buffers} `}round${block}(${by} ${name})`),
    ...(rest === 0 ? [] : [String(rest)]),
  ];
  return [
    {
      formula: `${extents.join(" + ")} ${capacity < need.budget ? "<" : "<="} ${need.budget}`,
      fitsUpTo: (max: number) => largestThat(0, max, (size) => bytes(size) <= capacity),
    },
  ];
}
