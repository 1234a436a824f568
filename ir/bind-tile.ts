/** Binding a tile program over symbols: substitution, under the schedule and with the buffers that it has at the most. */
import { isRead, type AccessMap, type Site } from "./access.js";
import { outputOf, type AccessFunc, type OpenTile, type TileFunc } from "./func.js";
import { bindSymbols, type Env, type Linear } from "./linear.js";
import type { Sizes } from "./symbolic.js";
import { taskOf } from "./task/index.js";
import type { Region, Stmt } from "./tile.js";
import { assertNever, at, elementCount, invariant } from "./types.js";

/** A program over symbols, and the numbers that some sizes tell. */
export interface OpenForm {
  readonly program: OpenTile;
  /** By name: the sizes, and the bounds that `Site.open` names. None is 0. */
  readonly values: Env;
}

/** By bound program: whoever alters one has another program. */
const forms = new WeakMap<TileFunc, OpenForm>();

/**
 * The program over symbols that a program is an instance of, from which code for all sizes is made. Undefined for a program of its
 * own, and where a tensor has no elements or an index value none to name: code for all sizes does without those.
 */
export const openFormOf = (func: TileFunc): OpenForm | undefined => forms.get(func);

/** Names of the numbers that sizes tell a program: the symbols, and the bounds that `Site.open` names. */
export function toldNames(func: TileFunc): string[] {
  const bounds = (taskOf(func).gather?.stmt.map.sites ?? []).flatMap(({ open }) =>
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

/** A program over symbols at some sizes. `gather`: bound to the same sizes by `bindSizes`. */
export function bindTile(open: OpenTile, gather: AccessFunc, sizes: Sizes): TileFunc {
  const { symbolic: _, ...program } = open;
  const { operands, map } = gather;
  const env = new Map(Object.entries(sizes));
  const empty = elementCount(outputOf(gather).type.shape) === 0;
  const func: TileFunc = { ...program, operands, body: empty ? [] : bodyAt(open.body, map, env) };
  const values = new Map([...env, ...namedBounds(open, map)]);
  const some = operands.every(({ type }) => elementCount(type.shape) > 0);
  if (some && ![...values.values()].includes(0)) forms.set(func, { program: open, values });
  return func;
}

/** What the bounds of a map that sizes tell are at these. */
function namedBounds(open: OpenTile, map: AccessMap): [string, number][] {
  const sites = taskOf(open).gather?.stmt.map.sites ?? [];
  return sites.flatMap(({ open: named = {} }, s) => {
    const { below, fromEnd } = at(map.sites, s);
    return [
      ...(named.below === undefined || below === undefined ? [] : [[named.below, below] as [string, number]]),
      ...(named.fromEnd === undefined || fromEnd === undefined
        ? []
        : [[named.fromEnd, fromEnd] as [string, number]]),
    ];
  });
}

function bodyAt(body: readonly Stmt[], map: AccessMap, env: Env): Stmt[] {
  const form = (open: Linear): Linear => bindSymbols(open, env);
  const region = ({ buffer, offsets, sizes }: Region): Region => ({
    buffer,
    offsets: offsets.map(form),
    sizes: sizes.map(form),
  });
  const site = ({ value }: Site, s: number): Site => ({
    ...at(map.sites, s),
    value: isRead(value) ? { ...value, at: value.at.map(form) } : form(value),
  });
  return body.map((stmt): Stmt => {
    switch (stmt.op) {
      case "for":
        return {
          ...stmt,
          lower: form(stmt.lower),
          upper: form(stmt.upper),
          body: bodyAt(stmt.body, map, env),
        };
      case "load":
        return { ...stmt, from: region(stmt.from) };
      case "store":
        return { ...stmt, to: region(stmt.to) };
      case "gather":
        return {
          ...stmt,
          from: stmt.from.map(region),
          to: region(stmt.to),
          map: { ...stmt.map, sites: stmt.map.sites.map(site), results: stmt.map.results.map(form) },
          origins: stmt.origins.map((origin) => origin.map(form)),
        };
      case "alloc":
      case "sync":
        return stmt;
      default:
        return assertNever(stmt);
    }
  });
}
