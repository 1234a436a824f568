/**
 * Output elements by their steps: each is a u32, an integer with its sign extended or the bits of a float. Neighbours may be computed
 * together: what they share is computed once.
 */
import { gatheredTable } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import type { Linear } from "../../ir/linear.js";
import { assertNever, at, bitsOf, isSigned } from "../../ir/types.js";
import {
  accumulators,
  bitsOfNumber,
  countsItsElements,
  type SourceType,
  type ReductionSteps,
  type ValueStep,
} from "../../ir/values/index.js";
import { stillSteps } from "../plan/still-steps.js";
import type { WgslContext } from "./context.js";
import { wordAt } from "./elements.js";
import { named } from "./forms.js";
import type { GatherMove } from "./gather-move.js";
import { declareReductionIndices, narrowForm, reductionBounds, type ElementAt } from "./index-values.js";
import type { ProvedValue, StepProof, ValueProofs } from "./value-proofs.js";
import { printed, reducedText, stepText, takenText } from "./value-steps.js";
import type { ValueUnit } from "./value-unit.js";

/** Place of elements that are computed. `reads`: the addresses count in the tensors, and the data are read there too. */
export interface ValueAt extends ElementAt {
  readonly reads?: readonly Linear[];
  /** Neighbours along the innermost dim that are computed together, from `coords` on. Default: one element. */
  readonly unit?: ValueUnit;
}

/** Names of a value: one for all elements of a unit, or one for each. */
type Named = (element: number) => string;

/** Declares the steps of an element, or of those of a unit, and gives the names of its bits. */
export function declareValue(
  context: WgslContext,
  move: GatherMove,
  { plan: { steps, reduction }, proofs }: ProvedValue,
  element: ValueAt,
): Named {
  const sumIsStill = reduction === undefined || declareSum(context, move, reduction, proofs, element);
  return declareSteps(context, move, steps, proofs.steps, element, sumIsStill);
}

/** Declares each step once for all elements that share it, and returns the names of the last. */
function declareSteps(
  context: WgslContext,
  move: GatherMove,
  steps: readonly ValueStep[],
  proofs: readonly (StepProof | undefined)[],
  element: ValueAt,
  sumIsStill = true,
): Named {
  const { out } = context;
  const { unit } = element;
  const still = stillSteps(steps, isStillIn(unit), sumIsStill);
  /** Names by step and element; one where the step is still. */
  const names: string[][] = [];
  const nameOf = (k: number, e: number): string => at(at(names, k), at(still, k) ? 0 : e);
  steps.forEach((step, k) => {
    const count = at(still, k) || unit === undefined ? 1 : unit.group;
    const proof = proofs[k];
    if (proof !== undefined && proof.kind !== "few") out.line(`// exact: ${proof.why}`);
    const textOf =
      step.kind === "read"
        ? readTexts(context, move, step, k, element)
        : (e: number): string =>
            step.kind === "reduced"
              ? sumName(sumIsStill, e)
              : stepText(step, proof, (of) => nameOf(of, e), printed);
    names.push(
      Array.from({ length: count }, (_, e) => {
        const text = textOf(e);
        // A cast that changes no bit is what it is of.
        if (step.kind === "cast" && text === nameOf(step.of, e)) return text;
        const name = at(still, k) ? `value${k}` : `value${k}_${e}`;
        out.line(`let ${name} = ${text};`);
        return name;
      }),
    );
  });
  return (e) => nameOf(steps.length - 1, e);
}

/** Returns whether all elements of a unit are made from one element of a read; those of one element are. */
const isStillIn =
  (unit: ValueUnit | undefined) =>
  (read: number): boolean =>
    unit === undefined || at(unit.reads, read) === "still";

/** Returns the name of what the terms of an element come to: one for all elements of a unit, or one for each. */
const sumName = (isStill: boolean, e: number): string => (isStill ? "sum" : `sum_${e}`);

/** Declares what the terms of elements come to: one after the other, each taken in before the next is read. Returns whether all elements of the unit share it. */
function declareSum(
  context: WgslContext,
  move: GatherMove,
  reduction: ReductionSteps,
  proofs: ValueProofs,
  element: ValueAt,
): boolean {
  const { out } = context;
  const { how, type, steps } = reduction;
  const { unit } = element;
  const still = at(stillSteps(steps, isStillIn(unit), true), steps.length - 1);
  const elements = still || unit === undefined ? [0] : Array.from({ length: unit.group }, (_, e) => e);
  const unitsName = (e: number): string => (still ? "units" : `units_${e}`);
  const takingName = (e: number): string => (how === "exact" ? unitsName(e) : sumName(still, e));
  const counts = countsItsElements(how);
  const elementScope = { ...element, coords: [...element.coords, named("term")] };
  const take = (): void => {
    const element = declareSteps(context, move, steps, proofs.ofReduction, elementScope);
    if (proofs.take?.kind === "exact") out.line(`// exact: ${proofs.take.why}`);
    for (const e of elements) {
      const name = takingName(e);
      out.line(`${name} = ${takenText(reduction, proofs.take, name, element(e), printed)};`);
    }
    if (counts) out.line("terms += 1u;");
  };
  for (const e of elements) {
    if (how === "exact") out.line(`var ${takingName(e)} = vec3u();`);
    else out.line(`var ${takingName(e)} = ${bitsOfNumber(type, accumulators[how].start[type])}u;`);
  }
  if (counts) out.line("var terms = 0u;");
  const bounds = reductionBounds(context, move);
  if (bounds !== undefined) {
    const [first, end] = bounds;
    out.block(`for (var term = ${first}; term < ${end}; term += 1u)`, () => {
      if (declareReductionIndices(context, move, elementScope)) out.block("if (alive)", take);
      else take();
    });
  }
  for (const e of elements) {
    const reduced = reducedText(reduction, takingName(e), printed);
    if (how === "exact") out.line(`let ${sumName(still, e)} = ${reduced};`);
    else if (reduced !== takingName(e)) out.line(`${takingName(e)} = ${reduced};`);
  }
  return still;
}

/** Gives the text of a read by the element of a unit; declares what its elements share. */
function readTexts(
  context: WgslContext,
  move: GatherMove,
  { type, read }: Extract<ValueStep, { readonly kind: "read" }>,
  step: number,
  { coords, reads: tensors, unit }: ValueAt,
): Named {
  const { names, plan, out } = context;
  const { table } = at(move.stmt.map.reads, read);
  const address = narrowForm(context, move, at(tensors ?? move.addresses.reads, read), coords);
  const inPlace = tensors !== undefined || table !== gatheredTable;
  const buffer = names.buffer(inputOf(plan.func, table).name);
  const word = (place: string): string => (inPlace ? `${buffer}[${place}]` : wordAt(context, move, place));
  const along = unit === undefined ? "still" : at(unit.reads, read);
  const bits = bitsOf(type);
  const perWord = 32 / bits;
  const log = Math.log2(perWord);
  switch (along) {
    case "still": {
      const text = elementText(type, word, address);
      return () => text;
    }
    case "each": {
      out.line(`let from${step} = ${address};`);
      return (e) => elementText(type, word, shifted(`from${step}`, e));
    }
    case "words": {
      const shared = Math.ceil((unit?.group ?? 1) / perWord);
      const width = at(move.widths, table);
      const shift = log + Math.log2(width);
      out.line(`let from${step} = ${shift === 0 ? address : `(${address}) >> ${shift}u`};`);
      for (let w = 0; w < shared / width; w++) {
        const place = shifted(`from${step}`, w);
        out.line(`let word${step}_${w} = ${width === 1 ? word(place) : `${buffer}[${place}]`};`);
      }
      const wordOfUnit = (k: number): string => {
        const name = `word${step}_${Math.floor(k / width)}`;
        return width === 1 ? name : `${name}.${"xyzw".charAt(k % width)}`;
      };
      return (e) =>
        bits === 32
          ? wordOfUnit(e)
          : extracted(type, wordOfUnit(Math.floor(e / perWord)), `${(e % perWord) * bits}u`);
    }
    default:
      return assertNever(along);
  }
}

const shifted = (name: string, by: number): string => (by === 0 ? name : `${name} + ${by}u`);

/** The element at an address, by the word that holds it. */
function elementText(type: SourceType, word: (place: string) => string, address: string): string {
  const bits = bitsOf(type);
  if (bits === 32) return word(address);
  const perWord = 32 / bits;
  return extracted(
    type,
    word(`(${address}) >> ${Math.log2(perWord)}u`),
    `((${address}) & ${perWord - 1}u) * ${bits}u`,
  );
}

/** Bits of a word from a place on, with the sign of their type. */
const extracted = (type: SourceType, word: string, place: string): string =>
  isSigned(type)
    ? `bitcast<u32>(extractBits(bitcast<i32>(${word}), ${place}, ${bitsOf(type)}u))`
    : `extractBits(${word}, ${place}, ${bitsOf(type)}u)`;
