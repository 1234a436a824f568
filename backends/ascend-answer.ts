/**
 * The bits of a value on an Ascend core: proved, under conditions on the elements, or refused by the step
 * that may give others. PTO-ISA and PyPTO programs end in the same instructions.
 *
 * The documents contradict each other on subnormals of f32. hw-native-sys/pto-isa at 3186c381,
 * docs/isa/state-and-types/type-system.md: A2 and A3 flush them, operands too, A5 by default. asc-devkit at
 * 82b89a15, docs/zh/api, "Reg矢量计算接口精度标准汇总", table 1: additions and products of the 950 support them. Neither
 * says whether what is tiny is found before or after rounding. So a step counts where no subnormal can occur
 * in it. Subnormal results of f16 do occur: asc-devkit's precision_conversion.md casts 2.90573e-06 to one.
 *
 * PTO-ISA leaves a cast of a float past an integer's range undefined (the same page). The pages of TADD,
 * TSUB, TMUL, TMIN and TMAX, under docs/isa, state neither what happens past the range of an integer nor what
 * a minimum is of a NaN or of two zeros. No page states the payload of a NaN.
 */
import { baseFill, gatheredTable, isMove, isScatter, writtenIndices, type AccessMap } from "../ir/access.js";
import { inputsOf, keyOf, outputOf, type Operand } from "../ir/func.js";
import { carryingDims } from "../ir/tiling/point-order.js";
import { at, elementCount, isPacked, type DType } from "../ir/types.js";
import type { Combination } from "../ir/values/combine.js";
import { isFloat8Source, isValueType, readsIn, typeOf, type Reduction } from "../ir/values/expression.js";
import { floatFormats } from "../ir/values/formats.js";
import {
  bitsOfNumber,
  evaluator,
  isFloatValue,
  isRealSource,
  numberOf,
  valuePlan,
  type ArithmeticType,
  type FloatValueType,
  type ValueStep,
} from "../ir/values/index.js";
import {
  combined,
  dyadic,
  eitherMagnitude,
  f32Limit,
  fitsInteger,
  foldMagnitude,
  inType,
  isLess,
  leastNormal,
  magnitudeOfNumber,
  magnitudeOfType,
  magnitudes,
  largestOf,
  exactSum,
  type Dyadic,
  type ElementBounds,
  type Magnitude,
} from "../ir/values/magnitude.js";
import { valueSteps } from "../ir/values/steps.js";
import { castChain } from "../ir/values/vector-steps.js";
import type { MappedOperands } from "./resolved-indices.js";

/**
 * Condition on the elements of an operand that enter a computation: all these elements are finite. `least`:
 * each element is 0 or has a magnitude of at least 2^`least`. `below`: each magnitude is below 2^`below`.
 */
export interface ElementCondition {
  /** The operand's key. */
  readonly operand: string;
  readonly finite: true;
  readonly least?: number;
  readonly below?: number;
}

/**
 * Answer whether an Ascend core computes a value with exactly the bits that the program specifies. `assumes`:
 * conditions that must hold. `refused`: the step that may give wrong bits.
 */
export type AscendAnswer =
  | { readonly ok: true; readonly assumes: readonly ElementCondition[] }
  | { readonly ok: false; readonly refused: string };

/** Returns the text of a condition for comments and messages, for example `data: finite, below 2^100`. */
export const conditionText = ({ operand, least, below }: ElementCondition): string =>
  [
    `${operand}: finite`,
    ...(least === undefined ? [] : [`0 or at least 2^${least}`]),
    ...(below === undefined ? [] : [`below 2^${below}`]),
  ].join(", ");

/** A step that may give other bits, and which bound of elements helps. */
interface Fault {
  readonly what: string;
  readonly why: string;
  readonly helps: "least" | "below" | "nothing";
}

const flushes = "Ascend cores may flush subnormals to zero";
const overflows = "it may leave the range, where machines saturate or give infinities";
const undefinedCast = "PTO-ISA leaves it undefined outside the range";
const wraps = "PTO-ISA does not say that it wraps";
const compares = "PTO-ISA does not say what it gives for NaN and for zeros of two signs";
const comparesSigned = "PTO-ISA compares u32 as i32";
const unclaimed = "no page states the bits of what is made of a NaN, and machines may saturate infinities";
const divides = "no page says how a quotient rounds on A2 and A3";

/** True if no value is a subnormal of f32. */
const isSafe = ({ unit, least, low, high }: Magnitude): boolean =>
  unit >= leastNormal || least >= leastNormal || isAwayFromZero(low, high);

/** True if all values from `low` to `high` are zero, or normal numbers of one sign. */
function isAwayFromZero(low: Dyadic, high: Dyadic): boolean {
  if (low.units === 0n && high.units === 0n) return true;
  const size = low.units > 0n ? low : { ...high, units: -high.units };
  return size.units > 0n && !isLess(size, dyadic(1n, leastNormal));
}

/** Casts of numbers of at least this size give infinities. */
const limitOf: Readonly<Record<FloatValueType, Dyadic>> = {
  f16: dyadic(65520n),
  bf16: dyadic((1n << 9n) - 1n, f32Limit - 9),
  f32: dyadic((1n << 25n) - 1n, f32Limit - 25),
};

const isWhole32 = (value: Magnitude, type: "i32" | "u32"): boolean =>
  fitsInteger(value, type) && fitsInteger(value, "i32");

/**
 * Returns the reasons why an Ascend core may give wrong bits for a cast; an empty list if there are none.
 * Field `helps` of a reason: the kind of bound on the elements that removes the reason. `value`: magnitude of
 * the number that is cast.
 */
function faultsOfCast(
  { from, type }: Extract<ValueStep, { readonly kind: "cast" }>,
  value: Magnitude,
): readonly Omit<Fault, "what">[] {
  const refuse = (why: string): readonly Omit<Fault, "what">[] => [{ why, helps: "nothing" }];
  if (isPacked(from)) return refuse("no instruction reads elements that share a byte");
  if (isFloat8Source(from) || castChain(from, type) === undefined)
    return refuse(`PTO-ISA has no conversion of ${from} on every core`);
  if (!isFloatValue(type)) {
    // Numbers become u32 by way of i32.
    const fits = type === "u32" ? isWhole32(value, type) : fitsInteger(value, type);
    if (!isRealSource(from) || (value.finite && fits)) return [];
    const signed = type.startsWith("i") || value.low.units >= 0n;
    return [{ why: undefinedCast, helps: signed ? "below" : "nothing" }];
  }
  if (!isRealSource(from)) {
    if (from === "u32" && !fitsInteger(value, "i32")) return refuse("PTO-ISA has no conversion of u32");
    const twice =
      (from === "i32" || from === "u32") && type !== "f32" && isLess(dyadic(1n, 24), largestOf(value));
    if (twice) return [{ why: "it would round twice", helps: "below" }];
  }
  return [
    ...((from === "f32" || from === "bf16") && !isSafe(value)
      ? [{ why: flushes, helps: "least" } as const]
      : []),
    ...(isLess(largestOf(value), limitOf[type]) ? [] : [{ why: overflows, helps: "below" } as const]),
  ];
}

/**
 * Returns the reasons why an Ascend core may give wrong bits for a sum; an empty list if there are none.
 * Field `helps` of a reason: the kind of bound on the elements that removes the reason. `value`: magnitude of
 * the exact sum.
 */
function faultsOfSum(value: Magnitude, type: ArithmeticType): readonly Omit<Fault, "what">[] {
  if (type !== "f32") return isWhole32(value, type) ? [] : [{ why: wraps, helps: "below" }];
  return [
    ...(isSafe(value) ? [] : [{ why: flushes, helps: "least" } as const]),
    ...(isLess(largestOf(inType(value, "f32")), dyadic(1n, f32Limit))
      ? []
      : [{ why: overflows, helps: "below" } as const]),
  ];
}

/**
 * Returns the reasons why an Ascend core may give wrong bits for an arithmetic operation; an empty list if
 * there are none. Field `helps` of a reason: the kind of bound on the elements that removes the reason.
 * `operands`: magnitude of the result of each earlier step.
 */
function faultsOfOperation(
  { op, type, of }: Extract<ValueStep, { readonly kind: "op" }>,
  steps: readonly ValueStep[],
  operands: readonly Magnitude[],
): readonly Omit<Fault, "what">[] {
  if (op === "div") return [{ why: divides, helps: "nothing" }];
  const [a, b] = [at(operands, of[0]), at(operands, of[1])];
  const exact = combined(op, a, b);
  if (op === "min" || op === "max") {
    if (type === "f32" && (a.negativeZero || b.negativeZero)) return [{ why: compares, helps: "nothing" }];
    if (type === "u32" && !(fitsInteger(a, "i32") && fitsInteger(b, "i32")))
      return [{ why: comparesSigned, helps: "below" }];
  }
  const sides =
    type === "f32" && !(isSafe(a) && isSafe(b)) ? [{ why: flushes, helps: "least" } as const] : [];
  // A number less a row is printed as the row times -1, plus the number.
  const turned = type !== "f32" && op === "sub" && at(steps, of[0]).kind === "number";
  const minus = { ...b, low: { ...b.high, units: -b.high.units }, high: { ...b.low, units: -b.low.units } };
  return [
    ...sides,
    ...faultsOfSum(exact, type),
    ...(turned && !fitsInteger(minus, "i32") ? [{ why: wraps, helps: "below" } as const] : []),
  ];
}

/**
 * Returns the faults of all steps of a value, in order. A fault is a reason why an Ascend core may give wrong
 * bits for a step. `magnitudesOfSteps`: magnitude of each step's result.
 */
function faultsOf(steps: readonly ValueStep[], magnitudesOfSteps: readonly Magnitude[]): readonly Fault[] {
  return steps.flatMap((step, k) => {
    const named = (what: string, faults: readonly Omit<Fault, "what">[]): readonly Fault[] =>
      faults.map((fault) => ({ what, ...fault }));
    switch (step.kind) {
      case "op":
        return named(`${step.op} of ${step.type}`, faultsOfOperation(step, steps, magnitudesOfSteps));
      case "cast":
        return named(
          `a cast of ${step.from} to ${step.type}`,
          faultsOfCast(step, at(magnitudesOfSteps, step.of)),
        );
      case "number":
        return at(magnitudesOfSteps, k).finite
          ? []
          : named(`a number of ${step.type}`, [{ why: "it is not finite", helps: "nothing" }]);
      case "read":
      case "reduced":
        return [];
    }
  });
}

interface Sum {
  readonly value: Magnitude;
  readonly faults: readonly Omit<Fault, "what">[];
}

/**
 * Returns the magnitude of the result of a reduction of at most `max` elements, and the reasons why an Ascend
 * core may give wrong bits. `element`: magnitude of one reduction element.
 */
function sumOf(how: Reduction, type: ArithmeticType, element: Magnitude, max: number): Sum {
  switch (how) {
    case "fold": {
      const value = type === "f32" ? foldMagnitude(element, max) : exactSum(element, max);
      const sides = type === "f32" && !isSafe(element) ? [{ why: flushes, helps: "least" } as const] : [];
      return { value, faults: [...sides, ...faultsOfSum(value, type)] };
    }
    case "max":
    case "min": {
      // An element without terms is +0.
      const value = exactSum(element, 1);
      if (type === "f32" && element.negativeZero)
        return { value, faults: [{ why: compares, helps: "nothing" }] };
      return { value, faults: faultsOfSum(element, type) };
    }
    case "exact":
      return { value: element, faults: [{ why: "PTO-ISA has no such reduction", helps: "nothing" }] };
    case "mean":
      return {
        value: element,
        faults: [{ why: divides, helps: "nothing" }],
      };
  }
}

/** Bounds of the elements of each table that is read as real numbers. */
type Bounds = ReadonlyMap<number, ElementBounds>;

/**
 * Returns the faults in the computation of a map's value, in order of computation. A fault is a reason why an
 * Ascend core may give wrong bits for a step. `types`: element type of each read.
 */
function weighed(map: AccessMap, types: readonly DType[], bounds: Bounds): readonly Fault[] {
  const { steps, reduction } = valueSteps(map.value, types);
  const of = (read: number): ElementBounds | undefined => bounds.get(at(map.reads, read).table);
  if (reduction === undefined) return faultsOf(steps, magnitudes(steps, { bounds: of }));
  const bySteps = magnitudes(reduction.steps, { bounds: of });
  const { value, faults } = sumOf(
    reduction.how,
    reduction.type,
    at(bySteps, bySteps.length - 1),
    map.reduced?.max ?? 0,
  );
  const what = `${reduction.how} of ${reduction.type}`;
  return [
    ...faultsOf(reduction.steps, bySteps),
    ...faults.map((fault) => ({ what, ...fault })),
    ...faultsOf(steps, magnitudes(steps, { bounds: of, reduced: value })),
  ];
}

/** Returns the first fault in words; undefined for an empty list. */
const firstOf = ([fault]: readonly Fault[]): string | undefined =>
  fault === undefined ? undefined : `${fault.what}: ${fault.why}`;

/**
 * Returns a text on the first step for which an Ascend core may give wrong bits, with the reason; undefined
 * if there is none. `numbers`: the result of each step.
 */
export function faultOfNumbers(steps: readonly ValueStep[], numbers: readonly number[]): string | undefined {
  const unbounded = steps.find(
    ({ kind }, k) => (kind === "read" || kind === "reduced") && !Number.isFinite(at(numbers, k)),
  );
  if (unbounded !== undefined) return `a read of ${unbounded.type}: ${unclaimed}`;
  return firstOf(faultsOf(steps, numbers.map(magnitudeOfNumber)));
}

/**
 * Returns the reason why an Ascend core may give wrong bits when reduction element `term` is added to `sum`;
 * undefined for exact bits. Only `fold` (sum in order) can give a reason.
 */
export function faultOfTaking(
  how: Reduction,
  type: ArithmeticType,
  sum: number,
  term: number,
): string | undefined {
  if (how !== "fold") return undefined;
  const step = { kind: "op", op: "add", type, of: [0, 1] } as const;
  const faults = faultsOfOperation(step, [], [sum, term].map(magnitudeOfNumber));
  return firstOf(faults.map((fault) => ({ what: `${how} of ${type}`, ...fault })));
}

/** The least element of a type that is no zero, and the power of two that all are below. */
const naturalBounds: Readonly<Record<FloatValueType, Required<ElementBounds>>> = {
  f16: { least: -24, below: 16 },
  bf16: { least: -133, below: f32Limit },
  f32: { least: -149, below: f32Limit },
};

/**
 * Returns the first integer from `low` to `high` (inclusive) for which `holds` is true; undefined if there is
 * none. `holds` must stay true for all greater integers.
 */
function firstThatHolds(low: number, high: number, holds: (value: number) => boolean): number | undefined {
  if (!holds(high)) return undefined;
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return to;
}

/**
 * Returns `given` with a bound of kind `kind` added for each input in `tables`. The added bounds are just
 * strong enough to remove all faults that bounds of this kind can remove. Undefined if even the strongest
 * bounds leave such a fault. `faults`: returns the faults under given bounds.
 */
function solved(
  tables: readonly number[],
  kind: "least" | "below",
  given: Bounds,
  faults: (bounds: Bounds) => readonly Fault[],
): Bounds | undefined {
  // A greater bound is a stronger one: 2^-below.
  const sign = kind === "least" ? 1 : -1;
  const bound = (bounds: Bounds, table: number, value: number): Bounds =>
    new Map([...bounds, [table, { ...bounds.get(table), [kind]: sign * value }]]);
  const holds = (bounds: Bounds): boolean => faults(bounds).every(({ helps }) => helps !== kind);
  const [low, high] = kind === "least" ? [-149, f32Limit - 1] : [-f32Limit, 148];
  const shared = firstThatHolds(low, high, (value) =>
    holds(tables.reduce((bounds, table) => bound(bounds, table, value), given)),
  );
  if (shared === undefined) return undefined;
  let bounds = tables.reduce((bounds, table) => bound(bounds, table, shared), given);
  for (const table of tables) {
    const high = firstThatHolds(low, shared, (value) => holds(bound(bounds, table, value))) ?? shared;
    // Less than a step for each of them is what is left over where an odd exponent is shared.
    if (shared - high >= tables.length) bounds = bound(bounds, table, high);
  }
  return bounds;
}

/**
 * Returns whether an Ascend core gives exact bits for a map's value, and the conditions on the elements.
 * `inputs`: operands in the order of the input indices of the map.
 */
export function ascendAnswer(map: AccessMap, inputs: readonly Operand[]): AscendAnswer {
  if (isMove(map)) return { ok: true, assumes: [] };
  const types = map.reads.map(({ table }) => at(inputs, table).type.dtype);
  const real = new Map<number, FloatValueType>();
  map.reads.forEach(({ table }, read) => {
    const type = at(types, read);
    if (type === "f16" || type === "bf16" || type === "f32") real.set(table, type);
  });
  return answered(real, inputs, (bounds) => weighed(map, types, bounds));
}

/**
 * Returns whether an Ascend core gives exact bits for what a program computes, and the conditions. Undefined
 * for a program that only moves elements, and for the scatters without {@link combinationAnswer}.
 */
export function programAnswer({ map, operands }: MappedOperands): AscendAnswer | undefined {
  const inputs = inputsOf({ operands });
  if (isScatter(map)) return combinationAnswer(map, inputs, outputOf({ operands }).type.dtype);
  return isMove(map) ? undefined : ascendAnswer(map, inputs);
}

/** Most points of a product, whose bounds are computed point by point. */
const maxFactors = 32;

/**
 * Returns whether an Ascend core gives exact bits for the sums or products of floats that a scatter of moved
 * elements or a constant makes, and the conditions on the elements of the base and of the updates. Undefined
 * for a scatter that combines no floats, computes its value, or has index values that only the value needs:
 * PTO-ISA has no form for these, whose points may combine fill bits. `type`: element type of the output.
 */
export function combinationAnswer(
  map: AccessMap,
  inputs: readonly Operand[],
  type: DType,
): AscendAnswer | undefined {
  const { combine, duplicates } = map.write;
  if (combine === "set" || !isValueType(type) || !isFloatValue(type)) return undefined;
  if (writtenIndices(map).size < map.indices.length) return undefined;
  const types = map.reads.map(({ table }) => at(inputs, table).type.dtype);
  const isConstant = readsIn(map.value).length === 0 && map.reduced === undefined;
  if ((!isConstant && !isMove(map)) || typeOf(map.value, types) !== type) return undefined;
  const constant = isConstant
    ? numberOf(
        type,
        evaluator(valuePlan(map.value, types)).element(() => 0),
      )
    : undefined;
  const fill = baseFill(map.write);
  const base = fill === undefined ? [gatheredTable] : [];
  const updates = constant === undefined ? map.reads.map(({ table }) => table) : [];
  const points = duplicates === "unique" ? 1 : elementCount(carryingDims(map).map((d) => at(map.domain, d)));
  const steps = stepsOfCombination(combine, type, constant);
  const refused = (why: string): readonly Fault[] => [
    { what: `${combine} of ${type}`, why, helps: "nothing" },
  ];
  return answered(new Map([...base, ...updates].map((table) => [table, type])), inputs, (bounds) => {
    const [first, value] = [
      fill === undefined
        ? magnitudeOfType(type, bounds.get(gatheredTable))
        : magnitudeOfNumber(numberOf(type, Number(fill))),
      constant === undefined
        ? magnitudeOfType(type, bounds.get(at(updates, 0)))
        : magnitudeOfNumber(constant),
    ];
    if (!first.finite) return refused("the base is not finite");
    if (combine === "mul" && points > maxFactors) return refused(`${points} points may meet in an element`);
    const reduced = accumulated(combine, type, first, value, points - 1);
    return faultsOf(steps, magnitudes(steps, { bounds: () => bounds.get(at(updates, 0)), reduced }));
  });
}

/**
 * Returns the steps of one combination in f32, of what has been made of an element and of a value: read 0, or
 * the number `constant`.
 */
export function stepsOfCombination(
  op: Combination,
  type: FloatValueType,
  constant: number | undefined,
): readonly ValueStep[] {
  const made: ValueStep = { kind: "reduced", type: "f32" };
  const value: readonly ValueStep[] =
    constant !== undefined
      ? [{ kind: "number", type: "f32", bits: bitsOfNumber("f32", constant) }]
      : [
          { kind: "read", type, read: 0 },
          ...(type === "f32" ? [] : [{ kind: "cast", type: "f32", from: type, of: 1 } as const]),
        ];
  const before = [made, ...value];
  const step: ValueStep = { kind: "op", type: "f32", op, of: [0, before.length - 1] };
  const rounded: readonly ValueStep[] =
    type === "f32" ? [] : [{ kind: "cast", type, from: "f32", of: before.length }];
  return [...before, step, ...rounded];
}

/** Returns bounds of all that up to `count` steps make of an element `first`, each with a value `value`. */
function accumulated(
  how: Combination,
  type: FloatValueType,
  first: Magnitude,
  value: Magnitude,
  count: number,
): Magnitude {
  if (count <= 0) return first;
  const { digits } = floatFormats[type];
  if (how !== "mul") return foldMagnitude(eitherMagnitude(first, value), count + 1, digits);
  let [last, all] = [first, first];
  for (let k = 0; k < count; k++) {
    last = inType(inType(combined("mul", last, value), "f32"), type);
    all = eitherMagnitude(all, last);
  }
  return all;
}

/**
 * Returns the conditions on the elements of the tables `real` under which there are no faults, or the first
 * fault that no condition removes. `faults`: returns the faults under given bounds.
 */
function answered(
  real: ReadonlyMap<number, FloatValueType>,
  inputs: readonly Operand[],
  faults: (bounds: Bounds) => readonly Fault[],
): AscendAnswer {
  const tables = [...real.keys()].sort((a, b) => a - b);
  const finite: Bounds = new Map(tables.map((table) => [table, {}]));
  const first = faults(finite);
  const refused = ({ what, why }: Fault): AscendAnswer => ({ ok: false, refused: `${what}: ${why}` });
  const hopeless = first.find(({ helps }) => helps === "nothing");
  if (hopeless !== undefined) return refused(hopeless);
  let bounds = finite;
  for (const kind of ["least", "below"] as const) {
    const fault = first.find(({ helps }) => helps === kind);
    if (fault === undefined) continue;
    const solution = tables.length === 0 ? undefined : solved(tables, kind, bounds, faults);
    if (solution === undefined) return refused(fault);
    bounds = solution;
  }
  const assumes = tables.map((table): ElementCondition => {
    const { least = -Infinity, below = Infinity } = bounds.get(table) ?? {};
    const natural = naturalBounds[real.get(table) ?? "f32"];
    return {
      operand: keyOf(at(inputs, table)),
      finite: true,
      ...(least > natural.least ? { least } : {}),
      ...(below < natural.below ? { below } : {}),
    };
  });
  const empty = assumes.find(({ least = -Infinity, below = Infinity }) => least >= below);
  const fault = first[0];
  if (empty !== undefined && fault !== undefined) return refused(fault);
  return { ok: true, assumes };
}

/**
 * Hint for diagnostics: flags of the backends that compute any value with exactly the bits that the program
 * specifies.
 */
export const computesValues =
  "for the stated bits: --target webgpu --emit wgsl, or --target cpu --emit module-cpu";
