/** Arithmetic of 32 bits on one value, or on the four lanes of a vector by the same instructions. */
import { at } from "../../ir/types.js";
import type { CodeBuilder, LocalId } from "./code.js";
import type { PlainOp } from "./instructions.js";

/** Instructions on one value of 32 bits, each with the one that does the same in four lanes. */
const vectorForms = {
  "i32.add": "i32x4.add",
  "i32.sub": "i32x4.sub",
  "i32.mul": "i32x4.mul",
  "i32.and": "v128.and",
  "i32.or": "v128.or",
  "i32.xor": "v128.xor",
  "i32.shl": "i32x4.shl",
  "i32.shr_s": "i32x4.shr_s",
  "i32.shr_u": "i32x4.shr_u",
  "i32.eq": "i32x4.eq",
  "i32.ne": "i32x4.ne",
  "i32.lt_s": "i32x4.lt_s",
  "i32.gt_s": "i32x4.gt_s",
  "f32.eq": "f32x4.eq",
  "f32.add": "f32x4.add",
  "f32.sub": "f32x4.sub",
  "f32.mul": "f32x4.mul",
  "f32.div": "f32x4.div",
  "f32.min": "f32x4.min",
  "f32.max": "f32x4.max",
  "f32.convert_i32_s": "f32x4.convert_i32x4_s",
  "f32.convert_i32_u": "f32x4.convert_i32x4_u",
  "i32.trunc_sat_f32_s": "i32x4.trunc_sat_f32x4_s",
  "i32.trunc_sat_f32_u": "i32x4.trunc_sat_f32x4_u",
  // A comparison gives 1 or 0 for one value, and all bits or none of a lane: it is for `select` alone.
  select: "v128.bitselect",
} as const satisfies Readonly<Partial<Record<PlainOp, PlainOp>>>;

/** Name of an instruction that exists for one value and for the four lanes of a vector. */
export type LaneOp = keyof typeof vectorForms;

/** An instruction that shifts by a constant. */
type ShiftOp = "i32.shl" | "i32.shr_s" | "i32.shr_u";

/**
 * The lesser and the greater of two integers: of one value by a comparison, of four lanes by an instruction.
 */
const extremes = {
  i32: {
    min: { within: "i32.lt_s", vector: "i32x4.min_s" },
    max: { within: "i32.gt_s", vector: "i32x4.max_s" },
  },
  u32: {
    min: { within: "i32.lt_u", vector: "i32x4.min_u" },
    max: { within: "i32.gt_u", vector: "i32x4.max_u" },
  },
} as const satisfies Readonly<
  Record<
    "i32" | "u32",
    Readonly<Record<"min" | "max", { readonly within: PlainOp; readonly vector: PlainOp }>>
  >
>;

/**
 * Emitter of 32-bit arithmetic, for one value or for the four lanes of a vector, as selected in the
 * constructor.
 */
export class LaneCode {
  /** Locals of the emitter, in the order of creation. */
  private readonly locals: LocalId[] = [];
  private taken = 0;

  /** `isVector`: four lanes; else one value. */
  constructor(
    readonly code: CodeBuilder,
    readonly isVector: boolean,
  ) {}

  /** Returns a local for what an integer or a float is in the lanes. */
  local(name: string, type: "i32" | "f32" = "i32"): LocalId {
    const existing = this.locals[this.taken++];
    if (existing !== undefined) return existing;
    const local = this.code.local(name, this.isVector ? "v128" : type);
    this.locals.push(local);
    return local;
  }

  /**
   * Gives out the locals again, in the same order: code like that before it, which needs none of their
   * values.
   */
  reuseLocals(): void {
    this.taken = 0;
  }

  /** Pushes a local; one that holds a single value is the same in every lane. */
  get(local: LocalId): this {
    const { type } = at(this.code.locals, local);
    this.code.get(local);
    if (this.isVector && type !== "v128") this.code.op(type === "f32" ? "f32x4.splat" : "i32x4.splat");
    return this;
  }

  set(local: LocalId): this {
    this.code.set(local);
    return this;
  }

  /** Pushes an integer. */
  const(bits: number): this {
    if (this.isVector) this.code.vector([bits, bits, bits, bits]);
    else this.code.const(bits);
    return this;
  }

  /** Pushes the f32 of some bits. */
  float(bits: number): this {
    return this.const(bits).asFloat();
  }

  /** Takes an integer's bits as a float. */
  asFloat(): this {
    if (!this.isVector) this.code.op("f32.reinterpret_i32");
    return this;
  }

  /** Takes a float as its bits. */
  asBits(): this {
    if (!this.isVector) this.code.op("i32.reinterpret_f32");
    return this;
  }

  op(op: LaneOp): this {
    this.code.op(this.isVector ? vectorForms[op] : op);
    return this;
  }

  /** Shifts what is on top. */
  shift(op: ShiftOp, by: number): this {
    this.code.const(by);
    return this.op(op);
  }

  /** Pushes the lesser or the greater of two integers, each pushed by a function. */
  extreme(how: "min" | "max", type: "i32" | "u32", a: () => void, b: () => void): this {
    const { vector, within } = extremes[type][how];
    a();
    b();
    if (this.isVector) {
      this.code.op(vector);
      return this;
    }
    a();
    b();
    this.code.op(within).op("select");
    return this;
  }
}
