/** An output element by its steps: each is a u32, an integer with its sign extended or the bits of a float. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import type { Linear } from "../../ir/linear.js";
import { assertNever, at, bitsOf, isSigned } from "../../ir/types.js";
import {
  accumulators,
  bitsOfNumber,
  countsItsTerms,
  floatFormats,
  integerRanges,
  isRealSource,
  numberOf,
  type ArithmeticType,
  type FloatValueType,
  type Operation,
  type SourceType,
  type TermSteps,
  type ValuePlan,
  type ValueStep,
  type ValueType,
} from "../../ir/values/index.js";
import type { WgslContext } from "./context.js";
import { wordAt } from "./elements.js";
import type { GatherMove } from "./gather-move.js";
import { declareTermSites, narrowForm, termBounds, type ElementAt } from "./index-values.js";
import type { HelperName } from "./value-helpers.js";

/** Calls of helpers, as they are noted by who prints a step. */
type Call = (name: HelperName, ...args: readonly (string | number)[]) => string;

/** The functions that a value calls. */
export function valueHelpers({ steps, terms }: ValuePlan): ReadonlySet<HelperName> {
  const names = new Set<HelperName>();
  const call: Call = (name) => {
    names.add(name);
    return "";
  };
  for (const step of [...steps, ...(terms?.steps ?? [])]) stepText(step, () => "", call);
  if (terms !== undefined) {
    takenText(terms, "", call);
    reducedText(terms, call);
  }
  return names;
}

const printed: Call = (name, ...args) => `${name}(${args.join(", ")})`;

/** Where an element is computed. `reads`: the addresses count in the tensors, and the data are read there too. */
export interface ValueAt extends ElementAt {
  readonly reads?: readonly Linear[];
}

/** Declares the steps of an element and gives the name of its bits. */
export function declareValue(
  context: WgslContext,
  move: GatherMove,
  { steps, terms }: ValuePlan,
  element: ValueAt,
): string {
  if (terms !== undefined) declareSum(context, move, terms, element);
  return declareSteps(context, move, steps, element);
}

function declareSteps(
  context: WgslContext,
  move: GatherMove,
  steps: readonly ValueStep[],
  { coords, reads }: ValueAt,
): string {
  const { out } = context;
  steps.forEach((step, k) => {
    const text =
      step.kind === "read"
        ? readText(context, move, step, coords, reads)
        : stepText(step, (of) => `value${of}`, printed);
    out.line(`let value${k} = ${text};`);
  });
  return `value${steps.length - 1}`;
}

/** Declares `sum`, what the terms of an element come to: one after the other, each taken in before the next is read. */
function declareSum(context: WgslContext, move: GatherMove, terms: TermSteps, element: ValueAt): void {
  const { out } = context;
  const { how, type, steps } = terms;
  const counts = countsItsTerms(how);
  const take = (): void => {
    const term = declareSteps(context, move, steps, inTerm);
    out.line(`${taking} = ${takenText(terms, term, printed)};`);
    if (counts) out.line("terms += 1u;");
  };
  const inTerm = { ...element, coords: [...element.coords, "term"] };
  const taking = how === "exact" ? "units" : "sum";
  if (how === "exact") out.line("var units = vec3u();");
  else out.line(`var sum = ${bitsOfNumber(type, accumulators[how].start[type])}u;`);
  if (counts) out.line("var terms = 0u;");
  const bounds = termBounds(context, move);
  if (bounds !== undefined) {
    const [first, end] = bounds;
    out.block(`for (var term = ${first}; term < ${end}; term += 1u)`, () => {
      if (declareTermSites(context, move, inTerm)) out.block("if (alive)", take);
      else take();
    });
  }
  const reduced = reducedText(terms, printed);
  if (how === "exact") out.line(`let sum = ${reduced};`);
  else if (reduced !== "sum") out.line(`sum = ${reduced};`);
}

/** What the terms come to with one more. */
function takenText(terms: TermSteps, term: string, call: Call): string {
  return terms.how === "exact"
    ? call("exact_add", "units", term, terms.unit)
    : opText(accumulators[terms.how].op, terms.type, "sum", term, call);
}

/** What is made of `sum` and `terms` behind the last term. */
function reducedText(terms: TermSteps, call: Call): string {
  switch (terms.how) {
    case "fold":
      return "sum";
    case "exact":
      return call("exact_sum", "units", terms.unit);
    case "mean":
      return `select(0u, ${call("f32_div_count", "sum", "max(terms, 1u)")}, terms != 0u)`;
    case "max":
    case "min":
      return "select(0u, sum, terms != 0u)";
  }
}

/** The element of a read, by the word that holds it. */
function readText(
  context: WgslContext,
  move: GatherMove,
  { type, read }: Extract<ValueStep, { readonly kind: "read" }>,
  coords: readonly string[],
  tensors: readonly Linear[] | undefined,
): string {
  const { names, plan } = context;
  const { table } = at(move.stmt.map.reads, read);
  const address = narrowForm(context, move, at(tensors ?? move.addresses.reads, read), coords);
  const inPlace = tensors !== undefined || table !== gatheredTable;
  const buffer = names.buffer(inputOf(plan.func, table).name);
  const word = (place: string): string => (inPlace ? `${buffer}[${place}]` : wordAt(context, move, place));
  const bits = bitsOf(type);
  if (bits === 32) return word(address);
  const perWord = 32 / bits;
  const place = `((${address}) & ${perWord - 1}u) * ${bits}u`;
  const whole = word(`(${address}) >> ${Math.log2(perWord)}u`);
  return isSigned(type)
    ? `bitcast<u32>(extractBits(bitcast<i32>(${whole}), ${place}, ${bits}u))`
    : `extractBits(${whole}, ${place}, ${bits}u)`;
}

function stepText(step: ValueStep, value: (of: number) => string, call: Call): string {
  switch (step.kind) {
    case "read":
      return "";
    case "reduced":
      return "sum";
    case "number":
      // A NaN has its one form.
      return `${bitsOfNumber(step.type, numberOf(step.type, step.bits))}u`;
    case "cast":
      return castText(step.from, step.type, value(step.of), call);
    case "op":
      return opText(step.op, step.type, value(step.of[0]), value(step.of[1]), call);
    default:
      return assertNever(step);
  }
}

const infix = { add: "+", sub: "-", mul: "*" } as const;

function opText(op: Operation, type: ArithmeticType, a: string, b: string, call: Call): string {
  switch (op) {
    case "add":
      return type === "f32" ? call("f32_add", a, b) : `${a} ${infix[op]} ${b}`;
    case "sub":
      return type === "f32" ? call("f32_add", a, `${b} ^ 0x80000000u`) : `${a} ${infix[op]} ${b}`;
    case "mul":
      return type === "f32" ? call("f32_mul", a, b) : `${a} ${infix[op]} ${b}`;
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

const isFloat = (type: SourceType): type is FloatValueType => Object.hasOwn(floatFormats, type);

function castText(from: SourceType, to: ValueType, value: string, call: Call): string {
  if (isRealSource(from)) {
    const wide = from === "f32" ? value : call(`${from}_to_f32`, value);
    if (to === "f32") return wide;
    if (isFloat(to)) {
      const { digits, least, infinity, nan } = floatFormats[to];
      return call("f32_to_16", wide, `${digits}u`, least, `${infinity}u`, `${nan}u`);
    }
    const [lowest, highest] = integerRanges[to];
    return call("f32_to_whole", wide, `${-lowest}u`, `${highest}u`);
  }
  if (isFloat(to)) {
    const { digits, least, infinity } = floatFormats[to];
    const negative = isSigned(from) ? `${value} >> 31u` : "0u";
    const magnitude = isSigned(from) ? `select(${value}, 0u - ${value}, (${value} >> 31u) == 1u)` : value;
    return call("pack", negative, "0u", magnitude, 0, `${digits}u`, least, `${infinity}u`);
  }
  const bits = bitsOf(to);
  if (bits === 32) return value;
  return isSigned(to)
    ? `bitcast<u32>(extractBits(bitcast<i32>(${value}), 0u, ${bits}u))`
    : `${value} & ${2 ** bits - 1}u`;
}
