/**
 * Steps of a value that WGSL's own f32 computes to the last bit, each with its proof. WGSL may flush
 * subnormals, drop the sign of a zero and take every float to be finite; a sum or product that f32 holds
 * exactly is right under all of that, once its operands are tested finite and the sign of a zero is set
 * (WGSL, 15.7 Floating Point Evaluation).
 */
import { defined } from "../../ir/defined.js";
import { at } from "../../ir/types.js";
import {
  floatFormats,
  gridOfSum,
  gridsOf,
  isFloatValue,
  isRealSource,
  type GridResult,
  type ValueGrid,
  type ValuePlan,
  type ValueStep,
} from "../../ir/values/index.js";
import type { Arithmetic } from "./arithmetic.js";

const { f32 } = floatFormats;

/** Digits of a number whose product with any f32 takes 32 bits at most. */
const fewDigits = 32 - f32.digits;

/**
 * Reason why a step needs no 64-bit integer arithmetic. Unless the kind is `native`, the reason proves that
 * the device's f32 or 32-bit result has the reference's bits.
 */
export type StepProof =
  /** No proof: the caller accepts the device's own f32 result. */
  | { readonly kind: "native" }
  /** Sum, difference or product that f32 represents exactly. */
  | { readonly kind: "exact"; readonly why: string }
  /** Integer that f32 represents exactly. */
  | { readonly kind: "whole"; readonly why: string }
  /**
   * A product of side `of`, a number of so many digits that is not subnormal, and any other: 32 bits hold its
   * digits.
   */
  | { readonly kind: "few"; readonly of: 0 | 1; readonly digits: number };

/**
 * Proofs, for the steps of a computed value and of a reduction element, that the device's result has the
 * reference's bits ({@link StepProof}). Entry k is for step k; undefined if the step has no proof.
 */
export interface ValueProofs {
  readonly steps: readonly (StepProof | undefined)[];
  readonly ofReduction: readonly (StepProof | undefined)[];
  /** Proof for combining the accumulator with one more reduction element. */
  readonly take?: StepProof;
}

/** Plan of the steps that compute an output element, with one proof per step or none. */
export interface ProvedValue {
  readonly plan: ValuePlan;
  readonly proofs: ValueProofs;
}

/**
 * Returns the plan of a computed value with a {@link StepProof} for each step whose result on the device is
 * proved to have the reference's bits. `maxReductionElements`: largest number of elements that one output
 * element reduces. With `native` arithmetic nothing is proved: an entry has the kind `native` or is
 * undefined.
 */
export const proveValue = (
  plan: ValuePlan,
  maxReductionElements: number,
  arithmetic: Arithmetic,
): ProvedValue => ({
  plan,
  proofs: arithmetic === "native" ? nativeProofs(plan) : proofsOf(plan, maxReductionElements),
});

/**
 * True if at least one step of the value is computed in the device's f32, because the caller requested native
 * arithmetic.
 */
export const isNative = ({ proofs }: ProvedValue): boolean =>
  [...proofs.steps, ...proofs.ofReduction, proofs.take].some((proof) => proof?.kind === "native");

const native: StepProof = { kind: "native" };

/** True if a device has the step of its own: an operation on f32, an integer as a float, an f16 as an f32. */
const isOfDevice = (step: ValueStep): boolean =>
  step.kind === "op"
    ? step.type === "f32"
    : step.kind === "cast" && isFloatValue(step.type) && (!isRealSource(step.from) || step.from === "f16");

/**
 * Returns the proof `native` for each step that native arithmetic leaves to the device, and undefined for all
 * other steps. The device computes f32 operations, casts of integers and f16 to float types, and f32
 * accumulation except for exact sums.
 */
function nativeProofs({ steps, reduction }: ValuePlan): ValueProofs {
  const ofSteps = (list: readonly ValueStep[]): readonly (StepProof | undefined)[] =>
    list.map((step) => (isOfDevice(step) ? native : undefined));
  return {
    steps: ofSteps(steps),
    ofReduction: ofSteps(reduction?.steps ?? []),
    ...(reduction?.type === "f32" && reduction.how !== "exact" ? { take: native } : {}),
  };
}

/**
 * Returns, for the steps that compute an output element and its reduction elements, the proofs that the
 * device's results have the reference's bits. `maxReductionElements`: maximum number of reduction elements of
 * one output element.
 */
function proofsOf({ steps, reduction }: ValuePlan, maxReductionElements: number): ValueProofs {
  if (reduction === undefined) return { steps: proveSteps(steps, gridsOf(steps)), ofReduction: [] };
  const reductionGrids = gridsOf(reduction.steps);
  const last = at(reductionGrids, reductionGrids.length - 1);
  const sum = sums(reduction.how) ? gridOfSum(last, maxReductionElements, reduction.type) : last;
  const take = sums(reduction.how) && reduction.type === "f32" ? exact(sum) : undefined;
  return {
    steps: proveSteps(steps, gridsOf(steps, reduction.how === "fold" ? sum : undefined)),
    ofReduction: proveSteps(reduction.steps, reductionGrids),
    ...defined({ take }),
  };
}

/** True if terms are added one after the other. */
const sums = (how: string): boolean => how === "fold" || how === "mean";

const proveSteps = (
  steps: readonly ValueStep[],
  grids: readonly GridResult[],
): readonly (StepProof | undefined)[] => steps.map((step, k) => proveStep(step, at(grids, k), grids));

/**
 * Returns the proof that the device's f32 or 32-bit result of a step has the reference's bits; undefined if
 * there is no proof. `grid`: magnitude, unit (a power of two) and significant bits of the step's result.
 * `grids`: these data for the results of all steps.
 */
function proveStep(step: ValueStep, grid: GridResult, grids: readonly GridResult[]): StepProof | undefined {
  switch (step.kind) {
    case "read":
    case "number":
    case "reduced":
      return undefined;
    case "cast": {
      const of = at(grids, step.of);
      const holds =
        !isRealSource(step.from) && isRealSource(step.type) && of.ok && of.grid.digits <= f32.digits;
      return holds
        ? { kind: "whole", why: `a whole number of ${count(of.grid.digits, "digit")}` }
        : undefined;
    }
    case "op": {
      if (step.type !== "f32" || step.op === "min" || step.op === "max") return undefined;
      return exact(grid) ?? (step.op === "mul" ? few(step.of.map((of) => at(grids, of))) : undefined);
    }
  }
}

/**
 * Returns the proof that f32 represents a step's result exactly, as a normal number or 0; undefined if the
 * bounds in `grid` do not prove it.
 */
function exact(grid: GridResult): StepProof | undefined {
  if (!grid.ok || !isNormal(grid.grid)) return undefined;
  const { digits, lsb } = grid.grid;
  return { kind: "exact", why: `${count(digits, "digit")} of ${f32.digits}, in units of 2^${lsb}` };
}

/** True if no value but 0 lies below the normal numbers. */
const isNormal = ({ lsb }: ValueGrid): boolean => lsb >= f32.least;

/**
 * Returns the proof that 32 bits hold all digits of a product: one operand has at most 8 significant bits and
 * is not subnormal. Undefined if neither operand is such a number.
 */
function few(sides: readonly GridResult[]): StepProof | undefined {
  for (const of of [0, 1] as const) {
    const side = sides[of];
    if (side?.ok !== true || !isNormal(side.grid) || side.grid.digits > fewDigits) continue;
    return { kind: "few", of, digits: side.grid.digits };
  }
  return undefined;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;
