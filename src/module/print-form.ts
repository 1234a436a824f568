/** Linear forms as JavaScript. */
import type { Linear } from "../../ir/linear.js";
import { printForm, type Amount, type FormLanguage } from "../../ir/text/form-text.js";
import { assertNever, InternalError } from "../../ir/types.js";

/**
 * Returns the JavaScript number expression for a linear expression of sizes or bounds. The expression reads
 * `n`, an object of sizes by name.
 */
export const printSizeForm = (form: Linear): string => printForm(form, sizeForms);

/**
 * Returns the JavaScript BigInt expression for a linear expression. The expression reads `d`, the list of
 * coordinates; `s`, the list of index values; and `n`, an object of sizes by name.
 */
export const printExactForm = (form: Linear): string => printForm(form, exactForms);

const sizeForms = formsIn({
  literal: String,
  symbol: (name) => `n.${name}`,
  least: (a, b) => `Math.min(${a}, ${b})`,
  quotient: (of, by) => `Math.floor((${of}) / ${by})`,
});

const exactForms = formsIn({
  literal: (value) => `${value}n`,
  symbol: (name) => `BigInt(n.${name})`,
  least: (a, b) => `((${a}) < (${b}) ? (${a}) : (${b}))`,
  quotient: (of, by, rest) => `(((${of}) - ${rest}) / ${by}n)`,
});

/** Texts in which numbers and BigInts differ. `rest`: what a quotient leaves. */
interface Arithmetic {
  readonly literal: (value: number) => string;
  readonly symbol: (name: string) => string;
  readonly least: (a: string, b: string) => string;
  readonly quotient: (of: string, by: number, rest: string) => string;
}

/**
 * Returns the JavaScript syntax of linear forms for one type of numbers (Number or BigInt). The argument has
 * functions that print literals, symbols, minimums and quotients of the type.
 */
function formsIn({ literal, symbol, least, quotient }: Arithmetic): FormLanguage {
  const remainder = (of: string, by: number): string =>
    `(((${of}) % ${literal(by)} + ${literal(by)}) % ${literal(by)})`;
  const language: FormLanguage = {
    literal,
    product: (factor, by) => `${literal(by)} * ${factor}`,
    amount({ by, of }) {
      const amount = (text: string): Amount => ({ by, text, isTight: true });
      const inner = (form: Linear): string => printForm(form, language);
      switch (of.kind) {
        case "dim":
          return amount(`d[${of.dim}]`);
        case "index":
          return amount(`s[${of.index}]`);
        case "symbol":
          return amount(symbol(of.name));
        case "min":
          return amount(least(inner(of.of[0]), inner(of.of[1])));
        case "div":
          return amount(quotient(inner(of.of), of.by, remainder(inner(of.of), of.by)));
        case "mod":
          return amount(remainder(inner(of.of), of.by));
        case "iv":
          throw new InternalError(`loop variable ${of.name} stands in no map over tensors`);
        default:
          return assertNever(of);
      }
    },
  };
  return language;
}
