/** Gathers of open size as programs over symbols: what is open is outermost, and the user says up to where. */
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

/** The most extents that open dims may have, by their names. */
export type MaxSizes = Readonly<Record<string, number>>;

/** A shape with its open dim at its most. */
export interface DynamicShape {
  readonly shape: Shape;
  /** What the model calls the open dim; null where every extent is a number. */
  readonly outermost: string | null;
}

/** Undefined where a dim is open that is not outermost, or that nothing bounds. */
export function dynamicShape(dims: readonly Dim[], limits: MaxSizes): DynamicShape | undefined {
  const [first] = dims;
  const outermost = typeof first === "string" && Object.hasOwn(limits, first) ? first : null;
  const shape = dims.map((dim, k) => (k === 0 && outermost !== null ? (limits[outermost] ?? 0) : dim));
  return shape.every((extent) => typeof extent === "number") ? { shape, outermost } : undefined;
}

/**
 * The gather of a description, which states its operands at their most. `roles`: what its operator calls the inputs. `outermost`: the open
 * dims of the inputs and of the output, by the model's names. What some size of them breaks is refused (TC204).
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

/** The bound of an index is the extent that it picks in, whatever that comes to. */
const withDynamicBounds = ({ indices, ...map }: AccessMap): SymbolicMap => ({
  ...map,
  indices: indices.map(({ extent: _, wrapNegativeBy, ...rest }) => ({
    ...rest,
    ...(wrapNegativeBy === undefined ? {} : { wrapNegativeBy: "extent" as const }),
  })),
});

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

/** `batch` is BATCH, and what no symbol begins with stands behind N_. */
function symbolName(dim: string): string {
  const upper = dim.toUpperCase().replaceAll(/[^A-Z0-9_]+/g, "_");
  return isSymbolName(upper) ? upper : `N_${upper}`;
}
