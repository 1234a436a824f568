/**
 * Index values of one output element, resolved in order, and the first of them that is out of range, in words
 * and numbers. A module carries this file: it reads values wherever they lie, and maps are functions to it.
 */
import type { Reduced } from "../ir/access.js";
import type { Operand } from "../ir/func.js";
import { elementNamedBy, outOfRange, type NamingRule } from "../ir/policy.js";
import { elementCount, formatShape } from "../ir/types.js";
import type { IndexStep } from "./index-walk.js";
import { coordinates } from "./memory.js";

/**
 * Input tensor from which index values are read: the tensor's type, and the key that names the tensor in
 * messages.
 */
export interface IndexTable extends Pick<Operand, "type"> {
  readonly key: string;
}

/**
 * Location of an index value that an output element (a point, for a scatter) needs. The fields name the index
 * operand, the dim along which the value selects, and the position of the value in an input. `rule`:
 * out-of-range rule of the index operand.
 */
export interface IndexLocation {
  readonly index: number;
  /**
   * Text for the dim that the index value selects along: of the data, or of an input of another index
   * operand.
   */
  readonly picks: string;
  /** Data dim that the index value selects along; -1 if there is none. */
  readonly axis: number;
  /** Input and position of the index value; absent for a sum of index values. */
  readonly read?:
    | {
        readonly table: IndexTable;
        /** Row-major, in elements of the table. */
        readonly position: number;
      }
    | undefined;
  /** Out-of-range rule of the index operand; absent for the policy `any`. */
  readonly rule?: NamingRule | undefined;
  /** Coordinates of the output element, or of the scatter's point. */
  readonly point: readonly number[];
  /** Position of the reduction element that needs the value; absent outside a reduction. */
  readonly r?: number | undefined;
}

/**
 * Index operand of one output element (of one point, for a scatter) after the value was read: the location,
 * the value, and whether the out-of-range policy rejects the value.
 */
export interface ResolvedIndex {
  readonly at: IndexLocation;
  readonly value: bigint;
  /** True if the out-of-range policy rejects the value; no further index operand is then read. */
  readonly rejected: boolean;
  /**
   * Present if a segment has more elements than its limit: position of its first element, number of elements,
   * and limit.
   */
  readonly segment?: { readonly from: number; readonly elements: number; readonly max: number } | undefined;
}

/**
 * Numbers that a generated module knows only when it runs, by name: the sizes of symbols and the bounds
 * derived from them.
 */
export type Numbers = Readonly<Record<string, number>>;

/**
 * Index operand of a generated module, as functions that take the sizes of symbols. `at`: returns the
 * position of the index value in the input that holds the value. `rule`: returns the out-of-range rule with
 * the extent.
 */
export interface IndexFunction extends Pick<IndexStep, "ends">, Pick<IndexLocation, "axis" | "picks"> {
  /** Number of the input that holds the index value; absent for a sum of index values. */
  readonly table?: number;
  /**
   * Returns the position of the value in the memory of the table, in elements; for a sum, the sum itself.
   * `d`: exact coordinates of the element. `s`: exact values of the index operands before this one.
   */
  readonly at: (d: readonly bigint[], s: readonly bigint[], numbers: Numbers) => bigint;
  /** True if it depends on r, and is evaluated for each term. */
  readonly inReduction?: boolean;
  /** Absent under `any`, where the value is taken as it is. */
  readonly rule?: (numbers: Numbers) => NamingRule;
  /** Number that negative values count from under `any`. */
  readonly wrapNegativeBy?: (numbers: Numbers) => number;
}

/**
 * State of one point of a scatter while its index operands are resolved, in order. Some index operands affect
 * only the value that the point writes. If one of these selects no element, the point writes the fill bits.
 */
export interface ScatterPoint {
  /** True if index operand `index` cannot be resolved, because it needs a value that selected no element. */
  lacks(index: number): boolean;
  /** True if the point ends at index operand `index`, which selected `element` (negative: no element). */
  endsAt(index: number, element: number): boolean;
  /** Returns 0 if the point has a value; {@link fillValue} if its value is the fill bits. */
  ended(): number;
}

/**
 * Input of {@link resolvingIndices}: the index operands of an access map as functions. `operands`: the inputs
 * that contain the index values. `numbers`: sizes of symbols.
 */
export interface IndexFunctions {
  readonly operands: readonly IndexTable[];
  readonly steps: readonly IndexFunction[];
  readonly reduced?: Reduced | undefined;
  readonly numbers: Numbers;
  readonly scatter?: ScatterPoint;
}

/**
 * Location of an index value to read: the index of the input, and the row-major position in the input, in
 * elements.
 */
export type IndexRead = readonly [table: number, position: number];

/**
 * Generator that resolves the index operands of one output element (of one point, for a scatter). The
 * generator yields the position of each index value to read, and gets the value as the argument of `next`.
 * The returned list of resolved index operands ends early if an index value is rejected, or leaves the
 * element or point without a source.
 */
export type IndexResolution = Generator<IndexRead, readonly ResolvedIndex[], bigint>;

/**
 * Resolves the index operands of one output element (of one point, for a scatter), in order. The generator
 * yields the position of each index value to read, gets the value by `next`, and returns the resolved index
 * operands. `dims`: coordinates that the index functions take, by default `point`.
 */
export function* resolvingIndices(
  { operands, steps, reduced, numbers, scatter }: IndexFunctions,
  point: readonly number[],
  dims: readonly number[] = point,
): IndexResolution {
  const values: bigint[] = [];
  const resolved: ResolvedIndex[] = [];
  /**
   * Yields the reads of index operands up to the first that stops the evaluation of the element, or of its
   * reduction element at `r`. Returns the result of that index operand, or 0 if none stops it.
   */
  function* taken(r?: number): Generator<IndexRead, number, bigint> {
    const here = (r === undefined ? dims : [...dims, r]).map(BigInt);
    for (const [index, step] of steps.entries()) {
      const { table = -1, ends } = step;
      if (!step.inReduction !== (r === undefined) || scatter?.lacks(index)) continue;
      const place = step.at(here, values, numbers);
      const position = Number(place);
      const operand = operands[table];
      const value = operand ? yield [table, position] : place;
      const rule = step.rule?.(numbers);
      const named = rule ? elementNamedBy(rule, Number(value), () => value) : 0;
      const elements = ends ? named - Number(values[ends.from]) : 0;
      const segment =
        rule && ends && elements > ends.max ? { from: named - elements, elements, max: ends.max } : undefined;
      const element = segment ? outOfRange : named;
      const shift = value < 0 ? (step.wrapNegativeBy?.(numbers) ?? 0) : 0;
      values[index] = rule ? BigInt(element) : value + BigInt(shift);
      resolved.push({
        at: {
          index,
          axis: step.axis,
          picks: step.picks,
          point,
          read: operand && { table: operand, position },
          rule,
          r,
        },
        value,
        rejected: element === outOfRange,
        segment,
      });
      if (scatter?.endsAt(index, element) ?? element < 0) return element;
    }
    return 0;
  }
  if ((yield* taken()) < 0 || scatter?.ended() || reduced === undefined) return resolved;
  const { max, segment } = reduced;
  const [first, end] = segment ? [Number(values[segment.from]), Number(values[segment.to])] : [0, max];
  for (let r = first; r < end; r++) if ((yield* taken(r)) === outOfRange) break;
  return resolved;
}

/**
 * Resolves to the first index operand that is out of range in the output elements (the points, for a scatter)
 * `from` to `end`, exclusive, in row-major order; undefined if there is none. `resolving`: returns the
 * generator for one element. `read`: returns an index value.
 */
export async function findBadIndex(
  resolving: (point: readonly number[]) => IndexResolution,
  extents: readonly number[],
  [from, end]: readonly [number, number],
  read: (...where: IndexRead) => Promise<bigint> | bigint,
): Promise<ResolvedIndex | undefined> {
  for (let element = from; element < Math.min(end, elementCount(extents)); element++) {
    const resolution = resolving(coordinates(element, extents));
    let step = resolution.next();
    while (!step.done) step = resolution.next(await read(...step.value));
    const bad = step.value.find(({ rejected }) => rejected);
    if (bad) return bad;
  }
  return undefined;
}

/**
 * Returns the message and the data of the diagnostic for an index value out of range, or for a segment with
 * too many elements.
 */
export function describeBadIndex({
  at: { read, rule, axis, picks, point, index, r },
  value,
  segment,
}: Pick<ResolvedIndex, "at" | "value" | "segment">) {
  const where = read ? coordinates(read.position, read.table.type.shape) : [];
  const shown = read ? ` at ${read.table.key}${formatShape(where)}` : "";
  const extent = rule?.extent ?? 0;
  const lowest = -(rule?.wrapNegativeBy ?? 0);
  const range = extent === 0 ? "which has no elements" : `which takes [${lowest}, ${extent - 1}]`;
  const elementNote = r === undefined ? "" : ` (reduction element r = ${r})`;
  const message = segment
    ? `the segment from ${segment.from} to ${segment.from + segment.elements}${shown} has ${segment.elements} elements, over the limit of ${segment.max}`
    : `index ${value}${shown}${elementNote} is out of range for ${picks}, ${range}`;
  return {
    message,
    data: {
      ...(read && { table: read.table.key, position: read.position }),
      value: value.toString(),
      axis,
      extent,
      coordinates: where,
      point,
      site: index,
      ...(r !== undefined && { r }),
    },
  };
}

/**
 * Two points of a scatter that write the same element: the row-major position of each in the domain, and the
 * position of the element in the output.
 */
export interface DuplicatePoints {
  readonly point: number;
  readonly earlier: number;
  readonly element: number;
}

/**
 * Returns the message and the data of a diagnostic for two points of a scatter that write the same element.
 * `extents`: extents of the domain in which `point` and `earlier` are row-major positions.
 */
export function describeDuplicate(
  { key, type }: IndexTable,
  extents: readonly number[],
  { point, earlier, element }: DuplicatePoints,
) {
  const [first, second] = [coordinates(earlier, extents), coordinates(point, extents)];
  const where = coordinates(element, type.shape);
  return {
    message: `points ${formatShape(first)} and ${formatShape(second)} both write ${key}${formatShape(where)}`,
    data: { point: second, earlier: first, element, coordinates: where },
  };
}

/**
 * Element type of index values: the name of the JavaScript typed array, and the size of an element in bits.
 */
export interface IndexElement {
  readonly array: string;
  readonly bits: number;
}

/** Returns the index value that begins at byte offset `byte` of `bytes`, as an exact bigint. */
export function valueIn({ array, bits }: IndexElement, bytes: Uint8Array, byte: number): bigint {
  const ArrayType = (globalThis as unknown as Readonly<Record<string, Int32ArrayConstructor>>)[array];
  const element = bytes.slice(byte, byte + bits / 8).buffer;
  return BigInt(new (ArrayType as Int32ArrayConstructor)(element)[0] ?? 0);
}
