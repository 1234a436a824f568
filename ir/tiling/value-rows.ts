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
 * True if all elements of an innermost output row have equal index values, which allows vector instructions
 * on whole rows.
 */
export const computedByRow = (map: AccessMap): boolean =>
  map.domain.length > 0 && !indexed(map).has(map.domain.length - 1);

/**
 * Returns the number of elements of a tile that are computed together: the length of an innermost row, or 1.
 * Rows are computed together if all index values of a row are equal.
 */
export const elementsTogether = (map: AccessMap, tile: Shape): number =>
  computedByRow(map) ? at(tile, map.domain.length - 1) : 1;

/**
 * Layout, in an input, of the elements for one output row. `row`: contiguous elements. `still`: one element
 * for the whole row. `pieces`: one element for every `by` consecutive output elements. `elements`: any other
 * layout.
 */
export type ReadForm =
  { readonly kind: "row" | "still" | "elements" } | { readonly kind: "pieces"; readonly by: number };

/**
 * Returns the layout, in the input, of the elements that a read of an access map needs for one output row.
 */
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
 * True if each output row reads a contiguous row of the operand's tile in the unified buffer (UB), which
 * needs no copy.
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

/**
 * Returns the vector instructions that compute one output row of an access map's value. `types`: element
 * types of the inputs.
 */
export const programOfRows = (map: AccessMap, types: readonly DType[]): VectorProgram =>
  vectorProgram(
    valueSteps(
      map.value,
      map.reads.map(({ table }) => at(types, table)),
    ),
  );

/**
 * Returns the indices, from 0, of the reads whose rows are operands of the vector instructions, ascending and
 * without duplicates.
 */
export const readsOfSteps = (steps: readonly VectorStep[]): readonly number[] => {
  const rows = new Set<number>();
  for (const step of steps) {
    if (step.op === "TEXPANDS") continue;
    for (const place of "kind" in step.of ? [step.of] : step.of)
      if (place.kind === "read") rows.add(place.read);
  }
  return [...rows].sort((a, b) => a - b);
};
