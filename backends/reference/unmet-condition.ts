/**
 * Test of the conditions under which an Ascend core gives the stated bits, on the elements that index values
 * name.
 */
import { outputOf, keyOf } from "../../ir/func.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { programOfRows, readsOfSteps } from "../../ir/tiling/value-rows.js";
import { at, invariant, strides } from "../../ir/types.js";
import { numberOf, type FloatValueType } from "../../ir/values/index.js";
import type { ElementCondition } from "../ascend-answer.js";
import { box } from "../box.js";
import { placesIn } from "../map-places.js";
import { inputTensor, unitsOf, type MappedInputs } from "../memory.js";

/** An element that a condition excludes. */
export interface UnmetCondition {
  /** The operand's key. */
  readonly operand: string;
  /** The number of the element in its tensor. */
  readonly element: number;
  readonly value: number;
  /** The bound that it is outside: `finite`, `0 or at least 2^-126`, `below 2^121`. */
  readonly bound: string;
}

/** Returns the bound of a condition that a number is outside; undefined where it meets all. */
function boundOutside(
  value: number,
  { least = -Infinity, below = Infinity }: ElementCondition,
): string | undefined {
  if (!Number.isFinite(value)) return "finite";
  if (value !== 0 && Math.abs(value) < 2 ** least) return `0 or at least 2^${least}`;
  return Math.abs(value) >= 2 ** below ? `below 2^${below}` : undefined;
}

/**
 * Returns the first element that a condition excludes, of those that index values name, output element by
 * output element; undefined where all are met. An index out of range ends the walk: its run is rejected.
 */
export function unmetCondition(
  mapped: MappedInputs,
  assumes: readonly ElementCondition[],
): UnmetCondition | undefined {
  const { map, operands, inputs } = mapped;
  if (assumes.length === 0) return undefined;
  const places = placesIn(mapped);
  const output = outputOf({ operands });
  const checks = map.reads.map(({ table }) => {
    const operand = at(operands, table);
    const { dtype, shape } = operand.type;
    const condition = assumes.find((own) => own.operand === keyOf(operand));
    if (condition === undefined) return undefined;
    invariant(dtype === "f32" || dtype === "f16" || dtype === "bf16", "conditions are on real numbers");
    const type: FloatValueType = dtype;
    return {
      type,
      condition,
      by: strides(shape),
      units: unitsOf(inputTensor(inputs, operand).bytes, dtype).units,
    };
  });
  const outside = (reads: readonly number[]): UnmetCondition | undefined => {
    for (const read of reads) {
      const check = checks[read];
      if (check === undefined) continue;
      const element = places.read(read).reduce((sum, coord, k) => sum + coord * at(check.by, k), 0);
      const value = numberOf(check.type, at(check.units, element));
      const bound = boundOutside(value, check.condition);
      if (bound !== undefined) return { operand: check.condition.operand, element, value, bound };
    }
    return undefined;
  };
  const types = operands.map(({ type }) => type.dtype);
  const { element, term } = programOfRows(map, types);
  const [ofElement, ofTerm] = [readsOfSteps(element), readsOfSteps(term?.steps ?? [])];
  for (const out of box(output.type.shape)) {
    const ended = places.to(out);
    if (ended === outOfRange) return undefined;
    if (ended === noElement) continue;
    for (const taken of places.terms?.() ?? []) {
      if (taken === outOfRange) return undefined;
      const found = outside(ofTerm);
      if (found !== undefined) return found;
    }
    const found = outside(ofElement);
    if (found !== undefined) return found;
  }
  return undefined;
}
