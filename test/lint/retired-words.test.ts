/** The rule that keeps retired words out of declared identifiers, with its list of exceptions. */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";

interface Exception {
  readonly reason: string;
  readonly names: readonly string[];
  readonly files?: readonly string[];
}

const load = async (file: string): Promise<unknown> => import(pathToFileURL(resolve("lint", file)).href);
const { noRetiredWords } = (await load("no-retired-words.js")) as { readonly noRetiredWords: object };
const { exceptions } = (await load("retired-words.js")) as { readonly exceptions: readonly Exception[] };

/** Words that the rule reports in a text of a file. */
function reported(text: string, file = "ir/example.ts"): readonly string[] {
  const config = {
    files: ["**/*.ts"],
    languageOptions: { parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: "off" },
    plugins: { names: { rules: { "no-retired-words": noRetiredWords } } },
    rules: { "names/no-retired-words": "error" },
  };
  return new Linter().verify(text, [config as Linter.Config], file).map(({ message }) => message);
}

describe("no-retired-words", () => {
  it.each([
    ["a function", "function siteOf() {}", "site"],
    ["a variable", "const found = 1;", "found"],
    ["a parameter", "const f = (mostRows: number) => mostRows;", "most"],
    ["a default value", "function f(keep = 1) { return keep; }", "keep"],
    ["a property of a type", "interface A { readonly fromEnd: number }", "from-end"],
    ["a property of a class", "class A { #told = 1; }", "told"],
    ["a method", "class A { turn() {} }", "turn"],
    ["a type", "type OpenTile = number;", "open"],
    ["another name of an import", 'import { a as floorOf } from "./a.js";', "floor"],
    ["a variable under another name than its property", "const { a: own, ...rest } = b;", "own"],
    ["what is left of an object", "const { a, ...told } = b;", "told"],
  ])("reports %s", (_, text, word) => {
    expect(reported(text)).toEqual([expect.stringContaining(`has the retired word \`${word}\``)]);
  });

  it.each([
    ["members of other libraries", "const down = Math.floor(1.5);"],
    ["a variable with the name of a property", "const { floor } = JSON.parse(text);"],
    ["words that hold one", "const openness = 1; const foundation = 2; const modulePartition = 3;"],
    ["a term of a linear form", "interface Linear { readonly terms: number }"],
  ])("passes %s", (_, text) => {
    expect(reported(text)).toEqual([]);
  });

  it("passes a key of JSON in its file alone", () => {
    const text = "interface Roofline { readonly floor: number }";
    expect(reported(text, "ir/clock/roofline.ts")).toEqual([]);
    expect(reported(text, "ir/clock/clock.ts")).toHaveLength(1);
  });

  it("has exceptions with a reason, each of which some file needs", () => {
    const files = new Map(
      ["ir", "passes", "backends", "src"].flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: "utf8" })
          .filter((file) => file.endsWith(".ts"))
          .map((file) => [join(folder, file), readFileSync(join(folder, file), "utf8")] as const),
      ),
    );
    const unused = exceptions.flatMap(({ reason, names, files: where }) => {
      expect(reason).not.toBe("");
      const texts = where?.map((file) => files.get(file) ?? "") ?? [...files.values()];
      const idle = names.filter((name) => !texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
      const needless = (where ?? []).filter(
        (file) => !names.some((name) => new RegExp(`\\b${name}\\b`).test(files.get(file) ?? "")),
      );
      return [...idle, ...needless];
    });
    expect(unused).toEqual([]);
  });
});
