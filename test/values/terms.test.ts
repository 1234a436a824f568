/** Terms in text, the rules that refuse them, and what errors and reports say of them. */
import { describe, expect, it } from "vitest";
import { parseModule, printModule, targets } from "../../ir/index.js";
import { simulate } from "../../backends/sim/index.js";
import { compile, explain, moe, tryCompile } from "../../src/index.js";
import { parsedAccess } from "../support/parsed.js";
import { refusals } from "../support/refusal.js";

const func = (head: string, map: string, output = "5x8xf32"): string =>
  `func @f(${head}) -> tensor<${output}> {
  %y = access.gather ${[...head.matchAll(/%\w+/g)].join(", ")} ${map}
  return %y
}
`;
const tables = "%x: tensor<6x8xf32>, %i: tensor<5x3xi32>";
const bags = "%x: tensor<6x8xf32>, %i: tensor<12xi32>, %off: tensor<6xi32>";
const inBag = "r in error(%off[d0] in 13) to error(%off[d0 + 1] in 13) most 4";

const codesOf = (text: string): readonly (string | undefined)[] => {
  const { module, diagnostics } = parseModule(text, "terms.tir");
  const [found] = module.funcs;
  if (found === undefined)
    return diagnostics.flatMap(({ code, message }) => [code, /^[AB]\d+/.exec(message)?.[0]]);
  const result = tryCompile(found, { target: targets.cpu });
  return result.ok
    ? []
    : result.diagnostics.flatMap(({ code, message }) => [code, /^[AB]\d+/.exec(message)?.[0]]);
};

describe("the text of terms", () => {
  it.each([
    [tables, "(d0, d1; r < 3) yield fold(%x[error(%i[d0, r] in 6), d1]) {oob = error}"],
    [tables, "(d0, d1; r < 3) yield max(%x[fill(%i[d0, 2 - r] in 6 but 2), d1]) + %x[0, d1] {oob = zero}"],
    [bags, `(d0, d1; ${inBag}) yield mean(%x[clamp(%i[r] in 6), d1]) {oob = clamp}`],
    [bags, `(d0, d1; ${inBag}) yield min(%x[wrap(%i[r] in 6 but 0), d1] * %x[r div 2, d1]) {oob = wrap}`],
  ])("is read as it was printed: %s %s", (head, map) => {
    const text = func(head, map);
    const printed = printModule({ funcs: [parsedAccess(text)] });
    expect(parsedAccess(printed).map).toEqual(parsedAccess(text).map);
    expect(printModule({ funcs: [parsedAccess(printed)] })).toBe(printed);
  });

  it("has the index values of the element before those of its terms, as they are evaluated", () => {
    const text = func(
      tables,
      "(d0, d1; r < 3) let t = error(%i[d0, r] in 6) let u = fill(%i[d0, 0] in 6) yield fold(%x[t, d1]) * %x[u, d1] {oob = error}",
    );
    const { map } = parsedAccess(text);
    expect(map.indices.map(({ outOfRange }) => outOfRange)).toEqual(["zero", "error"]);
    expect(parsedAccess(printModule({ funcs: [parsedAccess(text)] })).map).toEqual(map);
  });
});

describe("a map with terms is refused", () => {
  it.each([
    [
      "a reduction without terms",
      tables,
      "(d0, d1) yield fold(%x[error(%i[d0, 0] in 6), d1]) {oob = error}",
      "B6",
    ],
    [
      "terms without a reduction",
      tables,
      "(d0, d1; r < 3) yield %x[error(%i[d0, r] in 6), d1] {oob = error}",
      "B6",
    ],
    ["two reductions", tables, "(d0, d1; r < 3) yield fold(%x[r, d1]) + max(%x[r, d1]) {oob = error}", "B6"],
    ["one inside the other", tables, "(d0, d1; r < 3) yield fold(max(%x[r, d1])) {oob = error}", "B6"],
    [
      "r outside of the reduction",
      tables,
      "(d0, d1; r < 3) yield fold(%x[r, d1]) + %x[r, d1] {oob = error}",
      "B6",
    ],
    ["r in a map without terms", tables, "(d0, d1) -> (r, d1) {oob = error}", "B6"],
    [
      "an index value of a term outside of it",
      tables,
      "(d0, d1; r < 3) let t = error(%i[d0, r] in 6) yield fold(%x[t, d1]) + %x[t, d1] {oob = error}",
      "B6",
    ],
    [
      "r in its own bounds",
      bags,
      "(d0, d1; r in error(%off[d0] in 13) to error(%off[r] in 13) most 4) yield fold(%x[0, d1] * %x[%i[r], d1]) {oob = error}",
      "B6",
    ],
    ["no terms", tables, "(d0, d1; r < 0) yield fold(%x[0, d1]) {oob = error}", "B8"],
    [
      "more terms than an f32 counts",
      tables,
      "(d0, d1; r < 16777217) yield fold(%x[0, d1]) {oob = error}",
      "B8",
    ],
    ["a mean of as many", tables, "(d0, d1; r < 16777216) yield mean(%x[0, d1]) {oob = error}", "B8"],
  ])("%s", (_, head, map, rule) => {
    expect(codesOf(func(head, map))).toEqual(["TC205", rule]);
  });

  it("by its types: a sum of f16, a mean of integers", () => {
    const of = (how: string, dtype: string): string =>
      func(
        `%x: tensor<6x8x${dtype}>, %i: tensor<5x3xi32>`,
        `(d0, d1; r < 3) yield ${how}(%x[error(%i[d0, r] in 6), d1]) {oob = error}`,
        `5x8x${dtype}`,
      );
    expect(codesOf(of("fold", "f16"))).toEqual(["TC104", "B2"]);
    expect(codesOf(of("mean", "i32"))).toEqual(["TC205", "B8"]);
    expect(codesOf(of("fold", "i32"))).toEqual([]);
  });

  it("where an index value leaves out an element outside of its bound", () => {
    const map = "(d0, d1) -> (error(%i[d0, 0] in 6 but 6), d1) {oob = error}";
    expect(codesOf(func(tables, map))).toEqual(["TC204", "A9"]);
  });
});

describe("what a run says of terms", () => {
  const x = new Float32Array(48).fill(1);
  const run = (
    text: string,
    inputs: Record<string, Float32Array | Int32Array>,
    executor: "checked" | "fast",
  ) => simulate(compile(parsedAccess(text), { target: targets.cpu }), inputs, { executor });
  const failure = (text: string, inputs: Record<string, Float32Array | Int32Array>): string[] =>
    (["checked", "fast"] as const).map((executor) =>
      refusals(() => run(text, inputs, executor))
        .map(({ message }) => message)
        .join(),
    );

  it("an index out of range is named with its term", () => {
    const text = func(tables, "(d0, d1; r < 3) yield fold(%x[error(%i[d0, r] in 6), d1]) {oob = error}");
    const i = Int32Array.from({ length: 15 }, (_, k) => (k === 7 ? 6 : k % 6));
    const message =
      "index 6 at indices[2, 1] (reduction element r = 1) is out of range for dim 0 of data, which takes [0, 5]";
    expect(failure(text, { data: x, indices: i })).toEqual([message, message]);
  });

  it("a bag that is too long is named with its terms and the most", () => {
    const text = func(bags, `(d0, d1; ${inBag}) yield fold(%x[error(%i[r] in 6), d1]) {oob = error}`);
    const off = Int32Array.of(0, 2, 7, 8, 8, 12);
    const message = "the segment from 2 to 7 at off[2] has 5 elements, over the limit of 4";
    expect(failure(text, { x, i: new Int32Array(12), off })).toEqual([message, message]);
  });

  it("a bag of a list without elements has no terms", () => {
    const head = "%x: tensor<6x8xf32>, %i: tensor<0xi32>, %off: tensor<6xi32>";
    const map =
      "(d0, d1; r in error(%off[d0] in 1) to error(%off[d0 + 1] in 1) most 4) yield max(%x[error(%i[r] in 6), d1]) {oob = error}";
    for (const executor of ["checked", "fast"] as const) {
      const { outputs } = run(func(head, map), { x, i: new Int32Array(0), off: new Int32Array(6) }, executor);
      expect(Object.values(outputs)[0]).toEqual(new Float32Array(40));
    }
  });
});

describe("text for Ascend toolchains names the step that it lacks", () => {
  const wraps = "PTO-ISA does not say that it wraps";
  const unsaid = "PTO-ISA does not say what it gives for NaN and for zeros of two signs";
  const range = "PTO-ISA leaves it undefined outside the range";
  const flushes = "Ascend cores may flush subnormals to zero";
  const rows = "(d0, d1) let t = error(%i[d0, 0] in 6) yield";
  const sums = "(d0, d1; r < 3) let t = error(%i[d0, r] in 6) yield";
  it.each([
    ["f32", `${rows} min(%x[t, d1], 2)`, "f32", `min of f32: ${unsaid}`],
    ["f32", `${rows} max(%x[t, d1], 2)`, "f32", `max of f32: ${unsaid}`],
    ["i32", `${rows} %x[t, d1] + 2`, "i32", `add of i32: ${wraps}`],
    ["u32", `${rows} %x[t, d1] - 2`, "u32", `sub of u32: ${wraps}`],
    ["i32", `${rows} f32(min(%x[t, d1], 2) * 3)`, "f32", `mul of i32: ${wraps}`],
    ["f16", `${rows} u8(%x[t, d1])`, "u8", `a cast of f16 to u8: ${range}`],
    ["f32", `${rows} %x[t, d1] * 0x00000001`, "f32", `mul of f32: ${flushes}`],
    [
      "u4",
      `${rows} f32(%x[t, d1])`,
      "f32",
      "a cast of u4 to f32: no instruction reads elements that share a byte",
    ],
    ["f32", `${sums} mean(%x[t, d1])`, "f32", "mean of f32: no page says how a quotient rounds on A2 and A3"],
    ["f32", `${sums} max(%x[t, d1])`, "f32", `max of f32: ${unsaid}`],
    ["i32", `${sums} fold(%x[t, d1])`, "i32", `fold of i32: ${wraps}`],
    ["f16", `${sums} exact(f32(%x[t, d1]))`, "f32", "exact of f32: PTO-ISA has no such reduction"],
  ])("%s: %s", (type, map, output, missing) => {
    const head = `%x: tensor<6x8x${type}>, %i: tensor<5x3xi32>`;
    const kernel = compile(parsedAccess(func(head, `${map} {oob = error}`, `5x8x${output}`)), {
      target: targets.ascendA2,
    });
    const refused = (message: string): unknown =>
      expect.objectContaining({
        code: "TC505",
        message,
        hint: "for the stated bits: --target webgpu --emit wgsl, or --target cpu --emit module-cpu",
      });
    const diagnostics = (message: string): unknown =>
      expect.objectContaining({ diagnostics: [refused(message)] });
    expect(() => kernel.pto()).toThrow(diagnostics(`a kernel for PTO-ISA has no form for ${missing}`));
    expect(() => kernel.pypto()).toThrow(diagnostics(`PyPTO has no operation with the bits of ${missing}`));
  });

  it("PyPTO's text has no arithmetic where PTO-ISA's has", () => {
    const combine = moe.combine({ x: ["f32", [64, 32]], inverse: ["i32", [8, 2]], weights: ["f32", [8, 2]] });
    const kernel = compile(combine, { target: targets.ascendA2 });
    expect(kernel.pto().assumes).toHaveLength(2);
    expect(() => kernel.pypto()).toThrow("PyPTO's cast, mul, add and sum do not reach");
  });
});

it("explain counts what the terms of a tile read", () => {
  const head = "%x: tensor<600x64xf16>, %w: tensor<50x8xf32>, %i: tensor<50x8xi32>";
  const text = func(
    head,
    "(d0, d1; r < 8) let t = error(%i[d0, r] in 600) yield f16(fold(f32(%x[t, d1]) * %w[d0, r])) {oob = error}",
    "50x64xf16",
  );
  const { footprint, traffic } = explain(parsedAccess(text), {
    target: targets.ascendA2,
    tile: [5, 64],
    residency: "gm",
  });
  // Weights and indices have all terms of their rows; one row of a term is held, and of the sum in 4 bytes.
  expect(footprint.parts.map(({ part, tile }) => [part, tile])).toEqual([
    ["w", [5, 8]],
    ["i", [5, 8]],
    ["output", [5, 64]],
    ["gathered x", [64]],
    ["gathered w", [64]],
    ["value 1", [64]],
    ["sum", [64]],
  ]);
  expect(traffic?.operands.map(({ bytes }) => bytes)).toEqual([
    50 * 64 * 8 * 2,
    50 * 8 * 4,
    50 * 8 * 4,
    50 * 64 * 2,
  ]);
});
