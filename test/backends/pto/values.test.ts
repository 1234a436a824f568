/** Values as PTO-ISA kernels on the judge: the reference's bits on every machine that the documents allow, where conditions are met. */
import { describe, expect, it } from "vitest";
import { byteCount, defined, inputsOf, keyOf } from "../../../ir/index.js";
import { mapOfTile } from "../../../backends/reference/defined-map.js";
import { inputsVerdict, unmetCondition } from "../../../backends/reference/unmet-condition.js";
import { numberOf } from "../../../ir/values/index.js";
import type { GatherData, HostInputs } from "../../../backends/index.js";
import { meets, runOn, targets, tryCompile, type Kernel, type Target } from "../../../src/index.js";
import { drawer } from "../../fuzz/mutate.js";
import {
  canTell,
  cppCompiler,
  machines,
  onMachines,
  ptoJob,
  runPto,
  type PtoJob,
} from "../../support/pto.js";
import { randomBag, randomCombine } from "../../support/random-bags.js";
import { randomSum } from "../../support/random-sum.js";
import { longRows, randomValue, type RandomValue } from "../../support/random-value.js";
import { runs } from "../../support/runs.js";
import { parsed } from "../../support/parsed.js";
import { diagnosticsOf, refusal } from "../../support/refusal.js";

const ascend = [targets.ascendA2, targets.ascendA3, targets.ascend950] as const;

/** The reference's bytes; undefined for an index out of range. */
async function expected(kernel: Kernel, inputs: HostInputs): Promise<Uint8Array | undefined> {
  return runOn("reference", kernel, inputs).then(
    ({ output }) => output,
    () => undefined,
  );
}

/** Bits of each float type by its exponent and fraction. */
const formats = { f32: [23, 127], f16: [10, 15], bf16: [7, 127] } as const;

type Conditions = ReturnType<Kernel["pto"]>["assumes"];

/** The inputs with others in place of elements that a condition excludes: zeros, or numbers at a bound. */
function within(
  kernel: Kernel,
  inputs: Readonly<Record<string, Uint8Array>>,
  assumes: Conditions,
  draw: (n: number) => number,
) {
  return Object.fromEntries(
    inputsOf(kernel.tile).map((operand) => {
      const { name, type } = operand;
      const own = assumes.find((condition) => condition.operand === keyOf(operand));
      const bytes = Uint8Array.from(inputs[name] ?? []);
      if (own === undefined) return [keyOf(operand), { type, bytes }];
      const format = type.dtype as keyof typeof formats;
      const [digits, bias] = formats[format];
      const units = format === "f32" ? new Uint32Array(bytes.buffer) : new Uint16Array(bytes.buffer);
      const sign = 2 ** (format === "f32" ? 31 : 15);
      const power = (exponent: number): number => {
        const field = exponent + bias;
        return field > 0 ? field * 2 ** digits : 2 ** (digits - 1 + field);
      };
      const [least, below] = [own.least ?? -Infinity, own.below ?? Infinity];
      units.forEach((bits, k) => {
        const value = Math.abs(numberOf(format, bits));
        if (Number.isFinite(value) && (value === 0 || value >= 2 ** least) && value < 2 ** below) return;
        const bounds = [
          0,
          ...(Number.isFinite(least) ? [power(least)] : []),
          ...(Number.isFinite(below) ? [power(below) - 1] : []),
        ];
        units[k] = bounds[draw(bounds.length)]! + sign * draw(2);
      });
      return [keyOf(operand), { type, bytes }];
    }),
  );
}

/** PyPTO's sparse attention: int8 rows of a paged cache, four scales a row (models/deepseek_v32_exp/sparse_flash_attention_quant_impl.py). */
const dequantized = (output: string): string => `
func @dequantized(%q: tensor<320x512xi8>, %s: tensor<320x4xf32>, %pages: tensor<1x5xi32>, %tokens: tensor<1x24xi32>) -> tensor<24x512x${output}> {
  %y = access.gather %q, %s, %pages, %tokens (d0, d1) let k = error(%tokens[0, d0] in 320) let t = error(%pages[0, k div 64] * 64 + k mod 64 in 320) yield ${output === "f32" ? "" : output}(f32(%q[t, d1]) * %s[t, d1 div 128]) {oob = error}
  return %y
}
`;

/** torch.embedding_bag: the sum of the rows that a bag names, but for row 7. */
const bags = `
func @bags(%e: tensor<90x40xf32>, %i: tensor<60xi32>, %off: tensor<9xi32>) -> tensor<8x40xf32> {
  %y = access.gather %e, %i, %off (d0, d1; r in error(%off[d0] in 61) to error(%off[d0 + 1] in 61) most 16) let t = error(%i[r] in 90 but 7) yield fold(%e[t, d1]) {oob = error}
  return %y
}
`;

/** A row of an i8 table by a factor of its own, and what is made of it. */
const rows = (
  yielded: string,
  output: string,
  tables = "%q: tensor<30x24xi8>, %s: tensor<30xf32>",
): string => {
  const names = [...tables.matchAll(/%\w+/g)].map(([name]) => name).join(", ");
  return `
func @rows(${tables}, %i: tensor<9xi32>) -> tensor<9x24x${output}> {
  %y = access.gather ${names}, %i (d0, d1) let t = error(%i[d0] in 30) yield ${yielded} {oob = error}
  return %y
}
`;
};

const terms = (yielded: string, tables: string, count = 16): string => {
  const names = [...tables.matchAll(/%\w+/g)].map(([name]) => name).join(", ");
  return `
func @terms(${tables}, %i: tensor<9x${count}xi32>) -> tensor<9x24xf32> {
  %y = access.gather ${names}, %i (d0, d1; r < ${count}) let t = error(%i[d0, r] in 30) yield ${yielded} {oob = error}
  return %y
}
`;
};

const on = (text: string, target: Target = targets.ascendA2, schedule: object = {}): Kernel => {
  const result = tryCompile(parsed(text), { target, ...schedule });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.kernel;
};

/** What each operand must be, as one line. */
const lines = (kernel: Kernel): readonly string[] =>
  kernel.pto().assumes.map(({ operand, least, below }) => `${operand} ${least ?? "-"} ${below ?? "-"}`);

/** The form that PTO-ISA does not have. */
function absentForm(kernel: Kernel): string {
  const { code, message } = refusal(() => kernel.pto())!;
  expect(code).toBe("TC505");
  return message.replace("a kernel for PTO-ISA has no form for ", "");
}

describe("the conditions of a value", () => {
  // By the reasons of hw-native-sys/pto-isa and asc-devkit: no subnormal of f32 in any step, no NaN, nothing past the range.
  it.each([
    ["integers within their range", rows("f16(i32(%q[t, d1]) * 2 - 7)", "f16", "%q: tensor<30x24xi8>"), []],
    ["i8 by f32", rows("f32(%q[t, d1]) * %s[t]", "f32"), ["s -126 121"]],
    ["i8 by f32, as bf16", rows("bf16(f32(%q[t, d1]) * %s[t])", "bf16"), ["s -126 120"]],
    // 128 * 2^8 is below 65520, 128 * 2^9 is not.
    ["i8 by f32, as f16", rows("f16(f32(%q[t, d1]) * %s[t])", "f16"), ["s -126 8"]],
    [
      "i8 by f16",
      rows("f32(%q[t, d1]) * f32(%s[t])", "f32", "%q: tensor<30x24xi8>, %s: tensor<30xf16>"),
      ["s - -"],
    ],
    [
      "i8 by bf16",
      rows("f32(%q[t, d1]) * f32(%s[t])", "f32", "%q: tensor<30x24xi8>, %s: tensor<30xbf16>"),
      ["s -126 121"],
    ],
    [
      "f16 by f16",
      rows("f32(%q[t, d1]) * f32(%s[t])", "f32", "%q: tensor<30x24xf16>, %s: tensor<30xf16>"),
      ["q - -", "s - -"],
    ],
    ["a sum of f32", terms("fold(%e[t, d1])", "%e: tensor<30x24xf32>"), ["data -103 123"]],
    ["a sum of bf16", terms("fold(f32(%e[t, d1]))", "%e: tensor<30x24xbf16>"), ["data -119 124"]],
    ["a sum of f16", terms("fold(f32(%e[t, d1]))", "%e: tensor<30x24xf16>"), ["data - -"]],
    // Both exponents together are -103 at least.
    [
      "a weighted sum",
      terms("fold(%e[t, d1] * %w[d0, r])", "%e: tensor<30x24xf32>, %w: tensor<9x16xf32>"),
      ["e -51 61", "w -51 61"],
    ],
    [
      "a weighted sum of f16",
      terms("fold(f32(%e[t, d1]) * %w[d0, r])", "%e: tensor<30x24xf16>, %w: tensor<9x16xf32>"),
      ["e - -", "w -79 108"],
    ],
    // What stands beside a product needs less.
    [
      "a product and a sum",
      rows(
        "%a[t, d1] * %s[t] + %b[t]",
        "f32",
        "%a: tensor<30x24xf32>, %s: tensor<30xf32>, %b: tensor<30xf32>",
      ),
      ["a -51 63", "s -51 63", "b -103 127"],
    ],
    ["an integer of f32", rows("i16(%a[t, d1] * 2)", "i16", "%a: tensor<30x24xf32>"), ["data -126 14"]],
    ["u32 below 2^31", rows("u32(f32(%q[t, d1]) * 8000000)", "u32", "%q: tensor<30x24xu8>"), []],
    ["the least of u32 below 2^31", rows("min(u32(%q[t, d1]), 7)", "u32", "%q: tensor<30x24xu8>"), []],
    ["the least of numbers without -0", rows("min(f32(%q[t, d1]), 3)", "f32", "%q: tensor<30x24xi8>"), []],
  ] as const)("are, of %s", (_, text, want) => {
    for (const target of ascend) expect(lines(on(text, target))).toEqual(want);
  });

  it.each([
    [
      rows("max(%a[t, d1], 0)", "f32", "%a: tensor<30x24xf32>"),
      "max of f32: PTO-ISA does not say what it gives for NaN and for zeros of two signs",
    ],
    [
      rows("f32(%a[t, d1])", "f32", "%a: tensor<30x24xu16>"),
      "a cast of u16 to f32: PTO-ISA has no conversion of u16 on every core",
    ],
    [
      rows("f32(%a[t, d1])", "f32", "%a: tensor<30x24xu32>"),
      "a cast of u32 to f32: PTO-ISA has no conversion of u32",
    ],
    [rows("%a[t, d1] + 1", "i32", "%a: tensor<30x24xi32>"), "add of i32: PTO-ISA does not say that it wraps"],
    [
      rows("f32(%a[t, d1])", "f32", "%a: tensor<30x24xi4>"),
      "a cast of i4 to f32: no instruction reads elements that share a byte",
    ],
    ...(["min", "max"] as const).map(
      (op) =>
        [
          rows(`${op}(%a[t, d1], 125)`, "u32", "%a: tensor<30x24xu32>"),
          `${op} of u32: PTO-ISA compares u32 as i32`,
        ] as const,
    ),
    // 255 * 10^7 is beyond 2^31.
    [
      rows("u32(f32(%a[t, d1]) * 10000000)", "u32", "%a: tensor<30x24xu8>"),
      "a cast of f32 to u32: PTO-ISA leaves it undefined outside the range",
    ],
    [rows("f16(%a[t, d1])", "f16", "%a: tensor<30x24xi32>"), "a cast of i32 to f16: it would round twice"],
    [
      rows("u8(%a[t, d1])", "u8", "%a: tensor<30x24xf32>"),
      "a cast of f32 to u8: PTO-ISA leaves it undefined outside the range",
    ],
    [
      rows("%a[t, d1] * 0x00000001", "f32", "%a: tensor<30x24xf32>"),
      "mul of f32: Ascend cores may flush subnormals to zero",
    ],
    ...["%a[t, d1] / %a[0, d1]", "%a[t, d1] / 3", "3 / %a[t, d1]", "%a[t, d1] * (2 / %a[t, 0])"].map(
      (quotient) =>
        [
          rows(quotient, "f32", "%a: tensor<30x24xf32>"),
          "div of f32: no page says how a quotient rounds on A2 and A3",
        ] as const,
    ),
    [terms("exact(f32(%a[t, d1]))", "%a: tensor<30x24xf16>"), "exact of f32: PTO-ISA has no such reduction"],
    [
      terms("mean(%a[t, d1])", "%a: tensor<30x24xf32>"),
      "mean of f32: no page says how a quotient rounds on A2 and A3",
    ],
    [
      terms("max(%a[t, d1])", "%a: tensor<30x24xf32>"),
      "max of f32: PTO-ISA does not say what it gives for NaN and for zeros of two signs",
    ],
  ] as const)("do not help %s", (text, want) => {
    expect(absentForm(on(text))).toBe(want);
  });
});

/** A kernel on every machine, under the name of a number. */
const everywhere = (kernel: Kernel, inputs: HostInputs, number: number): readonly PtoJob[] =>
  onMachines(
    ptoJob(
      kernel,
      `k${number}`,
      Object.values(inputs).map(({ bytes }) => bytes),
    ),
  );

/** Bits of f32 with an exponent, 1 * 2^e. */
const power = (exponent: number): number =>
  exponent > -127 ? (exponent + 127) << 23 : 1 << (149 + exponent);

/** The inputs of a kernel: f32 bits by name, integers by name; everything else zeros. */
function inputsOfBits(kernel: Kernel, given: Readonly<Record<string, ArrayBufferView>>): HostInputs {
  return Object.fromEntries(
    inputsOf(kernel.tile).map((operand) => {
      const own = given[operand.name];
      const bytes =
        own === undefined
          ? new Uint8Array(byteCount(operand.type))
          : new Uint8Array(own.buffer, own.byteOffset, own.byteLength);
      return [keyOf(operand), { type: operand.type, bytes }];
    }),
  );
}

describe("a bound", () => {
  const product = on(rows("f32(%q[t, d1]) * %s[t]", "f32"));
  const sum = on(terms("fold(%e[t, d1])", "%e: tensor<30x24xf32>"));
  const half = on(rows("f32(%q[t, d1]) * f32(%s[t])", "f32", "%q: tensor<30x24xi8>, %s: tensor<30xf16>"));

  it(
    "is met by its last number, and the next one gives other bits on some machine",
    { timeout: 300_000 },
    async (context) => {
      if (cppCompiler() === undefined) return context.skip();
      const q = new Int8Array(30 * 24).fill(-128);
      q[1] = 1;
      q[2] = 0;
      const scales = (bits: number) => inputsOfBits(product, { q, s: new Int32Array(30).fill(bits) });
      const table: readonly (readonly [
        Kernel,
        (bits: number) => HostInputs,
        last: number,
        next: number,
        bound: string,
      ])[] = [
        [product, scales, power(-126), power(-126) - 1, "0 or at least 2^-126"],
        [product, scales, power(121) - 1, power(121), "below 2^121"],
        [product, scales, power(121) - 1, 0x7f800000, "finite"],
        [product, scales, power(121) - 1, 0x7fc00001, "finite"],
        // x - y, where y is the next number: 2^-126, or half of it.
        [
          sum,
          (bits) =>
            inputsOfBits(sum, {
              e: Int32Array.from({ length: 720 }, (_, k) =>
                k < 24 ? bits : k < 48 ? (bits + 1) | (1 << 31) : 0,
              ),
              i: Int32Array.from({ length: 144 }, (_, k) => (k % 16 < 2 ? k % 2 : 2)),
            }),
          power(-103),
          power(-103) - 2,
          "0 or at least 2^-103",
        ],
        // 16 times the largest numbers below 2^124 are below 2^128, and each sum rounds up a little.
        [
          sum,
          (bits) => inputsOfBits(sum, { e: new Int32Array(720).fill(bits) }),
          power(123) - 1,
          power(124),
          "below 2^123",
        ],
      ];
      const trials = table.flatMap(([kernel, inputs, last, next, bound]) => [
        { kernel, inputs: inputs(last), unmet: undefined },
        { kernel, inputs: inputs(next), unmet: bound },
      ]);
      const halves = (bits: number) => inputsOfBits(half, { q, s: new Uint16Array(30).fill(bits) });
      // The largest number of f16, its least subnormal, and a NaN.
      for (const bits of [0x7bff, 1, 0x7e01])
        trials.push({ kernel: half, inputs: halves(bits), unmet: bits > 0x7c00 ? "finite" : undefined });
      const kernels = [product, sum, half].map((kernel, k) => [kernel, ptoJob(kernel, `k${k}`, [])] as const);
      const named = new Map(kernels);
      const jobs = trials.flatMap(({ kernel, inputs }) =>
        onMachines({ ...named.get(kernel)!, inputs: Object.values(inputs).map(({ bytes }) => bytes) }),
      );
      const found = await runPto(jobs);
      expect(found.map(({ fault }) => fault)).toEqual(jobs.map(() => ""));
      for (const [k, { kernel, inputs, unmet }] of trials.entries()) {
        const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
        const broken = unmetCondition({ map, operands, inputs }, kernel.pto().assumes);
        const want = await expected(kernel, inputs);
        const own = found.slice(k * machines.length, (k + 1) * machines.length);
        const all = own.every(({ output }) => Buffer.compare(output, want ?? new Uint8Array()) === 0);
        expect([k, broken?.bound, all]).toEqual([k, unmet, unmet === undefined]);
      }
    },
  );

  it("is tested on the elements that index values name", () => {
    const scales = new Float32Array(30).fill(1);
    scales[17] = 2 ** -130;
    const tensors = (index: number): GatherData => ({
      q: new Int8Array(30 * 24).fill(3),
      s: scales,
      i: new Int32Array(9).fill(index),
    });
    expect(meets(product, tensors(16))).toEqual({ ok: true });
    expect(meets(product, tensors(17))).toEqual({
      ok: false,
      operand: "s",
      element: 17,
      value: 2 ** -130,
      bound: "0 or at least 2^-126",
    });
  });
});

describe("values of models as PTO-ISA kernels", () => {
  it("give the reference's bits on every machine", { timeout: 300_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const draw = drawer(3);
    const jobs: PtoJob[] = [];
    const wants: Uint8Array[] = [];
    const normal = (_: unknown, k: number): number => ((-1) ** k * (1 + draw(2 ** 20))) / 2 ** 14;
    for (const target of ascend) {
      for (const residency of ["gm", "ub"] as const) {
        for (const output of ["bf16", "f16", "f32"]) {
          const kernel = on(dequantized(output), target, { residency, tile: [5, 512] });
          const inputs = inputsOfBits(kernel, {
            q: Int8Array.from({ length: 320 * 512 }, () => draw(256) - 128),
            s: Float32Array.from({ length: 320 * 4 }, normal),
            pages: Int32Array.from([3, 0, 4, 1, 2]),
            tokens: Int32Array.from({ length: 24 }, () => draw(320)),
          });
          const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
          expect(unmetCondition({ map, operands, inputs }, kernel.pto().assumes)).toBeUndefined();
          await addJobs(kernel, inputs);
        }
        const kernel = on(bags, target, { residency });
        const inputs = inputsOfBits(kernel, {
          e: Float32Array.from({ length: 3600 }, normal),
          i: Int32Array.from({ length: 60 }, () => draw(9) * 10 + 7),
          off: Int32Array.from([0, 3, 3, 19, 20, 31, 44, 60, 60]),
        });
        await addJobs(kernel, inputs);
      }
    }
    async function addJobs(kernel: Kernel, inputs: HostInputs): Promise<void> {
      const want = await expected(kernel, inputs);
      for (const job of everywhere(kernel, inputs, jobs.length)) {
        jobs.push(job);
        wants.push(want!);
      }
    }
    const found = await runPto(jobs);
    expect(found.map(({ fault, status }) => [fault, status])).toEqual(jobs.map(() => ["", false]));
    found.forEach(({ output }, k) => {
      expect(Buffer.compare(output, wants[k]!)).toBe(0);
    });
  });

  it("of any rank, and of elements that are no rows", { timeout: 300_000 }, async (context) => {
    if (cppCompiler() === undefined) return context.skip();
    const draw = drawer(8);
    const shapes: readonly (readonly [string, object])[] = [
      [
        "%q: tensor<6x5x24xi8>, %s: tensor<5xf32>, %i: tensor<7xi32>) -> tensor<7x5x24xf32>|(d0, d1, d2) let t = clamp(%i[d0] in 6) yield f32(%q[t, d1, d2]) * %s[d1] {oob = clamp}",
        { tile: [2, 3, 9] },
      ],
      [
        "%q: tensor<40xi8>, %s: tensor<40xf32>, %i: tensor<33xi32>) -> tensor<33xf32>|(d0) let t = fill(%i[d0] in 40) yield f32(%q[t]) * %s[t] {oob = fill, fill = 1065353216}",
        { tile: [10] },
      ],
      [
        "%q: tensor<24x30xi16>, %i: tensor<9xi32>) -> tensor<9x24xbf16>|(d0, d1) let t = wrap(%i[d0] in 30) yield bf16(%q[d1, t]) {oob = wrap}",
        { tile: [4, 7] },
      ],
      [
        "%q: tensor<30x24xu8>, %i: tensor<9xi32>) -> tensor<9x24xf16>|(d0, d1) let t = fill(%i[d0] in 30) yield f16(f32(%q[t, 23 - d1]) - f32(%q[t, d1])) {oob = fill}",
        { tile: [4, 7] },
      ],
      [
        "%q: tensor<30x24xi8>, %i: tensor<9x5xi32>) -> tensor<9x24xi32>|(d0, d1; r < 5) let t = fill(%i[d0, r] in 30) yield max(i32(%q[t, d1])) {oob = fill}",
        { tile: [4, 7] },
      ],
      [
        "%q: tensor<30x24xi16>, %i: tensor<9x5xi32>) -> tensor<9x24xi8>|(d0, d1; r < 5) let t = fill(%i[d0, r] in 30) yield i8(min(i32(%q[t, d1]))) {oob = fill}",
        { tile: [4, 7] },
      ],
      [
        "%q: tensor<30x24xi8>, %s: tensor<30x3xf32>, %i: tensor<9xi32>) -> tensor<9x24xf32>|(d0, d1) let t = clamp(%i[d0] in 30) yield f32(%q[t, d1]) * %s[t, d1 div 9] {oob = clamp}",
        { tile: [4, 7], residency: "gm" },
      ],
      [
        "%q: tensor<30x24xi8>, %s: tensor<30x3xf16>, %i: tensor<9xi32>) -> tensor<9x24xf32>|(d0, d1) let t = clamp(%i[d0] in 30) yield f32(%q[t, d1]) * f32(%s[t, (d1 + 4) div 10]) {oob = clamp}",
        { tile: [4, 7], residency: "ub" },
      ],
      [
        "%q: tensor<30x24xi8>, %i: tensor<9x24xi64>) -> tensor<9x24xu8>|(d0, d1) let t = clamp(%i[d0, d1] in 30) yield u8(%q[t, d1]) {oob = clamp}",
        { tile: [4, 7] },
      ],
    ];
    const jobs: PtoJob[] = [];
    const wants: (Uint8Array | undefined)[] = [];
    for (const target of ascend) {
      for (const [text, schedule] of shapes) {
        const [head = "", map = ""] = text.split("|");
        const names = [...head.matchAll(/%\w+/g)].map(([name]) => name).join(", ");
        const kernel = on(
          `func @shaped(${head} {\n  %y = access.gather ${names} ${map}\n  return %y\n}\n`,
          target,
          schedule,
        );
        const inputs = Object.fromEntries(
          inputsOf(kernel.tile).map((operand) => {
            const { type } = operand;
            const count = byteCount(type);
            const bytes =
              type.dtype === "f32"
                ? new Uint8Array(
                    Float32Array.from({ length: count / 4 }, () => (draw(2001) - 1000) / 16).buffer,
                  )
                : type.dtype === "i32"
                  ? new Uint8Array(Int32Array.from({ length: count / 4 }, () => draw(60) - 15).buffer)
                  : type.dtype === "i64"
                    ? new Uint8Array(
                        BigInt64Array.from({ length: count / 8 }, () => BigInt(draw(60) - 15)).buffer,
                      )
                    : type.dtype === "f16"
                      ? new Uint8Array(Uint16Array.from({ length: count / 2 }, () => draw(0x7c00)).buffer)
                      : Uint8Array.from({ length: count }, () => draw(256));
            return [keyOf(operand), { type, bytes }];
          }),
        );
        const { map: own, operands } = kernel.definition ?? mapOfTile(kernel.tile);
        expect(unmetCondition({ map: own, operands, inputs }, kernel.pto().assumes)).toBeUndefined();
        const want = await expected(kernel, inputs);
        for (const job of everywhere(kernel, inputs, jobs.length)) {
          jobs.push(job);
          wants.push(want);
        }
      }
    }
    (await runPto(jobs)).forEach(({ fault, output }, k) => {
      const shape = shapes[Math.floor(k / machines.length) % shapes.length]![0];
      expect([shape, fault]).toEqual([shape, ""]);
      expect([shape, Buffer.compare(output, wants[k]!)]).toEqual([shape, 0]);
    });
  });

  it("are as reviewed", async () => {
    const golden = (name: string): string => `goldens/${name}.cpp`;
    await expect(
      on(dequantized("bf16"), targets.ascendA2, { residency: "gm", tile: [4, 512] }).pto().code,
    ).toMatchFileSnapshot(golden("value-dequantized"));
    await expect(on(bags, targets.ascendA2, { residency: "gm" }).pto().code).toMatchFileSnapshot(
      golden("value-bags"),
    );
  });
});

/** A condition that takes more elements. */
const relaxed = ({ least, below, ...rest }: Conditions[number]): Conditions[number] => ({
  ...rest,
  ...defined({
    least: least === undefined ? undefined : least - 12,
    below: below === undefined ? undefined : below + 3,
  }),
});

const generators: readonly ((draw: ReturnType<typeof drawer>) => RandomValue)[] = [
  (draw) => randomValue(draw),
  (draw) => randomValue(draw, longRows),
  (draw) => randomSum(draw),
  randomBag,
  randomCombine,
];

describe("random values as PTO-ISA kernels", () => {
  it(
    "give the reference's bits on every machine, or are refused by a step",
    { timeout: 600_000 },
    async (context) => {
      if (cppCompiler() === undefined) return context.skip();
      const jobs: PtoJob[] = [];
      const made: { readonly text: string; readonly want: Uint8Array | undefined }[] = [];
      const kinds = { proved: 0, conditional: 0, refused: 0 };
      const verdicts = { met: 0, unneeded: 0, "other bits": 0 };
      for (let seed = 0; seed < runs(300); seed++) {
        const draw = drawer(seed * 37 + 5);
        const trial = generators[seed % generators.length]!(draw);
        const func = parsed(trial.text);
        const target: Target = ascend[draw(3)]!;
        const shape = func.operands.at(-1)!.type.shape;
        const tile = shape.map((extent) => 1 + draw(extent));
        const result = [
          { tile, residency: (["gm", "ub", "auto"] as const)[draw(3)]!, buffers: (1 + draw(2)) as 1 | 2 },
          {},
        ]
          .map((schedule) => tryCompile(func, { ...schedule, target }))
          .find(({ ok }) => ok);
        if (result?.ok !== true) continue;
        const { kernel } = result;
        try {
          const { assumes } = kernel.pto();
          kinds[assumes.length === 0 ? "proved" : "conditional"]++;
          // Beyond the conditions a little, where it is the steps that tell.
          const beyond = draw(2) === 0;
          const inputs = within(kernel, trial.inputs, beyond ? assumes.map(relaxed) : assumes, draw);
          const want = await expected(kernel, inputs);
          const { map, operands } = kernel.definition ?? mapOfTile(kernel.tile);
          const verdict = inputsVerdict({ map, operands, inputs }, assumes);
          verdicts[verdict.kind]++;
          if (!beyond && want !== undefined) expect(verdict.kind).toBe("met");
          if (verdict.kind === "other bits") continue;
          for (const job of everywhere(kernel, inputs, jobs.length)) {
            jobs.push(job);
            made.push({ text: `${JSON.stringify([assumes, job.floats])}\n${kernel.text("tile")}`, want });
          }
        } catch (thrown) {
          expect(diagnosticsOf(thrown)[0]!.code).toBe("TC505");
          kinds.refused++;
        }
      }
      expect(kinds.proved).toBeGreaterThan(runs(4));
      expect(kinds.conditional).toBeGreaterThan(runs(50));
      expect(kinds.refused).toBeGreaterThan(runs(50));
      expect(verdicts.unneeded).toBeGreaterThan(runs(5));
      expect(verdicts["other bits"]).toBeGreaterThan(runs(5));
      const wrong: string[] = [];
      for (let k = 0; k < jobs.length; k += 400) {
        (await runPto(jobs.slice(k, k + 400))).forEach(({ fault, status, output }, n) => {
          const { text, want } = made[k + n]!;
          if (fault !== "") wrong.push(`${fault}\n${text}`);
          else if (status !== (want === undefined && canTell(jobs[k + n]!)))
            wrong.push(`status ${String(status)}\n${text}`);
          else if (want !== undefined && Buffer.compare(want, output) !== 0)
            wrong.push(`other bits\n${text}`);
        });
      }
      expect(wrong).toEqual([]);
    },
  );
});
