/** Programs whose symbols stay open: every number that sizes tell has a name. */
import { defined } from "../defined.js";
import type { AccessMap, DynamicBounds, IndexOperand } from "../access.js";
import { coordinatesOf } from "../intervals/index-bounds.js";
import type { DynamicForm, TileFunc } from "../func.js";
import { intervalOf, type Ranges } from "../intervals/intervals.js";
import { equalLinear, isConstant, indicesOf, type Env, type Linear } from "../linear.js";
import { taskOfTile } from "../task/index.js";
import { invariant, maxElements, type TensorType } from "../types.js";
import { sizeRanges, type Symbolic, type SymbolicIndex } from "./symbols.js";

/**
 * The map of a program over symbols, as `bindMap` closes it: bounds are the largest that some sizes give, and those that differ
 * from size to size are named. `inputs`: at the most.
 */
export function dynamicMap({ map, symbols }: Symbolic, inputs: readonly TensorType[]): AccessMap {
  const ranges: Ranges = { dims: [], indices: [], symbols: sizeRanges(symbols) };
  const largest = (form: Linear): number => Math.max(0, intervalOf(form, ranges)[1]);
  const placed = coordinatesOf(map, inputs);
  /** A coordinate holds no index value beyond its extent, whatever the sizes. */
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

function dynamicBounds({ outOfRange, extent, wrapNegativeBy }: SymbolicIndex, s: number): DynamicBounds {
  const moves = (form: Linear | undefined): boolean => form === undefined || !isConstant(form);
  const bound = outOfRange !== "any" && moves(extent) ? { extent: `below${s}` } : {};
  if (wrapNegativeBy === undefined) return bound;
  const same = wrapNegativeBy === "extent" || (extent !== undefined && equalLinear(wrapNegativeBy, extent));
  if (same) return bound.extent === undefined ? bound : { ...bound, wrapNegativeBy: bound.extent };
  return moves(wrapNegativeBy) ? { ...bound, wrapNegativeBy: `from_end${s}` } : bound;
}

/**
 * The program over symbols that a program is an instance of, from which code for all sizes is made. Undefined for a program of its
 * own, an altered one too, and where a tensor has no elements or an index value none to name: code for all sizes does without those.
 */
export const dynamicFormOf = ({ dynamicForm, operands, body }: TileFunc): DynamicForm | undefined =>
  dynamicForm?.bound.operands === operands && dynamicForm.bound.body === body ? dynamicForm : undefined;

/** Names of the numbers that sizes tell a program: the symbols, and the bounds that `IndexOperand.dynamic` names. */
export function runtimeParamNames(func: TileFunc): string[] {
  const bounds = (taskOfTile(func).gather?.stmt.map.indices ?? []).flatMap(({ dynamic }) =>
    [dynamic?.extent, dynamic?.wrapNegativeBy].flatMap((name) => name ?? []),
  );
  return [...new Set([...(func.symbolic?.symbols ?? []).map(({ name }) => name), ...bounds])];
}

/** Returns the values of runtime parameters, in the order of their names. */
export const runtimeParamValues = (names: readonly string[], values: Env): number[] =>
  names.map((name) => {
    const value = values.get(name);
    invariant(value !== undefined, `${name} is told by the sizes`);
    return value;
  });
