/**
 * Constraints of packed elements on a tile. A tile's read of rows that fill their bytes starts at a byte, so
 * that it can be copied by bytes. Entries along the output dims of such rows are multiples of a step, or
 * cover the whole extent. Rows that do not fill their bytes start inside a byte whatever the tile, and have
 * no constraint.
 */
import { derivedOnce } from "../derived-once.js";
import { defined } from "../defined.js";
import { followedDims } from "../access.js";
import { inputsOf, type AccessFunc, type Operand } from "../func.js";
import type { Linear } from "../linear.js";
import { at, elementsInByte, rowsFillBytes, type DType, type Shape } from "../types.js";
import { type TiledGather } from "./tiled.js";

/**
 * Constraint along one dim: the extents of tile and view must be multiples of `step` elements. `dtype`:
 * packed element type (several elements in a byte) that requires the step.
 */
export interface PackedStep {
  readonly step: number;
  readonly dtype: DType;
}

interface Packing {
  /** By dim of the domain; undefined where any entry does. */
  readonly steps: readonly (PackedStep | undefined)[];
  /** Step of the reduction elements that one chunk takes in. */
  readonly reduction?: PackedStep;
  /** The name of an operand that is read from the middle of a byte whatever the tile. */
  readonly never?: string;
  /** Operands whose rows do not fill their bytes. */
  readonly uneven: readonly Operand[];
}

const packingsOf = derivedOnce((_: AccessFunc["operands"]) => new WeakMap<AccessFunc["map"], Packing>());

/**
 * Returns the constraints on the tiles of a gather or scatter from packed elements (several elements in a
 * byte).
 */
export function packingOf({ operands, map }: Pick<AccessFunc, "operands" | "map">): Packing {
  const packings = packingsOf(operands);
  const existing = packings.get(map) ?? packing({ operands, map });
  packings.set(map, existing);
  return existing;
}

/**
 * Computes the constraints on the tiles of a gather or scatter from packed elements (several elements in a
 * byte). The result has the steps of tile extents, and the operands whose reads or rows do not start at byte
 * boundaries.
 */
function packing({ operands, map }: Pick<AccessFunc, "operands" | "map">): Packing {
  const steps: (PackedStep | undefined)[] = Array.from({ length: map.domain.length }, () => undefined);
  const max = map.reduced?.max ?? 1;
  const extents = [...map.domain, max];
  let never: string | undefined;
  let reduction: PackedStep | undefined;
  const inputs = inputsOf({ operands });
  inputs.forEach(({ name, type }, table) => {
    const each = elementsInByte(type.dtype);
    if (each === 1 || !rowsFillBytes(type)) return;
    const form = followedDims(map, table)[type.shape.length - 1]?.form;
    if (form === undefined) return;
    if (!startsAtByte(form, each, extents)) never ??= name;
    for (const { by, of } of form.terms) {
      if (of.kind !== "dim") continue;
      const step = stepFor(by, each);
      if (of.dim >= map.domain.length) {
        // What is taken away counts from a part's end, and the last part may be shorter.
        const reach = by < 0 ? max : step;
        if (reach > (reduction?.step ?? 1)) reduction = { step: reach, dtype: type.dtype };
        continue;
      }
      if (step > (steps[of.dim]?.step ?? 1)) steps[of.dim] = { step, dtype: type.dtype };
    }
  });
  return {
    steps,
    uneven: inputs.filter(({ type }) => !rowsFillBytes(type)),
    ...defined({ never, reduction }),
  };
}

/** Returns the least power of two whose product with a factor is a multiple of another power of two. */
function stepFor(factor: number, each: number): number {
  let step = 1;
  while ((factor * step) % each !== 0) step *= 2;
  return step;
}

/**
 * True if every tile starts to read packed elements at a byte boundary. The first parameter is the position
 * along the operand's innermost dim. `each`: elements in a byte.
 */
function startsAtByte({ at: start, terms }: Linear, each: number, extents: Shape): boolean {
  let least = start;
  for (const { by, of } of terms) {
    if (of.kind !== "dim") {
      if (by % each !== 0) return false;
    } else if (by < 0) {
      least -= by;
      if ((by * at(extents, of.dim)) % each !== 0) return false;
    }
  }
  return least % each === 0;
}

/**
 * True if a tile's extent `entry` along one dim is a multiple of `step`, or is at least `limit`. All
 * parameters are in elements; from `limit` on, any extent is allowed.
 */
export const keepsStep = (entry: number, limit: number, step: number): boolean =>
  entry >= limit || entry % step === 0;

/**
 * Returns the largest permitted extent of a tile along one dim that is at most `entry`, in elements. Below
 * `limit`, the extent is a multiple of `step`. The result is at least the smaller of `step` and `limit`.
 */
export const entryUpTo = (entry: number, limit: number, step: number): number =>
  entry >= limit ? entry : Math.min(limit, Math.max(step, step * Math.floor(entry / step)));

/**
 * Returns the smallest permitted extent of a tile along a dim of the output (of the domain, for a scatter),
 * in elements. The extent is above 1 only for packed element types (several elements in a byte).
 */
export const leastEntry = (gather: Pick<AccessFunc, "operands" | "map">, dim: number): number =>
  packingOf(gather).steps[dim]?.step ?? 1;

/**
 * Returns the largest useful extent of a tile along a dim of the output (of the domain, for a scatter), in
 * elements: the smaller of the view's and the dim's extent, at least 1.
 */
export const limitOf = (
  { extents, schedule }: Pick<TiledGather, "extents" | "schedule">,
  dim: number,
): number => Math.max(1, Math.min(at(extents, dim), at(schedule.view, dim)));
