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

/**
 * Step of an expression in evaluation order, which computes one value. `of`: 0-based indices of the earlier
 * steps that compute the operands.
 */
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
  /** Result of the element's reduction. */
  | { readonly kind: "reduced"; readonly type: ArithmeticType };

/**
 * Steps, in evaluation order, that compute an output element. `reduction`: the steps that compute one of the
 * elements that a reduction combines; absent if the expression has no reduction.
 */
export interface ValueSteps {
  readonly steps: readonly ValueStep[];
  readonly reduction?: {
    readonly how: Reduction;
    readonly type: ArithmeticType;
    readonly steps: readonly ValueStep[];
  };
}

/**
 * Returns the steps, in evaluation order, that compute a well-typed expression. A reduction, if present, has
 * a separate list of steps. `reads`: the element type of each read.
 */
export function valueSteps(value: Expression, reads: readonly DType[]): ValueSteps {
  const [reducing] = reductionsIn(value);
  if (reducing === undefined) return { steps: stepsOf(value, reads) };
  const { how, of } = reducing;
  const steps = stepsOf(of, reads);
  const { type } = at(steps, steps.length - 1);
  invariant(isArithmeticType(type), `${how} of ${type}`);
  return { steps: stepsOf(value, reads, type), reduction: { how, type, steps } };
}

/**
 * Returns the steps, in evaluation order, that compute an expression. `reads`: the element type of each read.
 * `reduced`: type of the reduction's result; undefined without a reduction.
 */
function stepsOf(value: Expression, reads: readonly DType[], reduced?: ArithmeticType): readonly ValueStep[] {
  const steps: ValueStep[] = [];
  const numbers = new Map<number, number>();
  const push = (step: ValueStep): number => steps.push(step) - 1;
  const typeAt = (step: number): SourceType => {
    const type = steps[step]?.type;
    invariant(type !== undefined, `step ${step} has a type`);
    return type;
  };
  const visit = (node: Expression): number => {
    switch (node.kind) {
      case "read": {
        const type = reads[node.read];
        invariant(type !== undefined && isSourceType(type), `read ${node.read} has a type of values`);
        const step = numbers.get(node.read) ?? push({ kind: "read", type, read: node.read });
        numbers.set(node.read, step);
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
        invariant(reduced !== undefined, `${node.how} is inside another reduction`);
        return push({ kind: "reduced", type: reduced });
    }
  };
  visit(value);
  return steps;
}
