/** What every statement of a kernel shares: its plan, its text, its lanes, and how forms are written. */
import { isConstant, type Linear } from "../../ir/linear.js";
import { elementCount, type Shape } from "../../ir/types.js";
import { printForm, type Vocabulary } from "./forms.js";
import { Lanes } from "./lanes.js";
import { Lines } from "./lines.js";
import { namesOf, type Names } from "./names.js";
import type { WgslPlan } from "./plan.js";

export class Context {
  readonly out = new Lines();
  readonly lanes: Lanes;
  readonly names: Names;

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
    return printForm(form, this.words(dims, sites));
  }

  words(dims: readonly string[], sites: readonly string[] = []): Vocabulary {
    return { iv: this.names.iv, dims, sites };
  }

  /** Declares `d0`, `d1`, …: the coordinates of a row-major position in a constant shape. */
  decode(position: string, shape: Shape): string[] {
    const { out } = this;
    const moving = shape.flatMap((extent, d) => (extent > 1 ? [d] : []));
    return shape.map((extent, d) => {
      if (extent <= 1) return "0u";
      const inner = elementCount(shape.slice(d + 1));
      const whole = inner === 1 ? position : `${position} / ${inner}u`;
      const first = d === moving[0];
      if (first && inner === 1) return position;
      out.line(`let d${d} = ${first ? whole : `${inner === 1 ? whole : `(${whole})`} % ${extent}u`};`);
      return `d${d}`;
    });
  }

  /** One slot a lane, again and again until all are taken. */
  lanesOver(slots: number, body: () => void): void {
    const { out, lanes } = this;
    const lane = lanes.flat();
    if (slots <= lanes.count) {
      out.block(slots === lanes.count ? "" : `if (${lane} < ${slots}u)`, () => {
        out.line(`let slot = ${lane};`);
        body();
      });
    } else {
      out.block(`for (var slot = ${lane}; slot < ${slots}u; slot += ${lanes.count}u)`, body);
    }
  }

  /** The condition that a coordinate exists, where an edge tile may be smaller than the tile. */
  guard(name: string, size: Linear, extent: number): string[] {
    if (isConstant(size) && size.at >= extent) return [];
    return [`${name} < ${this.form(size)}`];
  }

  guarded(conditions: readonly string[], body: () => void): void {
    if (conditions.length === 0) body();
    else this.out.block(`if (${conditions.join(" && ")})`, body);
  }

  /** Bits of packed element number `place` of an array of words. */
  unpack(name: string, place: string): string {
    const { perWord } = this.plan.element;
    const bits = 32 / perWord;
    return `((${name}[${place} / ${perWord}u] >> (${place} % ${perWord}u * ${bits}u)) & ${lowBits(bits)})`;
  }
}

/** A mask of the low bits of a word: 8 or 16. */
export const lowBits = (bits: number): string => (bits === 8 ? "0xffu" : "0xffffu");
