/** Programs whose symbols stay open: every number that sizes tell has a name. */
import { defined } from "../defined.js";
import type { AccessMap, OpenBounds, Site } from "../access.js";
import { coordinatesOf } from "../intervals/index-bounds.js";
import type { OpenForm, TileFunc } from "../func.js";
import { intervalOf, type Ranges } from "../intervals/intervals.js";
import { equalLinear, isConstant, sitesOf, type Env, type Linear } from "../linear.js";
import { taskOfTile } from "../task/index.js";
import { invariant, maxElements, type TensorType } from "../types.js";
import { sizeRanges, type Symbolic, type SymbolicSite } from "./symbols.js";

/**
 * The map of a program over symbols, as `bindMap` closes it: bounds are the largest that some sizes give, and those that differ
 * from size to size are named. `inputs`: at the most.
 */
export function openMap({ map, symbols }: Symbolic, inputs: readonly TensorType[]): AccessMap {
  const ranges: Ranges = { dims: [], sites: [], symbols: sizeRanges(symbols) };
  const largest = (form: Linear): number => Math.max(0, intervalOf(form, ranges)[1]);
  const placed = coordinatesOf(map, inputs);
  /** A coordinate holds no index value beyond its extent, whatever the sizes. */
  const allowed = (s: number): number =>
    Math.min(
      maxElements,
      ...placed.flatMap(({ coord, extent }) => (sitesOf(coord).includes(s) ? [extent] : [])),
    );
  const sites = map.sites.map((site, s): Site => {
    const { below: stated, fromEnd, ...rest } = site;
    if (rest.keep === "any" && fromEnd === undefined) return rest;
    const below = rest.keep === "any" ? undefined : stated === undefined ? allowed(s) : largest(stated);
    const open = openBounds(site, s);
    return {
      ...rest,
      ...defined({ below }),
      ...(fromEnd === undefined ? {} : { fromEnd: fromEnd === "below" ? (below ?? 0) : largest(fromEnd) }),
      ...(Object.keys(open).length === 0 ? {} : { open }),
    };
  });
  return { ...map, sites };
}

function openBounds({ keep, below, fromEnd }: SymbolicSite, s: number): OpenBounds {
  const moves = (form: Linear | undefined): boolean => form === undefined || !isConstant(form);
  const bound = keep !== "any" && moves(below) ? { below: `below${s}` } : {};
  if (fromEnd === undefined) return bound;
  const same = fromEnd === "below" || (below !== undefined && equalLinear(fromEnd, below));
  if (same) return bound.below === undefined ? bound : { ...bound, fromEnd: bound.below };
  return moves(fromEnd) ? { ...bound, fromEnd: `from_end${s}` } : bound;
}

/**
 * The program over symbols that a program is an instance of, from which code for all sizes is made. Undefined for a program of its
 * own, an altered one too, and where a tensor has no elements or an index value none to name: code for all sizes does without those.
 */
export const openFormOf = ({ openForm, operands, body }: TileFunc): OpenForm | undefined =>
  openForm?.bound.operands === operands && openForm.bound.body === body ? openForm : undefined;

/** Names of the numbers that sizes tell a program: the symbols, and the bounds that `Site.open` names. */
export function toldNames(func: TileFunc): string[] {
  const bounds = (taskOfTile(func).gather?.stmt.map.sites ?? []).flatMap(({ open }) =>
    [open?.below, open?.fromEnd].flatMap((name) => name ?? []),
  );
  return [...new Set([...(func.symbolic?.symbols ?? []).map(({ name }) => name), ...bounds])];
}

/** What numbers that code is told by name are, in the order of the names. */
export const toldValues = (names: readonly string[], values: Env): number[] =>
  names.map((name) => {
    const value = values.get(name);
    invariant(value !== undefined, `${name} is told by the sizes`);
    return value;
  });
