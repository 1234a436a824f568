import { describe, expect, it } from "vitest";
import { bytesOf, type ByteAlignedType } from "../../ir/index.js";
import { writeNumbers } from "../../src/formats/numbers.js";

/** Patterns of IEEE 754 and two's complement, written behind a first element that stays. */
const patterns: readonly (readonly [ByteAlignedType, readonly number[], readonly bigint[]])[] = [
  // Ties to even, the largest half, its rounding, the smallest and half of it, zeros, infinities.
  [
    "f16",
    [1, -2, 2049, 2051, 65504, 2 ** -24, 2 ** -25, -0, Infinity, -Infinity],
    [0x3c00n, 0xc000n, 0x6800n, 0x6802n, 0x7bffn, 1n, 0n, 0x8000n, 0x7c00n, 0xfc00n],
  ],
  ["bf16", [1, -2, 257, 259], [0x3f80n, 0xc000n, 0x4380n, 0x4382n]],
  ["f32", [1, -2, 2 ** 24 + 1], [0x3f800000n, 0xc0000000n, 0x4b800000n]],
  ["f64", [1, -2], [0x3ff0000000000000n, 0xc000000000000000n]],
  ["i8", [1, -2], [1n, 0xfen]],
  ["u16", [1, 65535], [1n, 0xffffn]],
  ["i64", [-2, 2 ** 52], [2n ** 64n - 2n, 2n ** 52n]],
];

describe("numbers written together", () => {
  it.each(patterns)("are each rounded once: %s", (dtype, values, bits) => {
    const size = bytesOf(dtype);
    // The view begins inside its buffer.
    const bytes = new Uint8Array(8 + size * (values.length + 2));
    writeNumbers(new DataView(bytes.buffer, 8), dtype, 1, Float64Array.from(values));
    const word = (k: number): bigint =>
      bytes.slice(8 + k * size, 8 + (k + 1) * size).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
    expect([word(0), word(values.length + 1)]).toEqual([0n, 0n]);
    expect(values.map((_, k) => word(k + 1))).toEqual(bits);
  });
});
