import { expect, it } from "vitest";
import { dtypes, type DType } from "../../ir/index.js";
import { showElement } from "../../src/formats/elements.js";
import { littleEndian } from "../support/little-endian.js";

/** IEEE 754 and two's complement, worked out by hand. */
const shown: Readonly<Record<DType, readonly [bits: bigint, text: string]>> = {
  bool: [1n, "1"],
  i8: [0xf9n, "-7"],
  u8: [0xf9n, "249"],
  f8e4m3fn: [0xc4n, "-3 (0xc4)"],
  f8e4m3fnuz: [0xc4n, "-1.5 (0xc4)"],
  f8e5m2: [0xfcn, "-Infinity (0xfc)"],
  f8e5m2fnuz: [0x80n, "NaN (0x80)"],
  f8e8m0fnu: [0x7en, "0.5 (0x7e)"],
  hif8: [0x6en, "32768 (0x6e)"],
  i16: [0xfff9n, "-7"],
  u16: [0xfff9n, "65529"],
  f16: [0x8001n, "-5.960464477539063e-8 (0x8001)"],
  bf16: [0xff80n, "-Infinity (0xff80)"],
  i32: [0x8000_0000n, "-2147483648"],
  u32: [0x8000_0000n, "2147483648"],
  f32: [0x43f3_0000n, "486 (0x43f30000)"],
  string: [7n, "7 (0x00000007)"],
  i64: [0xffff_ffff_ffff_fffen, "-2"],
  u64: [0xffff_ffff_ffff_fffen, "18446744073709551614"],
  f64: [0x8000_0000_0000_0000n, "-0 (0x8000000000000000)"],
  c64: [0x4000_0000_3f80_0000n, "1+2i (0x400000003f800000)"],
  u4: [0xfn, "15"],
  i4: [0x9n, "-7"],
  u2: [0x3n, "3"],
  i2: [0x2n, "-2"],
  c128: [0x3ff0n << 112n, "0+1i (0x3ff00000000000000000000000000000)"],
};

it.each(dtypes)("%s is shown as its value, with its bits where the value hides them", (dtype) => {
  const [bits, text] = shown[dtype];
  // The element behind another one.
  expect(showElement(dtype, littleEndian(dtype, [0n, bits]), 1)).toBe(text);
});
