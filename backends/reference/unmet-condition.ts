/**
 * Test of the conditions under which an Ascend core gives the stated bits, on the elements that are combined
 * into output elements.
 */
import { baseFill, gatheredTable, isScatter } from "../../ir/access.js";
import { inputOf, keyOf, outputOf, type Operand } from "../../ir/func.js";
import { jsonNumber, type JsonNumber } from "../../ir/json-number.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { programOfRows, readsOfSteps } from "../../ir/tiling/value-rows.js";
import { at, invariant, strides } from "../../ir/types.js";
import { stepNumbers } from "../../ir/values/evaluator.js";
import { accumulators, evaluator, numberOf, valuePlan } from "../../ir/values/index.js";
import { meaningOf, reducedTo } from "../../ir/values/ops.js";
import {
  faultOfNumbers,
  faultOfTaking,
  stepsOfCombination,
  type ElementCondition,
} from "../ascend-answer.js";
import { inputTensor, unitsOf } from "../memory.js";
import { baseBytes } from "../point-by-point.js";
import { pointsOf } from "../region-points.js";
import { mapAddresses, type MapAddresses } from "../map-addresses.js";
import type { MappedInputs } from "../resolved-indices.js";
import { elementReads } from "../element-reads.js";

/**
 * Input element that violates a condition on element values ({@link ElementCondition}), with the element's
 * value and the violated bound.
 */
export interface UnmetCondition {
  /** The operand's key. */
  readonly operand: string;
  /** Row-major position of the element in its tensor. */
  readonly element: number;
  /** Value of the element; NaN and infinities are strings, as JSON has no numbers for them. */
  readonly value: JsonNumber;
  /** Violated bound, for example `finite`, `0 or at least 2^-126` or `below 2^121`. */
  readonly bound: string;
}

/**
 * Returns the text of the bound that a number violates, for example `below 2^121`. Undefined if the number
 * meets the condition.
 */
function boundOutside(
  value: number,
  { least = -Infinity, below = Infinity }: ElementCondition,
): string | undefined {
  if (!Number.isFinite(value)) return "finite";
  if (value !== 0 && Math.abs(value) < 2 ** least) return `0 or at least 2^${least}`;
  return Math.abs(value) >= 2 ** below ? `below 2^${below}` : undefined;
}

/** Returns the violation of a condition by an element with the given bits; undefined if there is none. */
type ElementTest = (element: number, bits: number) => UnmetCondition | undefined;

/** Returns the test of the elements of an operand; undefined for an operand without a condition. */
function elementTest(operand: Operand, assumes: readonly ElementCondition[]): ElementTest | undefined {
  const condition = assumes.find((entry) => entry.operand === keyOf(operand));
  if (condition === undefined) return undefined;
  const { dtype } = operand.type;
  invariant(dtype === "f32" || dtype === "f16" || dtype === "bf16", "conditions are on real numbers");
  return (element, bits) => {
    const value = numberOf(dtype, bits);
    const bound = boundOutside(value, condition);
    if (bound === undefined) return undefined;
    return { operand: condition.operand, element, value: jsonNumber(value), bound };
  };
}

/** An output element that is made from elements which conditions exclude, and the first of those. */
interface UnmetElement {
  readonly point: readonly number[];
  readonly unmet: UnmetCondition;
}

/**
 * Yields each output element that is computed from an input element that violates a condition: the
 * coordinates of the output element, and the input element. Ends at the first index out of range.
 */
function* unmetElements(
  mapped: MappedInputs,
  assumes: readonly ElementCondition[],
  addresses: MapAddresses,
): Generator<UnmetElement> {
  const { map, operands } = mapped;
  const { elementOf, bitsAt } = elementReads(mapped, addresses);
  const types = operands.map(({ type }) => type.dtype);
  const tests = map.reads.map(({ table }) => elementTest(at(operands, table), assumes));
  const outside = (reads: readonly number[]): UnmetCondition | undefined => {
    for (const read of reads) {
      const unmet = tests[read]?.(elementOf(read), bitsAt(read));
      if (unmet !== undefined) return unmet;
    }
    return undefined;
  };
  const { element, reduction } = programOfRows(map, types);
  const [ofElement, ofReduction] = [readsOfSteps(element), readsOfSteps(reduction?.steps ?? [])];
  for (const point of pointsOf(outputOf(mapped).type.shape)) {
    const ended = addresses.to(point);
    if (ended === outOfRange) return;
    if (ended === noElement) continue;
    let unmet: UnmetCondition | undefined;
    for (const taken of addresses.reduction?.() ?? []) {
      if (taken === outOfRange) return;
      unmet ??= outside(ofReduction);
    }
    unmet ??= outside(ofElement);
    if (unmet !== undefined) yield { point, unmet };
  }
}

/** A point of a scatter that combines a value with the element that it writes. */
interface CombiningPoint {
  /** Coordinates of the written element, and its row-major position. */
  readonly written: readonly number[];
  readonly element: number;
  /** The element of the base or of the updates that violates a condition; undefined if there is none. */
  readonly unmet: UnmetCondition | undefined;
}

/**
 * Yields the points of a scatter that write an element, in row-major order. Ends at the first index out of
 * range.
 */
function* combiningPoints(
  mapped: MappedInputs,
  assumes: readonly ElementCondition[],
  addresses: MapAddresses,
): Generator<CombiningPoint> {
  const { map, operands, inputs } = mapped;
  const { elementOf, bitsAt } = elementReads(mapped, addresses);
  const { dtype, shape } = outputOf(mapped).type;
  const base = baseFill(map.write) === undefined ? inputOf(mapped, gatheredTable) : undefined;
  const ofBase = base && elementTest(base, assumes);
  const units = base && unitsOf(inputTensor(inputs, base).bytes, dtype).units;
  const ofReads = map.reads.map(({ table }) => elementTest(at(operands, table), assumes));
  const by = strides(shape);
  for (const point of pointsOf(map.domain)) {
    const ended = addresses.to(point);
    if (ended === outOfRange) return;
    if (ended === noElement) continue;
    const written = [...addresses.written()];
    const element = written.reduce((sum, coord, k) => sum + coord * at(by, k), 0);
    const unmet = (units && ofBase?.(element, at(units, element))) ?? ofReads[0]?.(elementOf(0), bitsAt(0));
    yield { written, element, unmet };
  }
}

/**
 * Returns the first input element that violates a condition and that is combined into an output element.
 * Undefined if there is none before the first output element, or point of a scatter, with an index out of
 * range.
 */
export function unmetCondition(
  mapped: MappedInputs,
  assumes: readonly ElementCondition[],
): UnmetCondition | undefined {
  if (assumes.length === 0) return undefined;
  const addresses = mapAddresses(mapped);
  const elements = isScatter(mapped.map)
    ? combiningPoints(mapped, assumes, addresses)
    : unmetElements(mapped, assumes, addresses);
  for (const { unmet } of elements) if (unmet !== undefined) return unmet;
  return undefined;
}

/**
 * Result of {@link inputsVerdict}. `met`: the inputs meet all conditions. `unneeded`: some input violates a
 * condition, but all bits are exact. `other bits`: some bits of output element `point` may be wrong.
 */
export type InputsVerdict =
  | { readonly kind: "met" }
  | { readonly kind: "unneeded"; readonly unmet: UnmetCondition }
  | {
      readonly kind: "other bits";
      /**
       * Coordinates of the first output element for which a step may give wrong bits; for a scatter, of the
       * element that the first such point writes.
       */
      readonly point: readonly number[];
      readonly step: string;
      /** An element that it is made from. */
      readonly unmet: UnmetCondition;
    };

/**
 * Returns whether an Ascend core computes exact bits for the given inputs. Each output element that uses an
 * input element outside the conditions `assumes` is checked step by step; for a scatter, from the first point
 * that brings such an element.
 */
export function inputsVerdict(mapped: MappedInputs, assumes: readonly ElementCondition[]): InputsVerdict {
  if (assumes.length === 0) return { kind: "met" };
  if (isScatter(mapped.map)) return scatterVerdict(mapped, assumes);
  const addresses = mapAddresses(mapped);
  const faultOf = stepRun(mapped, addresses);
  let first: UnmetCondition | undefined;
  for (const { point, unmet } of unmetElements(mapped, assumes, addresses)) {
    first ??= unmet;
    const step = faultOf(point);
    if (step !== undefined) return { kind: "other bits", point, step, unmet };
  }
  return first === undefined ? { kind: "met" } : { kind: "unneeded", unmet: first };
}

/**
 * Returns {@link inputsVerdict} of a scatter that combines floats. Ends at the first point with an index out
 * of range.
 */
function scatterVerdict(mapped: MappedInputs, assumes: readonly ElementCondition[]): InputsVerdict {
  const first = unmetCondition(mapped, assumes);
  if (first === undefined) return { kind: "met" };
  const { map, operands } = mapped;
  const { combine } = map.write;
  const { dtype } = outputOf(mapped).type;
  invariant(dtype === "f32" || dtype === "f16" || dtype === "bf16", "real numbers");
  invariant(combine !== "set", "conditions are on combinations");
  const types = map.reads.map(({ table }) => at(operands, table).type.dtype);
  const plan = valuePlan(map.value, types).steps;
  const addresses = mapAddresses(mapped);
  const { bitsAt } = elementReads(mapped, addresses);
  const { units: base } = unitsOf(baseBytes(mapped, map.write, outputOf(mapped)), dtype);
  const made = Array.from(base, (bits) => numberOf(dtype, bits));
  let old = 0;
  const constant =
    map.reads.length > 0
      ? undefined
      : numberOf(
          dtype,
          evaluator({ steps: plan }).element(() => 0),
        );
  const steps = stepsOfCombination(combine, dtype, constant);
  const numbers = stepNumbers(steps, () => old);
  const unmetOf = new Map<number, UnmetCondition>();
  for (const combined of combiningPoints(mapped, assumes, addresses)) {
    const { written, element } = combined;
    old = at(made, element);
    const unmet = unmetOf.get(element) ?? combined.unmet;
    const list = numbers(bitsAt);
    const step = unmet === undefined ? undefined : faultOfNumbers(steps, list);
    if (unmet !== undefined && step !== undefined) return { kind: "other bits", point: written, step, unmet };
    if (unmet !== undefined) unmetOf.set(element, unmet);
    made[element] = at(list, list.length - 1);
  }
  return { kind: "unneeded", unmet: first };
}

/**
 * Returns a function that evaluates one output element step by step. The function returns a text on the first
 * step for which an Ascend core may give wrong bits; undefined if there is none.
 */
function stepRun(
  mapped: MappedInputs,
  addresses: MapAddresses,
): (point: readonly number[]) => string | undefined {
  const { map, operands } = mapped;
  const { bitsAt } = elementReads(mapped, addresses);
  const types = map.reads.map(({ table }) => at(operands, table).type.dtype);
  const { steps, reduction } = valuePlan(map.value, types);
  let reduced = 0;
  const numbers = stepNumbers(steps, () => reduced);
  const elementsOf = stepNumbers(reduction?.steps ?? [], () => 0);
  /**
   * Returns the result of the reduction of an element, or the fault of one of its steps as text. Returns 0 if
   * there is no reduction.
   */
  const taken = (): number | string => {
    if (reduction === undefined) return 0;
    invariant(reduction.how !== "exact", "an exact sum is refused");
    const { op, start } = accumulators[reduction.how];
    const take = meaningOf(op, reduction.type);
    let [sum, count] = [start[reduction.type], 0];
    const walk = addresses.reduction?.()[Symbol.iterator]();
    while (walk?.next().done === false) {
      const list = elementsOf(bitsAt);
      const term = at(list, list.length - 1);
      const fault =
        faultOfNumbers(reduction.steps, list) ?? faultOfTaking(reduction.how, reduction.type, sum, term);
      if (fault !== undefined) return fault;
      sum = take(sum, term);
      count++;
    }
    return reducedTo(reduction.how, sum, count);
  };
  return (point) => {
    addresses.to(point);
    const sum = taken();
    if (typeof sum === "string") return sum;
    reduced = sum;
    return faultOfNumbers(steps, numbers(bitsAt));
  };
}
