/** An expression laid out in the order in which it is computed, for all that carry it out or cost it. */
import { at, invariant, type DType } from "../types.js";
import {
  isArithmeticType,
  isSourceType,
  isValueType,
  reductionsIn,
  type ArithmeticType,
  type Expression,
  type Operation,
  type Reduction,
  type SourceType,
  type ValueType,
} from "./expression.js";
import { bitsOfNumber, numberOf } from "./formats.js";
import { accumulators, castNumber, meanings, reducedTo } from "./ops.js";

/** One value, by the numbers of those that it is made from. */
export type ValueStep =
  | { readonly kind: "read"; readonly type: SourceType; readonly read: number }
  | { readonly kind: "number"; readonly type: ArithmeticType; readonly bits: number }
  | { readonly kind: "cast"; readonly type: ValueType; readonly from: SourceType; readonly of: number }
  | {
      readonly kind: "op";
      readonly type: ArithmeticType;
      readonly op: Operation;
      readonly of: readonly [number, number];
    }
  /** What the terms of the element come to. */
  | { readonly kind: "reduced"; readonly type: ArithmeticType };

/** How a term is computed, by the last of its steps, and what becomes of the terms. */
export interface TermSteps {
  readonly how: Reduction;
  readonly type: ArithmeticType;
  readonly steps: readonly ValueStep[];
}

/** How an element is computed, by the last of its steps; where it has terms, these come first. */
export interface ValuePlan {
  readonly steps: readonly ValueStep[];
  readonly terms?: TermSteps;
}

/** The steps of a well-typed expression over reads of these types. */
export function valuePlan(value: Expression, reads: readonly DType[]): ValuePlan {
  const [reducing] = reductionsIn(value);
  if (reducing === undefined) return { steps: stepsOf(value, reads) };
  const { how, of } = reducing;
  const steps = stepsOf(of, reads);
  const { type } = at(steps, steps.length - 1);
  invariant(isArithmeticType(type), `${how} of ${type}`);
  return { steps: stepsOf(value, reads, type), terms: { how, type, steps } };
}

/** An element that the expression names twice is read once. `reduced`: what its terms come to. */
function stepsOf(value: Expression, reads: readonly DType[], reduced?: ArithmeticType): readonly ValueStep[] {
  const steps: ValueStep[] = [];
  const known = new Map<number, number>();
  const push = (step: ValueStep): number => steps.push(step) - 1;
  const typeAt = (step: number): SourceType => {
    const found = steps[step]?.type;
    invariant(found !== undefined, `step ${step} has a type`);
    return found;
  };
  const visit = (node: Expression): number => {
    switch (node.kind) {
      case "read": {
        const type = reads[node.read];
        invariant(type !== undefined && isSourceType(type), `read ${node.read} has a type of values`);
        const step = known.get(node.read) ?? push({ kind: "read", type, read: node.read });
        known.set(node.read, step);
        return step;
      }
      case "number":
        return push(node);
      case "cast": {
        const of = visit(node.of);
        invariant(isValueType(node.to), `a cast to ${node.to}`);
        return push({ kind: "cast", type: node.to, from: typeAt(of), of });
      }
      case "op": {
        const of = [visit(node.of[0]), visit(node.of[1])] as const;
        const type = typeAt(of[0]);
        invariant(isArithmeticType(type), `${node.op} of ${type}`);
        return push({ kind: "op", type, op: node.op, of });
      }
      case "reduce":
        invariant(reduced !== undefined, `${node.how} stands inside a reduction`);
        return push({ kind: "reduced", type: reduced });
    }
  };
  visit(value);
  return steps;
}

/** Gives the bits of a read, by its number in the map. */
type BitsAt = (read: number) => number;

/** The terms that were taken in so far: what they come to before anything is made of it, and their number. */
export interface Taken {
  sum: number;
  count: number;
}

/** The definition of a value: what every backend computes in its own instructions. */
export interface Evaluator {
  /** The bits of an output element; `taken` has its terms, where it has any. */
  readonly element: (bitsAt: BitsAt, taken?: Taken) => number;
  /** No term yet. */
  readonly start: () => Taken;
  /** Takes in the next term. */
  readonly take: (taken: Taken, bitsAt: BitsAt) => void;
}

/** The evaluator of a value. */
export function evaluator({ steps, terms }: ValuePlan): Evaluator {
  let reduced = 0;
  const value = computed(steps, () => reduced);
  const { type } = at(steps, steps.length - 1);
  invariant(isValueType(type), `an output of ${type}`);
  const { how, type: termType, steps: ofTerm } = terms ?? { how: "fold", type: "u32", steps: [] };
  const { op, start } = accumulators[how];
  const takes = meanings[termType][op];
  const term = computed(ofTerm, () => 0);
  return {
    element(bitsAt, taken) {
      if (taken !== undefined) reduced = reducedTo(how, taken.sum, taken.count);
      return bitsOfNumber(type, value(bitsAt));
    },
    start: () => ({ sum: start[termType], count: 0 }),
    take(taken, bitsAt) {
      taken.sum = takes(taken.sum, term(bitsAt));
      taken.count++;
    },
  };
}

/** The number that the last of some steps comes to. */
function computed(steps: readonly ValueStep[], reduced: () => number): (bitsAt: BitsAt) => number {
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
        const meaning = meanings[step.type][step.op];
        const [a, b] = step.of;
        return () => meaning(values[a] ?? 0, values[b] ?? 0);
      }
      case "reduced":
        return reduced;
    }
  });
  return (bitsAt) => {
    for (let k = 0; k < run.length; k++) values[k] = run[k]?.(bitsAt) ?? 0;
    return values[values.length - 1] ?? 0;
  };
}
