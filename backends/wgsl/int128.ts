/**
 * 128-bit integers in WGSL, which has none beyond 32 bits: two's complement in a vec4u, lowest word first. A
 * sum of 64-bit index values times 32-bit factors stays far inside.
 */
import type { Linear } from "../../ir/linear.js";
import { assertNever, at, InternalError } from "../../ir/types.js";
import type { Lines } from "../lines.js";

/** WGSL texts for output dims, loop variables and index operands in a 128-bit expression. */
export interface Int128Words {
  /**
   * Returns the WGSL text of a linear expression of dims, loop variables and resolved index operands, as a
   * u32.
   */
  readonly narrow: (form: Linear) => string;
  /** True if a linear expression and all its parts fit a u32. */
  readonly isNarrow: (form: Linear) => boolean;
  /** Name of each index value by index operand, and true if it is a 128-bit number. */
  readonly indices: readonly { readonly name: string; readonly int128: boolean }[];
}

const int128FromU32 = (narrow: string): string => `vec4u(${narrow}, 0u, 0u, 0u)`;

/** Returns the WGSL text of a linear expression's value as a 128-bit number. */
export function int128Form(form: Linear, words: Int128Words): string {
  const terms = form.terms.map(({ by, of }) => {
    const value = atomOf({ at: 0, terms: [{ by: 1, of }] }, words);
    const product = productOf(value, Math.abs(by));
    return by < 0 ? `negated_i128(${product})` : product;
  });
  const constant = form.at === 0 && terms.length > 0 ? [] : [int128Literal(form.at)];
  return [...constant, ...terms].reduce((sum, term) => `add_i128(${sum}, ${term})`);
}

/** Returns the WGSL text of a 128-bit number times a positive factor of up to 53 bits. */
function productOf(value: string, by: number): string {
  if (by === 1) return value;
  const [low, high] = [by % 2 ** 32, Math.floor(by / 2 ** 32)];
  const byLow = `times_i128(${value}, ${low}u)`;
  if (high === 0) return byLow;
  const byHigh = `times_i128(${value}, ${high}u)`;
  return `add_i128(${byLow}, vec4u(0u, ${byHigh}.xyz))`;
}

/**
 * Returns the WGSL text, as a 128-bit number, of a linear expression that is a single variable, quotient,
 * remainder or minimum.
 */
function atomOf(form: Linear, words: Int128Words): string {
  const { of } = at(form.terms, 0);
  // A division by 128 bits is a loop.
  if (words.isNarrow(form)) return int128FromU32(words.narrow(form));
  switch (of.kind) {
    case "dim":
    case "iv":
    case "min":
    case "symbol":
      return int128FromU32(words.narrow(form));
    case "index": {
      const { name, int128 } = at(words.indices, of.index);
      return int128 ? name : int128FromU32(name);
    }
    case "div":
      return `quotient_i128(${int128Form(of.of, words)}, ${of.by}u)`;
    case "mod":
      return int128FromU32(`remainder_i128(${int128Form(of.of, words)}, ${of.by}u)`);
    default:
      return assertNever(of);
  }
}

/**
 * Returns an integer as a 128-bit WGSL literal (`vec4u`, lowest word first). Throws an InternalError for a
 * number that is not a safe integer.
 */
export function int128Literal(value: number): string {
  if (!Number.isSafeInteger(value)) throw new InternalError(`${value} is no whole number`);
  let bits = BigInt.asUintN(128, BigInt(value));
  const words = Array.from({ length: 4 }, () => {
    const word = bits & 0xffffffffn;
    bits >>= 32n;
    return `${word}u`;
  });
  return `vec4u(${words.join(", ")})`;
}

/** Emits the WGSL functions for 128-bit arithmetic on index values and addresses. */
export function emitInt128Helpers(out: Lines): void {
  out.line("// whole numbers of 128 bits, two's complement, lowest word first");
  out.block("fn add_i128(a: vec4u, b: vec4u) -> vec4u", () => {
    out.line("let s = a + b;");
    out.line("let c = select(vec4u(0u), vec4u(1u), s < a);");
    out.line("let y = s.y + c.x;");
    out.line("let z = s.z + c.y + select(0u, 1u, y < s.y);");
    // The carry of a word that is all ones passes through.
    out.line("let over = select(0u, 1u, z < s.z);");
    out.line("return vec4u(s.x, y, z, s.w + c.z + over);");
  });
  // SwiftShader folds ~ and ^ of a constant 0 in a vector to 0. It folds a difference rightly.
  out.block("fn complement_i128(a: vec4u) -> vec4u", () => {
    out.line("return vec4u(0xffffffffu) - a;");
  });
  out.block("fn negated_i128(a: vec4u) -> vec4u", () => {
    out.line("return add_i128(complement_i128(a), vec4u(1u, 0u, 0u, 0u));");
  });
  out.block("fn product_of(a: u32, b: u32) -> vec2u", () => {
    out.line("let ll = (a & 0xffffu) * (b & 0xffffu);");
    out.line("let lh = (a & 0xffffu) * (b >> 16u);");
    out.line("let hl = (a >> 16u) * (b & 0xffffu);");
    out.line("let middle = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);");
    out.line("let top = (a >> 16u) * (b >> 16u) + (lh >> 16u) + (hl >> 16u) + (middle >> 16u);");
    out.line("return vec2u((ll & 0xffffu) | (middle << 16u), top);");
  });
  out.block("fn times_i128(a: vec4u, by: u32) -> vec4u", () => {
    out.line("let x = product_of(a.x, by);");
    out.line("let y = product_of(a.y, by);");
    out.line("let z = product_of(a.z, by);");
    out.line("return add_i128(vec4u(x.x, x.y, z.x, z.y), vec4u(0u, y.x, y.y, a.w * by));");
  });
  out.block("fn remainder_i128(a: vec4u, n: u32) -> u32", () => {
    out.line("var r = 0u;");
    out.block("for (var k = 0u; k < 128u; k++)", () => {
      out.line("r = (2u * r + ((a[3u - k / 32u] >> (31u - k % 32u)) & 1u)) % n;");
    });
    out.line("return r;");
  });
  out.block("fn quotient_i128(a: vec4u, n: u32) -> vec4u", () => {
    out.line("var r = 0u;");
    out.line("var q = vec4u(0u);");
    out.block("for (var k = 0u; k < 128u; k++)", () => {
      out.line("r = 2u * r + ((a[3u - k / 32u] >> (31u - k % 32u)) & 1u);");
      out.block("if (r >= n)", () => {
        out.line("r -= n;");
        out.line("q[3u - k / 32u] |= 1u << (31u - k % 32u);");
      });
    });
    out.line("return q;");
  });
  out.block("fn is_negative(a: vec4u) -> bool", () => {
    out.line("return (a.w >> 31u) != 0u;");
  });
  out.block("fn is_below(a: vec4u, n: u32) -> bool", () => {
    out.line("return (a.y | a.z | a.w) == 0u && a.x < n;");
  });
  // -v - 1 is the complement of v, so the remainder of a negative value needs no negation.
  out.block("fn wrapped_i128(a: vec4u, n: u32) -> u32", () => {
    out.line("let r = remainder_i128(select(a, complement_i128(a), is_negative(a)), n);");
    out.line("return select(r, n - 1u - r, is_negative(a));");
  });
  out.line("");
}
