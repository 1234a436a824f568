/** Real numbers of 8 bits: every pattern on every backend, where they may stand, and how numbers become patterns. */
import { describe, expect, it, type TestContext } from "vitest";
import { float8Bits, float8Value, targets } from "../../ir/index.js";
import { compile, run, tryCompile } from "../../src/index.js";
import { decode, float8Types, type Exact } from "../oracle/values.js";
import { runnerOr } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";

const refusal = (text: string): string => {
  const result = tryCompile(parsed(text), { target: targets.ascendA2 });
  return result.ok ? "" : result.diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n");
};

const numberOf = (value: Exact): number => {
  if (value.kind === "nan") return NaN;
  if (value.kind === "finite") return Number(value.top) * 2 ** value.exponent;
  return (value.negative ? -1 : 1) * (value.kind === "zero" ? 0 : Infinity);
};

const bitsOfF32 = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;

/** Each byte in rows of 8, reversed. */
const patterns = (value: string, type: string, to: string): string =>
  `func @f(%q: tensor<32x8x${type}>, %i: tensor<32xi32>) -> tensor<32x8x${to}> {
  %y = access.gather %q, %i (d0, d1) let t = error(%i[d0] in 32) yield ${value} {oob = error}
  return %y
}
`;

/** Numbers of the specifications' tables. */
const known = {
  f8e4m3fn: [
    [0x7e, 448],
    [0x08, 2 ** -6],
    [0x07, 0.875 * 2 ** -6],
    [0x01, 2 ** -9],
    [0x7f, NaN],
    [0x80, -0],
  ],
  f8e4m3fnuz: [
    [0x7f, 240],
    [0x08, 2 ** -7],
    [0x01, 2 ** -10],
    [0x80, NaN],
    [0x00, 0],
  ],
  f8e5m2: [
    [0x7b, 57344],
    [0x04, 2 ** -14],
    [0x01, 2 ** -16],
    [0x7c, Infinity],
    [0x7d, NaN],
    [0xfc, -Infinity],
  ],
  f8e5m2fnuz: [
    [0x7f, 57344],
    [0x04, 2 ** -15],
    [0x01, 2 ** -17],
    [0x80, NaN],
  ],
  f8e8m0fnu: [
    [0x00, 2 ** -127],
    [0x7f, 1],
    [0xfe, 2 ** 127],
    [0xff, NaN],
  ],
  hif8: [
    [0x00, 0],
    [0x80, NaN],
    [0x6e, 32768],
    [0x6f, Infinity],
    [0xef, -Infinity],
    [0x01, 2 ** -22],
    [0x07, 2 ** -16],
    [0x08, 1],
    [0x0f, 1.875],
    [0x10, 2],
    [0x18, 0.5],
    [0x20, 4],
    [0x28, 8],
    [0x30, 0.25],
    [0x7e, 2 ** -15],
  ],
} as const;

describe("a real number of 8 bits", () => {
  it.each(Object.entries(known))("of %s is what its table says", (type, rows) => {
    for (const [bits, value] of rows) expect(float8Value(type as keyof typeof known, bits)).toBe(value);
  });

  it.each(Object.keys(known) as (keyof typeof known)[])(
    "of %s is the nearest to itself and to its neighbours",
    (type) => {
      const all = Array.from({ length: 256 }, (_, bits) => ({ bits, value: float8Value(type, bits) }));
      const finite = all.filter(({ value }) => Number.isFinite(value)).sort((a, b) => a.value - b.value);
      for (const { bits, value } of all.filter(({ value }) => !Number.isNaN(value)))
        expect(float8Bits(type, value)).toBe(bits);
      expect(float8Value(type, float8Bits(type, NaN))).toBeNaN();
      finite.slice(1).forEach(({ bits, value }, k) => {
        const below = finite[k]!;
        if (below.value === value) return;
        const middle = below.value + (value - below.value) / 2;
        const even = [below.bits, bits].find((one) => one % 2 === 0)!;
        const quarter = (value - below.value) / 4;
        // Zeros of either sign are equal.
        const near = [middle, middle - quarter, middle + quarter].map(
          (x) => float8Value(type, float8Bits(type, x)) + 0,
        );
        expect(near).toEqual([float8Value(type, even) + 0, below.value + 0, value + 0]);
      });
    },
  );

  it("beyond the largest number by half its unit is an infinity, or NaN where there is none", () => {
    expect(float8Bits("f8e4m3fn", 463)).toBe(0x7e);
    expect(float8Bits("f8e4m3fn", 464)).toBe(0x7e); // A tie, whose even neighbour is the largest.
    expect(float8Bits("f8e4m3fn", 465)).toBe(0x7f);
    expect(float8Bits("f8e5m2", 61440)).toBe(0x7c);
    expect(float8Bits("f8e5m2", -1e9)).toBe(0xfc);
    expect(float8Bits("f8e4m3fnuz", -1e-9)).toBe(0);
    expect(float8Bits("f8e8m0fnu", 0)).toBe(0xff);
  });

  it.each(float8Types)("of %s is what the oracle says, of all 256", (type) => {
    for (let bits = 0; bits < 256; bits++)
      expect(float8Value(type, bits)).toBe(numberOf(decode(type, BigInt(bits))));
  });
});

const bytes = Uint8Array.from({ length: 256 }, (_, k) => k);
const indices = Int32Array.from({ length: 32 }, (_, k) => 31 - k);
const gathered = [...bytes].map((_, k) => (31 - (k >> 3)) * 8 + (k % 8));

/** What every backend makes of all 256 patterns, as bytes. */
async function everywhere(text: string, context: TestContext): Promise<(readonly [string, Uint8Array])[]> {
  const runner = await runnerOr(context);
  const inputs = { q: bytes, i: indices };
  const outputs: (readonly [string, Uint8Array])[] = [];
  for (const target of [targets.ascend950, targets.cpu, targets.webgpu]) {
    const kernel = compile(parsed(text), { target });
    for (const [backend, options] of [
      ["reference", {}],
      ["sim", { executor: "checked" }],
      ["sim", { executor: "fast" }],
      ["webgpu", { runner }],
    ] as const) {
      const { output: y } = (await run(kernel, inputs, { backend, ...options })).outputs;
      if (!ArrayBuffer.isView(y)) throw new Error("no output");
      outputs.push([`${backend} ${target.name}`, new Uint8Array(y.buffer, y.byteOffset, y.byteLength)]);
    }
  }
  return outputs;
}

describe("every backend", () => {
  it("moves them as they are", async (context) => {
    for (const type of [...float8Types, "hif8"])
      for (const [backend, output] of await everywhere(patterns("%q[t, d1]", type, type), context))
        expect([type, backend, [...output]]).toEqual([type, backend, gathered]);
  });

  it.for(float8Types)("casts %s to f32 and to i32", async (type, context) => {
    const values = gathered.map((bits) => numberOf(decode(type, BigInt(bits))));
    const wide = Uint32Array.from(values, (value) => (Number.isNaN(value) ? 0x7fc00000 : bitsOfF32(value)));
    const whole = Int32Array.from(values, (value) =>
      Number.isNaN(value) ? 0 : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(value))),
    );
    for (const [to, expected] of [
      ["f32", wide],
      ["i32", whole],
    ] as const)
      for (const [backend, output] of await everywhere(patterns(`${to}(%q[t, d1])`, type, to), context))
        expect([backend, to, output]).toEqual([backend, to, new Uint8Array(expected.buffer)]);
  });

  it("refuses HiF8 as a source of values, and numbers of 8 bits as arithmetic, outputs of casts and indices", () => {
    expect(refusal(patterns("f32(%q[t, d1])", "hif8", "f32"))).toMatch(/^TC104 B3/);
    expect(refusal(patterns("%q[t, d1] + %q[t, d1]", "f8e5m2", "f8e5m2"))).toMatch(/^TC104 B2/);
    expect(refusal(patterns("f8e5m2(f32(%q[t, d1]))", "f8e5m2", "f8e5m2"))).toMatch(/^TC104 B3/);
    const index = patterns("%q[t, d1]", "f32", "f32").replace("32xi32", "32xf8e5m2");
    expect(refusal(index)).toMatch(/^TC104 A7/);
  });
});
