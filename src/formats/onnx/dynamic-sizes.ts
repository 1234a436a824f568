/**
 * Gathers of open size as programs over symbols: what is open is outermost, and the user says up to where.
 */
import {
  accessMap,
  at,
  maxSizes,
  bindSizes,
  effectiveType,
  isSymbolName,
  operandsOf,
  outputShape,
  sharedDimsOf,
  resolveSource,
  UniqueNames,
  type AccessFunc,
  type AccessMap,
  type Diagnostic,
  type Shape,
  type Sym,
  type SymbolicMap,
} from "../../../ir/index.js";
import type { ProgramDescription } from "../../api/program.js";
import type { Dim } from "./model.js";

/** Maximum extents of dynamic dims, by the names of the dims. */
export type MaxSizes = Readonly<Record<string, number>>;

/** Shape whose dynamic dim, if any, has its maximum extent. */
export interface DynamicShape {
  readonly shape: Shape;
  /** Name of the dynamic dim in the model; null if every extent is a number. */
  readonly outermost: string | null;
}

/**
 * Returns a shape with its dynamic dim at the upper limit. Undefined if a dim other than the outermost is
 * dynamic, or if the dynamic dim has no limit.
 */
export function dynamicShape(dims: readonly Dim[], limits: MaxSizes): DynamicShape | undefined {
  const [first] = dims;
  const outermost = typeof first === "string" && Object.hasOwn(limits, first) ? first : null;
  const shape = dims.map((dim, k) => (k === 0 && outermost !== null ? (limits[outermost] ?? 0) : dim));
  return shape.every((extent) => typeof extent === "number") ? { shape, outermost } : undefined;
}

/**
 * Returns the access program of a gather with dynamic sizes. The description has each operand at its maximum
 * size. `roles` names the inputs; `outermost` names the dynamic outermost dim of each input and of the
 * output, null for a static one. Returns diagnostics instead if the operator breaks a rule, or if some sizes
 * are invalid (TC204).
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
  const func: AccessFunc = {
    level: "access",
    name,
    operands: operandsOf([...inputs, { name: "output", type: { dtype, shape: outputShape(operator) } }]),
    map,
    sharedDims: sharedDimsOf(operator),
    schedule: {},
    symbolic: { symbols, outermost: named, map: withDynamicBounds(map) },
  };
  const bound = bindSizes(func, maxSizes(symbols));
  return bound.ok ? { func } : bound;
}

/**
 * Returns a map whose index operands have dynamic bounds: each extent is that of the dim that the index
 * selects from, whatever its size.
 */
const withDynamicBounds = ({ indices, ...map }: AccessMap): SymbolicMap => ({
  ...map,
  indices: indices.map(({ extent: _, wrapNegativeBy, ...rest }) => ({
    ...rest,
    ...(wrapNegativeBy === undefined ? {} : { wrapNegativeBy: "extent" as const }),
  })),
});

/**
 * Returns the symbols of the dynamic outermost dims with their limits, and the symbol name of each operand's
 * outermost dim, null if it is static.
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
