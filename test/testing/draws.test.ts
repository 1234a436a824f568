/** What kernels are compared on by default: indices in range and outside, so that a change of any one place is seen. */
import { describe, expect, it } from "vitest";
import { inputsOf, keyOf, readPolicies, type Func } from "../../ir/index.js";
import { indexReader, type HostInputs } from "../../backends/index.js";
import { simulateChecked } from "../../backends/sim/index.js";
import {
  compile,
  gatherElements,
  numpy,
  onnx,
  program,
  runOn,
  targets,
  torch,
  tryCompile,
  type Kernel,
} from "../../src/index.js";
import { definitionOf, drawsOf } from "../../src/testing/draws.js";
import { outcomeOf } from "../../src/testing/outcome.js";
import { matchers } from "../../src/testing/matchers.js";
import { parsed } from "../support/parsed.js";

/** The numbers that each draw has for an input. */
const drawn = (kernel: Kernel, key = "indices"): number[][] => {
  const { type } = inputsOf(kernel.tile).find((operand) => keyOf(operand) === key)!;
  const count = type.shape.reduce((product, extent) => product * extent, 1);
  return [...drawsOf(kernel.source ?? kernel.tile, definitionOf(kernel), 1)].map(({ inputs }) => {
    const read = indexReader(inputs[key]!.bytes, type.dtype);
    return Array.from({ length: count }, (_, k) => read(k));
  });
};

describe("the inputs of a comparison", () => {
  const op = onnx.gather({ data: ["f32", [9, 4]], indices: ["i64", [40]] });
  const outside = (values: readonly number[]) => values.filter((value) => value < -9 || value > 8);

  it("are four: two in range, one with one index outside, one with many", () => {
    const draws = drawn(compile(op));
    expect(draws.map((values) => outside(values).length)).toEqual([0, 0, 1, 19]);
    expect(Math.min(...draws[0]!)).toBeGreaterThanOrEqual(0);
    // Its ends, from both sides.
    expect(draws[1]).toEqual(expect.arrayContaining([0, 8, -1, -9]));
    const kinds = draws[3]!.map((value) =>
      value < -9 ? "below" : value < 0 ? "negative" : value === 0 ? "first" : value === 8 ? "last" : "beyond",
    );
    expect(new Set(kinds)).toEqual(new Set(["negative", "below", "first", "last", "beyond"]));
    expect(kinds.slice(0, 5)).toEqual(["negative", "below", "first", "last", "beyond"]);
    // Ends of the type, and values whose low bits are in range.
    const far = draws[3]!.filter((value) => Math.abs(value) > 100);
    expect(far).toHaveLength(6);
    expect(far.some((value) => value % 2 ** 16 >= 0 && value % 2 ** 16 < 9)).toBe(true);
  });

  it("are other ones for another seed, and the same for the same", () => {
    const kernel = compile(op);
    const program = definitionOf(kernel);
    const of = (seed: number) =>
      [...drawsOf(op, program, seed)].map(({ inputs }) => inputs["indices"]!.bytes);
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });

  it("keep a promise that indices are in range", () => {
    const draws = drawn(compile({ ...op, attrs: { axis: 0, oob: "unchecked" } }));
    expect(draws.flatMap(outside)).toEqual([]);
  });

  it.each([
    ["u4", [6, 32], [6, 2], [6, 2]],
    ["i4", [6, 33], [6, 3], [6, 3]],
    // A tensor of one element is one byte, which is no number for each element.
    ["i4", [1, 1], [1, 1], [1, 1]],
    ["u8", [6, 17], [6, 3], [6, 2]],
  ] as const)("are any bits of %s, and of scales and zero points", async (dtype, shape, blocks, points) => {
    const op = program({
      op: "onnx.gather_block_quantized",
      attrs: { block_size: 16 },
      data: { dtype, shape },
      indices: { dtype: "i64", shape: [5] },
      others: [
        { dtype: "f32", shape: blocks },
        { dtype, shape: points },
      ],
    });
    const kernel = compile(op, { target: targets.cpu });
    const outcomes: string[] = [];
    for (const seed of [1, 2, 3])
      for (const { inputs } of drawsOf(op, definitionOf(kernel), seed)) {
        expect(inputs["scales"]!.bytes.some((byte) => byte > 0)).toBe(true);
        const ran: string[] = [];
        for (const backend of ["reference", "sim"] as const) {
          const outcome = await outcomeOf(() => runOn(backend, kernel, inputs));
          ran.push(outcome.kind === "bits" ? String(outcome.run.output) : "rejected");
        }
        expect(ran[1]).toBe(ran[0]);
        outcomes.push(ran[0]!);
      }
    expect(outcomes.filter((one) => one === "rejected")).toHaveLength(6);
    expect(new Set(outcomes).size).toBeGreaterThan(2);
  });

  it.each(["u8", "i8", "i64", "u64", "i16"] as const)("are held in what %s holds", (dtype) => {
    const kernel = compile(numpy.take({ a: ["f32", [200]], indices: [dtype, [30]], axis: 0 }));
    const [one, two, single, many] = drawn(kernel);
    const [lowest, highest] = { u8: [0, 255], i8: [-128, 127] }[dtype as string] ?? [-(2 ** 63), 2 ** 64];
    for (const values of [one!, two!, single!, many!]) {
      expect(Math.min(...values)).toBeGreaterThanOrEqual(lowest!);
      expect(Math.max(...values)).toBeLessThanOrEqual(highest!);
    }
    expect(Math.max(...one!)).toBeLessThan(200);
    if (dtype !== "i8") expect(Math.max(...many!)).toBeGreaterThanOrEqual(200);
  });

  it("stay where a sum of an index and a number is in range", () => {
    const kernel = compile(
      parsed(`func @shifted(%x: tensor<1000x2xf32>, %ids: tensor<50xi32>) -> tensor<50x2xf32> {
  %y = access.gather %x, %ids (d0, d1) let t = fill(%ids[d0] - 1000 in 1000) -> (t, d1) {oob = error}
  return %y
}
`),
    );
    const [one, , single, many] = drawn(kernel);
    expect(one!.every((value) => value >= 1000 && value < 2000)).toBe(true);
    expect(new Set(one).size).toBeGreaterThan(40);
    expect(single!.filter((value) => value < 1000 || value >= 2000)).toHaveLength(1);
    expect(many!.some((value) => value < 1000) && many!.some((value) => value >= 2000)).toBe(true);
  });

  it.each([
    ["an index times a number", "error(4 * %ids[d0] + 3 in 40)", 0, 9],
    ["what is subtracted", "error(100 - %ids[d0] in 40)", 61, 100],
    ["a window", "error(%ids[d0] + d1 in 40)", 0, 38],
    ["a quotient", "error(error(%ids[d0] in 4000) div 8 - 2 in 40)", 16, 335],
    ["an index that follows its own place", "error(%ids[d0] - 40 * d0 in 40)", 0, 50 * 40 - 1],
  ])("stay in range for %s", (_, sum, least, most) => {
    const kernel = compile(
      parsed(`func @summed(%x: tensor<40x2xf32>, %ids: tensor<50xi32>) -> tensor<50x2xf32> {
  %y = access.gather %x, %ids (d0, d1) let t = ${sum} -> (t, d1) {oob = error}
  return %y
}
`),
    );
    for (const values of drawn(kernel).slice(0, 2)) {
      expect(Math.min(...values)).toBeGreaterThanOrEqual(least);
      expect(Math.max(...values)).toBeLessThanOrEqual(most);
    }
  });
});

const rows = (map: string, attributes = "oob = error"): string =>
  `func @rows(%x: tensor<9x4xf32>, %i: tensor<12xi32>) -> tensor<12x4xf32> target("cpu") schedule {tile = [5, 4]} {
  %y = access.gather %x, %i (d0, d1) ${map} {${attributes}}
  return %y
}
`;
const pairs = (sites: string): string =>
  `func @pairs(%x: tensor<9x7xf32>, %i: tensor<12x2xi32>) -> tensor<12xf32> target("cpu") {
  %y = access.gather %x, %i (d0) -> (${sites}) {oob = error}
  return %y
}
`;
const windows = (map: string, attributes = "oob = clamp"): string =>
  `func @windows(%x: tensor<24xf32>, %i: tensor<6xi32>) -> tensor<6x3xf32> target("cpu") {
  %y = access.gather %x, %i (d0, d1) ${map} {${attributes}}
  return %y
}
`;
const paged = (map: string): string =>
  `func @paged(%kv: tensor<24x8xf32>, %topk: tensor<7xi32>, %bt: tensor<4xi32>) -> tensor<7x8xf32> target("cpu") {
  %y = access.gather %kv, %topk, %bt (d0, d1) ${map} {oob = error}
  return %y
}
`;
const byHand = (end: number, step: number, index: string): string =>
  `func @hand(%x: gm<8x8xf32>, %i: gm<8x8xi32>, %y: gm<8x8xf32>) target("cpu") {
  for %t = 0 to ${end} step ${step} parallel {
    gather %x[0, 0][8, 8], %i[%t, 0][2, 8] to %y[%t, 0][2, 8] (d0, d1) -> (${index}, d1) {oob = error, origin = [%t, 0]}
  }
}
`;

/** Rows that are written into nine. */
const written = (
  oob: string,
): string => `func @written(%x: tensor<9x4xf32>, %i: tensor<5xi32>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> target("cpu") {
  %y = access.scatter %x, %i, %u (d0 < 5, d1 < 4) -> (%i[d0], d1) yield %u[d0, d1] {${oob}, duplicates = last}
  return %y
}
`;

const fromEnd = rows("-> (from_end(%i[d0]), d1)");
const bare = rows("-> (%i[d0], d1)");
const both = pairs("%i[d0, 0], %i[d0, 1]");
const page = "let t = fill(%topk[d0] in 16) let p = error(%bt[t div 4] in 6) -> (4 * p + t mod 4, d1)";
const elements = gatherElements({ data: ["f32", [8, 8]], indices: ["i32", [8, 8]], axis: 0 });

/** A kernel changed in one place that matters. */
const mutants: readonly (readonly [what: string, definition: string | Func, kernel: string])[] = [
  ["error to clamp", fromEnd, rows("-> (from_end(%i[d0]), d1)", "oob = clamp")],
  ["error to zero", fromEnd, rows("-> (from_end(%i[d0]), d1)", "oob = zero")],
  ["error to wrap", bare, rows("-> (%i[d0], d1)", "oob = wrap")],
  ["error to unchecked", fromEnd, rows("-> (from_end(%i[d0]), d1)", "oob = unchecked")],
  ["clamp to unchecked", rows("-> (%i[d0], d1)", "oob = clamp"), rows("-> (%i[d0], d1)", "oob = unchecked")],
  ["clamp to zero", windows("-> (%i[d0] + d1)"), windows("-> (%i[d0] + d1)", "oob = zero")],
  [
    "other fill bits",
    rows("-> (%i[d0], d1)", "oob = zero, fill = 1"),
    rows("-> (%i[d0], d1)", "oob = zero, fill = 2"),
  ],
  ["from-end removed", fromEnd, bare],
  ["from-end added", bare, fromEnd],
  [
    "from-end of another number",
    rows("-> (from_end(%i[d0] of 9), d1)"),
    rows("-> (from_end(%i[d0] of 8), d1)"),
  ],
  ["a bound that is one less", bare, rows("-> (error(%i[d0] in 8), d1)")],
  ["a bound that is one more", rows("-> (error(%i[d0] in 8), d1)"), bare],
  [
    "another offset of an index",
    rows("-> (error(%i[d0] + 1 in 9), d1)"),
    rows("-> (error(%i[d0] in 9), d1)"),
  ],
  ["another offset of a window", windows("-> (%i[d0] + d1)"), windows("-> (%i[d0] + 2 - d1)")],
  ["operands in another order", both, pairs("error(%i[d0, 1] in 9), error(%i[d0, 0] in 7)")],
  ["one policy of two: the first", both, pairs("clamp(%i[d0, 0] in 9), error(%i[d0, 1] in 7)")],
  ["one policy of two: the last", both, pairs("error(%i[d0, 0] in 9), clamp(%i[d0, 1] in 7)")],
  ["the policy of a table of pages", paged(page), paged(page.replace("error(%bt", "clamp(%bt"))],
  ["error to unchecked in a scatter", written("oob = error"), written("oob = unchecked")],
  ["skip to unchecked in a scatter", written("oob = skip"), written("oob = unchecked")],
  ["a missing tail", elements, byHand(6, 2, "from_end(%i[d0, d1])")],
  ["an index from another place", elements, byHand(8, 2, "from_end(%i[d0, 7 - d1])")],
  [
    "the policy of a program by hand",
    elements,
    byHand(8, 2, "from_end(%i[d0, d1])").replace("oob = error", "oob = clamp"),
  ],
];

/** The same gather in other words, or under another schedule. */
const harmless: readonly (readonly [what: string, definition: string | Func, kernel: string])[] = [
  ["the same text", fromEnd, fromEnd],
  ["another tile", fromEnd, fromEnd.replace("[5, 4]", "[3, 4]")],
  ["another residency", fromEnd, fromEnd.replace("tile = [5, 4]", "residency = gm")],
  ["another target", fromEnd, fromEnd.replace('"cpu"', '"webgpu"').replace("tile = [5, 4]", "")],
  ["other names", fromEnd, fromEnd.replaceAll("%x", "%table").replace("@rows", "@other")],
  ["a bound that is stated", bare, rows("-> (error(%i[d0] in 9), d1)")],
  [
    "a let that is written out",
    paged(page),
    paged(
      page
        .replace("let t = fill", "let place = fill")
        .replace("t div 4", "place div 4")
        .replace("t mod 4", "place mod 4"),
    ),
  ],
  ["a sum in another order", windows("-> (%i[d0] + d1)"), windows("-> (d1 + %i[d0])")],
  ["sites with policies of their own", both, pairs("error(%i[d0, 0] in 9), error(%i[d0, 1] in 7)")],
  ["a program by hand", elements, byHand(8, 2, "from_end(%i[d0, d1])")],
  ["error in the place of a promise", bare.replace("oob = error", "oob = unchecked"), bare],
  ["error in the place of a scatter's promise", written("oob = unchecked"), written("oob = error")],
];

const funcOf = (program: string | Func): Func => (typeof program === "string" ? parsed(program) : program);

describe("toPreserve with default inputs", () => {
  it.each(mutants)("fails for a kernel with %s", async (_, definition, kernel) => {
    const { pass, message } = await matchers.toPreserve(() => tryCompile(funcOf(kernel)), funcOf(definition));
    expect(pass, message()).toBe(false);
  });

  it.each(harmless)("holds for %s", async (_, definition, kernel) => {
    const { pass, message } = await matchers.toPreserve(() => tryCompile(funcOf(kernel)), funcOf(definition));
    expect(pass, message()).toBe(true);
  });

  it("holds for every policy and operator, compiled for every target", async () => {
    for (const target of [targets.ascendA2, targets.cpu, targets.webgpu]) {
      for (const oob of readPolicies) {
        for (const op of [
          onnx.gatherNd({ data: ["f32", [9, 7, 2]], indices: ["i64", [12, 2]] }),
          onnx.gatherElements({ data: ["f16", [16, 32]], indices: ["i32", [16, 32]], axis: 0 }),
          torch.indexSelect({ input: ["u8", [33, 5]], dim: 0, index: ["i32", [20]] }),
        ]) {
          const program = { ...op, attrs: { ...op.attrs, oob } };
          const { pass, message } = await matchers.toMatchReference(() => compile(program, { target }));
          expect(pass, `${target.name} ${oob} ${op.op}: ${message()}`).toBe(true);
        }
      }
    }
  });

  it("says when most of an output are fills", async () => {
    const kernel = compile(
      parsed(`func @far(%x: tensor<8xf32>, %i: tensor<40xi32>) -> tensor<40xf32> {
  %y = access.gather %x, %i (d0) let t = fill(%i[d0] + 90 * (d0 div 2) - 8 * d0 in 8) -> (t) {oob = error}
  return %y
}
`),
    );
    const inputs = { data: new Float32Array(8), indices: new Int32Array(40) };
    expect((await matchers.toMatchReference(kernel, { inputs })).message()).toContain(
      "39 of 40 elements of the output are fills",
    );
    expect((await matchers.toMatchReference(kernel)).message()).not.toContain("fills");
  });
});

describe("the inputs of a scatter", () => {
  const scatter = (duplicates: string, written: string, extents = "4x3"): Kernel =>
    compile(
      parsed(`func @f(%x: tensor<${extents}xi32>, %i: tensor<3xi64>, %j: tensor<2x3xi32>, %u: tensor<2x3xi32>) -> tensor<${extents}xi32> {
  %y = access.scatter %x, %i, %j, %u (d0 < 2, d1 < 3) -> (${written}) yield %u[d0, d1] {oob = error, duplicates = ${duplicates}}
  return %y
}`),
    );
  const pairs = "error(%j[d0, d1] in 4), error(%i[d1] in 3)";
  /** Returns the outcome of the reference on each draw. */
  const outcomes = async (kernel: Kernel): Promise<readonly string[]> => {
    const all: string[] = [];
    for (const { indices, inputs } of drawsOf(kernel.source ?? kernel.tile, definitionOf(kernel), 1)) {
      const outcome = await outcomeOf(() => runOn("reference", kernel, inputs));
      all.push(`${indices}: ${outcome.kind === "bits" ? "bits" : outcome.index.code}`);
    }
    return all;
  };
  const drawn = ["indices in range: bits", "indices in range, first and last among them: bits"];
  const outside = ["one index out of range: TC601", "many indices out of range: TC601"];

  it("have no duplicates where those are an error, but in a draw of their own", async () => {
    const last = await outcomes(scatter("last", pairs));
    expect(last).toEqual([...drawn, ...outside]);
    expect(await outcomes(scatter("error", pairs))).toEqual([...last, "one duplicate: TC607"]);
  });

  it("have none that unique promises away, as many as the elements are", () => {
    // Six points for six elements: three columns, and two rows in each.
    const kernel = scatter("unique", "error(%j[d0, d1] in 2), d1", "2x3");
    const [inRange, withEnds] = [...drawsOf(kernel.source ?? kernel.tile, definitionOf(kernel), 5)];
    for (const draw of [inRange, withEnds]) {
      const read = indexReader(draw!.inputs["j"]!.bytes, "i32");
      expect([0, 1, 2].map((d1) => Math.abs(read(d1) - read(3 + d1)))).toEqual([1, 1, 1]);
    }
  });

  it("skip points for which unique leaves no element, and keep its promise so", () => {
    // Two points of a column write one element, whatever the index: one of them, or both, is skipped.
    const kernel = scatter("unique", "skip(%i[d1] in 4), 0", "4x1");
    const pairwise = scatter("unique", "error(%j[d0, d1] in 2), skip(%i[d1] in 3 but 1)", "4x3");
    for (const each of [kernel, pairwise])
      for (const { indices, inputs } of drawsOf(each.tile, definitionOf(each), 5))
        if (!indices.includes("out of range"))
          expect(() => simulateChecked(each.tile, inputs as HostInputs, each.target), indices).not.toThrow();
  });

  it("are counted as fills by the points that write them, whatever the output", async () => {
    const kernel = compile(
      parsed(`func @f(%x: tensor<9xi32>, %i: tensor<2xi32>, %j: tensor<2xi32>, %u: tensor<5xi32>) -> tensor<9xi32> {
  %y = access.scatter %x, %i, %j, %u (d0 < 2) let s = fill(%j[d0] in 5) -> (error(%i[d0] in 9)) yield %u[s] {oob = error, duplicates = last}
  return %y
}`),
    );
    expect(await matchers.toMatchReference(kernel)).toMatchObject({ pass: true });
    const data = { x: new Int32Array(9), i: Int32Array.of(1, 3), u: new Int32Array(5) };
    const filled = { ...data, j: Int32Array.of(7, -9) };
    expect((await matchers.toMatchReference(kernel, { inputs: filled })).message()).toContain(
      "2 of 2 points write fills",
    );
    const half = await matchers.toMatchReference(kernel, { inputs: { ...data, j: Int32Array.of(7, 2) } });
    expect(half.message()).not.toContain("fills");
  });

  it("are those of the domain, not of the output, where an index is in a sum", async () => {
    const kernel = compile(
      parsed(`func @f(%x: tensor<400xi32>, %i: tensor<8xi32>, %u: tensor<4xi32>) -> tensor<400xi32> {
  %y = access.scatter %x, %i, %u (d0 < 10, d1 < 8) -> (error(%i[d1] + 32 * d0 in 400)) yield %u[d0 mod 4] {oob = error, duplicates = last}
  return %y
}`),
    );
    expect((await outcomes(kernel)).slice(0, 2)).toEqual(drawn);
  });
});

describe("draws for a kernel that tilec did not write", () => {
  it("have floats at their ends where bits are moved, and none where values are computed", () => {
    const names = (kernel: Kernel): readonly string[] =>
      [...drawsOf(kernel.tile, definitionOf(kernel), 1, {}, { ofOthers: true })]
        .slice(4)
        .map(({ indices }) => indices);
    const moves = compile(onnx.gather({ data: ["f32", [9, 4]], indices: ["i64", [4]] }));
    expect(names(moves)).toEqual(["one index throughout", "data at the ends of its type"]);
    expect(names(compile(onnx.gather({ data: ["i32", [9, 4]], indices: ["i64", [4]] })))).toHaveLength(1);
    const computed = compile(
      parsed(`func @f(%x: tensor<9xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %y = access.gather %x, %i (d0) yield %x[error(%i[d0] in 9)] * 2.0 {oob = error}
  return %y
}`),
    );
    expect(names(computed)).toHaveLength(1);
    const ends = [...drawsOf(moves.tile, definitionOf(moves), 1, {}, { ofOthers: true })].at(-1)!;
    const words = new Uint32Array(ends.inputs["data"]!.bytes.slice().buffer);
    for (const bits of [0x7f800001, 0xff800001, 0x7fc00003, 0xff800000, 0x80000000, 1, 0x7f7fffff])
      expect([bits, words.includes(bits)]).toEqual([bits, true]);
  });
});
