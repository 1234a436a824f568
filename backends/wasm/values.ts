/**
 * An output element by its steps: floats in f32, integers in i32. f16 and bf16 are widened exactly as they are read, and rounded by
 * integer arithmetic where a step casts to them. Arithmetic leaves the payload of a NaN open; no operation or cast to an integer
 * reads one, so that NaN takes its one form where an element is stored.
 */
import type {
  ArithmeticType,
  Operation,
  SourceType,
  StepwiseReduction,
  TermSteps,
  ValueStep,
  ValueType,
} from "../../ir/values/index.js";
import {
  accumulators,
  bitsOfNumber,
  countsItsTerms,
  floatFormats,
  integerRanges,
  isRealSource,
  isValueType,
} from "../../ir/values/index.js";
import {
  assertNever,
  at,
  bitsOf,
  bytesOf,
  elementsInByte,
  invariant,
  isPacked,
  isSigned,
  type PackedType,
} from "../../ir/types.js";
import { float8Formats, type Float8Format } from "../../ir/float8.js";
import { loads, stores, type CodeBuilder, type LocalId } from "./code.js";
import type { PlainOp } from "./instructions.js";

/** Pushes where the memory of a read begins. */
export type MemoryOf = (read: number) => void;

/** The elements that are read, by the number of the read: an address; of a packed one, its number in its memory. */
export interface ReadPlaces {
  readonly addresses: readonly LocalId[];
  readonly memory: MemoryOf;
}

/** `reduced`: what the terms came to. */
export function emitValue(
  code: CodeBuilder,
  steps: readonly ValueStep[],
  reads: ReadPlaces,
  out: LocalId,
  reduced?: LocalId,
): void {
  const last = at(steps, steps.length - 1);
  const { type } = last;
  invariant(isValueType(type), `an output of ${type}`);
  // A cast whose result is stored rounds to the bits that are stored, and to nothing else.
  const rounds = last.kind === "cast" && isSmallFloat(type);
  const values = emitSteps(code, rounds ? steps.slice(0, -1) : steps, reads, reduced);
  code.get(out);
  if (rounds) castBits(code, last.from, type, at(values, last.of));
  else pushBits(code, type, lastOf(values));
  code.op(stores[bytesOf(type)], 0);
}

/**
 * What the terms of an element come to. `each` emits the code that goes from term to term, and calls `take` where the elements of one
 * lie at some addresses.
 */
export function emitTerms(code: CodeBuilder, terms: TermSteps, each: EachTerm): LocalId {
  return terms.how === "exact" ? emitExact(code, terms, each) : emitStepwise(code, terms, each);
}

type EachTerm = (take: (reads: ReadPlaces) => void) => void;

/**
 * Terms are whole numbers of units of 2^`unit` and counted in 64 bits, which f64 makes of them; those that are NaN or infinite are
 * added by themselves. The count has at most 24 digits where its product with the unit is subnormal, so that it is rounded once.
 */
function emitExact(
  code: CodeBuilder,
  { unit, steps }: Extract<TermSteps, { readonly how: "exact" }>,
  each: EachTerm,
): LocalId {
  const [units, special] = [code.local("units", "i64"), code.local("special", "f32")];
  const [sum, bits] = [code.local("sum", "f32"), code.local("bits")];
  const number = (value: number): CodeBuilder =>
    code.const(bitsOfNumber("f32", value)).op("f32.reinterpret_i32");
  code.whole("i64", 0).set(units);
  number(0).set(special);
  each((reads) => {
    const term = lastOf(emitSteps(code, steps, reads));
    code.get(units).get(term).op("f64.promote_f32");
    // 2^-unit, whose digits are none but the leading one.
    code
      .op("i64.const", BigInt(1023 - unit) << 52n)
      .op("f64.reinterpret_i64")
      .op("f64.mul");
    code.op("i64.trunc_sat_f64_s").op("i64.add").set(units);
    code.get(term).op("i32.reinterpret_f32").const(floatFormats.f32.infinity).op("i32.and").set(bits);
    code.get(special).get(special).get(term).op("f32.add");
    code.get(bits).const(floatFormats.f32.infinity).op("i32.ne").op("select").set(special);
  });
  code.get(units).op("f32.convert_i64_s");
  number(2 ** unit)
    .op("f32.mul")
    .get(special)
    .get(special);
  number(0).op("f32.eq").op("select").set(sum);
  return sum;
}

function emitStepwise(
  code: CodeBuilder,
  { how, type, steps }: Extract<TermSteps, { readonly how: StepwiseReduction }>,
  each: EachTerm,
): LocalId {
  const { op, start } = accumulators[how];
  const [sum, count] = [code.local("sum", isFloat(type) ? "f32" : "i32"), code.local("terms")];
  const number = (value: number): void => {
    code.const(bitsOfNumber(type, value));
    if (type === "f32") code.op("f32.reinterpret_i32");
  };
  const counts = countsItsTerms(how);
  number(start[type]);
  code.set(sum);
  if (counts) code.const(0).set(count);
  each((reads) => {
    const term = lastOf(emitSteps(code, steps, reads));
    emitOperation(code, op, type, sum, term);
    code.set(sum);
    if (counts) code.advance(count, 1);
  });
  if (!counts) return sum;
  code.get(sum);
  if (how === "mean") code.get(count).op("f32.convert_i32_u").op("f32.div");
  number(0);
  code.get(count).op("select").set(sum);
  return sum;
}

const lastOf = (values: readonly LocalId[]): LocalId => at(values, values.length - 1);

/** Emits steps in order. Returns the locals that hold what they come to. */
function emitSteps(
  code: CodeBuilder,
  steps: readonly ValueStep[],
  { addresses, memory }: ReadPlaces,
  reduced?: LocalId,
): readonly LocalId[] {
  const values: LocalId[] = [];
  for (const step of steps) {
    switch (step.kind) {
      case "read":
        if (isPacked(step.type)) {
          memory(step.read);
          loadPacked(code, step.type, at(addresses, step.read));
        } else {
          code.get(at(addresses, step.read));
          load(code, step.type);
        }
        break;
      case "number":
        code.const(step.bits);
        if (step.type === "f32") code.op("f32.reinterpret_i32");
        break;
      case "cast":
        cast(code, step.from, step.type, at(values, step.of));
        break;
      case "op":
        emitOperation(code, step.op, step.type, at(values, step.of[0]), at(values, step.of[1]));
        break;
      case "reduced":
        invariant(reduced !== undefined, "the terms come before what is around them");
        code.get(reduced);
        break;
      default:
        assertNever(step);
    }
    const local = code.local("value", isRealSource(step.type) ? "f32" : "i32");
    code.set(local);
    values.push(local);
  }
  return values;
}

const isFloat = (type: SourceType): type is keyof typeof floatFormats => Object.hasOwn(floatFormats, type);

const signedLoads = { i8: "i32.load8_s", i16: "i32.load16_s" } as const;

/** Pops the byte address of packed elements and pushes the one with a number. */
function loadPacked(code: CodeBuilder, type: PackedType, element: LocalId): void {
  const [bits, each] = [bitsOf(type), elementsInByte(type)];
  code.get(element).const(Math.log2(each)).op("i32.shr_u").op("i32.add").op("i32.load8_u", 0);
  const place = (): void => {
    code
      .get(element)
      .const(each - 1)
      .op("i32.and")
      .times(bits);
  };
  if (!isSigned(type)) {
    place();
    code
      .op("i32.shr_u")
      .const(2 ** bits - 1)
      .op("i32.and");
    return;
  }
  // To the top of the word, and back with its sign.
  code.const(32 - bits);
  place();
  code
    .op("i32.sub")
    .op("i32.shl")
    .const(32 - bits)
    .op("i32.shr_s");
}

/** Pops an address and pushes the element there. */
function load(code: CodeBuilder, type: Exclude<SourceType, PackedType>): void {
  switch (type) {
    case "i8":
    case "i16":
      code.op(signedLoads[type], 0);
      return;
    case "u8":
    case "u16":
    case "i32":
    case "u32":
      code.op(loads[bytesOf(type)], 0);
      return;
    case "f32":
      code.op("f32.load", 0);
      return;
    case "bf16":
      code.op("i32.load16_u", 0).const(16).op("i32.shl").op("f32.reinterpret_i32");
      return;
    case "f16":
      code.op("i32.load16_u", 0);
      widenHalf(code);
      return;
    case "f8e5m2":
      // The upper byte of an f16.
      code.op("i32.load8_u", 0).const(8).op("i32.shl");
      widenHalf(code);
      return;
    case "f8e4m3fn":
    case "f8e4m3fnuz":
    case "f8e5m2fnuz":
      code.op("i32.load8_u", 0);
      widenByte(code, float8Formats[type]);
      return;
    case "f8e8m0fnu":
      code.op("i32.load8_u", 0);
      widenExponent(code);
      return;
    default:
      assertNever(type);
  }
}

/**
 * Pops the bits of an f16 and pushes its value. Its exponent and digits stand 13 bits further up in an f32, with a bias that is 112
 * less: a product by 2^112 is exact, of subnormal ones too. What comes to 2^16 or more was an infinity or NaN.
 */
function widenHalf(code: CodeBuilder): void {
  const [half, wide] = [code.local("half"), code.local("wide")];
  code.set(half);
  code.get(half).const(0x7fff).op("i32.and").const(13).op("i32.shl").op("f32.reinterpret_i32");
  code.const(0x77800000).op("f32.reinterpret_i32").op("f32.mul").op("i32.reinterpret_f32").set(wide);
  code.get(wide).const(0x7f800000).op("i32.or").get(wide);
  code.get(wide).const(0x47800000).op("i32.ge_u").op("select");
  code.get(half).const(0x8000).op("i32.and").const(16).op("i32.shl").op("i32.or").op("f32.reinterpret_i32");
}

/**
 * Pops the bits of a number of 8 bits without infinities and pushes its value. In the place of an f32's exponent and digits they stand for
 * the number times a power of two: the product that takes it back is exact, of subnormal ones too.
 */
function widenByte(code: CodeBuilder, { mantissa, bias, nan }: Float8Format): void {
  const byte = code.local("byte");
  code.set(byte).const(floatFormats.f32.nan);
  code
    .get(byte)
    .const(0x7f)
    .op("i32.and")
    .const(23 - mantissa)
    .op("i32.shl")
    .op("f32.reinterpret_i32");
  code
    .const((254 - bias) << 23)
    .op("f32.reinterpret_i32")
    .op("f32.mul")
    .op("i32.reinterpret_f32");
  code.get(byte).const(0x80).op("i32.and").const(24).op("i32.shl").op("i32.or");
  code.get(byte);
  if (nan === "top") code.const(0x7f).op("i32.and").const(0x7f);
  else code.const(0x80);
  code.op("i32.eq").op("select").op("f32.reinterpret_i32");
}

/** Pops an exponent of 8 bits and pushes the power of two that it stands for. */
function widenExponent(code: CodeBuilder): void {
  const byte = code.local("byte");
  code.set(byte).const(floatFormats.f32.nan);
  // 2^-127 is subnormal in f32.
  code.const(0x400000).get(byte).const(23).op("i32.shl").get(byte).op("i32.eqz").op("select");
  code.get(byte).const(0xff).op("i32.eq").op("select").op("f32.reinterpret_i32");
}

const floatOps = {
  add: "f32.add",
  sub: "f32.sub",
  mul: "f32.mul",
  min: "f32.min",
  max: "f32.max",
} as const satisfies Readonly<Record<Operation, PlainOp>>;
const integerOps = { add: "i32.add", sub: "i32.sub", mul: "i32.mul" } as const;
const less = { i32: "i32.lt_s", u32: "i32.lt_u" } as const;

function emitOperation(code: CodeBuilder, op: Operation, type: ArithmeticType, a: LocalId, b: LocalId): void {
  if (type === "f32") {
    code.get(a).get(b).op(floatOps[op]);
    return;
  }
  switch (op) {
    case "add":
    case "sub":
    case "mul":
      code.get(a).get(b).op(integerOps[op]);
      return;
    case "min":
      code.get(a).get(b).get(a).get(b).op(less[type]).op("select");
      return;
    case "max":
      code.get(b).get(a).get(a).get(b).op(less[type]).op("select");
      return;
    default:
      assertNever(op);
  }
}

/** Pushes a value as another type. */
function cast(code: CodeBuilder, from: SourceType, to: ValueType, value: LocalId): void {
  if (isFloat(to)) {
    toFloat(code, from, to, value);
    return;
  }
  if (!isRealSource(from)) {
    wrap(code, to, value);
    return;
  }
  const [lowest, highest] = integerRanges[to];
  code.get(value);
  if (lowest === 0) {
    code.op("i32.trunc_sat_f32_u");
    if (to !== "u32") clamp(code, highest, "i32.lt_u");
    return;
  }
  code.op("i32.trunc_sat_f32_s");
  if (to === "i32") return;
  clamp(code, highest, "i32.lt_s");
  clamp(code, lowest, "i32.gt_s");
}

/** The value on top, or a bound that it is beyond. */
function clamp(code: CodeBuilder, bound: number, within: PlainOp): void {
  const own = code.local("clamped");
  code.set(own).get(own).const(bound).get(own).const(bound).op(within).op("select");
}

/** An integer modulo the size of another type. */
function wrap(code: CodeBuilder, to: Exclude<ValueType, "f16" | "bf16" | "f32">, value: LocalId): void {
  code.get(value);
  const bits = 8 * bytesOf(to);
  if (bits === 32) return;
  if (integerRanges[to][0] === 0) code.const(2 ** bits - 1).op("i32.and");
  else
    code
      .const(32 - bits)
      .op("i32.shl")
      .const(32 - bits)
      .op("i32.shr_s");
}

/** A float type that arithmetic is not in: values of it are held in f32. */
type SmallFloat = "f16" | "bf16";
const isSmallFloat = (type: SourceType): type is SmallFloat => type === "f16" || type === "bf16";

function toFloat(code: CodeBuilder, from: SourceType, to: SmallFloat | "f32", value: LocalId): void {
  if (to === "f32") {
    asFloat(code, from, to, value);
    return;
  }
  castBits(code, from, to, value);
  if (to === "bf16") code.const(16).op("i32.shl").op("f32.reinterpret_i32");
  else widenHalf(code);
}

/** Pushes the bits of the value of a small float type that is nearest to another value. */
function castBits(code: CodeBuilder, from: SourceType, to: SmallFloat, value: LocalId): void {
  const wide = code.local("wide", "f32");
  asFloat(code, from, to, value);
  code.set(wide);
  // What rounds to an infinity of f16 as an f32 does so as an integer too: f32 is exact up to 2^24.
  roundedBits(code, to, wide);
}

/** Pushes a value as an f32 that rounds to a type as the value does. */
function asFloat(code: CodeBuilder, from: SourceType, to: SmallFloat | "f32", value: LocalId): void {
  if (isRealSource(from)) code.get(value);
  else if (to === "bf16" && bitsOf(from) === 32) sticky(code, from === "i32", value);
  else code.get(value).op(from === "u32" ? "f32.convert_i32_u" : "f32.convert_i32_s");
}

/** Pushes 32 bits as an f32 that rounds to bf16 as they would: eight digits are lost, and what was in them is told by the last one. */
function sticky(code: CodeBuilder, signed: boolean, value: LocalId): void {
  const [sign, magnitude] = [code.local("sign"), code.local("magnitude")];
  if (signed) code.get(value).const(31).op("i32.shr_s").set(sign);
  else code.const(0).set(sign);
  code.get(value).get(sign).op("i32.xor").get(sign).op("i32.sub").set(magnitude);
  code.get(magnitude).const(8).op("i32.shr_u");
  code.get(magnitude).const(0xff).op("i32.and").const(0).op("i32.ne").op("i32.or").op("f32.convert_i32_u");
  code.const(0x43800000).op("f32.reinterpret_i32").op("f32.mul");
  code.get(magnitude).op("f32.convert_i32_u");
  code
    .get(magnitude)
    .const(2 ** 24)
    .op("i32.ge_u")
    .op("select")
    .op("i32.reinterpret_f32");
  code.get(sign).const(31).op("i32.shl").op("i32.or").op("f32.reinterpret_i32");
}

/** Pushes the bits of a value of a type, as they are stored. */
function pushBits(code: CodeBuilder, type: ValueType, value: LocalId): void {
  if (!isFloat(type)) {
    code.get(value);
    return;
  }
  if (type !== "f32") {
    roundedBits(code, type, value);
    return;
  }
  code.get(value).op("i32.reinterpret_f32").const(floatFormats.f32.nan);
  code.get(value).get(value).op("f32.eq").op("select");
}

/** Pushes the bits of the f16 or bf16 that is nearest to a value, ties to even. */
function roundedBits(code: CodeBuilder, type: SmallFloat, value: LocalId): void {
  const { nan, infinity } = floatFormats[type];
  const [bits, magnitude, near] = [code.local("bits"), code.local("magnitude"), code.local("near")];
  code.get(value).op("i32.reinterpret_f32").set(bits);
  code.get(bits).const(0x7fffffff).op("i32.and").set(magnitude);
  const dropped = type === "bf16" ? 16 : 13;
  // Half of what is dropped, less the last digit that stays: ties go to even.
  code
    .get(magnitude)
    .const(2 ** (dropped - 1) - 1)
    .op("i32.add");
  code.get(magnitude).const(dropped).op("i32.shr_u").const(1).op("i32.and").op("i32.add");
  if (type === "bf16") code.const(16).op("i32.shr_u").set(near);
  else {
    code
      .const(112 << 23)
      .op("i32.sub")
      .const(13)
      .op("i32.shr_u")
      .set(near);
    // Below 2^-14, a sum with 0.5 drops the digits that a subnormal f16 does not have.
    code.get(magnitude).op("f32.reinterpret_i32").const(0x3f000000).op("f32.reinterpret_i32").op("f32.add");
    code.op("i32.reinterpret_f32").const(0x3f000000).op("i32.sub");
    code.get(near).get(magnitude).const(0x38800000).op("i32.lt_u").op("select").set(near);
    // From halfway between the largest f16 and 2^16 on.
    code.const(infinity).get(near).get(magnitude).const(0x477ff000).op("i32.ge_u").op("select").set(near);
  }
  code.const(nan).get(near).get(bits).const(16).op("i32.shr_u").const(0x8000).op("i32.and").op("i32.or");
  code.get(magnitude).const(0x7f800000).op("i32.gt_u").op("select");
}
