/**
 * A value as the vector unit of an Ascend core computes it: instructions of PTO-ISA over the elements of a
 * row, and the places of four bytes an element in which they leave results. What is printed, charged and
 * counted against UB is this list.
 *
 * Conversions are those that A2, A3 and A5 all have (hw-native-sys/pto-isa 3186c381, docs/isa/TCVT.md, table
 * of supported conversions). A conversion that rounds once stays one instruction; those around it are exact.
 */
import { at, invariant } from "../types.js";
import type { Operation, Reduction, SourceType, ValueType } from "./expression.js";
import type { ValueStep, ValueSteps } from "./steps.js";

/**
 * Row of elements that a vector instruction reads or writes. The kinds are the data of a read, a temporary
 * row (`slot`), the accumulated reduction (`sum`), and the output row.
 */
export type VectorPlace =
  | { readonly kind: "read"; readonly read: number }
  | { readonly kind: "slot"; readonly slot: number }
  | { readonly kind: "sum" }
  | { readonly kind: "output" };

/** Rounding mode of the PTO-ISA instruction TCVT (RoundMode). */
export type VectorRounding = "CAST_NONE" | "CAST_RINT" | "CAST_TRUNC";

/**
 * Conversion between two types by one TCVT instruction of PTO-ISA. `saturates`: true if values out of range
 * become the nearest limit; absent if every value fits.
 */
export interface Conversion {
  readonly from: SourceType;
  readonly to: ValueType;
  readonly round: VectorRounding;
  readonly saturates?: boolean;
}

/**
 * Type of the 32-bit elements that an arithmetic vector instruction processes. Values of u32 are processed as
 * i32.
 */
export type VectorWord = "f32" | "i32";

/** Vector instruction of each operation on two rows. */
export const tileForms = {
  add: "TADD",
  sub: "TSUB",
  mul: "TMUL",
  div: "TDIV",
  min: "TMIN",
  max: "TMAX",
} as const satisfies Readonly<Record<Operation, string>>;
/** Instructions of an operation on a row and a number; a number is subtracted as the sum of its negation. */
const scalarForms = {
  add: "TADDS",
  mul: "TMULS",
  div: "TDIVS",
  min: "TMINS",
  max: "TMAXS",
} as const satisfies Readonly<Record<Exclude<Operation, "sub">, string>>;
type TileForm = (typeof tileForms)[Operation];
type ScalarForm = (typeof scalarForms)[Exclude<Operation, "sub">];

/**
 * Vector instruction of PTO-ISA that reads rows of elements and writes a row `to`. `by`: the bits of a
 * scalar, or the number of bits to shift by.
 */
export type VectorStep =
  | { readonly op: "TCVT"; readonly to: VectorPlace; readonly of: VectorPlace; readonly cast: Conversion }
  | {
      readonly op: TileForm;
      readonly to: VectorPlace;
      readonly of: readonly [VectorPlace, VectorPlace];
      readonly word: VectorWord;
    }
  | {
      readonly op: ScalarForm | "TSHLS" | "TSHRS";
      readonly to: VectorPlace;
      readonly of: VectorPlace;
      readonly word: VectorWord;
      readonly by: number;
    }
  | { readonly op: "TEXPANDS"; readonly to: VectorPlace; readonly word: VectorWord; readonly by: number }
  /** Bits of elements of a type move. */
  | { readonly op: "TMOV"; readonly to: VectorPlace; readonly of: VectorPlace; readonly type: SourceType };

/**
 * Vector instructions that compute one row of the output (`element`). `reduction`: the instructions, run
 * first, that compute one element for the reduction. `slots`: maximum number of temporary rows in use at one
 * time.
 */
export interface VectorProgram {
  readonly element: readonly VectorStep[];
  readonly reduction?: { readonly how: Reduction; readonly steps: readonly VectorStep[] };
  readonly slots: number;
}

/** A link of a chain: a conversion, or a shift on 32-bit words. */
type Link = Conversion | { readonly shift: "TSHLS" | "TSHRS"; readonly by: number };

const exact = (from: SourceType, to: ValueType): Conversion => ({ from, to, round: "CAST_NONE" });
const nearest = (from: SourceType, to: ValueType): Conversion => ({ from, to, round: "CAST_RINT" });
/**
 * Returns an infinity past the range, and no largest number: A5 saturates where nothing is said
 * (include/pto/npu/a5/TCvt.hpp:3047).
 */
const narrowed = (to: ValueType): Conversion => ({ from: "f32", to, round: "CAST_RINT", saturates: false });
const truncated = (from: SourceType, to: ValueType): Conversion => ({
  from,
  to,
  round: "CAST_TRUNC",
  saturates: true,
});
const wrapped: Conversion = { from: "i32", to: "i16", round: "CAST_NONE", saturates: false };

const wideFrom: Readonly<Partial<Record<SourceType, readonly Conversion[]>>> = {
  i8: [exact("i8", "f16"), exact("f16", "f32")],
  u8: [exact("u8", "f16"), exact("f16", "f32")],
  i16: [exact("i16", "f32")],
  f16: [exact("f16", "f32")],
  bf16: [exact("bf16", "f32")],
  i32: [nearest("i32", "f32")],
  // Whole numbers below 2^31 have the bits of i32.
  u32: [nearest("i32", "f32")],
  f32: [],
};

/** Returns the conversions of an i32 of at most 8 bits to a type of the same value. */
const toByte = (to: "i8" | "u8"): readonly Link[] => [
  nearest("i32", "f32"),
  { ...narrowed("f16") },
  truncated("f16", to),
];

/** The low 8 bits of an i32, with their sign: those of u8 are the same. */
const lowByte: readonly Link[] = [{ shift: "TSHLS", by: 24 }, { shift: "TSHRS", by: 24 }, ...toByte("i8")];

const fromF32: Readonly<Record<ValueType, readonly Link[]>> = {
  f32: [],
  f16: [narrowed("f16")],
  bf16: [narrowed("bf16")],
  i32: [truncated("f32", "i32")],
  u32: [truncated("f32", "i32")],
  i16: [truncated("f32", "i16")],
  u16: [truncated("f32", "i32"), wrapped],
  i8: [truncated("f32", "i32"), ...toByte("i8")],
  u8: [truncated("f32", "i32"), ...toByte("u8")],
};

const widths: Readonly<Partial<Record<SourceType, number>>> = {
  i8: 8,
  u8: 8,
  i16: 16,
  u16: 16,
  i32: 32,
  u32: 32,
};

/**
 * Returns the conversions and shifts that cast one type to another, in order; an empty list if the bits do
 * not change. Undefined if Ascend A2, A3 and A5 have no instructions for the cast.
 */
export function castChain(from: SourceType, to: ValueType): readonly Link[] | undefined {
  const [given, wanted] = [widths[from], widths[to]];
  if (given !== undefined && wanted !== undefined) {
    // What wraps to fewer bits, or is read as unsigned, keeps its low bits.
    if (given === wanted) return [];
    if (given === 32) return wanted === 16 ? [wrapped] : lowByte;
    if (given === 8) return [exact(from, "f16"), truncated("f16", wanted === 16 ? "i16" : "i32")];
    if (wanted === 8) return [exact("i16", "f32"), truncated("f32", "i32"), ...lowByte];
    return from === "i16" ? [exact("i16", "f32"), truncated("f32", "i32")] : undefined;
  }
  const wide = wideFrom[from];
  if (wide === undefined) return undefined;
  if (from === "f16" && (to === "i16" || to === "i32" || to === "i8" || to === "u8"))
    return [truncated("f16", to)];
  return [...wide, ...fromF32[to]];
}

/**
 * Returns the vector instructions that compute one row of a value. An unsupported cast becomes one
 * placeholder instruction, which no code generator emits.
 */
export function vectorProgram({ steps, reduction }: ValueSteps): VectorProgram {
  const element = new Rows(steps).instructions({ kind: "output" });
  if (reduction === undefined) return { element: element.steps, slots: element.slots };
  const laid = new Rows(reduction.steps).reduction(reduction.how, reduction.type === "f32" ? "f32" : "i32");
  return {
    element: element.steps,
    reduction: { how: reduction.how, steps: laid.steps },
    slots: Math.max(element.slots, laid.slots),
  };
}

interface Laid {
  readonly steps: readonly VectorStep[];
  readonly slots: number;
}

/** A number that no instruction has put anywhere yet. */
interface Scalar {
  readonly kind: "scalar";
  readonly bits: number;
}

const negatedBits = (word: VectorWord, bits: number): number =>
  word === "f32" ? (bits ^ 0x80000000) >>> 0 : -bits >>> 0;
const minusOne: Readonly<Record<VectorWord, number>> = { f32: 0xbf800000, i32: 0xffffffff };

/** Lays the steps out one behind the other; a result is overwritten where nothing reads it any more. */
class Rows {
  private readonly out: VectorStep[] = [];
  private readonly locations: (VectorPlace | Scalar)[] = [];
  private readonly uses: number[];
  private readonly taken: boolean[] = [];

  constructor(private readonly steps: readonly ValueStep[]) {
    this.uses = steps.map(() => 0);
    const use = (of: number): void => {
      this.uses[of] = (this.uses[of] ?? 0) + 1;
    };
    for (const step of steps) {
      if (step.kind === "cast") use(step.of);
      else if (step.kind === "op") step.of.forEach(use);
    }
  }

  /** Returns the last result in a place of its own. */
  instructions(to: VectorPlace): Laid {
    const { last, type } = this.lay();
    const made = this.out.at(-1);
    if (last.kind === "slot" && made !== undefined) this.out[this.out.length - 1] = { ...made, to };
    else this.out.push({ op: "TMOV", to, of: last, type });
    return { steps: this.out, slots: this.taken.length };
  }

  /**
   * Returns the last result taken into the sum. An exact sum has its own instructions, and a mean divides
   * behind its last term.
   */
  reduction(how: Reduction, word: VectorWord): Laid {
    const { last } = this.lay();
    const op = how === "max" ? "TMAX" : how === "min" ? "TMIN" : "TADD";
    const sum = { kind: "sum" } as const;
    if (how !== "exact") this.out.push({ op, to: sum, of: [sum, last], word });
    return { steps: this.out, slots: this.taken.length };
  }

  private lay(): { readonly last: VectorPlace; readonly type: SourceType } {
    this.steps.forEach((step, k) => {
      this.locations[k] = this.placeOf(step);
    });
    const last = this.steps.length - 1;
    return { last: this.row(last), type: at(this.steps, last).type };
  }

  private placeOf(step: ValueStep): VectorPlace | Scalar {
    switch (step.kind) {
      case "read":
        return { kind: "read", read: step.read };
      case "number":
        return { kind: "scalar", bits: step.bits };
      case "reduced":
        return { kind: "sum" };
      case "cast":
        return this.cast(step);
      case "op":
        return this.operation(step.op, step.type === "f32" ? "f32" : "i32", step.of);
    }
  }

  private cast({ from, type, of }: Extract<ValueStep, { readonly kind: "cast" }>): VectorPlace {
    let place = this.row(of);
    let reused = this.dies(of);
    for (const link of castChain(from, type) ?? [exact(from, type)]) {
      if ("shift" in link) {
        const to = reused && place.kind === "slot" ? place : this.free();
        this.out.push({ op: link.shift, to, of: place, word: "i32", by: link.by });
        place = to;
      } else {
        // A row of other words never lies where it is read from.
        const to = this.free();
        this.out.push({ op: "TCVT", to, of: place, cast: link });
        if (reused) this.leave(place);
        place = to;
      }
      reused = true;
    }
    return place;
  }

  private operation(op: Operation, word: VectorWord, [a, b]: readonly [number, number]): VectorPlace {
    const [left, right] = [at(this.locations, a), at(this.locations, b)];
    if (left.kind === "scalar" && right.kind === "scalar")
      return this.operationOf(op, word, this.row(a), true, right, true);
    if (left.kind !== "scalar")
      return this.operationOf(op, word, left, this.dies(a), right, this.dies(b) && a !== b);
    invariant(right.kind !== "scalar", "one side is a row");
    // A number is divided by a row as a row of it.
    if (op === "div") return this.operationOf(op, word, this.row(a), this.dies(a), right, this.dies(b));
    if (op !== "sub") return this.operationOf(op, word, right, this.dies(b), left, true);
    const minus = this.by("TMULS", word, right, this.dies(b), minusOne[word]);
    return this.by("TADDS", word, minus, true, left.bits);
  }

  private operationOf(
    op: Operation,
    word: VectorWord,
    left: VectorPlace,
    leftDies: boolean,
    right: VectorPlace | Scalar,
    rightDies: boolean,
  ): VectorPlace {
    if (right.kind === "scalar") {
      if (op === "sub") return this.by("TADDS", word, left, leftDies, negatedBits(word, right.bits));
      return this.by(scalarForms[op], word, left, leftDies, right.bits);
    }
    // The pages of the 950 contradict each other on -0 - -0; a sum of a row and of another one negated is
    // stated.
    if (op === "sub" && word === "f32") {
      const minus = this.by("TMULS", word, right, rightDies, minusOne.f32);
      return this.both("TADD", word, left, leftDies, minus, true);
    }
    return this.both(tileForms[op], word, left, leftDies, right, rightDies);
  }

  private by(op: ScalarForm, word: VectorWord, of: VectorPlace, dies: boolean, bits: number): VectorPlace {
    const to = dies && of.kind === "slot" ? of : this.free();
    this.out.push({ op, to, of, word, by: bits });
    return to;
  }

  private both(
    op: TileForm,
    word: VectorWord,
    left: VectorPlace,
    leftDies: boolean,
    right: VectorPlace,
    rightDies: boolean,
  ): VectorPlace {
    const [inLeft, inRight] = [leftDies && left.kind === "slot", rightDies && right.kind === "slot"];
    const to = inLeft ? left : inRight ? right : this.free();
    this.out.push({ op, to, of: [left, right], word });
    if (inLeft && inRight) this.leave(right);
    return to;
  }

  /** Returns the place of a value; a number is spread over a row. */
  private row(k: number): VectorPlace {
    const place = at(this.locations, k);
    if (place.kind !== "scalar") return place;
    const to = this.free();
    const word = at(this.steps, k).type === "f32" ? "f32" : "i32";
    this.out.push({ op: "TEXPANDS", to, word, by: place.bits });
    this.locations[k] = to;
    return to;
  }

  /** Removes one use of a result. True if that was its last use. */
  private dies(k: number): boolean {
    this.uses[k] = (this.uses[k] ?? 0) - 1;
    return this.uses[k] === 0;
  }

  private free(): VectorPlace {
    const free = this.taken.indexOf(false);
    const slot = free === -1 ? this.taken.length : free;
    this.taken[slot] = true;
    return { kind: "slot", slot };
  }

  private leave(place: VectorPlace): void {
    if (place.kind === "slot") this.taken[place.slot] = false;
  }
}
