/**
 * Gathers and scatters of open size as programs over symbols: what is open is outermost, and the user says up
 * to where.
 */
import { isRead, isScatter } from "../../../ir/access.js";
import {
  accessMap,
  at,
  constant,
  defined,
  maxSizes,
  bindSizes,
  effectiveType,
  isSymbolName,
  operandsOf,
  outputShape,
  sharedDimsOf,
  resolveSource,
  soleAtom,
  UniqueNames,
  type AccessFunc,
  type AccessMap,
  type Diagnostic,
  type Operand,
  type Shape,
  type Sym,
  type SymbolicMap,
} from "../../../ir/index.js";
import { withBounds } from "../../../ir/intervals/index-bounds.js";
import type { ProgramDescription } from "../../api/program.js";
import type { Dim } from "./model.js";

/** Maximum extents of the dynamic dims of a model, in elements, by dim name. */
export type MaxSizes = Readonly<Record<string, number>>;

/** Static shape of an operand: a dynamic outermost dim is replaced by its maximum extent. */
export interface DynamicShape {
  readonly shape: Shape;
  /** Name of the dynamic dim in the model; null if every extent is a number. */
  readonly outermost: string | null;
}

/**
 * Returns a shape with the dynamic outermost dim replaced by the maximum extent in `limits`. Returns
 * undefined if `limits` lacks the outermost dim, or if another dim is dynamic.
 */
export function dynamicShape(dims: readonly Dim[], limits: MaxSizes): DynamicShape | undefined {
  const [first] = dims;
  const outermost = typeof first === "string" && Object.hasOwn(limits, first) ? first : null;
  const shape = dims.map((dim, k) => (k === 0 && outermost !== null ? (limits[outermost] ?? 0) : dim));
  return shape.every((extent) => typeof extent === "number") ? { shape, outermost } : undefined;
}

/**
 * Returns the access program of a gather or scatter whose outermost dims may be dynamic. Returns diagnostics
 * if an operator rule is broken or a size is invalid (TC204). `roles`: names of the inputs. `outermost`: for
 * each operand, the name of its outermost dim if dynamic, else null.
 */
export function dynamicProgram(
  { name = "", op, attrs, data, indices, others = [] }: ProgramDescription,
  roles: readonly string[],
  outermost: readonly (string | null)[],
  limits: MaxSizes,
): { readonly func: AccessFunc } | { readonly diagnostics: readonly Diagnostic[] } {
  const types = [data, indices, ...others];
  const resolved = resolveSource({ op, attrs, inputs: types });
  if (!resolved.ok) return resolved;
  const { operator, negative, oob, dtype = data.dtype } = resolved.resolved;
  const { symbols, named } = symbolsOf(outermost, limits);
  const map = accessMap(operator, negative, oob);
  const inputs = types.map((type, k) => ({ name: at(roles, k), type: effectiveType(operator, type, k) }));
  const output = { name: "output", type: { dtype, shape: outputShape(operator) } };
  const domain = isScatter(map) ? symbolsOfDomain(map, named) : undefined;
  const func: AccessFunc = {
    level: "access",
    name,
    operands: operandsOf([...inputs, output], domain === undefined),
    map,
    sharedDims: sharedDimsOf(operator),
    schedule: {},
    symbolic: {
      symbols,
      outermost: named,
      ...defined({ domain }),
      map: withDynamicBounds(map, inputs, output),
    },
  };
  const bound = bindSizes(func, maxSizes(symbols));
  return bound.ok ? { func } : bound;
}

/**
 * Returns the symbol of each dim of a scatter's domain; null for a dim of static extent. `named` has the
 * symbol of each operand's outermost dim, or null.
 */
function symbolsOfDomain(map: AccessMap, named: readonly (string | null)[]): readonly (string | null)[] {
  const read = [...map.indices.flatMap(({ value }) => (isRead(value) ? [value] : [])), ...map.reads];
  const symbols = map.domain.map((): string | null => null);
  for (const { table, at: coords } of read) {
    const [first] = coords;
    const atom = first === undefined ? undefined : soleAtom(first);
    if (atom?.kind === "dim") symbols[atom.dim] ??= named[table] ?? null;
  }
  return symbols;
}

type Typed = Pick<Operand, "type">;

/**
 * Returns a copy of the access map for dynamic sizes. If the extent of an index operand equals the extent of
 * the dim that it indexes, the run-time size of the dim replaces the former. Otherwise the extent of the
 * index operand stays constant.
 */
function withDynamicBounds(
  map: AccessMap,
  inputs: readonly Typed[],
  { type: { shape } }: Typed,
): SymbolicMap {
  const implied = withBounds(
    { ...map, indices: map.indices.map(({ extent: _, ...rest }) => rest) },
    inputs.map(({ type }) => type),
    shape,
  );
  return {
    ...map,
    indices: map.indices.map(({ extent, wrapNegativeBy, ...rest }, s) => ({
      ...rest,
      ...(extent === undefined || at(implied.indices, s).extent === extent
        ? {}
        : { extent: constant(extent) }),
      ...(wrapNegativeBy === undefined ? {} : { wrapNegativeBy: "extent" as const }),
    })),
  };
}

/**
 * Returns two lists. `symbols` has the symbols of the dynamic dims, with their maximum extents; `named` has
 * the symbol name of each operand's outermost dim. `outermost`: names of the same dims in the model. A static
 * dim is null in `named` and `outermost`.
 */
function symbolsOf(outermost: readonly (string | null)[], limits: MaxSizes) {
  const names = new UniqueNames();
  const symbols = new Map<string, Sym>();
  const named = outermost.map((dim) => {
    if (dim === null) return null;
    const symbol = symbols.get(dim) ?? { name: names.next(symbolName(dim)), most: limits[dim] ?? 0 };
    symbols.set(dim, symbol);
    return symbol.name;
  });
  return { symbols: [...symbols.values()], named };
}

/** Returns the symbol for a dim: `batch` becomes BATCH. A name that cannot be a symbol gets the prefix N_. */
function symbolName(dim: string): string {
  const upper = dim.toUpperCase().replaceAll(/[^A-Z0-9_]+/g, "_");
  return isSymbolName(upper) ? upper : `N_${upper}`;
}
