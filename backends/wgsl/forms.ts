/**
 * Linear forms as WGSL, all in u32. Sums and products are exact modulo 2^32, so what must not leave u32 are the values that
 * are compared: `planWgsl` refuses programs where one could.
 */
import type { Atom, Linear, Term } from "../../ir/linear.js";
import { assertNever, at, isPowerOfTwo } from "../../ir/types.js";
import { sizeName } from "./names.js";

/** What the atoms of a form are called where it is printed. */
export interface WgslVocabulary {
  readonly iv: (name: string) => string;
  /** By output dim; `0u` for one that stands still. */
  readonly dims: readonly string[];
  /** By number. */
  readonly sites: readonly string[];
}

/** Longest strides first, as addresses are read; then loop variables, dims, sites. The constant, then what is taken away. */
export function printForm(form: Linear, words: WgslVocabulary): string {
  const terms = largestFactorFirst(form.terms);
  const added = terms.filter(({ by }) => by > 0).flatMap((term) => printTerm(term, words));
  const taken = terms.filter(({ by }) => by < 0).flatMap(({ by, of }) => printTerm({ by: -by, of }, words));
  const head = sum(form.at > 0 ? [...added, `${form.at}u`] : added);
  return [head, ...(form.at < 0 ? [`${-form.at}u`] : []), ...taken].join(" - ");
}

const ranks = { iv: 0, dim: 1, site: 2, div: 3, mod: 4, min: 5, symbol: 6 } as const satisfies Readonly<
  Record<Atom["kind"], number>
>;

export const largestFactorFirst = (terms: readonly Term[]): readonly Term[] =>
  [...terms].sort((a, b) => Math.abs(b.by) - Math.abs(a.by) || ranks[a.of.kind] - ranks[b.of.kind]);

function printTerm({ by, of }: Term, words: WgslVocabulary): string[] {
  switch (of.kind) {
    case "iv":
      return [times(words.iv(of.name), by)];
    case "dim":
      return scaled(at(words.dims, of.dim), by);
    case "site":
      return scaled(at(words.sites, of.site), by);
    case "div":
      return quotient(printForm(of.of, words), of.by, by);
    case "mod":
      return remainder(printForm(of.of, words), of.by, by);
    case "min":
      return [times(`min(${of.of.map((side) => printForm(side, words)).join(", ")})`, by)];
    case "symbol":
      return [times(sizeName(of.name), by)];
    default:
      return assertNever(of);
  }
}

/** Of a form that stands still, nothing; of a power of two, by its bits. */
function quotient(form: string, of: number, by: number): string[] {
  if (form === "0u") return [];
  const whole = inParens(form);
  if (!isPowerOfTwo(of)) return [times(`(${whole} / ${of}u)`, by)];
  // What is left when the remainder is taken away is as many times the divisor.
  if (by % of === 0) return [times(`(${whole} & 0x${(2 ** 32 - of).toString(16)}u)`, by / of)];
  return [times(`(${whole} >> ${Math.log2(of)}u)`, by)];
}

function remainder(form: string, of: number, by: number): string[] {
  if (form === "0u") return [];
  const rest = isPowerOfTwo(of) ? `& ${of - 1}u` : `% ${of}u`;
  return [times(`(${inParens(form)} ${rest})`, by)];
}

const inParens = (text: string): string => (/^[\w.]+$/.test(text) ? text : `(${text})`);

const times = (factor: string, by: number): string => (by === 1 ? factor : `${factor} * ${by}u`);

/** A coordinate of the form `unit * 4u` as its parts. */
export function factored(value: string): { readonly factor: string; readonly times: number } {
  const [, factor = value, own = "1"] = /^([\w.]+) \* (\d+)u$/.exec(value) ?? [];
  return { factor, times: Number(own) };
}

/** One summand: a value times a positive constant; absent when it is zero. */
export function scaled(value: string, by: number): string[] {
  if (by === 0 || value === "0u") return [];
  const literal = /^(\d+)u$/.exec(value)?.[1];
  if (literal !== undefined) return [`${Number(literal) * by}u`];
  const { factor, times: own } = factored(value);
  if (own > 1) return [times(factor, own * by)];
  return [times(/^[\w.]+(?:\([^()]*\))?$/.test(value) ? value : `(${value})`, by)];
}

/** Returns a whole number as a literal of u32, in which addresses count: modulo 2^32. */
export const u32Literal = (value: number): string => `${value >>> 0}u`;

export const sum = (terms: readonly string[]): string => (terms.length === 0 ? "0u" : terms.join(" + "));
