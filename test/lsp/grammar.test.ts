/** The TextMate grammar, run by the library that VS Code runs it with. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";
import { dtypes } from "../../ir/index.js";
import { compile, gatherElements } from "../../src/index.js";

const file = new URL("../../editors/vscode/syntaxes/tir.tmLanguage.json", import.meta.url);
const wasm = readFileSync(createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm"));

async function grammar() {
  await oniguruma.loadWASM(new Uint8Array(wasm).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: () =>
      Promise.resolve(textmate.parseRawGrammar(readFileSync(file, "utf8"), "tir.tmLanguage.json")),
  });
  const found = await registry.loadGrammar("source.tir");
  if (found === null) throw new Error("no grammar");
  return found;
}

const loaded = grammar();

/** Each word of a line that has a scope of its own, with it. */
async function scopes(line: string): Promise<readonly (readonly [string, string])[]> {
  const { tokens } = (await loaded).tokenizeLine(line, textmate.INITIAL);
  return tokens.flatMap(({ startIndex, endIndex, scopes: own }) =>
    own.length < 2 ? [] : [[line.slice(startIndex, endIndex), own[own.length - 1] ?? ""] as const],
  );
}

describe("the grammar of .tir", () => {
  it("knows heads, names, types and entries", async () => {
    const head = 'func @f(%x: tensor<3x5xf32>) target("cpu") schedule {tile = [3, 4], profile = head} {';
    expect(await scopes(head)).toEqual([
      ["func", "keyword.declaration.tir"],
      ["@f", "entity.name.function.tir"],
      ["%x", "variable.other.tir"],
      ["tensor", "storage.type.tir"],
      ["3", "constant.numeric.tir"],
      ["f32", "storage.type.element.tir"],
      ["target", "keyword.control.tir"],
      ['"', "string.quoted.double.tir"],
      ["cpu", "string.quoted.double.tir"],
      ['"', "string.quoted.double.tir"],
      ["schedule", "keyword.control.tir"],
      ["tile", "support.type.property-name.tir"],
      ["3", "constant.numeric.tir"],
      ["4", "constant.numeric.tir"],
      ["profile", "support.type.property-name.tir"],
      ["head", "constant.language.tir"],
    ]);
  });

  it.each(dtypes)("knows %s", async (dtype) => {
    expect(await scopes(`tensor<2x${dtype}>`)).toContainEqual([dtype, "storage.type.element.tir"]);
  });

  it("knows index values, and what an element is computed from", async () => {
    const found = await scopes("let t = error(%i[d0] in 64) yield f16(f32(%q[t, d1]) * %s[t])");
    for (const word of ["let", "in", "yield"]) expect(found).toContainEqual([word, "keyword.control.tir"]);
    expect(found).toContainEqual(["error", "support.function.map.tir"]);
    for (const word of ["f16", "f32"]) expect(found).toContainEqual([word, "storage.type.element.tir"]);
  });

  it("knows every statement of a tile program, and what a text test looks for", async () => {
    const op = gatherElements({ data: ["f32", [64, 80]], indices: ["i32", [64, 64]], axis: 0 });
    const lines = compile(op, { tile: [64, 32] })
      .text("tile")
      .split("\n");
    const words = (await Promise.all(lines.map(scopes))).flat();
    for (const word of ["alloc", "load", "gather", "store", "sync"])
      expect(words).toContainEqual([word, "keyword.operator.statement.tir"]);
    expect(await scopes("// CHECK-NEXT: gather")).toContainEqual(["CHECK-NEXT", "keyword.other.check.tir"]);
  });
});
