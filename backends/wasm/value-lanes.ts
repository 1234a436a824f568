/**
 * The steps of a value in lanes: floats in f32, integers in i32. f16 and bf16 are widened exactly as they are
 * read, and rounded by integer arithmetic where a step casts to them. Arithmetic leaves the payload of a NaN
 * open; no operation or cast to an integer reads one, so that NaN takes its one form where an element is
 * stored.
 */
import type {
  ArithmeticType,
  FloatValueType,
  IntegerOperation,
  Operation,
  SourceType,
  StepwiseReduction,
  ReductionSteps,
  ValueStep,
  ValueType,
} from "../../ir/values/index.js";
import {
  accumulators,
  bitsOfNumber,
  countsItsElements,
  floatFormats,
  integerRanges,
  isFloatValue,
  isIntegerOperation,
  isRealSource,
  isValueType,
} from "../../ir/values/index.js";
import { float8Formats, type Float8Format } from "../../ir/float8.js";
import { assertNever, at, bitsOf, bytesOf, invariant } from "../../ir/types.js";
import type { LocalId } from "./code.js";
import type { LaneCode, LaneOp } from "./lane-code.js";

/**
 * Inputs of the code for one step of a value's computation: locals of earlier steps, loaded elements, and the
 * combined value of the reduction elements.
 */
export interface StepInputs {
  /** Returns the WebAssembly local that holds the result of step number `step`. */
  readonly of: (step: number) => LocalId;
  /**
   * Emits code that pushes the bits of the element that `step` reads; for an integer or f32, these are its
   * value.
   */
  readonly read: (step: Extract<ValueStep, { readonly kind: "read" }>) => void;
  /** WebAssembly local that holds the result of the reduction. */
  readonly reduced: LocalId | undefined;
}

/** Emits one step of the computation of a value. Returns a new local with the step's result. */
export function emitStep(lanes: LaneCode, step: ValueStep, { of, read, reduced }: StepInputs): LocalId {
  switch (step.kind) {
    case "read":
      read(step);
      widen(lanes, step.type);
      break;
    case "number":
      if (step.type === "f32") lanes.float(step.bits);
      else lanes.const(step.bits);
      break;
    case "cast":
      cast(lanes, step.from, step.type, of(step.of));
      break;
    case "op":
      emitOperation(lanes, step.op, step.type, of(step.of[0]), of(step.of[1]));
      break;
    case "reduced":
      invariant(reduced !== undefined, "the terms come before what is around them");
      lanes.get(reduced);
      break;
    default:
      assertNever(step);
  }
  const local = lanes.local("value", isRealSource(step.type) ? "f32" : "i32");
  lanes.set(local);
  return local;
}

/**
 * Emits one loop that combines reduction elements into `locals` results, each for one output element or for
 * one vector of output elements. Returns the WebAssembly locals of the results. `each`: emits the loop over
 * reduction elements, and calls `take` to emit the loop's body.
 */
export function emitStepwise(
  lanes: LaneCode,
  { how, type }: Pick<ReductionSteps, "type"> & { readonly how: StepwiseReduction },
  locals: number,
  each: (take: (elementAt: (k: number) => LocalId) => void) => void,
): readonly LocalId[] {
  const { op, start } = accumulators[how];
  const { code } = lanes;
  const sums = Array.from({ length: locals }, () => lanes.local("sum", type === "f32" ? "f32" : "i32"));
  const count = code.local("terms");
  const number = (value: number): LaneCode =>
    type === "f32" ? lanes.float(bitsOfNumber(type, value)) : lanes.const(bitsOfNumber(type, value));
  const counts = countsItsElements(how);
  for (const sum of sums) number(start[type]).set(sum);
  if (counts) code.const(0).set(count);
  each((elementAt) => {
    sums.forEach((sum, k) => {
      emitOperation(lanes, op, type, sum, elementAt(k));
      lanes.set(sum);
    });
    if (counts) code.advance(count, 1);
  });
  if (!counts) return sums;
  for (const sum of sums) {
    lanes.get(sum);
    if (how === "mean") lanes.get(count).op("f32.convert_i32_u").op("f32.div");
    number(0).get(count).const(0).op("i32.ne").op("select").set(sum);
  }
  return sums;
}

/** Emits code that pops the bits of an element and pushes the element's value, floats as f32. */
function widen(lanes: LaneCode, type: SourceType): void {
  switch (type) {
    case "i8":
    case "u8":
    case "i16":
    case "u16":
    case "i32":
    case "u32":
    case "u2":
    case "i2":
    case "u4":
    case "i4":
    case "f32":
      return;
    case "bf16":
      lanes.shift("i32.shl", 16).asFloat();
      return;
    case "f16":
      widenHalf(lanes);
      return;
    case "f8e5m2":
      // The upper byte of an f16.
      lanes.shift("i32.shl", 8);
      widenHalf(lanes);
      return;
    case "f8e4m3fn":
    case "f8e4m3fnuz":
    case "f8e5m2fnuz":
      widenByte(lanes, float8Formats[type]);
      return;
    case "f8e8m0fnu":
      widenExponent(lanes);
      return;
    default:
      assertNever(type);
  }
}

/**
 * Emits code that pops the bits of an f16 and pushes the value as an f32. Infinity and NaN get all exponent
 * bits.
 */
function widenHalf(lanes: LaneCode): void {
  const [half, wide] = [lanes.local("half"), lanes.local("wide")];
  lanes.set(half).get(half).const(0x7fff).op("i32.and").shift("i32.shl", 13);
  if (lanes.isVector) rebiasBySums(lanes, wide);
  else rebiasByProduct(lanes, wide);
  lanes.get(half).const(0x8000).op("i32.and").shift("i32.shl", 16).op("i32.or").asFloat();
}

/** Rebiases the exponents by a product. A product by 2^112 is exact, for subnormal numbers too. */
function rebiasByProduct(lanes: LaneCode, wide: LocalId): void {
  lanes.asFloat().float(0x77800000).op("f32.mul").asBits().set(wide);
  lanes.get(wide).const(0x7f800000).op("i32.or").get(wide);
  lanes.get(wide).const(0x477fffff).op("i32.gt_s").op("select");
}

/**
 * Emits code that changes the exponent bias of a float from f16 to f32 by additions, without a
 * multiplication.
 */
function rebiasBySums(lanes: LaneCode, wide: LocalId): void {
  lanes.set(wide).get(wide).const(0x38800000).op("i32.add").asFloat();
  lanes.float(0x38800000).op("f32.sub").asBits();
  lanes.get(wide).const(0x38000000).op("i32.add");
  lanes.get(wide).const(0x00800000).op("i32.lt_s").op("select");
  lanes.get(wide).const(0x0f7fffff).op("i32.gt_s").const(0x7f800000).op("i32.and").op("i32.or");
}

/**
 * Emits code that pops the bits of an 8-bit float without infinities and pushes the value as an f32, exact
 * also for subnormal numbers.
 */
function widenByte(lanes: LaneCode, { mantissa, bias, nan }: Float8Format): void {
  const byte = lanes.local("byte");
  lanes.set(byte).const(floatFormats.f32.nan);
  lanes
    .get(byte)
    .const(0x7f)
    .op("i32.and")
    .shift("i32.shl", 23 - mantissa)
    .asFloat();
  lanes
    .float((254 - bias) << 23)
    .op("f32.mul")
    .asBits();
  lanes.get(byte).const(0x80).op("i32.and").shift("i32.shl", 24).op("i32.or");
  lanes.get(byte);
  if (nan === "top") lanes.const(0x7f).op("i32.and").const(0x7f);
  else lanes.const(0x80);
  lanes.op("i32.eq").op("select").asFloat();
}

/** Emits code that pops an 8-bit exponent `e` and pushes 2^(e-127) as an f32; NaN for 0xff. */
function widenExponent(lanes: LaneCode): void {
  const byte = lanes.local("byte");
  lanes.set(byte).const(floatFormats.f32.nan);
  // 2^-127 is subnormal in f32.
  lanes.const(0x400000).get(byte).shift("i32.shl", 23).get(byte).const(0).op("i32.eq").op("select");
  lanes.get(byte).const(0xff).op("i32.eq").op("select").asFloat();
}

const floatOps = {
  add: "f32.add",
  sub: "f32.sub",
  mul: "f32.mul",
  min: "f32.min",
  max: "f32.max",
  div: "f32.div",
} as const satisfies Readonly<Record<Operation, LaneOp>>;
const integerOps = { add: "i32.add", sub: "i32.sub", mul: "i32.mul" } as const satisfies Readonly<
  Record<Exclude<IntegerOperation, "min" | "max">, LaneOp>
>;

/** Emits code that pushes the result of an operation on the values in two locals. */
function emitOperation(lanes: LaneCode, op: Operation, type: ArithmeticType, a: LocalId, b: LocalId): void {
  if (type === "f32") lanes.get(a).get(b).op(floatOps[op]);
  else if (op === "min" || op === "max")
    lanes.extreme(
      op,
      type,
      () => lanes.get(a),
      () => lanes.get(b),
    );
  else {
    invariant(isIntegerOperation(op), `${op} of ${type}`);
    lanes.get(a).get(b).op(integerOps[op]);
  }
}

/** Emits code that pushes the value in a local after a cast to another type. */
function cast(lanes: LaneCode, from: SourceType, to: ValueType, value: LocalId): void {
  if (to === "f32") asFloat(lanes, from, to, value);
  else if (isRounded(to)) {
    castBits(lanes, from, to, value);
    widen(lanes, to);
  } else if (isRealSource(from)) truncate(lanes, to, value);
  else wrap(lanes, to, value);
}

type IntegerValueType = Exclude<ValueType, FloatValueType>;

/**
 * Emits code that pushes a float truncated to an integer and clamped to the range of the type `to`. NaN gives
 * 0.
 */
function truncate(lanes: LaneCode, to: IntegerValueType, value: LocalId): void {
  const [lowest, highest] = integerRanges[to];
  const signed = lowest < 0;
  lanes.get(value).op(signed ? "i32.trunc_sat_f32_s" : "i32.trunc_sat_f32_u");
  if (bytesOf(to) === 4) return;
  const type = signed ? "i32" : "u32";
  const clamp = (how: "min" | "max", bound: number): void => {
    const clamped = lanes.local("clamped");
    lanes.set(clamped);
    lanes.extreme(
      how,
      type,
      () => lanes.get(clamped),
      () => lanes.const(bound),
    );
  };
  clamp("min", highest);
  if (signed) clamp("max", lowest);
}

/**
 * Emits code that pushes an integer modulo the range of the type `to`: the low bits, sign-extended for a
 * signed type.
 */
function wrap(lanes: LaneCode, to: IntegerValueType, value: LocalId): void {
  lanes.get(value);
  const bits = 8 * bytesOf(to);
  if (bits === 32) return;
  if (integerRanges[to][0] === 0) lanes.const(2 ** bits - 1).op("i32.and");
  else lanes.shift("i32.shl", 32 - bits).shift("i32.shr_s", 32 - bits);
}

/** A float type that arithmetic is not in: a cast to it rounds, and its values are held in f32. */
type RoundedType = Exclude<FloatValueType, "f32">;

/** True if a cast to a type rounds to fewer digits than f32 has. */
const isRounded = (type: SourceType): type is RoundedType => isFloatValue(type) && type !== "f32";

/**
 * Result of {@link storedValue}: the type of an output element's value, the steps that compute the value, and
 * a function that emits the bits to store.
 */
export interface StoredValue {
  readonly type: ValueType;
  /**
   * Steps that are computed before the store. A final cast to f16 or bf16 is left out, because `bits` rounds.
   */
  readonly steps: readonly ValueStep[];
  /**
   * Emits code that pushes the bits of the element. `of`: returns the WebAssembly local with the result of a
   * step.
   */
  readonly bits: (lanes: LaneCode, of: (step: number) => LocalId) => void;
}

/**
 * Returns the type of a stored value, the steps before the store, and a function that emits the bits to
 * store. A final cast to f16 or bf16 is part of the emitted bits.
 */
export function storedValue(steps: readonly ValueStep[]): StoredValue {
  const last = at(steps, steps.length - 1);
  const { type } = last;
  invariant(isValueType(type), `an output of ${type}`);
  if (last.kind === "cast" && isRounded(type)) {
    const bits: StoredValue["bits"] = (lanes, of) => {
      castBits(lanes, last.from, type, of(last.of));
    };
    return { type, steps: steps.slice(0, -1), bits };
  }
  return {
    type,
    steps,
    bits(lanes, of) {
      valueBits(lanes, type, of(steps.length - 1));
    },
  };
}

/** Emits code that casts a value to f16 or bf16, rounded to nearest, and pushes the resulting bits. */
function castBits(lanes: LaneCode, from: SourceType, to: RoundedType, value: LocalId): void {
  const wide = lanes.local("wide", "f32");
  asFloat(lanes, from, to, value);
  lanes.set(wide);
  // What rounds to an infinity of f16 as an f32 does so as an integer too: f32 is exact up to 2^24.
  roundedBits(lanes, to, wide);
}

/** Pushes a value as an f32 that rounds to a type as the value does. */
function asFloat(lanes: LaneCode, from: SourceType, to: FloatValueType, value: LocalId): void {
  if (isRealSource(from)) lanes.get(value);
  else if (to === "bf16" && bitsOf(from) === 32) sticky(lanes, from === "i32", value);
  else lanes.get(value).op(from === "u32" ? "f32.convert_i32_u" : "f32.convert_i32_s");
}

/**
 * Emits code that pushes a 32-bit integer as an f32. The f32 rounds to the same bf16 as the integer itself.
 */
function sticky(lanes: LaneCode, signed: boolean, value: LocalId): void {
  const [sign, magnitude] = [lanes.local("sign"), lanes.local("magnitude")];
  if (signed) lanes.get(value).shift("i32.shr_s", 31).set(sign);
  else lanes.const(0).set(sign);
  lanes.get(value).get(sign).op("i32.xor").get(sign).op("i32.sub").set(magnitude);
  lanes.get(magnitude).shift("i32.shr_u", 8);
  lanes.get(magnitude).const(0xff).op("i32.and").const(0xff).op("i32.add").shift("i32.shr_u", 8);
  lanes.op("i32.or").op("f32.convert_i32_u").float(0x43800000).op("f32.mul");
  lanes.get(magnitude).op("f32.convert_i32_u");
  // Of 2^24 and more; 2^31 is a magnitude too.
  lanes.get(magnitude).shift("i32.shr_u", 24).const(0).op("i32.ne").op("select").asBits();
  lanes.get(sign).shift("i32.shl", 31).op("i32.or").asFloat();
}

/**
 * Emits code that pushes the bits of a value in the storage format. An f32 NaN gets canonical bits, f16 and
 * bf16 values are rounded, and integers stay unchanged.
 */
function valueBits(lanes: LaneCode, type: ValueType, value: LocalId): void {
  if (type === "f32") {
    lanes.get(value).asBits().const(floatFormats.f32.nan);
    lanes.get(value).get(value).op("f32.eq").op("select");
  } else if (isRounded(type)) roundedBits(lanes, type, value);
  else lanes.get(value);
}

/** Emits code that pushes the bits of the f16 or bf16 that is nearest to an f32 value, ties to even. */
function roundedBits(lanes: LaneCode, type: RoundedType, value: LocalId): void {
  const { nan, infinity } = floatFormats[type];
  const [bits, magnitude, near] = [lanes.local("bits"), lanes.local("magnitude"), lanes.local("near")];
  lanes.get(value).asBits().set(bits);
  lanes.get(bits).const(0x7fffffff).op("i32.and").set(magnitude);
  const dropped = type === "bf16" ? 16 : 13;
  const rebias = type === "bf16" ? 0 : 112 << 23;
  // Half of what is dropped, less the last digit that stays: ties go to even.
  lanes.get(magnitude).const(2 ** (dropped - 1) - 1 - rebias);
  lanes.op("i32.add").get(magnitude).shift("i32.shr_u", dropped).const(1).op("i32.and").op("i32.add");
  lanes.shift("i32.shr_u", dropped).set(near);
  if (type === "f16") {
    // From halfway between the largest f16 and 2^16 on.
    lanes.extreme(
      "min",
      "i32",
      () => lanes.get(near),
      () => lanes.const(infinity),
    );
    lanes.set(near);
    // Below 2^-14, a sum with 0.5 drops the digits that a subnormal f16 does not have.
    lanes.get(magnitude).asFloat().float(0x3f000000).op("f32.add").asBits().const(0x3f000000).op("i32.sub");
    lanes.get(near).get(magnitude).const(0x38800000).op("i32.lt_s").op("select").set(near);
  }
  lanes.const(nan).get(near).get(bits).shift("i32.shr_u", 16).const(0x8000).op("i32.and").op("i32.or");
  lanes.get(magnitude).const(0x7f800000).op("i32.gt_s").op("select");
}
