/**
 * Which step of a value an Ascend core may compute with other bits. PTO-ISA and PyPTO programs end in the same instructions.
 *
 * Sources, hw-native-sys/pto-isa at 3186c381: docs/isa/state-and-types/type-system.md lets cores flush subnormals of f32 and leaves a cast
 * of a float past an integer's range undefined. The pages of TADD, TSUB, TMUL, TMIN and TMAX, under docs/isa, state neither what happens
 * past the range of an integer nor what a minimum is of a NaN or of two zeros.
 */
import type { AccessMap } from "../ir/access.js";
import { at, isPacked, type TensorType } from "../ir/types.js";
import {
  accumulators,
  isFloatValue,
  isRealSource,
  valuePlan,
  type ArithmeticType,
  type Operation,
  type TermSteps,
  type ValueStep,
} from "../ir/values/index.js";

/** `why` is absent where the documents leave nothing open. */
interface Named {
  readonly what: string;
  readonly why?: string;
}

const whyOperation = (op: Operation, type: ArithmeticType): string | undefined => {
  const compares = op === "min" || op === "max";
  if (type === "f32")
    return compares
      ? "PTO-ISA does not say what it gives for NaN and for zeros of two signs"
      : "Ascend cores may flush subnormals to zero";
  return compares ? undefined : "PTO-ISA does not say that it wraps";
};

const named = (what: string, why: string | undefined): Named =>
  why === undefined ? { what } : { what, why };

function nameOf(step: ValueStep): readonly Named[] {
  switch (step.kind) {
    case "op":
      return [named(`${step.op} of ${step.type}`, whyOperation(step.op, step.type))];
    case "cast": {
      const { from, type } = step;
      const what = `a cast of ${from} to ${type}`;
      if (isPacked(from)) return [named(what, "no instruction reads elements that share a byte")];
      const saturates = isRealSource(from) && !isFloatValue(type);
      return [named(what, saturates ? "PTO-ISA leaves it undefined outside the range" : undefined)];
    }
    case "read":
    case "number":
    case "reduced":
      return [];
  }
}

const nameOfTerms = (terms: TermSteps): Named => {
  const what = `${terms.how} of ${terms.type}`;
  return terms.how === "exact"
    ? { what, why: "PTO-ISA has no such reduction" }
    : named(what, whyOperation(accumulators[terms.how].op, terms.type));
};

/**
 * The first step of a computed value whose bits an Ascend core may not give, with the reason, or its first step where the documents leave
 * none open. `inputs`: the types that the map's reads are from. Terms are computed before what stands around them.
 */
export function beyondAscend({ value, reads }: AccessMap, inputs: readonly TensorType[]): string {
  const { steps, terms } = valuePlan(
    value,
    reads.map(({ table }) => at(inputs, table).dtype),
  );
  const all = [
    ...(terms === undefined ? [] : [...terms.steps.flatMap(nameOf), nameOfTerms(terms)]),
    ...steps.flatMap(nameOf),
  ];
  const { what, why } = all.find((step) => step.why !== undefined) ?? at(all, 0);
  return why === undefined ? what : `${what}: ${why}`;
}

/** What computes any value with the bits that it states. */
export const computesValues =
  "for the stated bits: --target webgpu --emit wgsl, or --target cpu --emit module-cpu";
