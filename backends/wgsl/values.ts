/**
 * Output elements by their steps: each is a u32, an integer with its sign extended or the bits of a float.
 * Neighbours may be computed together: what they share is computed once.
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
import {
  declareReductionIndices,
  narrowForm,
  reductionBounds,
  type ElementAt,
  type ReductionBounds,
} from "./index-values.js";
import type { ProvedValue, StepProof, ValueProofs } from "./value-proofs.js";
import { printed, reducedText, stepText, takenText } from "./value-steps.js";
import type { ValueUnit } from "./value-unit.js";

/**
 * Output element to compute, or the first of several neighbours. `reads`: addresses in the whole tensors,
 * present if the data are read from global memory instead of a staged tile.
 */
export interface ValueAt extends ElementAt {
  readonly reads?: readonly Linear[];
  /**
   * Neighbours along the innermost dim that are computed together, from `coords` on. Default: one element.
   */
  readonly unit?: ValueUnit;
}

/** Names of a value: one for all elements of a unit, or one for each. */
type Named = (element: number) => string;

/**
 * Emits the WGSL declarations of the steps that compute one output element or several neighbours. Returns a
 * function from the 0-based index of a neighbour to the WGSL name of the value's bits.
 */
export function declareValue(
  context: WgslContext,
  move: GatherMove,
  { plan: { steps, reduction }, proofs }: ProvedValue,
  element: ValueAt,
): Named {
  const sumIsStill = reduction === undefined || declareSum(context, move, reduction, proofs, element);
  return declareSteps(context, move, steps, { element, proofs: proofs.steps, sumIsStill });
}

/** Options for the declaration of an element's steps. */
interface StepsAt {
  readonly element: ValueAt;
  readonly proofs: readonly (StepProof | undefined)[];
  /** False: the elements of a unit have sums of their own. Default: true. */
  readonly sumIsStill?: boolean;
  /** True if `declareLoads` has already declared what the reads load. */
  readonly loaded?: boolean;
}

/**
 * Emits the WGSL declarations of steps for the elements that a lane computes together. Returns a function
 * from the 0-based index of an element to the WGSL name of the last step's value.
 */
function declareSteps(
  context: WgslContext,
  move: GatherMove,
  steps: readonly ValueStep[],
  { element, proofs, sumIsStill = true, loaded = false }: StepsAt,
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
    if (proof?.kind === "exact" || proof?.kind === "whole") out.line(`// exact: ${proof.why}`);
    const read = step.kind === "read" ? readOf(context, move, step, k, element) : undefined;
    const declared = loaded ? [] : [...(read?.start ?? []), ...(read?.words ?? [])];
    for (const { name, text } of declared) out.line(`let ${name} = ${text};`);
    const textOf = (e: number): string =>
      read !== undefined
        ? read.textOf(e)
        : step.kind === "reduced"
          ? sumName(sumIsStill, e)
          : stepText(step, proof, (of) => nameOf(of, e), printed);
    names.push(
      Array.from({ length: count }, (_, e) => {
        const name = at(still, k) ? `value${k}` : `value${k}_${e}`;
        if (loaded && read?.words.length === 0) return name;
        const text = textOf(e);
        // A cast that changes no bit is what it is of.
        if (step.kind === "cast" && text === nameOf(step.of, e)) return text;
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

/**
 * Returns the name of what the terms of an element come to: one for all elements of a unit, or one for each.
 */
const sumName = (isStill: boolean, e: number): string => (isStill ? "sum" : `sum_${e}`);

/**
 * Emits the WGSL code that reduces the reduction elements of neighbouring output elements, in order. Returns
 * true if all neighbours have the same result.
 */
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
  const take = (loaded: boolean): void => {
    const at = { element: elementScope, proofs: proofs.ofReduction, loaded };
    const element = declareSteps(context, move, steps, at);
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
    if (move.reductionUnroll === 1) emitReduction(context, move, bounds, elementScope, take);
    else emitUnrolledReduction(context, move, { bounds, steps, element: elementScope, take });
  }
  for (const e of elements) {
    const reduced = reducedText(reduction, proofs.take, takingName(e), printed);
    if (how === "exact") out.line(`let ${sumName(still, e)} = ${reduced};`);
    else if (reduced !== takingName(e)) out.line(`${takingName(e)} = ${reduced};`);
  }
  return still;
}

/** Emits a loop over reduction elements that reads and accumulates one element per iteration. */
function emitReduction(
  context: WgslContext,
  move: GatherMove,
  [first, end]: ReductionBounds,
  element: ValueAt,
  take: (loaded: boolean) => void,
): void {
  context.out.block(`for (var term = ${first}; term < ${end}; term += 1u)`, () => {
    const taking = (): void => {
      take(false);
    };
    if (declareReductionIndices(context, move, element)) context.out.block("if (alive)", taking);
    else taking();
  });
}

interface UnrolledReduction {
  readonly bounds: ReductionBounds;
  readonly steps: readonly ValueStep[];
  /** Its coordinates end in r. */
  readonly element: ValueAt;
  readonly take: (loaded: boolean) => void;
}

/**
 * Emits a loop over reduction elements that reads and then accumulates `reductionUnroll` elements per
 * iteration, in order.
 */
function emitUnrolledReduction(
  context: WgslContext,
  move: GatherMove,
  { bounds, steps, element, take }: UnrolledReduction,
): void {
  const { out } = context;
  const { reductionUnroll: count } = move;
  const [first, end] = bounds;
  const isFull = first === "0u" && /^\d+u$/.test(end) && parseInt(end) % count === 0;
  const each = `for (var k = 0u; k < ${count}u; k += 1u)`;
  out.block(`for (var terms_from = ${first}; terms_from < ${end}; terms_from += ${count}u)`, () => {
    let loads: readonly Load[] = [];
    let ends = false;
    const loading = out.apart(() => {
      out.block(each, () => {
        out.line(`let term = ${isFull ? "terms_from + k" : `min(terms_from + k, ${end} - 1u)`};`);
        ends = declareReductionIndices(context, move, element);
        loads = declareLoads(context, move, steps, element);
        for (const { name, text } of loads) out.line(`${name}_of[k] = ${text};`);
        if (ends) out.line("alive_of[k] = alive;");
      });
    });
    for (const { name, type } of loads) out.line(`var ${name}_of: array<${type}, ${count}>;`);
    if (ends) out.line(`var alive_of: array<bool, ${count}>;`);
    out.append(loading);
    out.block(each, () => {
      const conditions = [...(isFull ? [] : [`terms_from + k < ${end}`]), ...(ends ? ["alive_of[k]"] : [])];
      context.guarded(conditions, () => {
        for (const { name } of loads) out.line(`let ${name} = ${name}_of[k];`);
        take(true);
      });
    });
  });
}

/**
 * Declares where the reads of an element start, and returns what they load: words that its unit shares, or
 * its elements.
 */
const declareLoads = (
  context: WgslContext,
  move: GatherMove,
  steps: readonly ValueStep[],
  element: ValueAt,
): readonly Load[] =>
  steps.flatMap((step, k) => {
    if (step.kind !== "read") return [];
    const { start, words, textOf } = readOf(context, move, step, k, element);
    for (const { name, text } of start) context.out.line(`let ${name} = ${text};`);
    if (words.length > 0) return words;
    const { unit } = element;
    if (unit === undefined || at(unit.reads, step.read) === "still")
      return [{ name: `value${k}`, type: "u32", text: textOf(0) }];
    return Array.from({ length: unit.group }, (_, e) => ({
      name: `value${k}_${e}`,
      type: "u32",
      text: textOf(e),
    }));
  });

/** Name that a text is declared by. */
interface Declared {
  readonly name: string;
  readonly text: string;
}

/** Declared text of a load, with its type. */
interface Load extends Declared {
  readonly type: string;
}

/** Read of the elements of a unit. */
interface UnitRead {
  /** Address of the first, where the texts name it. */
  readonly start: readonly Declared[];
  /** Accesses of whole words that the elements share. */
  readonly words: readonly Load[];
  /** Returns the text of an element. */
  readonly textOf: Named;
}

/**
 * Returns the WGSL code of one read for neighbouring output elements: the shared declarations, and a function
 * from a neighbour's index to the expression of an element.
 */
function readOf(
  context: WgslContext,
  move: GatherMove,
  { type, read }: Extract<ValueStep, { readonly kind: "read" }>,
  step: number,
  { coords, reads: tensors, unit }: ValueAt,
): UnitRead {
  const { names, plan } = context;
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
      return { start: [], words: [], textOf: () => text };
    }
    case "each":
      return {
        start: [{ name: `from${step}`, text: address }],
        words: [],
        textOf: (e) => elementText(type, word, shifted(`from${step}`, e)),
      };
    case "part": {
      const from = `from${step}`;
      const name = `word${step}`;
      // The unit's first element is shifted to the lowest bits.
      const text = `${word(`${from} >> ${log}u`)} >> ((${from} & ${perWord - 1}u) * ${bits}u)`;
      return {
        start: [{ name: from, text: address }],
        words: [{ name, type: "u32", text }],
        textOf: (e) => extracted(type, name, `${e * bits}u`),
      };
    }
    case "words": {
      const shared = Math.ceil((unit?.group ?? 1) / perWord);
      const width = at(move.widths, table);
      const shift = log + Math.log2(width);
      const wordOfUnit = (k: number): string => {
        const name = `word${step}_${Math.floor(k / width)}`;
        return width === 1 ? name : `${name}.${"xyzw".charAt(k % width)}`;
      };
      return {
        start: [{ name: `from${step}`, text: shift === 0 ? address : `(${address}) >> ${shift}u` }],
        words: Array.from({ length: shared / width }, (_, w) => {
          const place = shifted(`from${step}`, w);
          return {
            name: `word${step}_${w}`,
            type: width === 1 ? "u32" : `vec${width}u`,
            text: width === 1 ? word(place) : `${buffer}[${place}]`,
          };
        }),
        textOf: (e) =>
          bits === 32
            ? wordOfUnit(e)
            : extracted(type, wordOfUnit(Math.floor(e / perWord)), `${(e % perWord) * bits}u`),
      };
    }
    default:
      return assertNever(along);
  }
}

const shifted = (name: string, by: number): string => (by === 0 ? name : `${name} + ${by}u`);

/**
 * Returns the WGSL expression of the element at `address`, which counts elements. `word`: function from a
 * word index, given as WGSL text, to the expression of that 32-bit word.
 */
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

/**
 * Returns the WGSL expression that extracts an element from a word, sign-extended for signed types. `place`:
 * index of the element's lowest bit.
 */
export const extracted = (type: SourceType, word: string, place: string): string =>
  isSigned(type)
    ? `bitcast<u32>(extractBits(bitcast<i32>(${word}), ${place}, ${bitsOf(type)}u))`
    : `extractBits(${word}, ${place}, ${bitsOf(type)}u)`;
