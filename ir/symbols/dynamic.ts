/** Programs whose symbols stay open: every number that sizes tell has a name. */
import { defined } from "../defined.js";
import type { AccessMap, DynamicBounds, IndexOperand } from "../access.js";
import { coordinatesOf } from "../intervals/index-bounds.js";
import type { DynamicForm, TileFunc } from "../func.js";
import { boundOf, type Ranges } from "../intervals/range.js";
import { equalLinear, isConstant, indicesOf, type Env, type Linear } from "../linear.js";
import { computationIn } from "../tile.js";
import { invariant, maxElements, type TensorType } from "../types.js";
import { sizeRanges, type Symbolic, type SymbolicIndex } from "./symbols.js";

/**
 * Returns the access map of a program with dynamic sizes, in which extents are the largest over all sizes. An
 * extent that depends on sizes also has the name of a runtime parameter (`dynamic`). `operands`: types
 * of the operands at the maximum sizes.
 */
export function dynamicMap({ map, symbols }: Symbolic, operands: readonly TensorType[]): AccessMap {
  const ranges: Ranges = { dims: [], indices: [], symbols: sizeRanges(symbols) };
  const largest = (form: Linear): number => Math.max(0, boundOf(form, ranges, "most"));
  const placed = coordinatesOf(map, operands);
  /**
   * Returns the largest extent of an index operand: a coordinate has no index value beyond its own extent,
   * whatever the sizes are.
   */
  const allowed = (s: number): number =>
    Math.min(
      maxElements,
      ...placed.flatMap(({ coord, extent }) => (indicesOf(coord).includes(s) ? [extent] : [])),
    );
  const indices = map.indices.map((index, s): IndexOperand => {
    const { extent: stated, wrapNegativeBy, ...rest } = index;
    if (rest.outOfRange === "any" && wrapNegativeBy === undefined) return rest;
    const extent =
      rest.outOfRange === "any" ? undefined : stated === undefined ? allowed(s) : largest(stated);
    const dynamic = dynamicBounds(index, s);
    return {
      ...rest,
      ...defined({ extent }),
      ...(wrapNegativeBy === undefined
        ? {}
        : { wrapNegativeBy: wrapNegativeBy === "extent" ? (extent ?? 0) : largest(wrapNegativeBy) }),
      ...(Object.keys(dynamic).length === 0 ? {} : { dynamic }),
    };
  });
  return { ...map, indices };
}

/**
 * Returns the names of the size-dependent bounds of index operand `s`, such as `below0` and `from_end0`. The
 * object is empty if no bound depends on sizes.
 */
function dynamicBounds({ outOfRange, extent, wrapNegativeBy }: SymbolicIndex, s: number): DynamicBounds {
  const moves = (form: Linear | undefined): boolean => form === undefined || !isConstant(form);
  const bound = outOfRange !== "any" && moves(extent) ? { extent: `below${s}` } : {};
  if (wrapNegativeBy === undefined) return bound;
  const same = wrapNegativeBy === "extent" || (extent !== undefined && equalLinear(wrapNegativeBy, extent));
  if (same) return bound.extent === undefined ? bound : { ...bound, wrapNegativeBy: bound.extent };
  return moves(wrapNegativeBy) ? { ...bound, wrapNegativeBy: `from_end${s}` } : bound;
}

/**
 * Returns the program with dynamic sizes from which a tile program was made, with the values of sizes and
 * index bounds. Undefined if there is none, or if the tile program was changed since. Also undefined if a
 * tensor is empty, or an index operand has extent 0.
 */
export const dynamicFormOf = ({ dynamicForm, operands, body }: TileFunc): DynamicForm | undefined =>
  dynamicForm?.bound.operands === operands && dynamicForm.bound.body === body ? dynamicForm : undefined;

/**
 * Returns the names of a tile program's runtime parameters without duplicates: symbols, and bounds of index
 * operands that depend on sizes.
 */
export function runtimeParamNames(func: TileFunc): string[] {
  const bounds = (computationIn(func.body)?.map.indices ?? []).flatMap(({ dynamic }) =>
    [dynamic?.extent, dynamic?.wrapNegativeBy].flatMap((name) => name ?? []),
  );
  return [...new Set([...(func.symbolic?.symbols ?? []).map(({ name }) => name), ...bounds])];
}

/**
 * Returns the values of the runtime parameters `names`, in order. Throws an InternalError for a name without
 * a value.
 */
export const runtimeParamValues = (names: readonly string[], values: Env): number[] =>
  names.map((name) => {
    const value = values.get(name);
    invariant(value !== undefined, `${name} is told by the sizes`);
    return value;
  });
