/** What a kernel's text holds of a value: integers, and floats where a comment proves their bits, which WGSL does not promise. */
import { expect, it } from "vitest";
import { movesOf, planWasm } from "../../backends/wasm/index.js";
import { emitWgsl, movesOf as movesOfWgsl, planWgsl } from "../../backends/wgsl/index.js";
import { targets, type Target } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { randomValue } from "../support/random-value.js";
import { parsedAccess } from "../support/parsed.js";

/** The values, sums and lines that a comment in front of them proves: it holds for a step's elements, which lie line by line. */
function unproved(code: string): string[] {
  let proved = "";
  const nameOf = (line: string): string => /^\s*(?:let )?(\w*?)(?:_\d+)? = /.exec(line)?.[1] ?? line;
  let proving = false;
  return code.split("\n").filter((line) => {
    if (/^\s*\/\/ exact: /.test(line)) {
      proving = true;
      return false;
    }
    if (proving) proved = nameOf(line);
    proving = false;
    const text = line.replace(/\/\/.*/, "");
    const isNative =
      /\bf32\b|\bf32\(|\d\.\d|\d[fh]\b/.test(text) || /\w(?:_exact|_from_whole|_from_natural)\(/.test(text);
    return isNative && !/^fn /.test(line.trim()) && nameOf(line) !== proved;
  });
}

it("computes floats in integers, but for what a comment proves exact", () => {
  const draw = drawer(5);
  let [all, native] = [0, 0];
  for (let k = 0; k < 200; k++) {
    const func = parsedAccess(randomValue(draw).text);
    const { code } = compile(func, { target: targets.webgpu }).wgsl();
    expect(unproved(code)).toEqual([]);
    expect(code.replace(/\/\/.*/g, "")).not.toMatch(
      /\b(?:f16|vec[234][fh]|float)\b|\b(?:un)?pack2x16|\bfma\b/,
    );
    expect(code).toMatch(/let value0(?:_0)? = /);
    all++;
    if (/\bf32\(/.test(code)) native++;
  }
  expect(native).toBeGreaterThan(all / 20);
});

it("finds a native operation without a proof", () => {
  expect(unproved("let value1 = f32_mul_exact(value0, value0);")).toHaveLength(1);
  expect(
    unproved("// exact: 3 digits\nlet value1_0 = f32_mul_exact(a, b);\nlet value1_1 = f32_mul_exact(a, c);"),
  ).toEqual([]);
  expect(
    unproved("// exact: 3 digits\nlet value1 = f32_add_exact(a, b);\nlet value2 = f32_mul_exact(a, c);"),
  ).toHaveLength(1);
});

it("is told by --emit moves on both machines", () => {
  const text = `func @f(%q: tensor<6x8xi8>, %s: tensor<6xf32>, %i: tensor<3xi32>) -> tensor<3x8xf16> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 6) yield f16(f32(%q[t, d1]) * %s[t]) {oob = error}
  return %y
}
`;
  const func = parsedAccess(text);
  // Two elements, a cast, a product, a cast.
  const last = (target: Target) => {
    const { tile } = compile(func, { target, residency: "gm" });
    const { moves } =
      target.kind === "cpu" ? movesOf(planWasm(tile)) : movesOfWgsl(planWgsl(tile, { target }));
    return moves.at(-1);
  };
  const [cpu, webgpu] = [last(targets.cpu), last(targets.webgpu)];
  expect(cpu).toMatchObject({ how: "computed", figures: { bytes: 2, steps: 5 } });
  expect(webgpu).toMatchObject({ figures: { steps: 5 } });
});

/** The gather of a WebGPU kernel of a program of one function: its plan and its text. */
function kernelOf(text: string) {
  const func = parsedAccess(text);
  const { tile } = compile(func, { target: targets.webgpu, residency: "gm" });
  const plan = planWgsl(tile, { target: targets.webgpu });
  return { unit: plan.gather?.unit, code: emitWgsl(tile, { target: targets.webgpu }).code };
}

/** Rows of i8, of a length, times a scale of each so many elements. */
const scaled = (length: number, block: number, type: string, value: string): string =>
  `func @f(%q: tensor<6x${length}xi8>, %s: tensor<6x${Math.ceil(length / block)}xf16>, %i: tensor<3xi32>) -> tensor<3x${length}x${type}> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in 6) yield ${value} {oob = error}
  return %y
}
`;

it.each([
  // Elements of a unit, and words of a store.
  [64, 32, "f32", "f32(%q[t, d1]) * f32(%s[t, d1 div 32])", 4, 4],
  [64, 32, "f16", "f16(f32(%q[t, d1]) * f32(%s[t, d1 div 32]))", 8, 4],
  [64, 32, "i8", "i8(f32(%q[t, d1]) * f32(%s[t, d1 div 32]))", 8, 2],
  // A block of four scales ends inside of eight elements.
  [64, 4, "f32", "f32(%q[t, d1]) * f32(%s[t, d1 div 4])", 4, 4],
  [12, 12, "f16", "f16(f32(%q[t, d1]) * f32(%s[t, 0]))", 4, 2],
  [6, 6, "f32", "f32(%q[t, d1]) * f32(%s[t, 0])", 2, 2],
])(
  "computes neighbours of rows of %s by blocks of %s to %s together: %s",
  (length, block, type, value, group, width) => {
    const { unit, code } = kernelOf(scaled(length, block, type, value));
    expect(unit).toMatchObject({
      how: "computed",
      group,
      width,
      reads: [length === 6 ? "part" : "words", "still"],
    });
    // The scale is read and widened once, for all of them.
    expect(code.match(/ = f16_to_f32\(/g)).toHaveLength(1);
    expect(code.match(/ = f32_mul_exact\(/g)).toHaveLength(group);
  },
);

it.each([
  ["rows of 7, which fill no words", scaled(7, 7, "f32", "f32(%q[t, d1]) * f32(%s[t, 0])")],
  ["a scale of every element but one", scaled(64, 3, "f32", "f32(%q[t, d1]) * f32(%s[t, d1 div 3])")],
  [
    "an index for every element",
    scaled(64, 64, "f32", "f32(%q[t, d1]) * f32(%s[t, 0])").replace("%i[d0]", "%i[d1 mod 3]"),
  ],
])("computes elements one by one: %s", (name, text) => {
  expect(kernelOf(text).unit?.how, name).not.toBe("computed");
});

it("computes fewer together where each takes many statements", () => {
  const sums = "%x[t, d1]" + " + %x[t, d1] * 0x3f800001".repeat(4);
  const text = `func @f(%x: tensor<6x64xf32>, %i: tensor<3xi32>) -> tensor<3x64xf32> {
  %y = access.gather %x, %i (d0, d1) let t = error(%i[d0] in 6) yield ${sums} {oob = error}
  return %y
}
`;
  expect(kernelOf(text).unit?.how).toBe("words");
  expect(kernelOf(text.replace(sums, "%x[t, d1] * 0x3f800001")).unit).toMatchObject({ group: 4 });
});
