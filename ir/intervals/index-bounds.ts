/**
 * The bound of an index value that the text leaves open: the largest that keeps every coordinate it is in
 * inside its extent. For a window that is StableHLO's clamp: its start is held so that the whole window lies
 * inside.
 */
import { isRead, isScatter, type AccessMap, type Forms, type IndexOperand } from "../access.js";
import { innerForms, indicesOf, soleAtom, type Linear } from "../linear.js";
import { at, elementCount, maxElements, type Shape, type TensorType } from "../types.js";
import { largestThat, rangesOf, staysWithin } from "./intervals.js";
import type { Ranges } from "./range.js";

/**
 * Index operand of an access map whose extent may be unknown (absent). `wrapNegativeBy` is `extent` if
 * negative indices count from the unknown extent.
 */
export interface DynamicIndex extends Omit<IndexOperand, "wrapNegativeBy"> {
  readonly wrapNegativeBy?: number | "extent";
}

/** Access map as parsed from the text form (`.tir`), before {@link withBounds} derives missing extents. */
export interface DynamicMap extends Omit<AccessMap, "indices"> {
  readonly indices: readonly DynamicIndex[];
}

/**
 * Coordinate of an access map, with the operand (position `table`) and the dim that the coordinate indexes.
 */
export interface PlacedCoord {
  readonly coord: Linear;
  /** Extent of the indexed dim, in elements. */
  readonly extent: number;
  readonly table: number;
  readonly dim: number;
}

/**
 * Returns the coordinates of an access map, with the indexed operand and dim. Coordinates beyond an operand's
 * rank are omitted. `operands`: the inputs, followed by the output if written coordinates are wanted.
 */
export function coordinatesOf(
  map: Forms,
  operands: readonly Pick<TensorType, "shape">[],
): readonly PlacedCoord[] {
  const reads = map.indices.flatMap(({ value }) => (isRead(value) ? [value] : []));
  return [...reads, ...(map.write === undefined ? [] : [map.write]), ...map.reads].flatMap(
    ({ table, at: coords }) =>
      coords.flatMap((coord, dim) => {
        const extent = operands[table]?.shape[dim];
        return extent === undefined ? [] : [{ coord, extent, table, dim }];
      }),
  );
}

/**
 * Returns the access map with the missing extents of index operands filled in. A missing extent becomes the
 * largest extent that keeps every coordinate inside the indexed dim. An extent that cannot be derived stays
 * absent. `result`: shape of the output; undefined for an access map over tiles.
 */
export function withBounds(map: DynamicMap, inputs: readonly TensorType[], result?: Shape): AccessMap {
  const named = namedBy(coordinatesOf(map, result === undefined ? inputs : [...inputs, { shape: result }]));
  // An output of another rank than a gather's points is for the verifier to refuse.
  const hasRank = result !== undefined && (isScatter(map) || result.length === map.domain.length);
  const points = hasRank ? map.domain : undefined;
  const readsNone = points !== undefined && elementCount(points) === 0;
  const indices = [...map.indices];
  let ranges: Ranges | undefined;
  const maxOf = (s: number): number | undefined =>
    largest(s, named.get(s) ?? [], () => {
      if (points !== undefined) ranges ??= rangesOf({ ...map, indices }, inputs, points);
      return ranges;
    });
  const close = (s: number, extent: number): void => {
    indices[s] = { ...at(indices, s), extent };
    ranges = undefined;
  };
  // A sum of several open ones may hold only once the others are bounded.
  let waiting: readonly number[] = [];
  const retry = (): void => {
    for (const s of waiting) {
      const extent = maxOf(s);
      if (extent === undefined) continue;
      close(s, extent);
      waiting = waiting.filter((other) => other !== s);
      retry();
      return;
    }
  };
  for (const [s, index] of map.indices.entries()) {
    if (!isUnbounded(index) || (index.outOfRange === "wrap" && isInSum(s, named.get(s) ?? []))) continue;
    const extent = maxOf(s);
    if (extent === undefined) waiting = [...waiting, s];
    else {
      close(s, extent);
      retry();
    }
  }
  for (let [first] = waiting; readsNone && first !== undefined; [first] = waiting) {
    close(first, 0);
    waiting = waiting.slice(1);
    retry();
  }
  return { ...map, indices: indices.map(fromBound) };
}

/**
 * Returns the coordinates that contain each index operand, keyed by position of the index operand. Index
 * operands that no coordinate contains have no entry.
 */
function namedBy(placed: readonly PlacedCoord[]): ReadonlyMap<number, readonly PlacedCoord[]> {
  const named = new Map<number, PlacedCoord[]>();
  for (const one of placed) {
    for (const s of new Set(indicesOf(one.coord))) {
      const bound = named.get(s);
      if (bound === undefined) named.set(s, [one]);
      else bound.push(one);
    }
  }
  return named;
}

const isUnbounded = ({ outOfRange, extent }: DynamicIndex): boolean =>
  outOfRange !== "any" && extent === undefined;

function fromBound({ wrapNegativeBy, ...rest }: DynamicIndex): IndexOperand {
  if (wrapNegativeBy === undefined) return rest;
  return { ...rest, wrapNegativeBy: wrapNegativeBy === "extent" ? (rest.extent ?? 0) : wrapNegativeBy };
}

/**
 * Returns the largest extent of index operand `s` for which all coordinates in `coords` stay inside their
 * dims; undefined if even extent 1 is too large. Returns 0 if one of these dims has extent 0.
 * `rangesOfOthers`: returns the ranges of the other variables; if they are needed but undefined, the result
 * is 0.
 */
function largest(
  s: number,
  coords: readonly PlacedCoord[],
  rangesOfOthers: () => Ranges | undefined,
): number | undefined {
  const alone = coords.filter(({ coord }) => isAlone(coord, s)).map(({ extent }) => extent);
  const sums = coords.filter(({ coord }) => !isAlone(coord, s));
  if (coords.some(({ extent }) => extent === 0)) return 0;
  const max = Math.min(maxElements, ...alone);
  if (sums.length === 0) return max;
  const ranges = rangesOfOthers();
  if (ranges === undefined) return 0;
  const fits = (extent: number): boolean => {
    const indices = ranges.indices.map((range, k) => (k === s ? ([0, extent - 1] as const) : range));
    return sums.every(({ coord, extent }) => staysWithin(coord, extent, { ...ranges, indices }));
  };
  return largestThat(1, max, fits);
}

/** True if something is added to an index operand in a coordinate. */
const isInSum = (s: number, coords: readonly PlacedCoord[]): boolean => {
  const added = (form: Linear): boolean =>
    indicesOf(form).includes(s) &&
    (form.at !== 0 || form.terms.length > 1 || form.terms.some(({ of }) => innerForms(of).some(added)));
  return coords.some(({ coord }) => added(coord));
};

const isAlone = (coord: Linear, s: number): boolean => {
  const only = soleAtom(coord);
  return only?.kind === "index" && only.index === s;
};
