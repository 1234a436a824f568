/**
 * The tile that the lanes of a workgroup loop over: loop fusion of its dims. Rows that lie end to end in the
 * output and in the indices are one long row, and one loop. Where they do not lie end to end in the data, a
 * shift and a mask of the position find the row, so that such rows need a power of two of elements.
 */
import type { GatherAddresses } from "../../ir/addressing.js";
import {
  constant,
  dim,
  dimsOf,
  div,
  isAffine,
  isConstant,
  mod,
  scale,
  soleAtom,
  stepAlong,
  sumOf,
  type Atom,
  type Linear,
} from "../../ir/linear.js";
import { at, isPowerOfTwo, type Shape } from "../../ir/types.js";

/**
 * Tile over which the lanes of a workgroup loop, with neighbouring dims fused where possible. The last of the
 * fused dims has the product of their extents, and the others have extent 1.
 */
export interface LaneTile {
  readonly sizes: readonly Linear[];
  /** Extents of a whole tile. */
  readonly tile: Shape;
  readonly addresses: GatherAddresses;
}

/**
 * Returns the dim over which lanes along y are distributed: the innermost dim before the last with an extent
 * above 1. Undefined if there is none.
 */
export function laneRowDim(tile: Shape): number | undefined {
  const d = tile.slice(0, -1).findLastIndex((extent) => extent > 1);
  return d === -1 ? undefined : d;
}

/**
 * Returns the tile with contiguous neighbouring dims fused. `varies`: for each dim, true if index values
 * depend on the dim. Only dims with equal `varies` are fused.
 */
export function fusedDims(start: LaneTile, varies: readonly boolean[]): LaneTile {
  const steps = isAffine(start.addresses.data);
  let walk = start;
  let into = start.sizes.length - 1;
  for (let d = into - 1; d >= 0; d--) {
    const size = at(walk.sizes, d);
    if (isConstant(size) && size.at === 1) continue;
    const joined =
      at(varies, d) === at(varies, into) ? join(walk, d, into, at(varies, d) && steps) : undefined;
    if (joined === undefined) into = d;
    else walk = joined;
  }
  return walk;
}

/**
 * Returns the tile with the dims `outer` and `inner` fused; undefined if rows along `inner` are not
 * contiguous. `mayBeApart`: true if rows of the data may have gaps of a constant size between them.
 */
function join(
  { sizes, tile, addresses }: LaneTile,
  outer: number,
  inner: number,
  mayBeApart: boolean,
): LaneTile | undefined {
  const row = at(sizes, inner);
  if (!isConstant(row)) return undefined;
  const dims = { outer, inner, row: row.at };
  const asOne = (form: Linear): Linear | undefined => alongOne(form, dims, false);
  const [output, data] = [asOne(addresses.output), alongOne(addresses.data, dims, mayBeApart)];
  const indices = addresses.indices.flatMap((index) => asOne(index) ?? []);
  if (output === undefined || data === undefined || indices.length < addresses.indices.length)
    return undefined;
  return {
    ...rowsEndToEnd({ sizes, tile }, dims),
    // Only elements that move as they are join: these have one read.
    addresses: { data, reads: [data], indices, output },
  };
}

/** Dims of rows that are joined, and the number of elements of a row along `inner`. */
interface JoinedDims {
  readonly outer: number;
  readonly inner: number;
  readonly row: number;
}

/** Returns the sizes and extents of a tile with all rows joined into one row. Dim `outer` then has size 1. */
export const rowsEndToEnd = (
  { sizes, tile }: Pick<LaneTile, "sizes" | "tile">,
  { outer, inner, row }: JoinedDims,
): Pick<LaneTile, "sizes" | "tile"> => ({
  sizes: sizes.map((size, d) =>
    d === outer ? constant(1) : d === inner ? scale(at(sizes, outer), row) : size,
  ),
  tile: tile.map((extent, d) => (d === outer ? 1 : d === inner ? at(tile, outer) * row : extent)),
});

/**
 * Returns a linear expression in the dims `outer` and `inner` as an expression in one dim that replaces both.
 * Undefined if the expression's values jump between the end of a row and the start of the next. `mayBeApart`:
 * true to allow jumps of a constant size if `row`, the elements of a row, is a power of two.
 */
function alongOne(form: Linear, { outer, inner, row }: JoinedDims, mayBeApart: boolean): Linear | undefined {
  let step = stepAlong(form, "dim", outer);
  const terms: Linear[] = [constant(form.at)];
  for (const { by, of } of form.terms) {
    const term: Linear = { at: 0, terms: [{ by, of }] };
    const dims = dimsOf(term);
    if (of.kind === "dim" && of.dim === outer) continue;
    if (!dims.includes(outer) && !dims.includes(inner)) {
      terms.push(term);
      continue;
    }
    const one = rowsIn(of, inner, mayBeApart);
    if (one === undefined) return undefined;
    // A row here is rows of an earlier join: their remainder stays, and their number counts on where it steps
    // as the rows here do.
    if (of.kind !== "mod" && step !== (by * row) / one) {
      if (of.kind !== "dim" || !mayBeApart || !isPowerOfTwo(row)) return undefined;
      terms.push(scale(mod(dim(inner), row), by));
      continue;
    }
    terms.push(term);
    if (of.kind !== "mod") step = 0;
  }
  if (step === 0) return sumOf(terms);
  return mayBeApart && isPowerOfTwo(row) ? sumOf([...terms, scale(div(dim(inner), row), step)]) : undefined;
}

/**
 * Returns the number of elements in the rows that a term follows along a dim: 1 for the dim itself, more for
 * a div or mod that an earlier join left. Undefined for any other term.
 */
function rowsIn(of: Atom, inner: number, mayBeApart: boolean): number | undefined {
  if (of.kind === "dim") return 1;
  if (!mayBeApart || (of.kind !== "div" && of.kind !== "mod")) return undefined;
  const within = soleAtom(of.of);
  return within?.kind === "dim" && within.dim === inner ? of.by : undefined;
}
