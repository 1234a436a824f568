/** State that all statements of a kernel share: its plan, its text, its lanes, and the printing of forms. */
import { dimsOf, isConstant, scale, type Linear, type Term } from "../../ir/linear.js";
import { at } from "../../ir/types.js";
import { amountOf, printForm, type Amount, type FormLanguage } from "../../ir/text/form-text.js";
import { computed, named, wgslForms, zero } from "./forms.js";
import type { AccessWords } from "./gather-move.js";
import { Lanes } from "./lanes.js";
import { Lines } from "../lines.js";
import type { Names } from "../names.js";
import type { WgslPlan } from "./plan.js";

/**
 * A loop of lanes along a dim of a tile: the coordinates outside it, and what is found before it: names by
 * texts.
 */
interface Loop {
  readonly outside: readonly Amount[];
  readonly starts: Map<string, string>;
}

/** Stands for what is found before a loop; no loop variable of a program is called so. */
const start = " start";

/** State of the emission of one kernel's WGSL text: the plan, the emitted text, the lanes and the names. */
export class WgslContext {
  readonly out = new Lines();
  readonly lanes: Lanes;
  readonly names: Names;
  private loop: Loop | undefined;
  private starts = 0;

  constructor(readonly plan: WgslPlan) {
    this.lanes = new Lanes(plan.lanes);
    this.names = plan.names;
  }

  /** Returns a form over loop variables. */
  form(form: Linear): string {
    return printForm(form, this.language([]));
  }

  /** Returns a form over loop variables, as a number. */
  amount(form: Linear): Amount {
    if (isConstant(form)) return { by: form.at };
    const { text = "0u", isTight } = amountOf(form, this.language([]));
    return isTight === true ? named(text) : computed(text);
  }

  /** Returns a form over loop variables, the dims of a tile and index operands. */
  address(form: Linear, dims: readonly Amount[], indices: readonly string[] = []): string {
    const { before, rest } = this.split(form, dims);
    const language = this.language(dims, indices);
    const { text, isTight } = amountOf(before, language);
    return this.loop === undefined || text === undefined || isTight === true
      ? printForm(form, language)
      : this.after(this.loop, text, rest, dims, indices);
  }

  /** Splits a form into the part that the innermost loop does not move, constant included, and the rest. */
  private split(form: Linear, dims: readonly Amount[]): { readonly before: Linear; readonly rest: Linear } {
    const outside = this.loop?.outside ?? [];
    const isBefore = ({ of }: Term): boolean => {
      if (of.kind !== "dim") return of.kind === "iv";
      const around = outside[of.dim];
      const { by, text } = at(dims, of.dim);
      return around !== undefined && around.text === text && (around.by === by || by === 1);
    };
    return {
      before: { at: form.at, terms: form.terms.filter(isBefore) },
      rest: { at: 0, terms: form.terms.filter((term) => !isBefore(term)) },
    };
  }

  /** Returns a form whose start is found before a loop. */
  private after(
    { starts }: Loop,
    before: string,
    rest: Linear,
    dims: readonly Amount[],
    indices: readonly string[],
  ): string {
    const name = starts.get(before) ?? `start${this.starts++}`;
    starts.set(before, name);
    const terms: readonly Term[] = [{ by: 1, of: { kind: "iv", name: start } }, ...rest.terms];
    const iv = (entry: string): string => (entry === start ? name : this.names.iv(entry));
    return printForm({ at: 0, terms }, wgslForms({ iv, dims, indices }));
  }

  /**
   * Emits a loop along a dim of a tile. `outside`: the coordinates around it. The loop-invariant parts of
   * addresses are computed before the loop.
   */
  looped(outside: readonly Amount[], emit: () => void): void {
    const outer = this.loop;
    const loop: Loop = { outside, starts: new Map() };
    this.loop = loop;
    const lines = this.out.apart(emit);
    this.loop = outer;
    for (const [text, name] of loop.starts) this.out.line(`let ${name} = ${text};`);
    this.out.append(lines);
  }

  /** True inside of a loop of lanes along a dim of a tile. */
  get isInLoop(): boolean {
    return this.loop !== undefined;
  }

  /** True if a form over the dims of a tile is 0 wherever these stand still. */
  isStill(form: Linear, dims: readonly Amount[]): boolean {
    return amountOf(form, this.language(dims)).by === 0;
  }

  private language(dims: readonly Amount[], indices: readonly string[] = []): FormLanguage {
    return wgslForms({ iv: this.names.iv, dims, indices });
  }

  guarded(conditions: readonly string[], body: () => void): void {
    if (conditions.length === 0) body();
    else this.out.block(`if (${conditions.join(" && ")})`, body);
  }

  /** Returns the access of so many elements that starts at an address. */
  access(form: Linear, elements: number, dims: readonly Amount[], indices: readonly string[] = []): string {
    const terms = form.terms.flatMap(({ by, of }): Term[] => {
      if (of.kind !== "dim") return [{ by, of }];
      const coord = at(dims, of.dim);
      return coord.by === 0 ? [] : [{ by: by * coord.by, of }];
    });
    // A div or a mod is of the coordinate itself.
    const isChunked = terms.flatMap(({ by, of }) =>
      of.kind === "dim" ? [] : dimsOf({ at: 0, terms: [{ by, of }] }),
    );
    const asTheyAre = isChunked.every((d) => at(dims, d).by <= 1);
    const units = dims.map((coord) => (coord.by === 0 ? zero : { ...coord, by: 1 }));
    const { before, rest } = this.split({ at: form.at, terms }, units);
    const isAligned = ({ at: constantTerm, terms: rest }: Linear): boolean =>
      constantTerm % elements === 0 && rest.every(({ by }) => by % elements === 0);
    if (asTheyAre && isAligned(before) && isAligned(rest))
      return this.address(scale({ at: form.at, terms }, 1 / elements), units, indices);
    if (this.loop === undefined || !asTheyAre || !isAligned(rest))
      return inAccesses(this.address(form, dims, indices), elements);
    const first = inAccesses(printForm(before, this.language(units, indices)), elements);
    return this.after(this.loop, first, scale(rest, 1 / elements), units, indices);
  }

  /**
   * Returns the number of elements of an access of `width` words; less than 1 for elements that are wider.
   */
  elementsOf(width: AccessWords): number {
    return (4 * width) / this.plan.element.size;
  }

  /** Returns the bits of packed element number `place` in an array of words; `word` reads a word. */
  unpack(word: (place: string) => string, place: string): string {
    const { perWord } = this.plan.element;
    const bits = 32 / perWord;
    const shift = `(${place} & ${perWord - 1}u) * ${bits}u`;
    return `((${word(`${place} >> ${Math.log2(perWord)}u`)} >> (${shift})) & ${lowBits(bits)})`;
  }
}

/**
 * Returns the WGSL text of the index of the memory access that contains the element at position `flat`.
 * `elements`: elements per access; less than 1 if an element spans several accesses.
 */
export function inAccesses(flat: string, elements: number): string {
  if (elements < 1) return `(${flat}) * ${1 / elements}u`;
  return elements === 1 ? flat : `(${flat}) >> ${Math.log2(elements)}u`;
}

/** Returns a WGSL literal of a word in which the lowest `bits` bits are set. `bits`: 2 to 16. */
export const lowBits = (bits: number): string => `0x${(2 ** bits - 1).toString(16)}u`;
