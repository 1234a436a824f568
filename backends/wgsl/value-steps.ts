/** The text of each step of a value, and the functions that it calls. */
import { assertNever, at, bitsOf, invariant, isSigned } from "../../ir/types.js";
import {
  accumulators,
  bitsOfNumber,
  floatFormats,
  integerRanges,
  isFloatValue,
  isRealSource,
  numberOf,
  type ArithmeticType,
  type FloatValueType,
  type Operation,
  type SourceType,
  type ReductionSteps,
  type ValueStep,
  type ValueType,
} from "../../ir/values/index.js";
import { stillSteps } from "../plan/still-steps.js";
import { helperSize, type HelperName } from "./value-helpers.js";
import type { ProvedValue, StepProof } from "./value-proofs.js";
import type { ReadAlong } from "./value-unit.js";

/**
 * Function that receives the name and arguments of a call of a WGSL helper function. Returns the WGSL text of
 * the call, or an empty text if the function only collects names.
 */
export type Call = (name: HelperName, ...args: readonly (string | number)[]) => string;

/** Returns the names of the WGSL helper functions that the text of a computed value calls. */
export function valueHelpers({ plan: { steps, reduction }, proofs }: ProvedValue): ReadonlySet<HelperName> {
  const names = new Set<HelperName>();
  const call: Call = (name) => {
    names.add(name);
    return "";
  };
  steps.forEach((step, k) => stepText(step, proofs.steps[k], () => "", call));
  if (reduction !== undefined) {
    reduction.steps.forEach((step, k) => stepText(step, proofs.ofReduction[k], () => "", call));
    takenText(reduction, proofs.take, "", "", call);
    reducedText(reduction, proofs.take, "", call);
  }
  return names;
}

/** Returns the WGSL text of a call of a helper function. */
export const printed: Call = (name, ...args) => `${name}(${args.join(", ")})`;

/**
 * Returns the WGSL expression of one step; an empty text for a step that reads an element or the combined
 * reduction elements. `value`: returns the WGSL text of an earlier step.
 */
export function stepText(
  step: ValueStep,
  proof: StepProof | undefined,
  value: (of: number) => string,
  call: Call,
): string {
  switch (step.kind) {
    case "read":
    case "reduced":
      return "";
    case "number":
      // A NaN has its one form.
      return `${bitsOfNumber(step.type, numberOf(step.type, step.bits))}u`;
    case "cast":
      return castText(step.from, step.type, proof, value(step.of), call);
    case "op":
      return opText(step.op, step.type, proof, value(step.of[0]), value(step.of[1]), call);
    default:
      return assertNever(step);
  }
}

const infix = { add: "+", sub: "-", mul: "*" } as const;

/**
 * Returns the WGSL expression of an operation on two values. An f32 operation calls a helper function, or
 * uses the device's f32 if `proof` allows that.
 */
function opText(
  op: Operation,
  type: ArithmeticType,
  proof: StepProof | undefined,
  a: string,
  b: string,
  call: Call,
): string {
  if (type === "f32" && proof?.kind === "native") return nativeText(op, a, b);
  const sum = proof === undefined ? "f32_add" : "f32_add_exact";
  switch (op) {
    case "add":
      return type === "f32" ? call(sum, a, b) : `${a} ${infix[op]} ${b}`;
    case "sub":
      return type === "f32" ? call(sum, a, `${b} ^ 0x80000000u`) : `${a} ${infix[op]} ${b}`;
    case "mul":
      return type === "f32" ? productText(proof, a, b, call) : `${a} ${infix[op]} ${b}`;
    case "div":
      invariant(type === "f32", `${op} of ${type}`);
      return call("f32_div", a, b);
    case "min":
    case "max":
      if (type === "f32") return call(`f32_${op}`, a, b);
      return type === "u32"
        ? `${op}(${a}, ${b})`
        : `bitcast<u32>(${op}(bitcast<i32>(${a}), bitcast<i32>(${b})))`;
    default:
      return assertNever(op);
  }
}

/**
 * Returns the WGSL expression of an f32 operation in the device's arithmetic. `a`, `b`: WGSL texts of the
 * operands' bits.
 */
function nativeText(op: Operation, a: string, b: string): string {
  const [x, y] = [a, b].map((bits) => `bitcast<f32>(${bits})`);
  switch (op) {
    case "add":
    case "sub":
    case "mul":
      return `bitcast<u32>(${x} ${infix[op]} ${y})`;
    case "div":
      return `bitcast<u32>(${x} / ${y})`;
    case "min":
    case "max":
      return `bitcast<u32>(${op}(${x}, ${y}))`;
    default:
      return assertNever(op);
  }
}

function productText(proof: StepProof | undefined, a: string, b: string, call: Call): string {
  if (proof === undefined) return call("f32_mul", a, b);
  if (proof.kind !== "few") return call("f32_mul_exact", a, b);
  const [few, other] = proof.of === 0 ? [a, b] : [b, a];
  return call("f32_mul_few", few, `${proof.digits}u`, other);
}

/** Returns the WGSL expression that casts a value from one type to another. */
function castText(
  from: SourceType,
  to: ValueType,
  proof: StepProof | undefined,
  value: string,
  call: Call,
): string {
  if (isRealSource(from)) {
    const isUnpacked = from === "f16" && proof?.kind === "native";
    const wide =
      from === "f32"
        ? value
        : isUnpacked
          ? `bitcast<u32>(unpack2x16float(${value}).x)`
          : call(`${from}_to_f32`, value);
    if (isFloatValue(to)) return narrowed(to, wide, call);
    const [lowest, highest] = integerRanges[to];
    return call("f32_to_whole", wide, `${-lowest}u`, `${highest}u`);
  }
  if (isFloatValue(to)) {
    if (proof?.kind === "native")
      return narrowed(to, `bitcast<u32>(f32(${isSigned(from) ? `bitcast<i32>(${value})` : value}))`, call);
    if (proof !== undefined) {
      const integer = isSigned(from)
        ? call("f32_from_whole", `bitcast<i32>(${value})`)
        : call("f32_from_natural", value);
      return narrowed(to, integer, call);
    }
    const negative = isSigned(from) ? `${value} >> 31u` : "0u";
    const magnitude = isSigned(from) ? `select(${value}, 0u - ${value}, (${value} >> 31u) == 1u)` : value;
    const { digits, least, infinity } = floatFormats[to];
    // An integer that f32 rounds is beyond f16 either way.
    return to === "bf16"
      ? call("pack", negative, "0u", magnitude, 0, `${digits}u`, least, `${infinity}u`)
      : narrowed(to, call("f32_from_word", negative, magnitude, 0), call);
  }
  const bits = bitsOf(to);
  if (bits === 32) return value;
  return isSigned(to)
    ? `bitcast<u32>(extractBits(bitcast<i32>(${value}), 0u, ${bits}u))`
    : `${value} & ${2 ** bits - 1}u`;
}

/** Returns the text of an f32 rounded to a type. */
const narrowed = (to: FloatValueType, value: string, call: Call): string =>
  to === "f32" ? value : call(`f32_to_${to}`, value);

/**
 * Returns the WGSL expression that combines an accumulator with one more reduction element. `sum`, `element`:
 * WGSL texts of the accumulator and of the element.
 */
export function takenText(
  reduction: ReductionSteps,
  proof: StepProof | undefined,
  sum: string,
  element: string,
  call: Call,
): string {
  return reduction.how === "exact"
    ? call("exact_add", sum, element, reduction.unit)
    : opText(accumulators[reduction.how].op, reduction.type, proof, sum, element, call);
}

/**
 * Returns the WGSL expression for the combined value of an output element's reduction elements, computed from
 * the accumulator `sum`. The mean, minimum or maximum of no elements is 0.
 */
export function reducedText(
  reduction: ReductionSteps,
  proof: StepProof | undefined,
  sum: string,
  call: Call,
): string {
  switch (reduction.how) {
    case "fold":
      return sum;
    case "exact":
      return call("exact_sum", sum, reduction.unit);
    case "mean":
      return proof?.kind === "native"
        ? `select(0u, bitcast<u32>(bitcast<f32>(${sum}) / f32(max(terms, 1u))), terms != 0u)`
        : `select(0u, ${call("f32_div_count", sum, "max(terms, 1u)")}, terms != 0u)`;
    case "max":
    case "min":
      return `select(0u, ${sum}, terms != 0u)`;
  }
}

/**
 * Returns the number of statements by which a kernel's text grows if each lane computes one more neighbouring
 * element. Statements of called helper functions are included.
 */
export function sizeOfElement(
  { plan: { steps, reduction }, proofs }: ProvedValue,
  reads: readonly ReadAlong[],
): number {
  let size = 0;
  const call: Call = (name) => {
    size += helperSize(name);
    return "";
  };
  const add = (
    list: readonly ValueStep[],
    proofs: readonly (StepProof | undefined)[],
    sumIsStill: boolean,
  ): boolean => {
    const still = stillSteps(list, (read) => at(reads, read) === "still", sumIsStill);
    list.forEach((step, k) => {
      if (at(still, k)) return;
      size++;
      stepText(step, proofs[k], () => "", call);
    });
    return at(still, list.length - 1);
  };
  const sumIsStill = reduction === undefined || add(reduction.steps, proofs.ofReduction, true);
  if (reduction !== undefined && !sumIsStill) {
    takenText(reduction, proofs.take, "", "", call);
    reducedText(reduction, proofs.take, "", call);
  }
  add(steps, proofs.steps, sumIsStill);
  return size;
}
