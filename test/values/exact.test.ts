/** Exact sums: the bits of the real sum on every backend and for every tile, the width that is proved, and what a tile program needs. */
import { describe, expect, it } from "vitest";
import type { HostInputs } from "../../backends/memory.js";
import { referenceOfMap } from "../../backends/reference/index.js";
import { simulateChecked } from "../../backends/sim/index.js";
import {
  inputsOf,
  keyOf,
  parseModule,
  printModule,
  targets,
  tileFaults,
  type AccessFunc,
  type Target,
} from "../../ir/index.js";
import { compile, explain, tryCompile } from "../../src/index.js";
import { bitsOf, reduced, type Node } from "../oracle/values.js";
import { drawer } from "../fuzz/mutate.js";
import { fastOutput } from "../support/fast.js";
import { testRunner } from "../support/gpu.js";
import { randomExact } from "../support/random-sum.js";
import { bytes, randomBits } from "../support/random-value.js";
import { hasRightBits } from "../support/right-bits.js";
import { runs } from "../support/runs.js";
import { parsedAccess, parsedTile } from "../support/parsed.js";

describe("an exact sum", () => {
  hasRightBits(randomExact, {
    oracle: "rationals",
    executors: { programs: 400, outputs: 130, errors: 0 },
    webgpu: { programs: 30 },
  });
});

/** The outputs of the reference, of both executors and, where there is a device, of WebGPU. */
async function outputsOf(func: AccessFunc, inputs: HostInputs): Promise<readonly Uint8Array[]> {
  const cpu = compile(func, { target: targets.cpu });
  const found = [
    referenceOfMap(func.map, func.operands, inputs),
    simulateChecked(cpu.tile, inputs, targets.cpu).output,
    fastOutput(cpu, inputs),
  ];
  const runner = await testRunner();
  if (runner !== undefined)
    found.push(await runner.runBytes(compile(func, { target: targets.webgpu }), inputs));
  return found;
}

it("is that of rationals for bags between offsets, on every backend", async () => {
  const draw = drawer(7);
  const [bags, columns, rows] = [runs(2000), 5, 40];
  const lengths = Array.from({ length: bags }, () => (draw(6) === 0 ? 0 : draw(9)));
  let end = 0;
  const offsets = [0, ...lengths.map((length) => (end += length))];
  const numbers = (count: number, below: number) => Array.from({ length: count }, () => draw(below));
  const x = Array.from({ length: rows * columns }, () => randomBits("f16", draw));
  const [w, i] = [numbers(end, 256), numbers(end, rows)];
  const func =
    parsedAccess(`func @f(%x: tensor<${rows}x${columns}xf16>, %w: tensor<${end}xu8>, %i: tensor<${end}xi32>, %off: tensor<${bags + 1}xi32>) -> tensor<${bags}x${columns}xf32> {
  %y = access.gather %x, %w, %i, %off (d0, d1; r in error(%off[d0] in ${end + 1}) to error(%off[d0 + 1] in ${end + 1}) most 8) let t = error(%i[r] in ${rows}) yield exact(f32(%x[t, d1]) * f32(%w[r])) {oob = error}
  return %y
}
`);
  const inputs = given(func, {
    x: bytes("f16", x),
    w: Uint8Array.from(w),
    i: new Uint8Array(Int32Array.from(i).buffer),
    off: new Uint8Array(Int32Array.from(offsets).buffer),
  });
  const wide = (name: string, type: "f16" | "u8"): Node => ({
    kind: "cast",
    type: "f32",
    of: { kind: "read", name, type },
  });
  const product: Node = { kind: "mul", type: "f32", of: [wide("x", "f16"), wide("w", "u8")] };
  const sums = Array.from({ length: bags * columns }, (_, k) => {
    const [bag, column] = [Math.floor(k / columns), k % columns];
    const places = Array.from({ length: lengths[bag]! }, (_place, r) => offsets[bag]! + r);
    const terms = places.map((r) =>
      bitsOf(product, (name) => (name === "x" ? x[i[r]! * columns + column]! : BigInt(w[r]!))),
    );
    return reduced("exact", "f32", terms);
  });
  const want = Buffer.from(bytes("f32", sums)).toString("hex");
  for (const output of await outputsOf(func, inputs))
    expect(Buffer.from(output).toString("hex") === want).toBe(true);
});

const summed = (x: string, w: string, terms: number, value: string): AccessFunc =>
  parsedAccess(`func @f(%x: tensor<4x3x${x}>, %w: tensor<${terms}x${w}>, %i: tensor<2x${terms}xi32>) -> tensor<2x3xf32> {
  %y = access.gather %x, %w, %i (d0, d1; r < ${terms}) let t = fill(%i[d0, r] in 4) yield exact(${value}) {oob = fill}
  return %y
}
`);

const given = (func: AccessFunc, bytes: Readonly<Record<string, Uint8Array>>) =>
  Object.fromEntries(
    inputsOf(func).map((operand) => [keyOf(operand), { type: operand.type, bytes: bytes[operand.name]! }]),
  );

const said = (func: AccessFunc): readonly string[] => {
  const result = tryCompile(func, { target: targets.cpu });
  return result.ok ? [] : result.diagnostics.map(({ code, message }) => `${code} ${message}`);
};

describe("the width of an exact sum", () => {
  const [x, w] = ["f32(%x[t, d1])", "f32(%w[r])"];
  it.each([
    // 65504 * 255 is 2^24 * 16703520 units of 2^-24, of which 2^63 has 32912.57.
    ["f16", "u8", `${x} * ${w}`, 32_912],
    ["f16", "u8", `${x} * f32(i32(%w[r]) - 8)`, 33_978],
    // 65504 * 2^24 units: 2^63 has 8392706.001.
    ["f16", "u8", x, 8_392_706],
    ["i32", "u8", x, 2 ** 24],
  ])("lets %s and %s in %s have %d terms and no more", (xs, ws, value, most) => {
    const codes = (terms: number): readonly string[] => said(summed(xs, ws, terms, value));
    expect(codes(most)).toEqual([]);
    expect(codes(most + 1)).toHaveLength(1);
    expect(codes(most + 1)[0]).toMatch(/^TC205 B[78]:/);
  });

  it.each([
    [
      "f32",
      "u8",
      "%x[t, d1]",
      "a reduction element takes 277 bits in units of 2^-149, and an exact sum has 63",
    ],
    ["bf16", "u8", x, "a reduction element takes 261 bits in units of 2^-133, and an exact sum has 63"],
    [
      "f16",
      "f16",
      `${x} * ${w}`,
      "a reduction element takes 80 bits in units of 2^-48, and an exact sum has 63",
    ],
    [
      "u16",
      "f16",
      `${x} * ${w}`,
      "the reduction elements of an exact sum: mul of f32 takes 27 digits of 24 and may round",
    ],
    [
      "u8",
      "f16",
      `${x} + ${w}`,
      "the reduction elements of an exact sum: add of f32 takes 41 digits of 24 and may round",
    ],
    ["i32", "u8", `f32(%x[t, d1] * 2)`, "the reduction elements of an exact sum: mul of i32 may wrap"],
    [
      "u8",
      "u8",
      `${x} * 0x7f000000`,
      "the reduction elements of an exact sum: mul of f32 may reach 2^134 and overflow",
    ],
    [
      "f16",
      "u8",
      `${x} * 0x00800000`,
      "the reduction elements of an exact sum: mul of f32 has multiples of 2^-150 and may round",
    ],
  ])("refuses %s and %s in %s", (xs, ws, value, message) => {
    expect(said(summed(xs, ws, 3, value))).toEqual([`TC205 B7: ${message}`]);
  });

  // 65504 * 255 * 2^24 units lie between 2^47 and 2^48, and (65504 * 2^24) units between 2^39 and 2^40.
  it.each([
    ["f16", "u8", `${x} * ${w}`, 512, [-24, 48, 32_912, 57]],
    ["f16", "u8", `${x} * ${w}`, 32_912, [-24, 48, 32_912, 63]],
    ["f16", "u8", x, 3, [-24, 40, 8_392_706, 42]],
    // Past a map's own limit of terms, 2^24.
    ["u8", "u8", x, 10, [0, 8, 2 ** 24, 12]],
  ])("is shown by explain with its proof: %s and %s in %s, %d terms", (xs, ws, value, terms, figures) => {
    const { rules } = explain(summed(xs, ws, terms, value), { target: targets.cpu });
    const [unit, termBits, mostTerms, neededBits] = figures;
    expect(JSON.parse(JSON.stringify(rules.filter(({ rule }) => rule === "exact-width")))).toEqual([
      {
        rule: "exact-width",
        pass: true,
        detail: `a reduction element takes ${termBits} bits in units of 2^${unit}; ${terms} elements take ${neededBits} of 63 bits; at most ${mostTerms} elements fit`,
        source: "docs/values.md: terms (B7)",
        width: { unit, termBits, terms, mostTerms, neededBits, availableBits: 63 },
      },
    ]);
  });

  it("is not shown of another sum", () => {
    const folded = parsedAccess(
      printModule({ funcs: [summed("f16", "u8", 3, x)] }).replace("exact(", "fold("),
    );
    expect(explain(folded, { target: targets.cpu }).rules.map(({ rule }) => rule)).not.toContain(
      "exact-width",
    );
  });

  it("is of f32, by B8", () => {
    expect(said(summed("i32", "u8", 3, "%x[t, d1]"))).toEqual(["TC205 B8: exact of i32: it is of f32"]);
  });

  it("holds the largest sum, on every backend", async () => {
    const terms = 32_912;
    const func = summed("f16", "u8", terms, `${x} * ${w}`);
    const inputs = given(func, {
      x: new Uint8Array(Uint16Array.from({ length: 12 }, (_, k) => (k % 3 === 1 ? 0xfbff : 0x7bff)).buffer),
      w: new Uint8Array(terms).fill(255),
      i: new Uint8Array(8 * terms),
    });
    const size = 65504 * 255 * terms;
    const want = Float32Array.of(size, -size, size, size, -size, size);
    for (const output of await outputsOf(func, inputs))
      expect(new Float32Array(output.slice().buffer)).toEqual(want);
  });
});

describe("a tile program of exact sums", () => {
  const func = summed("i8", "f16", 10, "f32(i32(%x[t, d1]) - 8) * f32(%w[r])");
  const program = (tile: readonly number[], target: Target = targets.ascendA2): string =>
    printModule({ funcs: [compile(func, { target, tile, residency: "gm" }).tile] });
  const faults = (text: string): readonly string[] => {
    const own = parsedTile(text);
    return tileFaults(own, targets.ascendA2).map(({ code, message }) => `${code} ${message}`);
  };

  it("carries three words for an element, which explain counts, and is read as it was printed", () => {
    const text = program([2, 3, 4]);
    expect(text).toContain("%sum_ub = alloc : ub<3x2x3xu32, row 32>");
    expect(text).toContain("into %sum_ub part %r to min(%r + 4, 10) of 10 (d0, d1; r < 4)");
    expect(printModule(parseModule(text, "tile.tir").module)).toBe(text);
    expect(faults(text)).toEqual([]);
    const { footprint } = explain(func, {
      target: targets.ascendA2,
      tile: [2, 3, 4],
      residency: "gm",
    });
    const sum = footprint.parts.find(({ part }) => part === "sum");
    expect(sum).toMatchObject({ tile: [3, 2, 3], bytes: 4 * 3 * 2 * 3 });
  });

  it("is refused without a tile for each result", () => {
    const changed = program([2, 3, 4])
      .split("\n")
      .filter((line) => !line.includes("%value_2_ub = alloc"))
      .join("\n")
      .replace(", %value_2_ub}", "}");
    expect(faults(changed)).toEqual(["TC201 T16: scratch 3 holds value 2, ub<3xf32>, and there is none"]);
  });

  it.each([
    [
      "whose sum has one word",
      "ub<3x2x3xu32, row 32>",
      "ub<1x2x3xu32, row 32>",
      /TC201 T15: %sum_ub is not a single tile of u32 with 3 elements/,
    ],
    [
      "whose sum is of f32",
      "ub<3x2x3xu32, row 32>",
      "ub<3x2x3xf32, row 32>",
      /TC201 T15: %sum_ub is not a single tile of u32/,
    ],
    [
      "with a result's tile that is too small",
      "%value_1_ub = alloc : ub<3xf32",
      "%value_1_ub = alloc : ub<2xf32",
      /^TC201 T16: scratch 2 holds value 1, ub<3xf32>, and %value_1_ub is no such tile$/,
    ],
  ])("is refused %s", (_, from, to, told) => {
    const changed = program([2, 3, 4]).replace(from, to);
    expect(changed).not.toBe(program([2, 3, 4]));
    expect(faults(changed).join()).toMatch(told);
  });

  it("is refused where its parts together have more terms than 64 bits hold", () => {
    const wide = summed("f16", "u8", 32_912, "f32(%x[t, d1]) * f32(%w[r])");
    const { tile } = compile(wide, { target: targets.ascendA2, tile: [2, 3, 3], residency: "gm" });
    const text = printModule({ funcs: [tile] });
    expect(faults(text)).toEqual([]);
    expect(faults(text.replaceAll("32912", "32913"))).toEqual([
      "TC205 B7: a reduction element takes 48 bits in units of 2^-24: an exact sum of 63 bits holds 32912 elements, not 32913",
    ]);
  });
});
