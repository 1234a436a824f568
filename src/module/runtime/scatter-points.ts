/** Points of a module's scatter: their index values, and the elements that they write. */
import {
  describeBadIndex,
  describeDuplicate,
  findBadIndex,
  resolvingIndices,
  type DuplicatePoints,
  type Numbers,
  type ScatterPoint,
} from "../../../backends/bad-index.js";
import { coordinates } from "../../../backends/memory.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { elementCount } from "../../../ir/types.js";
import type { ReadIndex } from "./bad-index.js";
import { sizedAt } from "./dynamic-sizes.js";
import { GatherError } from "./gather-error.js";
import type { HostArray, Sized, SizedOperand } from "./host.js";
import type { CpuScatterPlan, ScatterIndex, ScatterPlan } from "./plan.js";

/**
 * Returns the operands of a scatter and the extents of its domain for given sizes of the dynamic dims. Throws
 * a GatherError: TC107 for sizes that the program does not accept, TC204 for more points than elements where
 * the points are unique.
 */
export function pointsAt(plan: ScatterPlan, sizes?: Numbers): Sized & { readonly points: readonly number[] } {
  const sized = sizedAt(plan, sizes);
  const points = plan.points(sized.numbers);
  const [count, { elements }] = [elementCount(points), sized.output];
  if (plan.isUnique && count > elements)
    throw new GatherError(
      "TC204",
      `${count} points write ${elements} elements, and none is skipped: they are never unique`,
      { points: count, elements },
    );
  return { ...sized, points };
}

/**
 * Checks the index values of the points in `range` (row-major, end excluded). `points`: extents of the
 * domain. Resolves to an error (TC601) for the first index value that the out-of-range policy rejects;
 * undefined if there is none.
 */
export async function badPointIn(
  { reduced, sites }: ScatterPlan,
  { numbers, operands }: Sized,
  points: readonly number[],
  range: readonly [number, number],
  read: ReadIndex,
): Promise<GatherError | undefined> {
  const bad = await findBadIndex(
    (point) => resolvingIndices({ operands, steps: sites, reduced, numbers, scatter: startOf(sites) }, point),
    points,
    range,
    (table, position) => read(operands[table] as SizedOperand, table, position),
  );
  if (!bad) return undefined;
  const { message, data } = describeBadIndex(bad);
  return new GatherError("TC601", message, data);
}

/**
 * Resolves to an error (TC607) for the first point that writes an element which an earlier point wrote;
 * undefined if no element is written twice. To be called only if {@link badPointIn} finds no rejected index
 * value.
 */
export async function duplicateIn(
  { sites }: ScatterPlan,
  { telling, written }: NonNullable<CpuScatterPlan["duplicates"]>,
  { numbers, operands, output }: Sized,
  read: ReadIndex,
): Promise<GatherError | undefined> {
  const owners = new Map<number, number>();
  const extents = telling(numbers);
  for (let point = 0; point < elementCount(extents); point++) {
    const place = coordinates(point, extents);
    const state = startOf(sites);
    const resolution = resolvingIndices({ operands, steps: sites, numbers, scatter: state }, place);
    let step = resolution.next();
    while (!step.done) {
      const [table, position] = step.value;
      step = resolution.next(await read(operands[table] as SizedOperand, table, position));
    }
    if (state.isOver()) continue;
    const element = Number(written(place.map(BigInt), state.elements, numbers));
    const earlier = owners.get(element);
    if (earlier === undefined) owners.set(element, point);
    else return duplicateError(output, extents, { point, earlier, element });
  }
  return undefined;
}

/**
 * Creates the error (TC607) for two points of a scatter that write one element. `extents` has the extents of
 * the domain in which the points are numbered in row-major order.
 */
export function duplicateError(
  output: SizedOperand,
  extents: readonly number[],
  points: DuplicatePoints,
): GatherError {
  const { message, data } = describeDuplicate(output, extents, points);
  return new GatherError("TC607", message, data);
}

/** State of a point, with the elements that its index values name, by their numbers. */
interface PointState extends ScatterPoint {
  readonly elements: readonly bigint[];
  /** True if an index value ended the point, which writes nothing. */
  isOver(): boolean;
}

/**
 * Returns the state of a point of a scatter before its index values are resolved. While they are resolved,
 * the state records the element that each one selects, and whether the point writes nothing.
 */
function startOf(indices: readonly ScatterIndex[]): PointState {
  const elements: bigint[] = [];
  let isOver = false;
  /** Index values without an element that only the value of the point needs. */
  const missing = new Set<number>();
  return {
    lacks(index) {
      const isLacking = indices[index]?.needs?.some((other) => missing.has(other)) ?? false;
      if (isLacking) missing.add(index);
      return isLacking;
    },
    endsAt(index, element) {
      elements[index] = BigInt(element);
      if (element === -1 && indices[index]?.needs !== undefined) missing.add(index);
      else isOver = element < 0;
      return isOver;
    },
    elements,
    isOver: () => isOver,
    ended: () => -missing.size,
  };
}

/**
 * Throws a GatherError (TC702) if an array shares bytes with the array of the first input, which is written
 * in place.
 */
export function checkOverlap({ operands }: Sized, arrays: Readonly<Record<string, HostArray>>): void {
  const inputs = operands.slice(0, -1);
  const [written, ...others] = inputs.map((operand) => {
    // A list of strings has no buffer.
    const array = entryCalled(arrays, operand, inputs) as Partial<ArrayBufferView>;
    const { buffer, byteOffset: from = 0, byteLength = 0 } = array;
    return { key: operand.key, buffer, from, to: from + byteLength };
  });
  for (const { key, buffer, from, to } of others) {
    const bytes = Math.min(to, written?.to ?? 0) - Math.max(from, written?.from ?? 0);
    if (buffer && buffer === written?.buffer && bytes > 0)
      throw new GatherError(
        "TC702",
        `${key} and ${written.key} share ${bytes} bytes, and ${written.key} is written in place`,
        { bytes },
      );
  }
}

/** Copies the output `made` into the array `given` of the caller, and returns `given`. */
export function writtenOver(given: HostArray | undefined, made: HostArray): HostArray {
  if (ArrayBuffer.isView(given) && ArrayBuffer.isView(made)) {
    const { buffer, byteOffset, byteLength } = made;
    new Uint8Array(given.buffer, given.byteOffset, given.byteLength).set(
      new Uint8Array(buffer, byteOffset, byteLength),
    );
    return given;
  }
  return Object.assign((given ?? []) as string[], made);
}
