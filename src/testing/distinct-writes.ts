/**
 * Indices of scatters by which no two points write one element, and by which two do: what `unique` promises
 * and `error` rejects.
 */
import { isRead, type AccessMap } from "../../ir/access.js";
import { elementAddress } from "../../ir/addressing.js";
import { entryOf } from "../../ir/entry-of.js";
import { inputsOf, keyOf, outputOf } from "../../ir/func.js";
import { evaluate, indicesOf, type Env, type Linear } from "../../ir/linear.js";
import { at, elementCount, strides, type Shape } from "../../ir/types.js";
import { pointsOf } from "../../backends/region-points.js";
import { mapAddresses } from "../../backends/map-addresses.js";
import { indexReader, type HostInputs } from "../../backends/index.js";
import type { DefinedMap } from "../../backends/reference/defined-map.js";
import { indexRanges, type IndexRange } from "./index-ranges.js";
import { indexWriter } from "./random.js";

/** An index value that says where a point writes, and that a draw may choose. */
interface DrawnIndex {
  readonly table: number;
  /** The row-major position that a point reads. */
  readonly positionOf: (point: readonly number[]) => number;
  readonly rangeAt: (position: number) => IndexRange;
  readonly read: (position: number) => number;
  readonly put: (position: number, value: number) => void;
  /** Returns a value by which a point writes nothing; undefined if no value is skipped. */
  readonly skippedAt: (position: number) => number | undefined;
}

const noLoops: Env = new Map();
/** Values that are tried at random before those of an index's range one after another. */
const triesAtRandom = 64;
/** Values of a range that are tried one after another, at most. */
const valuesTried = 2 ** 16;

/**
 * Returns the numbers, from 0, of the index operands that determine which element a point of a scatter
 * writes, directly or through other index operands.
 */
function written({ indices, write }: AccessMap): ReadonlySet<number> {
  const needed = new Set<number>();
  const add = (form: Linear): void => {
    for (const index of indicesOf(form)) {
      if (needed.has(index)) continue;
      needed.add(index);
      const { value } = at(indices, index);
      (isRead(value) ? value.at : [value]).forEach(add);
    }
  };
  write.at.forEach(add);
  return needed;
}

/**
 * Returns accessors by which index values can be read and changed: one for each index operand that decides
 * which element a point of a scatter writes. Index operands are left out if they read another input than
 * those in `tables`, or are looked up through other index operands. `tables`: positions of the inputs that
 * may be changed.
 */
function drawnIndices(program: DefinedMap, inputs: HostInputs, tables: ReadonlySet<number>): DrawnIndex[] {
  const { map, operands } = program;
  return [...written(map)].flatMap((index): DrawnIndex[] => {
    const { excluded, outOfRange, value } = at(map.indices, index);
    if (!isRead(value) || !tables.has(value.table)) return [];
    if (value.at.some((coord) => indicesOf(coord).length > 0)) return [];
    const { type } = at(operands, value.table);
    const tensor = entryOf(inputs, keyOf(at(inputsOf({ operands }), value.table)));
    if (tensor === undefined) return [];
    const form = elementAddress(type.shape, value.at);
    const rangeAt = indexRanges(program, value.table);
    return [
      {
        table: value.table,
        positionOf: (point) => evaluate(form, noLoops, { dims: point, indices: [] }),
        rangeAt,
        read: indexReader(tensor.bytes, type.dtype),
        put: indexWriter(tensor.bytes, type.dtype),
        skippedAt: (position) => excluded ?? (outOfRange === "skip" ? rangeAt(position).max + 1 : undefined),
      },
    ];
  });
}

/**
 * Returns a function from a point of a scatter to the row-major index of the written output element;
 * undefined if the point writes nothing.
 */
function elementsOf(
  program: DefinedMap,
  inputs: HostInputs,
): (point: readonly number[]) => number | undefined {
  const addresses = mapAddresses({ ...program, inputs });
  const by = strides(outputOf(program).type.shape);
  return (point) =>
    addresses.to(point) < 0
      ? undefined
      : addresses.written().reduce((sum, coord, k) => sum + coord * at(by, k), 0);
}

/**
 * Changes index values in `inputs` in place so that, as far as possible, no two points of a scatter write the
 * same element. A point without a free element gets an index value that makes it write nothing, if the policy
 * has such a value. `tables`: inputs that may be changed, by position. `random` returns numbers in [0, 1).
 */
export function makeDistinct(
  program: DefinedMap,
  inputs: HostInputs,
  tables: ReadonlySet<number>,
  random: () => number,
): void {
  const { domain } = program.map;
  const indices = drawnIndices(program, inputs, tables);
  const elementOf = elementsOf(program, inputs);
  const owned = new Set<number>();
  const fixed = new Map(
    indices.map(({ table }) => [table, new Uint8Array(elementCount(shapeOf(program, table)))] as const),
  );
  for (const point of pointsOf(domain)) {
    const positions = indices.map((index) => ({ ...index, position: index.positionOf(point) }));
    const isFree = (): boolean => {
      const element = elementOf(point);
      return element === undefined || !owned.has(element);
    };
    if (!isFree())
      tryValues(
        positions.filter(({ table, position }) => fixed.get(table)?.[position] === 0),
        isFree,
        random,
      );
    // Values that earlier points have, too: those that share the one which skips write nothing, either.
    for (const { position, put, read, skippedAt } of positions) {
      const [before, skipped] = [read(position), skippedAt(position)];
      if (isFree() || skipped === undefined) continue;
      put(position, skipped);
      if (!isFree()) put(position, before);
    }
    const element = elementOf(point);
    if (element !== undefined) owned.add(element);
    for (const { table, position } of positions) {
      const taken = fixed.get(table);
      if (taken !== undefined) taken[position] = 1;
    }
  }
}

const shapeOf = ({ operands }: DefinedMap, table: number): Shape => at(operands, table).type.shape;

type Position = DrawnIndex & { readonly position: number };

/**
 * Tries new index values at the given positions, in place, until `isFree` returns true. If no value that was
 * tried succeeds, the old values are restored.
 */
function tryValues(positions: readonly Position[], isFree: () => boolean, random: () => number): void {
  const before = positions.map(({ read, position }) => read(position));
  const sizeOf = ({ least, max }: IndexRange): number => max - least + 1;
  for (let k = 0; k < triesAtRandom; k++) {
    for (const { rangeAt, put, position } of positions) {
      const range = rangeAt(position);
      put(position, range.least + Math.floor(random() * sizeOf(range)));
    }
    if (isFree()) return;
  }
  for (const { rangeAt, put, position } of positions) {
    const range = rangeAt(position);
    const start = Math.floor(random() * sizeOf(range));
    for (let k = 0; k < Math.min(sizeOf(range), valuesTried); k++) {
      put(position, range.least + ((start + k) % sizeOf(range)));
      if (isFree()) return;
    }
  }
  positions.forEach(({ put, position }, k) => {
    put(position, at(before, k));
  });
}

/** Points that are looked at for two that can write one element. */
const pointsTried = 4096;

/**
 * Changes index values in `inputs` in place so that two points of a scatter write the same element, and
 * returns true. Returns false if no such change is found among the first 4096 points. `tables`: inputs that
 * may be changed, by position.
 */
export function makeDuplicate(program: DefinedMap, inputs: HostInputs, tables: ReadonlySet<number>): boolean {
  const indices = drawnIndices(program, inputs, tables);
  const elementOf = elementsOf(program, inputs);
  let before: readonly number[] | undefined;
  let tried = 0;
  for (const next of pointsOf(program.map.domain)) {
    if (tried++ === pointsTried) return false;
    if (elementOf(next) === undefined) continue;
    const point = [...next];
    if (before !== undefined) {
      const old = indices.map(({ read, positionOf }) => read(positionOf(point)));
      for (const { read, put, positionOf } of indices) put(positionOf(point), read(positionOf(before)));
      const element = elementOf(point);
      if (element !== undefined && element === elementOf(before)) return true;
      indices.forEach(({ put, positionOf }, k) => {
        put(positionOf(point), at(old, k));
      });
    }
    before = point;
  }
  return false;
}
