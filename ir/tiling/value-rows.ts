/**
 * Values row by row, on machines that compute them in UB: the elements of an innermost row of the output, one
 * behind the other, are those of one vector instruction. Where an index value follows the innermost dim, a
 * row is one element.
 */
import { followedDims, indexed, type AccessMap, type Read } from "../access.js";
import { dimsOf, soleAtom, type Linear } from "../linear.js";
import { at, type DType, type Shape } from "../types.js";
import { valueSteps } from "../values/steps.js";
import { vectorProgram, type VectorProgram, type VectorStep } from "../values/vector-steps.js";

/**
 * True if all elements of an innermost row of the output have the same index values, so that the row is
 * computed at once.
 */
export const computedByRow = (map: AccessMap): boolean =>
  map.domain.length > 0 && !indexed(map).has(map.domain.length - 1);

/** Returns the number of a tile's elements that are computed together: an innermost row, or 1. */
export const elementsTogether = (map: AccessMap, tile: Shape): number =>
  computedByRow(map) ? at(tile, map.domain.length - 1) : 1;

/**
 * Layout of the elements of a read along a row of the output. `row`: contiguous. `still`: a single element.
 * `pieces`: each run of `by` neighbours is the same element. `elements`: anywhere.
 */
export type ReadForm =
  { readonly kind: "row" | "still" | "elements" } | { readonly kind: "pieces"; readonly by: number };

/** Returns the layout of a read's elements along a row of the output. */
export function readForm(map: AccessMap, { at: coords }: Read): ReadForm {
  const last = map.domain.length - 1;
  const along = computedByRow(map) ? coords.filter((coord) => dimsOf(coord).includes(last)) : [];
  const [coord] = along;
  if (coord === undefined) return { kind: "still" };
  if (along.length > 1) return { kind: "elements" };
  const moving = coord.terms.filter(({ of }) => dimsIn(of).includes(last));
  const [term] = moving;
  if (moving.length !== 1 || term === undefined) return { kind: "elements" };
  if (term.of.kind === "dim") {
    const lies = term.by === 1 && coord === coords[coords.length - 1];
    return { kind: lies ? "row" : "elements" };
  }
  if (term.of.kind !== "div") return { kind: "elements" };
  const inner = term.of.of.terms.filter(({ of }) => dimsIn(of).includes(last));
  return inner.length === 1 && inner[0]?.of.kind === "dim" && inner[0].by === 1
    ? { kind: "pieces", by: term.of.by }
    : { kind: "elements" };
}

const dimsIn = (of: Linear["terms"][number]["of"]): readonly number[] =>
  dimsOf({ at: 0, terms: [{ by: 1, of }] });

/**
 * True if a row of the output is a row of the read operand's tile in UB, so that nothing needs to be copied.
 */
export function liesInTile(map: AccessMap, read: Read): boolean {
  const last = read.at.length - 1;
  const only = last < 0 ? undefined : soleAtom(at(read.at, last));
  return (
    readForm(map, read).kind === "row" &&
    only?.kind === "dim" &&
    followedDims(map, read.table)[last]?.spread === 0
  );
}

/** Returns the vector instructions on each row of a map's value. `types`: the element types of the inputs. */
export const programOfRows = (map: AccessMap, types: readonly DType[]): VectorProgram =>
  vectorProgram(
    valueSteps(
      map.value,
      map.reads.map(({ table }) => at(types, table)),
    ),
  );

/** Returns the numbers of the reads that some instructions use, each once, ascending. */
export const readsOfSteps = (steps: readonly VectorStep[]): readonly number[] => {
  const rows = new Set<number>();
  for (const step of steps) {
    if (step.op === "TEXPANDS") continue;
    for (const place of "kind" in step.of ? [step.of] : step.of)
      if (place.kind === "read") rows.add(place.read);
  }
  return [...rows].sort((a, b) => a - b);
};
