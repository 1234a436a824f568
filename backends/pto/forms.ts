/** Linear forms as C++ in `int32_t`, quotients and remainders in `int64_t`: what may leave these is refused before anything is printed. */
import type { Atom, Linear, Term } from "../../ir/linear.js";
import { assertNever, at, InternalError } from "../../ir/types.js";

/** What the atoms of a form are called where it is printed. */
export interface PtoVocabulary {
  readonly iv: (name: string) => string;
  /** By output dim; `0` for one that stands still. */
  readonly dims: readonly string[];
  /** By number. */
  readonly sites: readonly string[];
  /** The quotient, rounded down, and what it leaves. */
  readonly quotient: (of: Linear, by: number) => string;
  readonly remainder: (of: Linear, by: number) => string;
}

/** Longest strides first; the constant, then what is taken away. `0` for nothing. */
export function printForm({ at: constantPart, terms }: Linear, words: PtoVocabulary): string {
  const order = [...terms].sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
  const added = order.filter(({ by }) => by > 0).flatMap((term) => printTerm(term, words));
  const taken = order.filter(({ by }) => by < 0).flatMap(({ by, of }) => printTerm({ by: -by, of }, words));
  const head = constantPart > 0 || added.length === 0 ? [...added, String(constantPart)] : added;
  const tail = constantPart < 0 && added.length > 0 ? [String(-constantPart), ...taken] : taken;
  return [head.join(" + "), ...tail].join(" - ");
}

/** The same behind other summands: ` + 3 * t0`, or nothing. */
export function printMore(form: Linear, words: PtoVocabulary): string {
  const text = printForm(form, words);
  if (text === "0") return "";
  return text.startsWith("-") ? ` - ${text.slice(1)}` : ` + ${text}`;
}

/** A minimum that stands alone needs no parentheses. */
export function printSize(form: Linear, words: PtoVocabulary): string {
  const text = printForm(form, words);
  const alone = form.at === 0 && form.terms.length === 1 && form.terms[0]?.of.kind === "min";
  return alone && form.terms[0]?.by === 1 ? text.slice(1, -1) : text;
}

function printTerm({ by, of }: Term, words: PtoVocabulary): string[] {
  const value = printAtom(of, words);
  return value === "0" ? [] : [times(value, by)];
}

function printAtom(of: Atom, words: PtoVocabulary): string {
  switch (of.kind) {
    case "iv":
      return words.iv(of.name);
    case "dim":
      return at(words.dims, of.dim);
    case "site":
      return at(words.sites, of.site);
    case "div":
      return words.quotient(of.of, of.by);
    case "mod":
      return words.remainder(of.of, of.by);
    case "min": {
      const [a, b] = of.of.map((side) => printForm(side, words));
      return `(${b ?? ""} < ${a ?? ""} ? ${b ?? ""} : ${a ?? ""})`;
    }
    case "symbol":
      throw new InternalError(`symbol ${of.name} is not bound`);
    default:
      return assertNever(of);
  }
}

export const times = (factor: string, by: number): string => {
  if (by === 1) return factor;
  if (/^\d+$/.test(factor)) return String(Number(factor) * by);
  return `${/^(?:[\w.]+(?: \* [\w.]+)*|\([^()]*\))$/.test(factor) ? factor : `(${factor})`} * ${by}`;
};
