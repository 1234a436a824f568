/**
 * 128-bit integers in WebAssembly, which has none beyond 64 bits: two's complement, in two locals. Used for a
 * sum of index values that may not fit 64 bits.
 */
import type { WasmAmount, CodeBuilder, LocalId, Int128 } from "./code.js";
import type { IndexValue } from "./resolve.js";

/** Bits of a half that its product with another half does not leave. */
const half = 32;
const lowHalf = 0xffffffff;

const int128Local = (code: CodeBuilder): Int128 => ({
  low: code.local("low", "i64"),
  high: code.local("high", "i64"),
});

/**
 * Emits code that sets a new 128-bit integer to a constant of up to 53 bits. Returns the locals of the
 * integer.
 */
export function int128Constant(code: CodeBuilder, value: number): Int128 {
  const constant = int128Local(code);
  code.integer("i64", value).set(constant.low);
  code.integer("i64", value < 0 ? -1 : 0).set(constant.high);
  return constant;
}

/** Emits code that pops an i64 and sign-extends the value to 128 bits. Returns the locals of the result. */
export function int128FromI64(code: CodeBuilder): Int128 {
  const value = int128Local(code);
  code.set(value.low).get(value.low).op("i64.const", 63).op("i64.shr_s").set(value.high);
  return value;
}

/** Emits code that adds a 128-bit integer to `sum` or subtracts the integer from `sum`, in place. */
export function accumulate(code: CodeBuilder, sum: Int128, value: Int128, op: "add" | "sub"): void {
  const low = code.local("low", "i64");
  code.get(sum.low).get(value.low).op(`i64.${op}`).set(low);
  code.get(sum.high).get(value.high).op(`i64.${op}`);
  // A carry leaves less than what it was added to; a borrow takes more than there was.
  if (op === "add") code.get(low).get(sum.low);
  else code.get(sum.low).get(value.low);
  code.op("i64.lt_u").op("i64.extend_i32_u").op(`i64.${op}`).set(sum.high);
  code.get(low).set(sum.low);
}

/**
 * Emits the product of a 128-bit integer and a positive constant of up to 53 bits. Returns the locals of the
 * product.
 */
export function int128Product(code: CodeBuilder, { low, high }: Int128, by: number): Int128 {
  const product = int128Local(code);
  const pushHalf = (upper: boolean): void => {
    code.get(low);
    if (upper) code.op("i64.const", half).op("i64.shr_u");
    else code.op("i64.const", lowHalf).op("i64.and");
  };
  const factors = [by % 2 ** half, Math.floor(by / 2 ** half)];
  const [p00, p01, p10, p11] = ([0, 1] as const).flatMap((upper) =>
    factors.map((factor) => {
      const half64 = code.local("part", "i64");
      pushHalf(upper === 1);
      code.op("i64.const", factor).op("i64.mul").set(half64);
      return half64;
    }),
  ) as [LocalId, LocalId, LocalId, LocalId];
  const middle = code.local("middle", "i64");
  const upperOf = (value: LocalId): CodeBuilder => code.get(value).op("i64.const", half).op("i64.shr_u");
  const lowerOf = (value: LocalId): CodeBuilder => code.get(value).op("i64.const", lowHalf).op("i64.and");
  upperOf(p00);
  lowerOf(p01).op("i64.add");
  lowerOf(p10).op("i64.add").set(middle);
  lowerOf(p00);
  code.get(middle).op("i64.const", half).op("i64.shl").op("i64.or").set(product.low);
  code.get(high).op("i64.const", by).op("i64.mul").get(p11).op("i64.add");
  for (const value of [p01, p10, middle]) upperOf(value).op("i64.add");
  code.set(product.high);
  return product;
}

/**
 * Emits the division of a non-negative 128-bit integer by a number of up to 53 bits. Returns the locals of
 * the quotient and the remainder.
 */
export function int128Quotient(
  code: CodeBuilder,
  value: Int128,
  by: WasmAmount,
): { readonly quotient: Int128; readonly remainder: LocalId } {
  const rest = int128Local(code);
  const quotient = int128Local(code);
  const remainder = code.local("remainder", "i64");
  code.get(value.low).set(rest.low).get(value.high).set(rest.high);
  for (const local of [quotient.low, quotient.high, remainder]) code.integer("i64", 0).set(local);
  const one = (local: LocalId): CodeBuilder => code.get(local).op("i64.const", 1);
  const top = (local: LocalId): CodeBuilder => code.get(local).op("i64.const", 63).op("i64.shr_u");
  const doubled = ({ low, high }: Int128): void => {
    one(high).op("i64.shl");
    top(low).op("i64.or").set(high);
    one(low).op("i64.shl").set(low);
  };
  code.repeat({ kind: "const", value: 128 }, "bits", () => {
    one(remainder).op("i64.shl");
    top(rest.high).op("i64.or").set(remainder);
    doubled(rest);
    doubled(quotient);
    code.get(remainder).amount(by, "i64").op("i64.ge_u");
    code.if(() => {
      code.get(remainder).amount(by, "i64").op("i64.sub").set(remainder);
      one(quotient.low).op("i64.or").set(quotient.low);
    });
  });
  return { quotient, remainder };
}

/**
 * Returns a 128-bit integer as an {@link IndexValue}, with functions that emit the operations on the integer.
 */
export function int128Value(code: CodeBuilder, value: Int128): IndexValue {
  /** Pushes all ones where it is negative, else 0. */
  const mask = (): CodeBuilder => code.get(value.high).op("i64.const", 63).op("i64.shr_s");
  return {
    local: value,
    counted(wrapNegativeBy) {
      const sum = int128Constant(code, 0);
      mask().amount(wrapNegativeBy, "i64").op("i64.and").set(sum.low);
      accumulate(code, sum, value, "add");
      return int128Value(code, sum);
    },
    low: () => void code.get(value.low).convert("i64", "i32"),
    outside(extent) {
      code.get(value.high).op("i64.eqz").op("i32.eqz");
      code.get(value.low).amount(extent, "i64").op("i64.ge_u").op("i32.or");
    },
    isNegative: () => void code.get(value.high).op("i64.const", 0).op("i64.lt_s"),
    remainder(by) {
      // -v - 1 is ~v: the remainder of a negative value is that of its complement, counted from the other end.
      const folded = int128Local(code);
      mask().get(value.low).op("i64.xor").set(folded.low);
      mask().get(value.high).op("i64.xor").set(folded.high);
      const { remainder } = int128Quotient(code, folded, by);
      code.amount(by, "i64", -1).get(remainder).op("i64.sub").get(remainder);
      code.get(value.high).op("i64.const", 0).op("i64.lt_s").op("select").op("i32.wrap_i64");
    },
  };
}
