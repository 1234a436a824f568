/** Hovers over the words of a statement, of every entry that the language has. */
import { expect, it } from "vitest";
import { combines, duplicatePolicies, outOfBoundsPolicies } from "../../ir/access.js";
import { compile } from "../../src/index.js";
import { parseModule } from "../../ir/index.js";
import { hover } from "../../src/lsp/analysis.js";
import { parsed } from "../support/parsed.js";

/** Returns the hover text at the last of the places where `word` begins in a text. */
function over(text: string, word: string, before = ""): string | undefined {
  const at = text.lastIndexOf(before + word) + before.length;
  const lines = text.slice(0, at).split("\n");
  return hover(text, "a.tir", { line: lines.length - 1, column: lines.at(-1)!.length });
}

const scatter = (entries: string, head = "", index = "%i[d0]"): string =>
  `func @rows(%x: ${head}tensor<10x4xf32>, %i: tensor<8xi32>, %u: tensor<8x4xf32>) -> tensor<10x4xf32> {
  %y = access.scatter %x, %i, %u (d0 < 8, d1 < 4) let t = ${index} -> (t, d1) yield %u[d0, d1] {${entries}}
  return %y
}
`;
const rows = scatter("oob = error, duplicates = last", "inout ", "skip(%i[d0] in 10 but 3)");

it.each([
  ["%x", "", /base, written in place$/],
  ["%i", "", /indices$/],
  ["%u", "", /updates$/],
  ["%y", "", /10x4xf32, 160 B, output$/],
  ["inout", "", /written in place/],
  ["access.scatter", "", /row-major order/],
  ["let", "", /index value/],
  ["skip", "", /writes nothing/],
  ["in", "[d0] ", /extent/],
  ["but", "", /names no element/],
  ["yield", "", /value of a point/],
  ["oob", "", /policy/],
  ["error", "oob = ", /TC601/],
  ["duplicates", "", /two points/],
  ["last", "", /the last in row-major order wins/],
] as const)("%s of a scatter", (word, before, says) => {
  expect(over(rows, word, before)).toMatch(says);
});

it("tells every combination, and each way to take duplicates and indices out of range", () => {
  for (const word of combines) {
    const duplicates = word === "set" ? "last" : "unique";
    const text = scatter(`oob = error, combine = ${word}, duplicates = ${duplicates}`);
    expect(over(text, word, "combine = "), word).toMatch(/the element|the value/);
  }
  for (const word of duplicatePolicies)
    expect(over(scatter(`oob = error, duplicates = ${word}`), word, "duplicates = ")).toMatch(/two|last/);
  for (const policy of outOfBoundsPolicies) {
    const word = policy === "zero" ? "fill" : policy;
    const text = scatter("oob = error, duplicates = last", "", `${word}(%i[d0] in 10)`);
    expect(over(text, word, "t = "), word).toMatch(/index/);
  }
  const error = scatter("oob = error, duplicates = error");
  expect(over(error, "error", "duplicates = ")).toMatch(/TC607/);
});

it("tells a base of bits, which no operand is", () => {
  const text = `func @rows(%i: tensor<8xi32>, %u: tensor<8x4xf32>) -> tensor<10x4xf32> {
  %y = access.scatter %i, %u (d0 < 8, d1 < 4) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, duplicates = last, base = fill 0}
  return %y
}
`;
  expect(over(text, "base")).toMatch(/no point writes/);
  expect(over(text, "fill")).toMatch(/no point writes/);
  expect(over(text, "%i")).toMatch(/indices$/);
  expect(over(text, "%u")).toMatch(/updates$/);
});

it("tells an operator and its attributes, and the words of a tile program", () => {
  const text = `func @rows(%x: tensor<10x4xf32>, %i: tensor<8x4xi32>, %u: tensor<8x4xf32>) -> tensor<10x4xf32> {
  %y = onnx.scatter_elements %x, %i, %u {axis = 0, reduction = "add"}
  return %y
}
`;
  expect(over(text, "onnx.scatter_elements")).toBe("onnx.scatter_elements: scatter_elements of onnx");
  expect(over(text, "axis")).toMatch(/^axis: \S/);
  expect(over(text, "reduction")).toMatch(/^reduction: \S/);
  const func = parsed(rows);
  const tile = compile(func, { target: "cpu" }).text("tile");
  expect(over(tile, "scatter", "    ")).toMatch(/points of a tile/);
  expect(over(tile, "last", "duplicates = ")).toMatch(/wins/);
});

it("tells nothing of names that words are part of, and of comments", () => {
  const named = rows.replace("@rows", "@scatter").replace("return %y", "// skip(%i) stays\n  return %y");
  expect(over(named, "scatter", "@")).toBeUndefined();
  expect(over(named, "skip", "// ")).toBeUndefined();
  expect(over(named, "d1", "yield %u[d0, ")).toBeUndefined();
});

it("tells nothing of names that a user chose, though they are words of a statement", () => {
  const text = `func @rows(%base: tensor<10x4xf32>, %i: tensor<8xi32>, %combine: tensor<8x4xf32>) -> tensor<10x4xf32> target("cpu") schedule {
  buffers = {base = 2, combine = 1}} {
  %y = access.scatter %base, %i, %combine (d0 < 8, d1 < 4) let add = error(%i[d0] in 10) let gather = add let combine = wrap(%i[0] in 10) -> (add + 2 * gather + 3 * combine - 50, d1) yield %combine[d0, d1] {oob = error, combine = add}
  return %y
}
`;
  expect(parseModule(text, "a.tir").diagnostics).toEqual([]);
  for (const [word, before] of [
    ["base", "buffers = {"],
    ["combine", "base = 2, "],
    ["add", "let "],
    ["gather", "let "],
    ["combine", "let "],
    ["add", "-> ("],
    ["gather", "2 * "],
    ["combine", "3 * "],
  ] as const)
    expect(over(text, word, before) ?? "", `${before}${word}`).not.toMatch(new RegExp(`^${word}: `));
  expect(over(text, "%base")).toMatch(/^%base: .*base$/);
  expect(over(text, "wrap", "let combine = ")).toMatch(/^wrap: .*modulo/);
  expect(over(text, "add", "combine = ")).toMatch(/^add: the value is added/);
  expect(over(text, "combine", "error, ")).toMatch(/^combine: /);
});

it("tells the words of the range of a reduction, whose bounds may have their names", () => {
  const range = (bounds: string) =>
    `func @bags(%x: tensor<12x4xf32>, %i: tensor<8xi32>, %off: tensor<4xi32>) -> tensor<3x4xf32> {
  %y = access.gather %x, %i, %off (d0, d1; ${bounds}) let t = error(%i[r] in 12) yield fold(%x[t, d1]) {oob = error}
  return %y
}
`;
  const segment = range("r in error(%off[d0] in 9) to error(%off[d0 + 1] in 9) most 8");
  const named = range(
    "let to = error(%off[d0] in 9) let most = error(%off[d0 + 1] in 9) r in to to most most 8",
  );
  for (const text of [segment, named]) expect(parseModule(text, "a.tir").diagnostics).toEqual([]);
  expect(over(segment, "r", "; ")).toMatch(/^r: a reduction element/);
  expect(over(range("r < 4"), "r", "; ")).toMatch(/^r: a reduction element/);
  expect(over(segment, "in", "r ")).toMatch(/^in: the first reduction element/);
  expect(over(segment, "in", "[d0] ")).toMatch(/^in: the extent of an index value/);
  expect(over(segment, "to", "9) ")).toMatch(/^to: the one after/);
  expect(over(segment, "most", "9) ")).toMatch(/^most: .*at most/);
  expect(over(named, "to", "in ")).toBeUndefined();
  expect(over(named, "to", "to ")).toMatch(/^to: /);
  expect(over(named, "most", "to ")).toBeUndefined();
  expect(over(named, "most", "most ")).toMatch(/^most: /);
  expect(over(named, "most", "let ")).toBeUndefined();
});

it("tells a fill at the tile level, and a policy in an entry under both of its words", () => {
  const text = `func @rows(%i: tensor<8xi32>, %u: tensor<8x4xf32>) -> tensor<10x4xf32> {
  %y = access.scatter %i, %u (d0 < 8, d1 < 4) -> (%i[d0], d1) yield %u[d0, d1] {oob = error, combine = add, base = fill 0}
  return %y
}
`;
  const func = parsed(text);
  const tile = compile(func, { target: "ascend-a2" }).text("tile");
  expect(over(tile, "fill", "  ")).toMatch(/^fill: sets each element of a tile/);
  for (const word of ["zero", "fill"])
    expect(
      over(scatter(`oob = ${word}, duplicates = last`, "", "skip(%i[d0] in 10)"), word, "oob = "),
    ).toMatch(/the value is the fill bits/);
});
