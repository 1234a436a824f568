/**
 * What packed elements ask of a tile: what it reads of rows that fill their bytes starts at a byte, so that it is copied by bytes. Entries
 * along the output dims that such rows follow are multiples of a step, or cover all that there is. Rows that do not fill their bytes begin
 * inside one whatever the tile, and ask for nothing.
 */
import { derivedOnce } from "../derived-once.js";
import { defined } from "../defined.js";
import { followedDims } from "../access.js";
import { inputsOf, type AccessFunc, type Operand } from "../func.js";
import type { Linear } from "../linear.js";
import { at, elementsInByte, rowsFillBytes, type DType, type Shape } from "../types.js";
import { domainOf, type TiledGather } from "./tiled.js";

/** What tiles and views are multiples of along an output dim, and the packed type that asks for it. */
export interface PackedStep {
  readonly step: number;
  readonly dtype: DType;
}

interface Packing {
  /** By output dim; undefined where any entry does. */
  readonly steps: readonly (PackedStep | undefined)[];
  /** Of terms that are taken in at once. */
  readonly reduction?: PackedStep;
  /** The name of an operand that is read from the middle of a byte whatever the tile. */
  readonly never?: string;
  /** Operands whose rows do not fill their bytes. */
  readonly uneven: readonly Operand[];
}

const packingsOf = derivedOnce((_: AccessFunc["operands"]) => new Map<AccessFunc["map"], Packing>());

/** The steps of a gather, derived once: schedules are weighed by the hundred. */
export function packingOf({ operands, map }: Pick<AccessFunc, "operands" | "map">): Packing {
  const packings = packingsOf(operands);
  const existing = packings.get(map) ?? packing({ operands, map });
  packings.set(map, existing);
  return existing;
}

function packing({ operands, map }: Pick<AccessFunc, "operands" | "map">): Packing {
  const steps: (PackedStep | undefined)[] = Array.from({ length: map.domain.length }, () => undefined);
  const max = map.reduced?.max ?? 1;
  const extents = [...domainOf({ operands, map }), max];
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

/** The least power of two whose product with a factor is a multiple of another power of two. */
function stepFor(factor: number, each: number): number {
  let step = 1;
  while ((factor * step) % each !== 0) step *= 2;
  return step;
}

/** Whether a region starts at a byte where all entries are multiples of their steps. What is taken away counts from the tile's end. */
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

/** Whether an entry along a dim keeps to its step: a multiple of it, or all that there is. */
export const keepsStep = (entry: number, limit: number, step: number): boolean =>
  entry >= limit || entry % step === 0;

/** The nearest entry that is no larger and keeps to the step of its dim; the least of all where none is. */
export const entryUpTo = (entry: number, limit: number, step: number): number =>
  entry >= limit ? entry : Math.min(limit, Math.max(step, step * Math.floor(entry / step)));

/** The least entry that keeps to the step of a dim. */
export const leastEntry = (gather: Pick<AccessFunc, "operands" | "map">, dim: number): number =>
  packingOf(gather).steps[dim]?.step ?? 1;

/** Elements that a view leaves along a dim. */
export const limitOf = (
  { extents, schedule }: Pick<TiledGather, "extents" | "schedule">,
  dim: number,
): number => Math.max(1, Math.min(at(extents, dim), at(schedule.view, dim)));
