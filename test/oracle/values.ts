/**
 * Values by their definition, on exact binary fractions of any size: decode, compute, round once. Knows nothing of tilec.
 */

export type Type = "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "f16" | "bf16" | "f32";
export const types: readonly Type[] = ["i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32"];
/** Elements that share bytes, the first in the low bits: they are read and cast. */
export type Packed = "u4" | "i4" | "u2" | "i2";
export const packedTypes: readonly Packed[] = ["u4", "i4", "u2", "i2"];
/** Real numbers of 8 bits: they are read and cast. */
export type Float8 = "f8e4m3fn" | "f8e4m3fnuz" | "f8e5m2" | "f8e5m2fnuz" | "f8e8m0fnu";
export const float8Types: readonly Float8[] = ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"];
export type Stored = Type | Packed | Float8;
export type Arithmetic = "i32" | "u32" | "f32";

/** `top` * 2^`exponent`; a zero of either sign, an infinity or NaN. */
export type Exact =
  | { readonly kind: "finite"; readonly top: bigint; readonly exponent: number }
  | { readonly kind: "zero" | "infinity"; readonly negative: boolean }
  | { readonly kind: "nan" };

export type Node =
  | { readonly kind: "read"; readonly name: string; readonly type: Stored }
  | { readonly kind: "number"; readonly type: Arithmetic; readonly bits: bigint }
  | { readonly kind: "cast"; readonly type: Type; readonly of: Node }
  | Operation;

/** An operation on two values; `div` is of f32. */
export interface Operation {
  readonly kind: "add" | "sub" | "mul" | "div" | "min" | "max";
  readonly type: Arithmetic;
  readonly of: readonly [Node, Node];
}

/** IEEE 754-2019, 3.6: width, digits of the significand, and the exponent of the last digit of the least numbers. */
const floats: Readonly<Record<string, { width: number; digits: number; last: number }>> = {
  f16: { width: 16, digits: 11, last: -24 },
  bf16: { width: 16, digits: 8, last: -133 },
  f32: { width: 32, digits: 24, last: -149 },
};
export const widthOf = (type: Stored): number => Number(/\d+/.exec(type)![0]);

const whole = (value: bigint): Exact =>
  value === 0n ? { kind: "zero", negative: false } : { kind: "finite", top: value, exponent: 0 };

/**
 * The name says it: `e4m3` is four bits of exponent and three of mantissa behind a sign, with a bias of 2^(e - 1) - 1, or 2^(e - 1) where
 * the name ends in `uz`; `f`: finite, `n`: one pattern of NaN, `u`: no sign, or `uz`: no negative zero. E5M2 alone is as IEEE 754 has it.
 */
function decodeByte(type: Float8, bits: bigint): Exact {
  const [, e, m, kind] = /^f8e(\d)m(\d)(\w*)$/.exec(type)!;
  if (kind === "fnu")
    return bits === 255n ? { kind: "nan" } : { kind: "finite", top: 1n, exponent: Number(bits) - 127 };
  const text = bits.toString(2).padStart(8, "0");
  const negative = text[0] === "1";
  const [field, fraction] = [text.slice(1, 1 + Number(e)), text.slice(1 + Number(e))];
  if (kind === "fnuz" && text === "10000000") return { kind: "nan" };
  if (kind === "fn" && text.slice(1) === "1111111") return { kind: "nan" };
  if (kind === "" && field === "11111")
    return fraction === "00" ? { kind: "infinity", negative } : { kind: "nan" };
  const biased = Number.parseInt(field, 2);
  const top = BigInt(`0b${biased === 0 ? "0" : "1"}${fraction}`);
  if (top === 0n) return { kind: "zero", negative };
  const bias = 2 ** (Number(e) - 1) - (kind === "fnuz" ? 0 : 1);
  return { kind: "finite", top: negative ? -top : top, exponent: Math.max(1, biased) - bias - Number(m) };
}

const isFloat8 = (type: Stored): type is Float8 => float8Types.some((other) => other === type);

export function decode(type: Stored, bits: bigint): Exact {
  if (isFloat8(type)) return decodeByte(type, bits);
  const format = floats[type];
  if (format === undefined) return whole(type.startsWith("i") ? BigInt.asIntN(widthOf(type), bits) : bits);
  const { width, digits, last } = format;
  const negative = bits >> BigInt(width - 1) === 1n;
  const fraction = bits & ((1n << BigInt(digits - 1)) - 1n);
  const field = Number((bits >> BigInt(digits - 1)) & ((1n << BigInt(width - digits)) - 1n));
  if (field === 2 ** (width - digits) - 1)
    return fraction === 0n ? { kind: "infinity", negative } : { kind: "nan" };
  const top = field === 0 ? fraction : fraction | (1n << BigInt(digits - 1));
  if (top === 0n) return { kind: "zero", negative };
  return { kind: "finite", top: negative ? -top : top, exponent: last + Math.max(0, field - 1) };
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/** The bits of the nearest value of a float type, ties to even. */
function roundTo(type: Type, value: Exact): bigint {
  const { width, digits, last } = floats[type]!;
  const infinity = ((1n << BigInt(width - digits)) - 1n) << BigInt(digits - 1);
  const signed = (negative: boolean, bits: bigint): bigint =>
    negative ? bits | (1n << BigInt(width - 1)) : bits;
  switch (value.kind) {
    case "nan":
      return infinity | (1n << BigInt(digits - 2));
    case "zero":
      return signed(value.negative, 0n);
    case "infinity":
      return signed(value.negative, infinity);
    case "finite": {
      const size = abs(value.top);
      // The exponent of the last digit that stays.
      const unit = Math.max(last, value.exponent + size.toString(2).length - digits);
      const drop = unit - value.exponent;
      let kept = drop <= 0 ? size << BigInt(-drop) : size >> BigInt(drop);
      if (drop > 0) {
        const twice = 2n * (size - (kept << BigInt(drop)));
        const one = 1n << BigInt(drop);
        if (twice > one || (twice === one && kept % 2n === 1n)) kept += 1n;
      }
      // The leading digit of a normal number counts one to the field of its exponent.
      const bits = (BigInt(unit - last) << BigInt(digits - 1)) + kept;
      return signed(value.top < 0n, bits > infinity ? infinity : bits);
    }
  }
}

const asWhole = (value: Exact): bigint =>
  value.kind !== "finite"
    ? 0n
    : value.exponent >= 0
      ? value.top << BigInt(value.exponent)
      : towardZero(value);

function towardZero({ top, exponent }: Extract<Exact, { kind: "finite" }>): bigint {
  const size = abs(top) >> BigInt(-exponent);
  return top < 0n ? -size : size;
}

function cast(from: Stored, to: Type, bits: bigint): bigint {
  const value = decode(from, bits);
  if (floats[to] !== undefined) return roundTo(to, value);
  const width = widthOf(to);
  if (floats[from] === undefined && !isFloat8(from)) return BigInt.asUintN(width, asWhole(value));
  const signed = to.startsWith("i");
  const highest = (1n << BigInt(signed ? width - 1 : width)) - 1n;
  const lowest = signed ? -highest - 1n : 0n;
  const found = value.kind === "infinity" ? (value.negative ? lowest : highest) : asWhole(value);
  return BigInt.asUintN(width, found < lowest ? lowest : found > highest ? highest : found);
}

const negated = (value: Exact): Exact =>
  value.kind === "finite"
    ? { ...value, top: -value.top }
    : value.kind === "nan"
      ? value
      : { ...value, negative: !value.negative };

function sum(a: Exact, b: Exact): Exact {
  if (a.kind === "nan" || b.kind === "nan") return { kind: "nan" };
  if (a.kind === "infinity") return b.kind === "infinity" && a.negative !== b.negative ? { kind: "nan" } : a;
  if (b.kind === "infinity") return b;
  if (a.kind === "zero" && b.kind === "zero") return { kind: "zero", negative: a.negative && b.negative };
  if (a.kind !== "finite") return b;
  if (b.kind !== "finite") return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const top = (a.top << BigInt(a.exponent - exponent)) + (b.top << BigInt(b.exponent - exponent));
  return top === 0n ? { kind: "zero", negative: false } : { kind: "finite", top, exponent };
}

const isNegative = (value: Exact): boolean =>
  value.kind === "finite" ? value.top < 0n : value.kind !== "nan" && value.negative;

function product(a: Exact, b: Exact): Exact {
  const negative = isNegative(a) !== isNegative(b);
  const kinds = [a.kind, b.kind];
  if (kinds.includes("nan") || (kinds.includes("zero") && kinds.includes("infinity"))) return { kind: "nan" };
  if (kinds.includes("infinity")) return { kind: "infinity", negative };
  if (a.kind !== "finite" || b.kind !== "finite") return { kind: "zero", negative };
  return { kind: "finite", top: a.top * b.top, exponent: a.exponent + b.exponent };
}

/** The quotient; of finite numbers its digits, more than any rounding asks for, and one that tells whether something is left behind them. */
function quotient(a: Exact, b: Exact): Exact {
  const negative = isNegative(a) !== isNegative(b);
  if (a.kind === "nan" || b.kind === "nan") return { kind: "nan" };
  if (a.kind === b.kind && a.kind !== "finite") return { kind: "nan" };
  if (a.kind === "infinity" || b.kind === "zero") return { kind: "infinity", negative };
  if (a.kind === "zero" || b.kind === "infinity") return { kind: "zero", negative };
  if (a.kind !== "finite" || b.kind !== "finite") throw new Error("a quotient of kinds that there are not");
  const [top, by] = [abs(a.top) << 300n, abs(b.top)];
  const digits = 2n * (top / by) + (top % by === 0n ? 0n : 1n);
  return { kind: "finite", top: negative ? -digits : digits, exponent: a.exponent - b.exponent - 301 };
}

/** Whether a is below b; -0 is below +0. Neither is NaN. */
function below(a: Exact, b: Exact): boolean {
  if (a.kind === "zero" && b.kind === "zero") return a.negative && !b.negative;
  if (a.kind === "infinity" && b.kind === "infinity") return a.negative && !b.negative;
  const difference = sum(b, negated(a));
  return difference.kind !== "zero" && !isNegative(difference);
}

/** The bits of a node, of a type's width. */
export function bitsOf(node: Node, read: (name: string) => bigint): bigint {
  if (node.kind === "read") return read(node.name);
  if (node.kind === "number") return node.bits;
  if (node.kind === "cast") return cast(node.of.type, node.type, bitsOf(node.of, read));
  const { type } = node;
  const [a, b] = [bitsOf(node.of[0], read), bitsOf(node.of[1], read)];
  const [x, y] = [decode(type, a), decode(type, b)];
  if (node.kind === "min" || node.kind === "max") {
    if (x.kind === "nan" || y.kind === "nan") return roundTo("f32", { kind: "nan" });
    return below(x, y) === (node.kind === "min") ? a : b;
  }
  const meaning = {
    add: () => sum(x, y),
    sub: () => sum(x, negated(y)),
    mul: () => product(x, y),
    div: () => quotient(x, y),
  };
  const exact = meaning[node.kind]();
  return type === "f32" ? roundTo("f32", exact) : BigInt.asUintN(32, asWhole(exact));
}

export type Reduction = "fold" | "exact" | "mean" | "max" | "min";

/** A loop over terms that rounds each step, or once behind the last. Of no terms, +0. */
export function reduced(how: Reduction, type: Arithmetic, terms: readonly bigint[]): bigint {
  if (terms.length === 0) return 0n;
  if (how === "exact") {
    const none: Exact = { kind: "zero", negative: false };
    return roundTo(
      type,
      terms.reduce<Exact>((total, bits) => sum(total, decode(type, bits)), none),
    );
  }
  const number = (bits: bigint): Node => ({ kind: "number", type, bits });
  const step = how === "fold" || how === "mean" ? "add" : how;
  const none = () => 0n;
  const [first = 0n, ...others] = terms;
  // A term alone is a result too: a NaN has its one form.
  const start =
    step === "add"
      ? [0n, ...terms]
      : [bitsOf({ kind: step, type, of: [number(first), number(first)] }, none), ...others];
  const taken = start.reduce((sum, term) =>
    bitsOf({ kind: step, type, of: [number(sum), number(term)] }, none),
  );
  return how === "mean" ? roundTo("f32", quotient(decode("f32", taken), whole(BigInt(terms.length)))) : taken;
}
