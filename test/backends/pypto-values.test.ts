/** Values as PyPTO programs: on the stand-in they give the reference's numbers; what PyPTO has no operation for is refused by name. */
import { describe, expect, it } from "vitest";
import { byteCount, elementCount, inputsOf, keyOf, outputOf, parseModule } from "../../ir/index.js";
import { bitsOfNumber, numberOf, type ValueType } from "../../ir/values/index.js";
import { compile, runOn, targets, type Kernel } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { flat, nested, python, runPrograms, type Job } from "../support/pypto.js";
import { runs } from "../support/runs.js";
import { refusals, shown } from "../support/refusal.js";

const on = (text: string, schedule: object = {}): Kernel => {
  const { module, diagnostics } = parseModule(text, "value.tir");
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.ascendA2, residency: "gm", ...schedule });
};

interface Tables {
  /** By name: the text of a type. */
  readonly [name: string]: string;
}

const func = (tables: Tables, output: string, dims: string, lets: string, value: string): string => {
  const list = Object.entries(tables);
  const params = list.map(([name, type]) => `%${name}: tensor<${type}>`).join(", ");
  return `func @values(${params}) -> tensor<${output}> {
  %y = access.gather ${list.map(([name]) => `%${name}`).join(", ")} ${dims} ${lets} yield ${value} {oob = error}
  return %y
}
`;
};

/** PyPTO's sparse attention: int8 rows of a paged cache, four scales a row (models/deepseek_v32_exp/sparse_flash_attention_quant_impl.py). */
const dequantized = (output: string, scale = "f32"): string =>
  func(
    { q: "320x512xi8", s: `320x4x${scale}`, pages: "1x5xi32", tokens: "1x24xi32" },
    `24x512x${output}`,
    "(d0, d1)",
    "let k = error(%tokens[0, d0] in 320) let t = error(%pages[0, k div 64] * 64 + k mod 64 in 320)",
    `${output === "f32" ? "" : output}(f32(%q[t, d1]) * ${scale === "f32" ? "" : scale === "i8" ? "" : "f32"}(%s[t, d1 div 128]))`,
  );

const row = (value: string, output: string, tables: Tables = {}, columns = 24): string =>
  func(
    { q: `30x${columns}xi8`, ...tables, i: "8xi32" },
    `8x${columns}x${output}`,
    "(d0, d1)",
    "let t = error(%i[d0] in 30)",
    value,
  );
const sum = (value: string, output: string, tables: Tables = {}): string =>
  func(
    { q: "30x24xi8", ...tables, i: "8x5xi32" },
    `8x24x${output}`,
    "(d0, d1; r < 5)",
    "let t = error(%i[d0, r] in 30)",
    value,
  );

const programs: readonly (readonly [string, string, object])[] = [
  ["dequantized rows of pages, bf16", dequantized("bf16"), { tile: [8, 512], view: [8, 512] }],
  ["dequantized rows of pages, f16, whole", dequantized("f16", "f16"), { tile: [8, 256], view: [24, 512] }],
  ["dequantized rows of pages, f32", dequantized("f32"), { tile: [3, 64], view: [12, 512] }],
  [
    "a factor a row, a shift a column",
    row("f16((f32(%q[t, d1]) - 3) * %s[t] + %b[d1])", "f16", { s: "30xf32", b: "24xf32" }),
    { tile: [2, 8], view: [4, 12] },
  ],
  [
    "a factor of a column of one",
    row("f32(%q[t, d1]) * %s[t, 0]", "f32", { s: "30x1xf32" }),
    { tile: [4, 24], view: [8, 24] },
  ],
  [
    "a tensor at the output's places",
    row("f32(%q[t, d1]) * %m[d0, d1] + %w[d0]", "f32", { m: "8x24xf32", w: "8xf32" }),
    { tile: [4, 8], view: [4, 8] },
  ],
  [
    "blocks of rows",
    row("f32(%q[t, d1]) * f32(%s[t, d1 div 8])", "f32", { s: "30x3xbf16" }),
    { tile: [4, 24], view: [4, 24] },
  ],
  ["a difference of rows", row("f32(%p[t, d1]) - f32(%q[t, d1])", "f32", { p: "30x24xu8" }), {}],
  ["integers", row("i16(i32(%q[t, d1]) * 5 + 2)", "i16"), { tile: [4, 24], view: [4, 24] }],
  ["toward zero", row("i32(f32(%q[t, d1]) * 0.375)", "i32"), { tile: [8, 24] }],
  ["a sum of integers", sum("fold(i32(%q[t, d1]))", "i32"), { tile: [4, 24, 5], view: [4, 24] }],
  [
    "a sum that is exact in any order",
    sum("f16(fold(f32(%q[t, d1])) * %s[d0])", "f16", { s: "8xf32" }),
    { tile: [2, 12, 5], view: [4, 24] },
  ],
  [
    "a weighted sum of integers",
    sum("fold(i32(%q[t, d1]) * i32(%w[d0, r]) + i32(%z[t]))", "i32", { w: "8x5xi8", z: "30xu8" }),
    { tile: [4, 24, 5], view: [8, 24] },
  ],
];

/** Numbers of a type near 1, whose products and sums stay within the conditions. */
function randomNumber(type: string, draw: Draw): number {
  if (type === "f32") return (draw(2 ** 20) - 2 ** 19) / 2 ** 16;
  if (type === "f16" || type === "bf16") return (draw(200) - 100) / 2 ** 5;
  if (type === "u8") return draw(256);
  return draw(256) - 128;
}

/** A job, and the numbers that the reference gives. */
async function jobOf(
  kernel: Kernel,
  draw: Draw,
): Promise<{ readonly job: Job; readonly wants: readonly number[] }> {
  const { map, operands } = kernel.definition!;
  const indices = new Set(map.indices.flatMap(({ value }) => ("table" in value ? [value.table] : [])));
  const inputs = inputsOf({ operands }).map((operand, table) => {
    const { type } = operand;
    const isIndex = indices.has(table);
    const most = Math.min(...map.indices.map(({ extent = 2 ** 31 }) => extent));
    const values = Array.from({ length: elementCount(type.shape) }, () =>
      isIndex ? draw(operand.name === "pages" ? 5 : most) : randomNumber(type.dtype, draw),
    );
    const dtype = type.dtype as ValueType;
    const size = byteCount(type) / values.length;
    const bits = values.map((value) => bitsOfNumber(dtype, value));
    const units =
      size === 1 ? Uint8Array.from(bits) : size === 2 ? Uint16Array.from(bits) : Uint32Array.from(bits);
    // What the bits hold, where a type has fewer digits.
    const held = Array.from(units, (unit) => numberOf(dtype, unit));
    return { operand, values: held, bytes: new Uint8Array(units.buffer) };
  });
  const hosts = Object.fromEntries(
    inputs.map(({ operand, bytes }) => [keyOf(operand), { type: operand.type, bytes }]),
  );
  const { output } = await runOn("reference", kernel, hosts);
  const { type } = outputOf(kernel.tile);
  const dtype = type.dtype as ValueType;
  const size = byteCount(type) / elementCount(type.shape);
  const words =
    size === 1 ? output : size === 2 ? new Uint16Array(output.buffer) : new Uint32Array(output.buffer);
  return {
    job: {
      kernel,
      inputs: inputs.map(({ operand, values }) => nested(operand.type.shape, (k) => values[k]!)),
    },
    wants: Array.from(words, (unit) => numberOf(dtype, unit)),
  };
}

describe("a value as a PyPTO program", () => {
  it("gives the reference's numbers on the stand-in", async (context) => {
    if (python() === undefined) return context.skip();
    const draw = drawer(5);
    const made: (Awaited<ReturnType<typeof jobOf>> & { readonly name: string })[] = [];
    for (let k = 0; k < runs(26); k++) {
      const [name, text, schedule] = programs[k % programs.length]!;
      made.push({ name, ...(await jobOf(on(text, schedule), draw)) });
    }
    const results = runPrograms(made.map(({ job }) => job));
    results.forEach(({ output, writes, written }, k) => {
      const { name, wants } = made[k]!;
      expect([name, writes, written]).toEqual([name, [1], wants.length]);
      expect([name, flat(output)]).toEqual([name, wants]);
    });
  });

  it("is as reviewed", async () => {
    await expect(on(dequantized("bf16"), { tile: [8, 512], view: [8, 512] }).pypto()).toMatchFileSnapshot(
      "pypto/goldens/dequantized.py",
    );
    await expect(on(programs[11]![1], programs[11]![2]).pypto()).toMatchFileSnapshot("pypto/goldens/sum.py");
  });

  const refusal = (kernel: Kernel): string => shown(refusals(() => kernel.pypto())).join("\n");
  const reach = "TC505 PyPTO's cast, mul, add and sum do not reach";
  const bits = "TC505 PyPTO has no operation with the bits of";

  it.each([
    [row("f32(%q[t, d1]) / %s[t]", "f32", { s: "30xf32" }), `${bits} div of f32`],
    [row("min(f32(%q[t, d1]), 3)", "f32"), `${reach} min of f32`],
    [row("i32(%q[t, d1]) - i32(%p[t, d1])", "i32", { p: "30x24xu8" }), `${reach} sub of i32`],
    [row("u16(%q[t, d1])", "u16"), `${reach} a cast of u16`],
    [row("u8(%q[t, d1])", "u8"), `${reach} a cast of i8 to u8`],
    [row("i8(i32(%q[t, d1]) * 3)", "i8"), `${reach} a cast that wraps to 8 bits`],
    [
      row("f32(%q[t, d1]) * %s[t, d1 div 7]", "f32", { s: "30x4xf32" }),
      `${reach} a factor for each 7 of 24 neighbours`,
    ],
    [
      row("f32(%q[t, d1]) * %s[t, 23 - d1]", "f32", { s: "30x24xf32" }),
      `${reach} %s, read at another place than a row's`,
    ],
    [
      sum("fold(f32(%q[t, d1]) * %w[d0, r])", "f32", { w: "8x5xf32" }),
      `${reach} fold of f32: pypto.sum states no order`,
    ],
    // A sum of -0s is +0, and pypto.sum does not say so.
    [
      sum("fold(f32(%q[t, d1]) * f32(%z[t]))", "f32", { z: "30xi8" }),
      `${reach} fold of f32: pypto.sum states no order`,
    ],
    [sum("max(i32(%q[t, d1]))", "i32"), `${reach} max of i32`],
    [
      func(
        { q: "30x24xi8", i: "20xi32", off: "9xi32" },
        "8x24xi32",
        "(d0, d1; r in error(%off[d0] in 21) to error(%off[d0 + 1] in 21) most 16)",
        "let t = error(%i[r] in 30)",
        "fold(i32(%q[t, d1]))",
      ),
      `${reach} a segment: index values determine its number of elements`,
    ],
    [
      func(
        { q: "30x24xi8", i: "8xi32" },
        "8x24xf32",
        "(d0, d1)",
        "let t = error(from_end(%i[d0]) in 30)",
        "f32(%q[t, d1])",
      ),
      `${reach} an index value that counts from the end`,
    ],
    [
      func({ q: "30xi8", i: "8xi32" }, "8xf32", "(d0)", "let t = error(%i[d0] in 30)", "f32(%q[t])"),
      `${reach} an output of 1 dim`,
    ],
    // index_select gives rows of all columns, for all of its indices.
    [
      row("f32(%q[t, d1])", "f32").replace("30x24xi8", "30x32xi8"),
      `${reach} a part of %q: 24 of 32 along dim 1`,
    ],
    [row("f32(%q[t, d1])", "f32").replace("8xi32", "9xi32"), `${reach} a part of %i: 8 of 9 along dim 0`],
    [row("f32(%q[t, d1]) + %b[d1]", "f32", { b: "25xf32" }), `${reach} a part of %b: 24 of 25 along dim 0`],
    [
      sum("fold(i32(%q[t, d1]))", "i32").replace("8x5xi32", "8x6xi32"),
      `${reach} a part of %i: 5 of 6 along dim 1`,
    ],
    [
      row("f32(%q[t, d1])", "f32").replace("8xi32", "0xi32").replace("8x24x", "0x24x"),
      "TC505 PyPTO's operations take no empty tensors",
    ],
  ])("is refused where PyPTO has no such operation: %s", (text, message) => {
    expect(refusal(on(text))).toContain(message);
  });

  it("is refused where a view leaves a part, data lie in UB, or a sum's tile is above 64 KB", () => {
    const text = row("f32(%q[t, d1]) * 2", "f32");
    expect(refusal(on(text, { view: [3, 24], tile: [3, 24] }))).toBe(
      "TC505 pypto.reshape takes fixed shapes, and views of 3 leave a part of 8",
    );
    expect(refusal(on(text, { residency: "ub" }))).toContain("this program has them in UB");
    const wide = sum("fold(i32(%q[t, d1]))", "i32").replaceAll("24x", "1024x").replaceAll("x24", "x1024");
    expect(refusal(on(wide, { tile: [8, 1024, 5], view: [8, 1024] }))).toBe(
      `${reach} sum: its tile of 163840 B is above 65536 B`,
    );
  });
});
