/**
 * Linear forms as the text of a language: one walk over sums and products, and a vocabulary of what the
 * language writes.
 */
import type { Linear, Term } from "../linear.js";

/** Summand of a printed linear expression: the product of the number `by` and the expression `text`. */
export interface Amount {
  readonly by: number;
  /** Text of the expression; absent if the summand is only the number `by`. */
  readonly text?: string;
  /** True if the text never needs parentheses beside an operator: the text is a name or a call. */
  readonly isTight?: boolean;
}

/** Syntax of a target language for printing linear expressions: number literals, products and atoms. */
export interface FormLanguage {
  /** Returns the text of a number of either sign. */
  readonly literal: (value: number) => string;
  /** Returns the text of an expression times a number above 1, with parentheses if needed. */
  readonly product: (factor: string, by: number) => string;
  /**
   * Returns the summand for a term whose factor is above 0. The summand is 0 if the term's atom does not
   * change.
   */
  readonly amount: (term: Term) => Amount;
  /** Returns terms in the order in which they are printed. Absent: as they are. */
  readonly ordered?: (terms: readonly Term[]) => readonly Term[];
}

/** Sum that a form is: amounts to add, a number, and amounts to take away. */
interface Sum {
  readonly added: readonly Amount[];
  readonly number: number;
  readonly taken: readonly Amount[];
}

/** Returns the added terms, the constant and the subtracted terms of a linear expression. */
function sumOfForm({ at, terms }: Linear, { amount, ordered = (entry) => entry }: FormLanguage): Sum {
  const [added, taken]: [Amount[], Amount[]] = [[], []];
  let number = at;
  for (const { by, of } of ordered(terms)) {
    const entry = amount({ by: Math.abs(by), of });
    if (entry.text === undefined) number += Math.sign(by) * entry.by;
    else if (entry.by !== 0) (by > 0 ? added : taken).push(entry);
  }
  return { added, number, taken };
}

/** Returns the text of a summand: the product of the number and the expression, or only the number. */
export function amountText(
  { by, text, isTight = false }: Amount,
  { literal, product }: Pick<FormLanguage, "literal" | "product">,
): string {
  if (text === undefined || by === 0) return literal(by);
  return by === 1 ? text : product(isTight ? text : `(${text})`, by);
}

/**
 * Returns the text of a linear expression in a language. The order is: added terms, constant, subtracted
 * terms.
 */
export const printForm = (form: Linear, language: FormLanguage): string =>
  sumText(sumOfForm(form, language), language);

/** Returns the text of a sum. The order is: added terms, constant, subtracted terms. */
function sumText({ added, number, taken }: Sum, language: FormLanguage): string {
  const texts = (amounts: readonly Amount[]): string[] => amounts.map((entry) => amountText(entry, language));
  const { literal } = language;
  if (added.length === 0) return [literal(number), ...texts(taken)].join(" - ");
  const head = [...texts(added), ...(number > 0 ? [literal(number)] : [])].join(" + ");
  return [head, ...(number < 0 ? [literal(-number)] : []), ...texts(taken)].join(" - ");
}

/**
 * Returns the text of a linear expression as a summand whose number `by` is 1. For the constant 0, `by` is 0
 * and there is no text.
 */
export function amountOf(form: Linear, language: FormLanguage): Amount {
  const sum = sumOfForm(form, language);
  const { added, number, taken } = sum;
  const [only, ...others] = added;
  const isNumber = only === undefined && taken.length === 0;
  if (isNumber && number === 0) return { by: 0 };
  const isName = number === 0 && taken.length + others.length === 0 && only?.by === 1;
  const isTight = isNumber ? number >= 0 : isName && only.isTight === true;
  return { by: 1, text: sumText(sum, language), isTight };
}

/**
 * Returns the text that adds a linear expression to preceding summands: ` + 3 * t0`. The text is empty for
 * the constant 0.
 */
export function printAddend(form: Linear, language: FormLanguage): string {
  const { added, number, taken } = sumOfForm(form, language);
  const signed = (sign: string, amounts: readonly Amount[]): string[] =>
    amounts.map((entry) => ` ${sign} ${amountText(entry, language)}`);
  const offset = number === 0 ? "" : ` ${number < 0 ? "-" : "+"} ${language.literal(Math.abs(number))}`;
  return [...signed("+", added), offset, ...signed("-", taken)].join("");
}

/**
 * Returns the text of a linear expression as an operand of `*`, `/` or another operator that binds tighter
 * than a sum. The text has parentheses if needed.
 */
export const printOperand = (form: Linear, language: FormLanguage): string =>
  operandText(amountOf(form, language), language);

/**
 * Returns the text of a summand, whose `by` must be 1, as an operand of `*` or `/`. The text has parentheses
 * if needed. A summand without `text` gives the literal 0.
 */
export function operandText({ text, isTight }: Amount, { literal }: FormLanguage): string {
  if (text === undefined) return literal(0);
  return isTight === true ? text : `(${text})`;
}
