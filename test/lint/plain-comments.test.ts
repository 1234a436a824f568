/** The rules on comments: their columns, with a fix that changes no word, and how docstrings begin. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Linter } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";

const { commentColumns, docstringOpenings } = (await import(
  pathToFileURL(resolve("lint", "plain-comments.js")).href
)) as Readonly<Record<"commentColumns" | "docstringOpenings", object>>;

const config = (rule: "columns" | "openings") =>
  [
    {
      files: ["**/*.ts"],
      languageOptions: { parser: tseslint.parser },
      linterOptions: { reportUnusedDisableDirectives: "off" },
      plugins: { comments: { rules: { columns: commentColumns, openings: docstringOpenings } } },
      rules: { [`comments/${rule}`]: "error" },
    },
  ] as unknown as Linter.Config[];
const reported = (rule: "columns" | "openings", text: string): readonly string[] =>
  new Linter().verify(text, config(rule), "a.ts").map(({ message }) => message);
const fixed = (text: string): string => new Linter().verifyAndFix(text, config("columns"), "a.ts").output;

describe("docstrings", () => {
  it.each([
    ["/** What is read. */\nexport const a = 1;", "What"],
    ["/**\n * Whether it is read.\n */\nexport const a = true;", "Whether"],
    ["interface A {\n  /** Of the output. */\n  readonly a: number;\n}", "Of"],
  ])("may not begin with a clause: %s", (text, word) => {
    expect(reported("openings", text)).toEqual([expect.stringContaining(`begins with ${word}`)]);
  });

  it.each([
    "/** Returns what is read. */\nconst a = 1;",
    "// What is read.\nconst a = 1;",
    "/** Offsets. */\nconst a = 1;",
  ])("may begin otherwise: %s", (text) => {
    expect(reported("openings", text)).toEqual([]);
  });
});

describe("lines of comments", () => {
  const sentence = `Returns ${"the sum of all parts ".repeat(8).trim()}.`;
  const words = (text: string): readonly string[] => text.split(/[\s*/]+/).filter((word) => word !== "");

  it.each([
    ["a docstring", `/** ${sentence} */\nconst a = 1;`],
    ["a docstring of paragraphs", `  /**\n   * ${sentence}\n   *\n   * ${sentence}\n   */\nconst a = 1;`],
    ["lines", `{\n  // ${sentence}\n  // ${sentence}\n  f();\n}`],
  ])("are wrapped to 110 columns, every word in its order: %s", (_, text) => {
    expect(reported("columns", text)).toHaveLength(1);
    const output = fixed(text);
    for (const line of output.split("\n")) expect(line.length, line).toBeLessThanOrEqual(110);
    expect(words(output)).toEqual(words(text));
    expect(reported("columns", output)).toEqual([]);
    expect(fixed(output)).toBe(output);
  });

  it("keep lists, tables and code", () => {
    const list = `/**\n * ${sentence}\n *\n * - one\n * - two\n *\n *   a = b\n */\nconst a = 1;`;
    expect(fixed(list)).toContain(" * - one\n * - two\n *\n *   a = b\n */");
  });

  it("leave directives to tools alone, and lines around them", () => {
    const directive = `// eslint-disable-next-line ${"no-shadow, ".repeat(12)}no-var`;
    expect(reported("columns", `${directive}\n`)).toEqual([]);
    expect(fixed(`// ${sentence}\n${directive}\nf();`)).toContain(`.\n${directive}\nf();`);
  });

  it("are reported without a fix after code, and not where one word is too long", () => {
    const after = `const a = 1; // ${sentence}\n`;
    expect(reported("columns", after)).toHaveLength(1);
    expect(fixed(after)).toBe(after);
    expect(reported("columns", `// https://example.com/${"a".repeat(120)}\n`)).toEqual([]);
  });
});
