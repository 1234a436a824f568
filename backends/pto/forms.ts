/**
 * Linear forms as C++ in `int32_t`, quotients and remainders in `int64_t`: what may leave these is refused
 * before anything is printed.
 */
import { soleAtom, type Linear, type Term } from "../../ir/linear.js";
import { printForm, type Amount, type FormLanguage } from "../../ir/text/form-text.js";
import { assertNever, at, InternalError } from "../../ir/types.js";

/** Coordinate along a dim in C++ code: the name of a variable, or a constant. */
export type Coordinate = string | number;

/** Names of the dims and index values of a point. */
export interface NamedPoint {
  readonly dims: readonly Coordinate[];
  readonly indices: readonly string[];
}

/**
 * C++ names and expressions for the atoms of linear expressions: loop variables, dims, index operands,
 * quotients and remainders.
 */
export interface PtoVocabulary {
  readonly iv: (name: string) => string;
  /** Coordinates of the output dims, by dim. */
  readonly dims: readonly Coordinate[];
  /** Names of the index values, by number of the index operand. */
  readonly indices: readonly string[];
  /** True if names are cast to `int64_t`. */
  readonly isWide?: boolean;
  /** The quotient, rounded down, and what it leaves. */
  readonly quotient: (of: Linear, by: number) => string;
  readonly remainder: (of: Linear, by: number) => string;
}

/**
 * Returns the rules to print linear expressions in C++ with the names in `words`. Printing a symbol (dynamic
 * size) throws an InternalError.
 */
export function ptoForms(words: PtoVocabulary): FormLanguage {
  const cast = (name: string, by: number): Amount =>
    words.isWide === true ? { by, text: `(int64_t)${name}` } : tight(name, by);
  const language: FormLanguage = {
    literal: String,
    product: (factor, by) => `${factor} * ${by}`,
    ordered: (terms: readonly Term[]) => [...terms].sort((a, b) => Math.abs(b.by) - Math.abs(a.by)),
    amount({ by, of }) {
      switch (of.kind) {
        case "iv":
          return cast(words.iv(of.name), by);
        case "dim": {
          const entry = at(words.dims, of.dim);
          return typeof entry === "number" ? { by: entry * by } : cast(entry, by);
        }
        case "index":
          return tight(at(words.indices, of.index), by);
        case "div":
          return tight(words.quotient(of.of, of.by), by);
        case "mod":
          return tight(words.remainder(of.of, of.by), by);
        case "min":
          return tight(`(${leastText(of.of, language)})`, by);
        case "symbol":
          throw new InternalError(`symbol ${of.name} is not bound`);
        default:
          return assertNever(of);
      }
    },
  };
  return language;
}

const tight = (text: string, by: number): Amount => ({ by, text, isTight: true });

function leastText([a, b]: readonly [Linear, Linear], language: FormLanguage): string {
  const [first, second] = [printForm(a, language), printForm(b, language)];
  return `${second} < ${first} ? ${second} : ${first}`;
}

/**
 * Returns the C++ text of a size, printed by the rules in `language`. A size that is just one minimum has no
 * parentheses around it.
 */
export function printSize(form: Linear, language: FormLanguage): string {
  const only = soleAtom(form);
  return only?.kind === "min" ? leastText(only.of, language) : printForm(form, language);
}
