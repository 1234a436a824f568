/** Binding the symbols of a program: substitution, after which no later stage knows of them. */
import { isScatter, mapForms, type AccessMap } from "../access.js";
import { emptyBody } from "../addressing.js";
import { withBounds, type DynamicIndex } from "../intervals/index-bounds.js";
import { error, type Diagnostic } from "../diagnostic.js";
import {
  inputsOf,
  dynamicSymbols,
  outputOf,
  type AccessFunc,
  type Func,
  type DynamicTile,
  type Operand,
  type TileFunc,
} from "../func.js";
import { bindSymbols, constant, evaluate, isConstant, type Env, type Linear } from "../linear.js";
import { computationIn, mapStatement, type Stmt } from "../tile.js";
import { at, elementCount, type Shape, type Span, type TensorType } from "../types.js";
import { verifyEverySize } from "../verify/every-size.js";
import {
  maxSizes,
  sizesTaken,
  takesSize,
  type Sizes,
  type Sym,
  type Symbolic,
  type SymbolicMap,
} from "./symbols.js";

/**
 * Result of binding sizes to the symbols (dynamic sizes) of a program: the program, or the diagnostics for
 * wrong sizes.
 */
export type BindResult =
  | { readonly ok: true; readonly func: Func }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Returns a program with symbols (dynamic sizes) replaced by `sizes`, in elements. Returns diagnostics for
 * missing, too large or unknown sizes (TC107), or for an access map that is illegal for some size (TC204).
 */
export function bindSizes(func: Func, sizes: Sizes): BindResult {
  const symbols = dynamicSymbols(func);
  const broken = func.level === "access" ? verifyEverySize(func) : [];
  const diagnostics = broken.length > 0 ? broken : sizeFaults(func.name, symbols, sizes, func.span);
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return { ok: true, func: func.level === "access" ? bound(func, sizes) : func };
}

/**
 * Returns a program with the symbols in `sizes` replaced by sizes, in elements; other symbols stay dynamic.
 * Returns diagnostics for invalid sizes or an illegal access map.
 */
export function bindSome(func: Func, sizes: Sizes): BindResult {
  const missing = dynamicSymbols(func).filter(({ name }) => !Object.hasOwn(sizes, name));
  const result = bindSizes(func, { ...maxSizes(missing), ...sizes });
  if (!result.ok || missing.length === 0 || func.level !== "access" || func.symbolic === undefined)
    return result;
  const { outermost, domain, map } = func.symbolic;
  const left = (name: string | null): string | null =>
    name !== null && Object.hasOwn(sizes, name) ? null : name;
  const symbolic: Symbolic = {
    symbols: missing,
    outermost: outermost.map(left),
    ...(domain === undefined ? {} : { domain: domain.map(left) }),
    map: substituted(map, new Map(Object.entries(sizes))),
  };
  return { ok: true, func: { ...(result.func as AccessFunc), symbolic } };
}

/** Returns an access map with the symbols in `env` replaced by sizes. Negative extents become 0. */
function substituted(map: SymbolicMap, env: Env): SymbolicMap {
  const placed = mapForms(map, (form) => bindSymbols(form, env));
  const size = (form: Linear): Linear => {
    const left = bindSymbols(form, env);
    return isConstant(left) && !isConstant(form) ? constant(Math.max(0, left.at)) : left;
  };
  const indices = placed.indices.map(({ extent, wrapNegativeBy, ...rest }) => ({
    ...rest,
    ...(extent === undefined ? {} : { extent: size(extent) }),
    ...(wrapNegativeBy === undefined
      ? {}
      : { wrapNegativeBy: wrapNegativeBy === "extent" ? wrapNegativeBy : size(wrapNegativeBy) }),
  }));
  return { ...placed, indices };
}

/**
 * Returns a program with the symbols' maximum sizes lowered to `sizes`, in elements. Symbols without a size
 * are unchanged. Sizes must not exceed the present maximum.
 */
export function withMaxSizes(func: AccessFunc, sizes: Sizes): AccessFunc {
  const { symbolic } = func;
  if (symbolic === undefined) return func;
  const symbols = symbolic.symbols.map(({ name, most: before }) => ({ name, most: sizes[name] ?? before }));
  return { ...bound(func, maxSizes(symbols)), symbolic: { ...symbolic, symbols } };
}

/**
 * Returns a diagnostic (TC107) for each symbol (dynamic size) of a program; an empty list for a program with
 * fixed sizes.
 */
export const unbound = (func: Func): Diagnostic[] =>
  sizeFaults(func.name, dynamicSymbols(func), {}, func.span);

/** Formats sizes as for the flag `--bind`: `N=37,V=100`. */
export const formatSizes = (sizes: Sizes): string =>
  Object.entries(sizes)
    .map(([name, size]) => `${name}=${size}`)
    .join(",");

/**
 * Returns the diagnostics (TC107) for unknown symbols, symbols without a size, and sizes outside a symbol's
 * range; an empty list if the sizes are valid.
 */
function sizeFaults(
  name: string,
  symbols: readonly Sym[],
  sizes: Sizes,
  span: Span | undefined,
): Diagnostic[] {
  const fault = (message: string, hint: string): Diagnostic => error("TC107", message, { span, hint });
  const names = symbols.map((symbol) => symbol.name);
  const strangers = Object.keys(sizes).filter((given) => !names.includes(given));
  const has = names.length === 0 ? `@${name} has no symbols` : `its symbols are ${names.join(", ")}`;
  return [
    ...strangers.map((given) => fault(`@${name} has no symbol ${given}`, has)),
    ...symbols.flatMap((symbol) => {
      const size = Object.hasOwn(sizes, symbol.name) ? sizes[symbol.name] : undefined;
      if (size === undefined) {
        const limits = formatSizes(Object.fromEntries(symbols.map(({ name: of, most }) => [of, most])));
        return [
          fault(
            `symbol ${symbol.name} of @${name} has no size`,
            `bind each symbol to a size up to its maximum: --bind ${limits}`,
          ),
        ];
      }
      if (takesSize(symbol, size)) return [];
      const message = `symbol ${symbol.name} is ${size}, and ${sizesTaken(symbol)}`;
      return [
        fault(
          message,
          `bind a size in that range, or raise the limit in the text: dim ${symbol.name} <= ${size}`,
        ),
      ];
    }),
  ];
}

/**
 * Returns a program with symbols replaced by sizes, in the operands and the access map. The result has no
 * `tiles` (tiles of the inputs).
 */
function bound({ symbolic, tiles: _, ...func }: AccessFunc, sizes: Sizes): AccessFunc {
  if (symbolic === undefined) return func;
  const operands = func.operands.map((operand, k): Operand => {
    const outermost = symbolic.outermost[k] ?? null;
    const size = outermost === null ? undefined : sizes[outermost];
    if (size === undefined) return operand;
    const { dtype, shape } = operand.type;
    return { ...operand, type: { dtype, shape: [size, ...shape.slice(1)] } };
  });
  const inputs = inputsOf({ operands }).map(({ type }) => type);
  const over = { ...symbolic.map, domain: domainAt(symbolic, sizes) };
  const map = bindMap(over, sizes, inputs, outputOf({ operands }).type.shape);
  return { ...func, operands, map };
}

/**
 * Returns the extents of a scatter's domain at some sizes; what the map says of a gather's, which follow the
 * output's.
 */
const domainAt = ({ domain, map }: Symbolic, sizes: Sizes): Shape =>
  map.domain.map((extent, d) => sizes[domain?.[d] ?? ""] ?? extent);

/**
 * Returns an access map with symbols replaced by sizes, in elements. Missing extents of index operands are
 * filled in. `output`: shape of the output; undefined at the tile level.
 */
export function bindMap(
  map: SymbolicMap,
  sizes: Sizes,
  inputs: readonly TensorType[],
  output: Shape | undefined,
): AccessMap {
  const placed = substituted(map, new Map(Object.entries(sizes)));
  const indices = placed.indices.map(({ extent, wrapNegativeBy, ...rest }): DynamicIndex => ({
    ...rest,
    ...(extent === undefined ? {} : { extent: evaluate(extent, noSizes) }),
    ...(wrapNegativeBy === undefined
      ? {}
      : { wrapNegativeBy: wrapNegativeBy === "extent" ? wrapNegativeBy : evaluate(wrapNegativeBy, noSizes) }),
  }));
  // An output of another rank is for the verifier to refuse.
  const domain = !isScatter(map) && output?.length === map.domain.length ? output : map.domain;
  return withBounds({ ...placed, domain, indices }, inputs, output);
}

/** Empty environment, for forms without symbols. */
const noSizes: Env = new Map();

/**
 * Returns a tile program with symbols (dynamic sizes) replaced by `sizes`, in elements. `gather`: the same
 * program at the access level, with the same sizes bound by {@link bindSizes}.
 */
export function bindTile(dynamic: DynamicTile, gather: AccessFunc, sizes: Sizes): TileFunc {
  const { symbolic: _, ...program } = dynamic;
  const { operands, map } = gather;
  const env = new Map(Object.entries(sizes));
  const empty = elementCount(outputOf(gather).type.shape) === 0;
  const body = empty ? emptyBody(map, operands) : bodyAt(dynamic.body, map, env);
  const values = new Map([...env, ...namedBounds(dynamic, map)]);
  const shares =
    operands.every(({ type }) => elementCount(type.shape) > 0) && ![...values.values()].includes(0);
  const bound = { operands, body };
  return { ...program, ...bound, ...(shares ? { dynamicForm: { program: dynamic, values, bound } } : {}) };
}

/**
 * Returns the runtime parameters for index bounds that depend on sizes, each as a name and a value. `map`:
 * access map at fixed sizes, from which the values come.
 */
function namedBounds(dynamic: DynamicTile, map: AccessMap): [string, number][] {
  const indices = computationIn(dynamic.body)?.map.indices ?? [];
  return indices.flatMap(({ dynamic: names = {} }, s) => {
    const { extent, wrapNegativeBy } = at(map.indices, s);
    const named = [
      [names.extent, extent],
      [names.wrapNegativeBy, wrapNegativeBy],
    ] as const;
    return named.flatMap(([name, value]): [string, number][] =>
      name === undefined || value === undefined ? [] : [[name, value]],
    );
  });
}

/**
 * Returns the statements of a tile program with symbols replaced by sizes. Access maps in the statements get
 * the domain and the index bounds of `map`.
 */
function bodyAt(body: readonly Stmt[], map: AccessMap, env: Env): Stmt[] {
  const form = (symbolic: Linear): Linear => bindSymbols(symbolic, env);
  const placed = (inside: AccessMap): AccessMap => {
    const { indices, ...rest } = mapForms(inside, form);
    return {
      ...rest,
      domain: map.domain,
      indices: indices.map(({ value }, s) => ({ ...at(map.indices, s), value })),
    };
  };
  return body.map((stmt) => mapStatement(stmt, form, placed));
}
