/**
 * WGSL functions on the bits of floats, in integers alone: WGSL may flush subnormals, fuse a product with a
 * sum, and take every float to be finite (WGSL, 15.7 Floating Point Evaluation), so that its own f32 has not
 * the bits that a value states.
 */
import type { Lines } from "../lines.js";

/** A function with those that it calls. */
interface Helper {
  readonly text: string;
  readonly calls: readonly HelperName[];
}

const helpers = {
  pack: {
    calls: [],
    text: `
// (high * 2^32 + low) * 2^exponent as the bits of a format, rounded once to nearest even.
fn pack(negative: u32, high: u32, low: u32, exponent: i32, digits: u32, least: i32, infinity: u32) -> u32 {
  let sign = negative << select(15u, 31u, infinity > 0xffffu);
  if ((high | low) == 0u) { return sign; }
  let zeros = select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u);
  let shift = zeros & 31u;
  let upper = select(high, low, zeros > 31u);
  let lower = select(low, 0u, zeros > 31u);
  let first = (upper << shift) | select(lower >> (32u - shift), 0u, shift == 0u);
  let rest = lower << shift;
  let top = exponent + 63 - i32(zeros);
  let below = max(least - top, 0);
  // Bits of the first word that are dropped, and the last of them, which a tie hangs on.
  let drop = 32u - digits + u32(min(below, 64));
  if (drop > 32u) { return sign; }
  let kept = select(first >> drop, 0u, drop == 32u);
  let last = drop - 1u;
  let odd = (first & ((1u << last) - 1u)) | rest | (kept & 1u);
  let up = select(0u, (first >> last) & 1u, odd != 0u);
  let scale = select(u32(max(top - least, 0)), 0u, below > 0);
  return sign | min((scale << (digits - 1u)) + kept + up, infinity);
}`,
  },
  f32_digits: {
    calls: [],
    text: `
fn f32_digits(bits: u32) -> u32 {
  return (bits & 0x7fffffu) | select(0x800000u, 0u, (bits & 0x7f800000u) == 0u);
}`,
  },
  f32_exponent: {
    calls: [],
    text: `
fn f32_exponent(bits: u32) -> i32 {
  return i32(max((bits >> 23u) & 0xffu, 1u)) - 150;
}`,
  },
  f32_is_special: {
    calls: [],
    text: `
// Whether either number is infinite or NaN.
fn f32_is_special(a: u32, b: u32) -> bool {
  return max(a & 0x7fffffffu, b & 0x7fffffffu) >= 0x7f800000u;
}`,
  },
  f32_mul_special: {
    calls: [],
    text: `
// The product of two numbers, either of them infinite or NaN.
fn f32_mul_special(a: u32, b: u32) -> u32 {
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  let none = max(x, y) > 0x7f800000u || min(x, y) == 0u;
  return select(((a ^ b) & 0x80000000u) | 0x7f800000u, 0x7fc00000u, none);
}`,
  },
  f32_add_special: {
    calls: [],
    text: `
// The sum of two numbers, either of them infinite or NaN.
fn f32_add_special(a: u32, b: u32) -> u32 {
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  let none = max(x, y) > 0x7f800000u || (x == y && a != b);
  return select(select(b, a, x >= y), 0x7fc00000u, none);
}`,
  },
  f32_mul_exact: {
    calls: ["f32_is_special", "f32_mul_special"],
    text: `
// A product that f32 holds: each call says why.
fn f32_mul_exact(a: u32, b: u32) -> u32 {
  // exact: as the call says; the sign of a zero is set, and what is special is chosen otherwise
  let product = bitcast<u32>(bitcast<f32>(a) * bitcast<f32>(b));
  let isZero = (a << 1u) == 0u || (b << 1u) == 0u;
  let finite = select(product, (a ^ b) & 0x80000000u, isZero);
  return select(finite, f32_mul_special(a, b), f32_is_special(a, b));
}`,
  },
  f32_add_exact: {
    calls: ["f32_is_special", "f32_add_special"],
    text: `
// A sum that f32 holds: each call says why.
fn f32_add_exact(a: u32, b: u32) -> u32 {
  // exact: as the call says; the sign of a zero is set, and what is special is chosen otherwise
  let sum = bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b));
  let finite = select(sum, a & b & 0x80000000u, (sum << 1u) == 0u);
  return select(finite, f32_add_special(a, b), f32_is_special(a, b));
}`,
  },
  f32_from_whole: {
    calls: [],
    text: `
// An integer that f32 holds: each call says why.
fn f32_from_whole(value: i32) -> u32 {
  // exact: as the call says; that of 0 is +0
  return select(bitcast<u32>(f32(value)), 0u, value == 0);
}`,
  },
  f32_from_natural: {
    calls: [],
    text: `
// An integer without a sign that f32 holds: each call says why.
fn f32_from_natural(value: u32) -> u32 {
  // exact: as the call says; that of 0 is +0
  return select(bitcast<u32>(f32(value)), 0u, value == 0u);
}`,
  },
  f32_from_word: {
    calls: [],
    text: `
// word * 2^exponent, rounded once to nearest even.
fn f32_from_word(negative: u32, word: u32, exponent: i32) -> u32 {
  let sign = negative << 31u;
  if (word == 0u) { return sign; }
  let zeros = countLeadingZeros(word);
  let first = word << zeros;
  let top = exponent + 31 - i32(zeros);
  let below = clamp(-126 - top, 0, 32);
  // Bits that are dropped, and the last of them, which a tie hangs on.
  let drop = 8u + u32(below);
  if (drop > 32u) { return sign; }
  let kept = select(first >> drop, 0u, drop == 32u);
  let last = drop - 1u;
  let odd = (first & ((1u << last) - 1u)) | (kept & 1u);
  let up = select(0u, (first >> last) & 1u, odd != 0u);
  let scale = select(u32(max(top + 126, 0)), 0u, below > 0);
  return sign | min((scale << 23u) + kept + up, 0x7f800000u);
}`,
  },
  f32_mul_few: {
    calls: ["f32_is_special", "f32_mul_special", "f32_from_word", "f32_digits", "f32_exponent"],
    text: `
// A product of a number of so few digits, which is not subnormal, and another: 32 bits hold its digits.
fn f32_mul_few(a: u32, few: u32, b: u32) -> u32 {
  if (f32_is_special(a, b)) { return f32_mul_special(a, b); }
  let shift = 24u - few;
  let word = (f32_digits(a) >> shift) * f32_digits(b);
  return f32_from_word((a ^ b) >> 31u, word, f32_exponent(a) + i32(shift) + f32_exponent(b));
}`,
  },
  f32_mul: {
    calls: ["pack", "f32_digits", "f32_exponent", "f32_is_special", "f32_mul_special"],
    text: `
fn f32_mul(a: u32, b: u32) -> u32 {
  if (f32_is_special(a, b)) { return f32_mul_special(a, b); }
  let negative = (a ^ b) >> 31u;
  let p = f32_digits(a);
  let q = f32_digits(b);
  let low = (p & 0xffffu) * (q & 0xffffu);
  let middle = (p & 0xffffu) * (q >> 16u) + (p >> 16u) * (q & 0xffffu);
  let sum = low + (middle << 16u);
  let high = (p >> 16u) * (q >> 16u) + (middle >> 16u) + select(0u, 1u, sum < low);
  return pack(negative, high, sum, f32_exponent(a) + f32_exponent(b), 24u, -126, 0x7f800000u);
}`,
  },
  f32_add: {
    calls: ["f32_add_special"],
    text: `
fn f32_add(a: u32, b: u32) -> u32 {
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  let larger = max(x, y);
  let smaller = min(x, y);
  if (larger >= 0x7f800000u) { return f32_add_special(a, b); }
  let exponent = max(larger >> 23u, 1u);
  let other = max(smaller >> 23u, 1u);
  // Six bits stand behind the digits of the larger one. What falls out behind them is told by the last.
  let word = (smaller - ((other - 1u) << 23u)) << 6u;
  let by = min(exponent - other, 31u);
  let moved = word >> by;
  let small = moved | select(0u, 1u, (moved << by) != word);
  let large = (larger - ((exponent - 1u) << 23u)) << 6u;
  let sum = select(large + small, large - small, (a ^ b) > 0x7fffffffu);
  // The first digit goes to bit 30, unless the number is subnormal.
  let shift = min(countLeadingZeros(sum) - 1u, exponent);
  let first = sum << shift;
  let rounded = (first + 0x3fu + ((first >> 7u) & 1u)) >> 7u;
  let size = min(((exponent - shift) << 23u) + rounded, 0x7f800000u);
  let result = (select(b, a, x >= y) & 0x80000000u) | size;
  return select(result, 0u, (a ^ b) == 0x80000000u);
}`,
  },
  exact_add: {
    calls: ["f32_add", "f32_digits", "f32_exponent"],
    text: `
// Counts units of 2^unit in 64 bits, the low word first; what is NaN or infinite is added by itself.
fn exact_add(sum: vec3u, term: u32, unit: i32) -> vec3u {
  if ((term & 0x7f800000u) == 0x7f800000u) { return vec3u(sum.xy, f32_add(sum.z, term)); }
  let digits = f32_digits(term);
  let by = f32_exponent(term) - unit;
  var size = vec2u(digits >> u32(clamp(-by, 0, 31)), 0u);
  if (by > 0) {
    let shift = u32(by) & 31u;
    size = vec2u(digits << shift, select(digits >> (32u - shift), 0u, shift == 0u));
    if (by > 31) { size = vec2u(0u, digits << shift); }
  }
  if ((term >> 31u) == 1u) { size = vec2u(0u - size.x, ~size.y + select(0u, 1u, size.x == 0u)); }
  let low = sum.x + size.x;
  return vec3u(low, sum.y + size.y + select(0u, 1u, low < size.x), sum.z);
}`,
  },
  exact_sum: {
    calls: ["pack"],
    text: `
fn exact_sum(sum: vec3u, unit: i32) -> u32 {
  if (sum.z != 0u) { return sum.z; }
  let negative = sum.y >> 31u;
  let low = select(sum.x, 0u - sum.x, negative == 1u);
  let high = select(sum.y, ~sum.y + select(0u, 1u, sum.x == 0u), negative == 1u);
  return pack(negative, high, low, unit, 24u, -126, 0x7f800000u);
}`,
  },
  f32_quotient: {
    calls: ["pack"],
    text: `
// Digits by a whole number from 1 to 2^24 - 1: 32 more behind the whole ones, eight at a time, and whether any are left.
fn f32_quotient(negative: u32, digits: u32, by: u32, exponent: i32) -> u32 {
  var rest = digits % by;
  var low = 0u;
  for (var k = 0u; k < 4u; k++) {
    low = (low << 8u) | ((rest << 8u) / by);
    rest = (rest << 8u) % by;
  }
  low |= select(0u, 1u, rest != 0u);
  return pack(negative, digits / by, low, exponent - 32, 24u, -126, 0x7f800000u);
}`,
  },
  f32_div_count: {
    calls: ["f32_quotient", "f32_digits", "f32_exponent"],
    text: `
fn f32_div_count(a: u32, count: u32) -> u32 {
  let x = a & 0x7fffffffu;
  if (x >= 0x7f800000u) { return select(a, 0x7fc00000u, x > 0x7f800000u); }
  return f32_quotient(a >> 31u, f32_digits(a), count, f32_exponent(a));
}`,
  },
  f32_div: {
    calls: ["f32_quotient", "f32_digits", "f32_exponent"],
    text: `
fn f32_div(a: u32, b: u32) -> u32 {
  let x = a & 0x7fffffffu;
  let y = b & 0x7fffffffu;
  let negative = (a ^ b) >> 31u;
  if (max(x, y) > 0x7f800000u || (x == y && (x == 0u || x == 0x7f800000u))) { return 0x7fc00000u; }
  if (x == 0x7f800000u || y == 0u) { return (negative << 31u) | 0x7f800000u; }
  if (x == 0u || y == 0x7f800000u) { return negative << 31u; }
  // All 24 digits, so that a quotient has as many behind its first one: a subnormal number has fewer.
  let zeros = countLeadingZeros(f32_digits(a)) - 8u;
  return f32_quotient(negative, f32_digits(a) << zeros, f32_digits(b), f32_exponent(a) - i32(zeros) - f32_exponent(b));
}`,
  },
  f32_order: {
    calls: [],
    text: `
// Ascends with the value, -0 below +0.
fn f32_order(bits: u32) -> u32 {
  return bits ^ select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u);
}`,
  },
  f32_is_nan: {
    calls: [],
    text: `
fn f32_is_nan(bits: u32) -> bool {
  return (bits & 0x7fffffffu) > 0x7f800000u;
}`,
  },
  f32_min: {
    calls: ["f32_order", "f32_is_nan"],
    text: `
fn f32_min(a: u32, b: u32) -> u32 {
  return select(select(b, a, f32_order(a) < f32_order(b)), 0x7fc00000u, f32_is_nan(a) || f32_is_nan(b));
}`,
  },
  f32_max: {
    calls: ["f32_order", "f32_is_nan"],
    text: `
fn f32_max(a: u32, b: u32) -> u32 {
  return select(select(a, b, f32_order(a) < f32_order(b)), 0x7fc00000u, f32_is_nan(a) || f32_is_nan(b));
}`,
  },
  f16_to_f32: {
    calls: [],
    text: `
fn f16_to_f32(bits: u32) -> u32 {
  let sign = (bits & 0x8000u) << 16u;
  let scale = bits & 0x7c00u;
  let rest = bits & 0x3ffu;
  // exact: a whole number of 10 digits times 2^-24
  let below = select(bitcast<u32>(f32(rest) * 0x1p-24f), 0u, rest == 0u);
  let finite = select(((bits & 0x7fffu) << 13u) + 0x38000000u, below, scale == 0u);
  return select(sign | select(finite, 0x7f800000u, scale == 0x7c00u), 0x7fc00000u, scale == 0x7c00u && rest != 0u);
}`,
  },
  f8_to_f32: {
    calls: ["pack"],
    text: `
// A number of 8 bits that is finite.
fn f8_to_f32(bits: u32, mantissa: u32, bias: i32) -> u32 {
  let scale = (bits & 0x7fu) >> mantissa;
  let leading = 1u << mantissa;
  let digits = (bits & (leading - 1u)) | select(leading, 0u, scale == 0u);
  return pack(bits >> 7u, 0u, digits, i32(max(scale, 1u)) - bias - i32(mantissa), 24u, -126, 0x7f800000u);
}`,
  },
  f8e4m3fn_to_f32: {
    calls: ["f8_to_f32"],
    text: `
fn f8e4m3fn_to_f32(bits: u32) -> u32 {
  return select(f8_to_f32(bits, 3u, 7), 0x7fc00000u, (bits & 0x7fu) == 0x7fu);
}`,
  },
  f8e4m3fnuz_to_f32: {
    calls: ["f8_to_f32"],
    text: `
fn f8e4m3fnuz_to_f32(bits: u32) -> u32 {
  return select(f8_to_f32(bits, 3u, 8), 0x7fc00000u, bits == 0x80u);
}`,
  },
  f8e5m2_to_f32: {
    calls: ["f16_to_f32"],
    text: `
// The upper byte of an f16.
fn f8e5m2_to_f32(bits: u32) -> u32 {
  return f16_to_f32(bits << 8u);
}`,
  },
  f8e5m2fnuz_to_f32: {
    calls: ["f8_to_f32"],
    text: `
fn f8e5m2fnuz_to_f32(bits: u32) -> u32 {
  return select(f8_to_f32(bits, 2u, 16), 0x7fc00000u, bits == 0x80u);
}`,
  },
  f8e8m0fnu_to_f32: {
    calls: [],
    text: `
// An exponent; 2^-127 is subnormal in f32.
fn f8e8m0fnu_to_f32(bits: u32) -> u32 {
  return select(select(bits << 23u, 0x400000u, bits == 0u), 0x7fc00000u, bits == 0xffu);
}`,
  },
  bf16_to_f32: {
    calls: ["f32_is_nan"],
    text: `
fn bf16_to_f32(bits: u32) -> u32 {
  return select(bits << 16u, 0x7fc00000u, f32_is_nan(bits << 16u));
}`,
  },
  f32_to_bf16: {
    calls: ["f32_is_nan"],
    text: `
// The upper half, rounded to nearest even.
fn f32_to_bf16(bits: u32) -> u32 {
  return select((bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u, 0x7fc0u, f32_is_nan(bits));
}`,
  },
  f32_to_f16: {
    calls: ["f32_is_nan"],
    text: `
// The nearest f16, of two the even one. Below 2^-14 it has fewer digits.
fn f32_to_f16(bits: u32) -> u32 {
  let x = bits & 0x7fffffffu;
  let small = x < 0x38800000u;
  let digits = select(x - 0x38000000u, (x & 0x7fffffu) | select(0x800000u, 0u, x < 0x800000u), small);
  let drop = select(13u, min(126u - (x >> 23u), 25u), small);
  let rounded = (digits + (1u << (drop - 1u)) - 1u + ((digits >> drop) & 1u)) >> drop;
  return select(((bits >> 16u) & 0x8000u) | min(rounded, 0x7c00u), 0x7e00u, f32_is_nan(bits));
}`,
  },
  f32_to_whole: {
    calls: ["f32_digits", "f32_exponent"],
    text: `
// Toward zero, then the nearest of -lowest to highest; NaN is 0.
fn f32_to_whole(bits: u32, lowest: u32, highest: u32) -> u32 {
  let x = bits & 0x7fffffffu;
  if (x > 0x7f800000u || x < 0x3f800000u) { return 0u; }
  let shift = f32_exponent(bits);
  let digits = f32_digits(bits);
  var whole = 0xffffffffu;
  if (shift < 9) { whole = select(digits >> u32(max(-shift, 0)), digits << u32(max(shift, 0)), shift > 0); }
  return select(min(whole, highest), 0u - min(whole, lowest), (bits >> 31u) == 1u);
}`,
  },
} as const satisfies Readonly<Record<string, { readonly text: string; readonly calls: readonly string[] }>>;

/** Name of a WGSL helper function that takes the bits of floats, for example `f32_add`. */
export type HelperName = keyof typeof helpers;

/**
 * Emits the WGSL helper functions with the given names, and every function called from a helper. No function
 * is emitted twice.
 */
export function emitValueHelpers(out: Lines, names: ReadonlySet<HelperName>): void {
  const needed = new Set<HelperName>();
  const need = (name: HelperName): void => {
    const { calls }: Helper = helpers[name];
    calls.forEach(need);
    needed.add(name);
  };
  names.forEach(need);
  for (const name of needed) for (const line of helpers[name].text.trim().split("\n")) out.line(line);
  if (needed.size > 0) out.line("");
}

/**
 * Returns the number of statements of a WGSL helper function plus the statements of all called functions. A
 * function called by several functions counts several times.
 */
export function helperSize(name: HelperName): number {
  const { text, calls }: Helper = helpers[name];
  return text.split(";").length - 1 + calls.reduce((size, called) => size + helperSize(called), 0);
}
