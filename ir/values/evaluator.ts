/** The definition of a value: its steps on numbers, and what its terms come to. */
import { at, invariant, type DType } from "../types.js";
import { isValueType, type ArithmeticType, type Expression } from "./expression.js";
import { bitsOfNumber, numberOf } from "./formats.js";
import { gridOfLast } from "./grid.js";
import {
  accumulators,
  castNumber,
  meaningOf,
  reducedTo,
  roundedUnits,
  type StepwiseReduction,
} from "./ops.js";
import { valueSteps, type ValueStep } from "./steps.js";

/**
 * Kind of a reduction, and the steps (operations in evaluation order) that compute one of the elements that
 * the reduction combines.
 */
export type ReductionSteps = { readonly type: ArithmeticType; readonly steps: readonly ValueStep[] } & (
  | { readonly how: StepwiseReduction }
  /** Each combined element is a multiple of 2^`unit`. */
  | { readonly how: "exact"; readonly unit: number }
);

/**
 * Steps (operations in evaluation order) that compute an output element; the last step yields the element.
 * `reduction`: steps of the reduction, executed first.
 */
export interface ValuePlan {
  readonly steps: readonly ValueStep[];
  readonly reduction?: ReductionSteps;
}

/**
 * Returns the steps (operations in evaluation order) that compute a well-typed expression. `reads`: element
 * types of the reads.
 */
export function valuePlan(value: Expression, reads: readonly DType[]): ValuePlan {
  const { steps, reduction } = valueSteps(value, reads);
  if (reduction === undefined) return { steps };
  const { how, ...rest } = reduction;
  if (how !== "exact") return { steps, reduction: { how, ...rest } };
  const grid = gridOfLast(reduction.steps);
  invariant(grid.ok, "the terms of an exact sum are proved to have a unit");
  return { steps, reduction: { how, unit: grid.grid.lsb, ...rest } };
}

/**
 * Function that returns the bits of an element that an expression reads. `read`: index of the read in the
 * access map.
 */
export type BitsAt = (read: number) => number;

/** State of a reduction: the accumulated result, and the number of elements combined. */
export interface Taken {
  /**
   * Accumulated value. For the reduction `exact`, `sum` adds only the elements that are NaN or infinite (0 if
   * there are none), and `units` adds the finite elements.
   */
  sum: number;
  count: number;
  /** Sum of the finite elements of an exact sum, as a multiple of 2^`unit`. */
  units: bigint;
}

/**
 * Functions that compute an output element, and that execute a reduction one element at a time. The results
 * are the reference for all backends.
 */
export interface Evaluator {
  /** Returns the bits of an output element. `taken`: the state of its reduction, if there is one. */
  readonly element: (bitsAt: BitsAt, taken?: Taken) => number;
  /** Returns the state of a reduction before the first element. */
  readonly start: () => Taken;
  /** Combines the next element into the state `taken`. */
  readonly take: (taken: Taken, bitsAt: BitsAt) => void;
  /** Returns the state as 32-bit words; {@link wordsOfSum} gives their number. */
  readonly words: (taken: Taken) => readonly number[];
  /** Returns the state that such words represent after `count` elements. */
  readonly ofWords: (words: readonly number[], count: number) => Taken;
}

/**
 * Returns the functions of an {@link Evaluator}: one computes an output element, the others execute a
 * reduction. `steps`: operations that compute the output element. `reduction`: kind of the reduction, and
 * operations that compute one reduction element.
 */
export function evaluator({ steps, reduction }: ValuePlan): Evaluator {
  let reduced = 0;
  const value = computed(steps, () => reduced);
  const { type } = at(steps, steps.length - 1);
  invariant(isValueType(type), `an output of ${type}`);
  const reducing = reduction ?? { how: "fold", type: "u32", steps: [] };
  const elementOf = computed(reducing.steps, () => 0);
  const { result, ...taking } =
    reducing.how === "exact"
      ? exactSum(reducing.unit, elementOf)
      : stepwise(reducing.how, reducing.type, elementOf);
  return {
    element(bitsAt, taken) {
      if (taken !== undefined) reduced = result(taken);
      return bitsOfNumber(type, value(bitsAt));
    },
    ...taking,
  };
}

/** Functions that take terms in, and what they come to. */
interface Taking extends Omit<Evaluator, "element"> {
  readonly result: (taken: Taken) => number;
}

type ElementOf = (bitsAt: BitsAt) => number;

/**
 * Returns the functions that execute a reduction one element at a time: start, combine an element, convert
 * the state to 32-bit words and back, and compute the result. `type`: type of the operation. `elementOf`:
 * computes a reduction element.
 */
function stepwise(how: StepwiseReduction, type: ArithmeticType, elementOf: ElementOf): Taking {
  const { op, start } = accumulators[how];
  const takes = meaningOf(op, type);
  return {
    result: ({ sum, count }) => reducedTo(how, sum, count),
    start: () => ({ sum: start[type], count: 0, units: 0n }),
    take(taken, bitsAt) {
      taken.sum = takes(taken.sum, elementOf(bitsAt));
      taken.count++;
    },
    words: ({ sum }) => [bitsOfNumber(type, sum)],
    ofWords: ([bits = 0], count) => ({ sum: numberOf(type, bits), count, units: 0n }),
  };
}

/**
 * Returns the functions that execute an exact sum: start, add an element, convert the state to 32-bit words
 * and back, and compute the result. Finite elements are added as multiples of 2^`unit`. `elementOf`: computes
 * a reduction element.
 */
function exactSum(unit: number, elementOf: ElementOf): Taking {
  const scale = 2 ** -unit;
  const add = meaningOf("add", "f32");
  return {
    result: ({ sum, units }) => (sum === 0 ? roundedUnits(units, unit) : sum),
    start: () => ({ sum: 0, count: 0, units: 0n }),
    take(taken, bitsAt) {
      const value = elementOf(bitsAt);
      if (Number.isFinite(value)) taken.units += BigInt(value * scale);
      else taken.sum = add(taken.sum, value);
      taken.count++;
    },
    words: ({ sum, units }) => [
      Number(BigInt.asUintN(32, units)),
      Number(BigInt.asUintN(32, units >> 32n)),
      bitsOfNumber("f32", sum),
    ],
    ofWords: ([low = 0, high = 0, bits = 0], count) => ({
      sum: numberOf("f32", bits),
      count,
      units: BigInt.asIntN(64, BigInt(low) | (BigInt(high) << 32n)),
    }),
  };
}

/** Returns the number that the last of some steps comes to. */
function computed(steps: readonly ValueStep[], reduced: () => number): (bitsAt: BitsAt) => number {
  const numbers = stepNumbers(steps, reduced);
  return (bitsAt) => numbers(bitsAt)[steps.length - 1] ?? 0;
}

/**
 * Returns a function that computes the results of all steps (operations in evaluation order), as a list by
 * step number. Every call overwrites the list of the previous call. `reduced`: returns the result of the
 * reduction.
 */
export function stepNumbers(
  steps: readonly ValueStep[],
  reduced: () => number,
): (bitsAt: BitsAt) => readonly number[] {
  const values = steps.map(() => 0);
  const run = steps.map((step): ((bitsAt: BitsAt) => number) => {
    switch (step.kind) {
      case "read":
        return (bitsAt) => numberOf(step.type, bitsAt(step.read));
      case "number": {
        const value = numberOf(step.type, step.bits);
        return () => value;
      }
      case "cast":
        return () => castNumber(step.from, step.type, values[step.of] ?? 0);
      case "op": {
        const meaning = meaningOf(step.op, step.type);
        const [a, b] = step.of;
        return () => meaning(values[a] ?? 0, values[b] ?? 0);
      }
      case "reduced":
        return reduced;
    }
  });
  return (bitsAt) => {
    for (let k = 0; k < run.length; k++) values[k] = run[k]?.(bitsAt) ?? 0;
    return values;
  };
}
