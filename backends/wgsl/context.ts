/** What every statement of a kernel shares: its plan, its text, its lanes, and how forms are written. */
import { dimsOf, scale, type Linear, type Term } from "../../ir/linear.js";
import { at } from "../../ir/types.js";
import { factored, printForm, scaled, sum, type Vocabulary } from "./forms.js";
import type { Width } from "./gather-move.js";
import { Lanes } from "./lanes.js";
import { Lines } from "../lines.js";
import type { Names } from "../names.js";
import { namesOf } from "./names.js";
import type { WgslPlan } from "./plan.js";

/** A loop of lanes along a dim of a tile: the coordinates outside it, and what is found before it: names by texts. */
interface Loop {
  readonly outside: readonly string[];
  readonly starts: Map<string, string>;
}

/** Stands for what is found before a loop; no loop variable of a program is called so. */
const start = " start";

export class Context {
  readonly out = new Lines();
  readonly lanes: Lanes;
  readonly names: Names;
  private loop: Loop | undefined;
  private starts = 0;

  constructor(readonly plan: WgslPlan) {
    this.lanes = new Lanes(plan.lanes);
    this.names = namesOf(plan.func);
  }

  /** A form over loop variables. */
  form(form: Linear): string {
    return printForm(form, this.words([]));
  }

  /** A form over loop variables, the dims of a tile and sites. */
  address(form: Linear, dims: readonly string[], sites: readonly string[] = []): string {
    const words = this.words(dims, sites);
    const { loop } = this;
    if (loop === undefined) return printForm(form, words);
    const isBefore = ({ of }: Term): boolean =>
      of.kind === "iv" || (of.kind === "dim" && dims[of.dim] === loop.outside[of.dim]);
    const before = printForm({ at: form.at, terms: form.terms.filter(isBefore) }, words);
    if (/^[\w.]+$/.test(before)) return printForm(form, words);
    const name = loop.starts.get(before) ?? `start${this.starts++}`;
    loop.starts.set(before, name);
    const rest: readonly Term[] = form.terms.filter((term) => !isBefore(term));
    return printForm(
      { at: 0, terms: [{ by: 1, of: { kind: "iv", name: start } }, ...rest] },
      { ...words, iv: (iv) => (iv === start ? name : words.iv(iv)) },
    );
  }

  /** A loop along a dim of a tile, with the coordinates outside it: what of addresses it does not move is found before it. */
  looped(outside: readonly string[], emit: () => void): void {
    const outer = this.loop;
    const loop: Loop = { outside: [...outside], starts: new Map() };
    this.loop = loop;
    const lines = this.out.apart(emit);
    this.loop = outer;
    for (const [text, name] of loop.starts) this.out.line(`let ${name} = ${text};`);
    this.out.append(lines);
  }

  words(dims: readonly string[], sites: readonly string[] = []): Vocabulary {
    return { iv: this.names.iv, dims, sites };
  }

  guarded(conditions: readonly string[], body: () => void): void {
    if (conditions.length === 0) body();
    else this.out.block(`if (${conditions.join(" && ")})`, body);
  }

  /** The access of so many elements that starts at an address. */
  access(form: Linear, elements: number, dims: readonly string[], sites: readonly string[] = []): string {
    const coords = dims.map(factored);
    const terms = form.terms.flatMap(({ by, of }): Term[] => {
      if (of.kind !== "dim") return [{ by, of }];
      const { factor, times } = at(coords, of.dim);
      return factor === "0u" ? [] : [{ by: by * times, of }];
    });
    const inWhole = [form.at, ...terms.map(({ by }) => by)].every((part) => part % elements === 0);
    // A div or a mod is of the coordinate itself.
    const inParts = terms.flatMap(({ by, of }) =>
      of.kind === "dim" ? [] : dimsOf({ at: 0, terms: [{ by, of }] }),
    );
    const asTheyAre = inParts.every((d) => at(coords, d).times === 1);
    if (!inWhole || !asTheyAre) return inAccesses(this.address(form, dims, sites), elements);
    const units = coords.map(({ factor }) => factor);
    return this.address(scale({ at: form.at, terms }, 1 / elements), units, sites);
  }

  /** Elements of an access of `width` words; less than one of those that are wider. */
  elementsOf(width: Width): number {
    return (4 * width) / this.plan.element.size;
  }

  /** Bits of packed element number `place` of an array of words, which `word` reads. */
  unpack(word: (place: string) => string, place: string): string {
    const { perWord } = this.plan.element;
    const bits = 32 / perWord;
    const shift = `(${place} & ${perWord - 1}u) * ${bits}u`;
    return `((${word(`${place} >> ${Math.log2(perWord)}u`)} >> (${shift})) & ${lowBits(bits)})`;
  }
}

/** A flat element number as a number of accesses of so many. */
export function inAccesses(flat: string, elements: number): string {
  if (elements < 1) return sum(scaled(flat, 1 / elements));
  return elements === 1 ? flat : `(${flat}) >> ${Math.log2(elements)}u`;
}

/** A mask of the low bits of a word: 8 or 16. */
export const lowBits = (bits: number): string => (bits === 8 ? "0xffu" : "0xffffu");
