/**
 * Linear forms as WGSL, all in u32. Sums and products are exact modulo 2^32, so what must not leave u32 are
 * the values that are compared: `planWgsl` refuses programs where one could.
 */
import type { Atom, Linear, Term } from "../../ir/linear.js";
import {
  amountOf,
  amountText,
  operandText,
  printForm,
  type Amount,
  type FormLanguage,
} from "../../ir/text/form-text.js";
import { assertNever, at, isPowerOfTwo } from "../../ir/types.js";
import { sizeName } from "./names.js";

/** Amount (number times WGSL expression) that is 0, for a coordinate that is always 0 or an empty sum. */
export const zero: Amount = { by: 0 };

/**
 * Returns an amount (number times WGSL expression): `by` times `text`. `text`: a name or a call, which needs
 * no parentheses.
 */
export const named = (text: string, by = 1): Amount => ({ by, text, isTight: true });

/**
 * Returns an amount (number times WGSL expression) with the number 1 and the expression `text` in
 * parentheses.
 */
export const computed = (text: string): Amount => named(`(${text})`);

/** Returns an amount (number times WGSL expression) with the number multiplied by `by`. */
export const times = (amount: Amount, by: number): Amount => ({ ...amount, by: amount.by * by });

/** WGSL names of the loop variables, output dims and index operands in a linear expression. */
export interface WgslVocabulary {
  readonly iv: (name: string) => string;
  /** Coordinates of the output dims, by dim. */
  readonly dims: readonly Amount[];
  /** Names or calls of the index values, by number of the index operand. */
  readonly indices: readonly string[];
}

/** Numbers and products of u32. */
const u32: Pick<FormLanguage, "literal" | "product"> = {
  literal: (value) => (value < 0 ? `0u - ${-value}u` : `${value}u`),
  product: (factor, by) => `${factor} * ${by}u`,
};

/**
 * Returns the rules by which linear expressions are printed as WGSL. `words`: names of loop variables, output
 * dims and index operands.
 */
export function wgslForms(words: WgslVocabulary): FormLanguage {
  const language: FormLanguage = {
    ...u32,
    ordered: largestFactorFirst,
    amount({ by, of }) {
      switch (of.kind) {
        case "iv":
          return named(words.iv(of.name), by);
        case "dim":
          return times(at(words.dims, of.dim), by);
        case "index":
          return named(at(words.indices, of.index), by);
        case "div":
          return quotient(of.of, of.by, by, language);
        case "mod":
          return remainder(of.of, of.by, by, language);
        case "min":
          return named(`min(${of.of.map((side) => printForm(side, language)).join(", ")})`, by);
        case "symbol":
          return named(sizeName(of.name), by);
        default:
          return assertNever(of);
      }
    },
  };
  return language;
}

const ranks = { iv: 0, dim: 1, index: 2, div: 3, mod: 4, min: 5, symbol: 6 } as const satisfies Readonly<
  Record<Atom["kind"], number>
>;

/**
 * Returns the terms of a linear expression sorted by coefficient, the largest absolute value first. Equal
 * coefficients are sorted by kind: loop variables, dims, index operands, then all others.
 */
export const largestFactorFirst = (terms: readonly Term[]): readonly Term[] =>
  [...terms].sort((a, b) => Math.abs(b.by) - Math.abs(a.by) || ranks[a.of.kind] - ranks[b.of.kind]);

/**
 * Returns `by` times the quotient `form` / `of`, as an amount (number times WGSL expression). The division is
 * printed as a shift or a mask if `of` is a power of two.
 */
function quotient(form: Linear, of: number, by: number, language: FormLanguage): Amount {
  const divided = amountOf(form, language);
  if (divided.by === 0) return zero;
  const dividend = operandText(divided, language);
  if (!isPowerOfTwo(of)) return times(computed(`${dividend} / ${of}u`), by);
  // What is left when the remainder is taken away is as many times the divisor.
  if (by % of === 0) return times(computed(`${dividend} & 0x${(2 ** 32 - of).toString(16)}u`), by / of);
  return times(computed(`${dividend} >> ${Math.log2(of)}u`), by);
}

function remainder(form: Linear, of: number, by: number, language: FormLanguage): Amount {
  const divided = amountOf(form, language);
  if (divided.by === 0) return zero;
  const rest = isPowerOfTwo(of) ? `& ${of - 1}u` : `% ${of}u`;
  return times(computed(`${operandText(divided, language)} ${rest}`), by);
}

/** Returns the WGSL expression of an amount (number times expression), in u32 arithmetic. */
export const numberText = (amount: Amount): string => amountText(amount, u32);

/** Returns the u32 literal in WGSL of an integer, modulo 2^32. Addresses are computed in u32. */
export const u32Literal = (value: number): string => `${value >>> 0}u`;

/** Returns the WGSL expression of a sum of amounts (number times expression); `0u` if all amounts are 0. */
export function sumText(amounts: readonly Amount[]): string {
  const moving = amounts.filter(({ by }) => by !== 0);
  return moving.length === 0 ? "0u" : moving.map(numberText).join(" + ");
}
