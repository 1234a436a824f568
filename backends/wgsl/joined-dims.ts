/**
 * Dims of a tile that its lanes walk as one. Rows that lie end to end in the output and in the indices are one long row, and one loop;
 * where the data tells them apart, a shift and a mask of the place in it do, so that rows have a power of two of elements there.
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
  stepAlong,
  substitute,
  type Linear,
} from "../../ir/linear.js";
import { at, type Shape } from "../../ir/types.js";

/** A tile as lanes walk it: of dims that are one, the last has the elements of all, and the others have one entry. */
export interface Walk {
  readonly sizes: readonly Linear[];
  /** Extents of a whole tile. */
  readonly tile: Shape;
  readonly addresses: GatherAddresses;
}

/**
 * `follows`: whether a dim picks index values. One that does is joined with another that does alone; the others are copied by rows
 * of the data, which a shift and a mask cannot find.
 */
export function joinedDims(start: Walk, follows: readonly boolean[]): Walk {
  let walk = start;
  let into = start.sizes.length - 1;
  for (let d = into - 1; d >= 0; d--) {
    const size = at(walk.sizes, d);
    if (isConstant(size) && size.at === 1) continue;
    const joined = at(follows, d) === at(follows, into) ? join(walk, d, into, at(follows, d)) : undefined;
    if (joined === undefined) into = d;
    else walk = joined;
  }
  return walk;
}

/** Undefined where the two dims are no single run; `mayBeApart`: they may be two in the data. */
function join(
  { sizes, tile, addresses }: Walk,
  outer: number,
  inner: number,
  mayBeApart: boolean,
): Walk | undefined {
  const row = at(sizes, inner);
  if (!isConstant(row)) return undefined;
  const endToEnd = (form: Linear): boolean =>
    staysInSteps(form, [outer, inner]) &&
    stepAlong(form, "dim", outer) === row.at * stepAlong(form, "dim", inner);
  const { data, sites, output } = addresses;
  if (![output, ...sites].every(endToEnd)) return undefined;
  const apart = !endToEnd(data);
  if (apart && !(mayBeApart && isAffine(data) && Number.isInteger(Math.log2(row.at)))) return undefined;
  const along = (form: Linear, before: Linear, within: Linear): Linear =>
    substitute(form, (of) =>
      of.kind === "dim" ? (of.dim === outer ? before : of.dim === inner ? within : undefined) : undefined,
    );
  const place = dim(inner);
  const asOne = (form: Linear): Linear => along(form, constant(0), place);
  return {
    sizes: sizes.map((size, d) =>
      d === outer ? constant(1) : d === inner ? scale(at(sizes, outer), row.at) : size,
    ),
    tile: tile.map((extent, d) => (d === outer ? 1 : d === inner ? at(tile, outer) * row.at : extent)),
    addresses: {
      data: apart ? along(data, div(place, row.at), mod(place, row.at)) : asOne(data),
      sites: sites.map(asOne),
      output: asOne(output),
    },
  };
}

/** Whether a form follows dims by their steps alone. */
const staysInSteps = ({ terms }: Linear, dims: readonly number[]): boolean =>
  terms.every(
    ({ by, of }) =>
      of.kind === "dim" || !dimsOf({ at: 0, terms: [{ by, of }] }).some((d) => dims.includes(d)),
  );
