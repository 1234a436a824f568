/** docs/specifications.md: every line names tests, and every test named there exists. */
import { existsSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

const page = readFileSync(`${root}docs/specifications.md`, "utf8");

/** One for each specification, the decisions, and what tilec adds. */
const prefixes = ["OG", "OE", "ON", "DG", "DE", "DN", "DB", "PG", "PS", "PU", "PT", "D", "A"] as const;

interface Line {
  readonly id: string;
  readonly statuses: readonly string[];
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

function readLines(markdown: string): Line[] {
  return markdown
    .split(/^(?=- \*\*|## )/m)
    .filter((block) => block.startsWith("- **"))
    .map((block) => {
      const text = block.replaceAll(/\s+/g, " ");
      return {
        id: /^- \*\*(\w+)\*\* /.exec(text)?.[1] ?? text.slice(0, 20),
        statuses: [...text.matchAll(/_(Kept|Departs|Misprint|Chosen)_/g)].map((match) => match[1]!),
        tests: [...text.matchAll(/`(test\/[^`]+)`((?:,? "[^"]+")+)/g)].flatMap(([, file, names]) =>
          [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => ({ file: file!, name: name! })),
        ),
      };
    });
}

/** Titles as written, with those of the blocks around them: `describe > it`. Skipped ones and todos have none. */
function titles(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node, around: readonly string[]): void => {
    let inside = around;
    if (ts.isCallExpression(node)) {
      const [title] = node.arguments;
      const called = node.expression.getText(source);
      if (/^(describe|it)\.(skip|todo)\b/.test(called)) return;
      const kind = /^(describe|it)(\.each\b[\s\S]*)?$/.exec(called)?.[1];
      if (kind !== undefined && title !== undefined && ts.isStringLiteralLike(title)) {
        inside = [...around, title.text];
        if (kind === "it") found.push(inside.join(" > "));
      }
    }
    ts.forEachChild(node, (child) => {
      visit(child, inside);
    });
  };
  visit(source, []);
  return found;
}

/** What a file of tests holds: titles, ids of cases, functions of a text test. */
function testsIn(file: string): readonly string[] {
  const text = readFileSync(root + file, "utf8");
  if (file.endsWith(".json")) return (JSON.parse(text) as { readonly id: string }[]).map(({ id }) => id);
  if (file.endsWith(".tir")) return [...text.matchAll(/^func (@[\w.]+)/gm)].map((match) => match[1]!);
  return titles(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
}

const known = new Map<string, readonly string[]>();
function matches(file: string, name: string): number {
  if (!existsSync(root + file)) return 0;
  const names = known.get(file) ?? testsIn(file);
  known.set(file, names);
  return names.filter((title) => title === name || title.endsWith(` > ${name}`)).length;
}

const lines = readLines(page);

describe("docs/specifications.md", () => {
  it("numbers the sentences of each specification from 1 without a gap, and has D1 to D16", () => {
    for (const prefix of prefixes) {
      const numbers = lines
        .map(({ id }) => new RegExp(`^${prefix}(\\d+)$`).exec(id)?.[1])
        .filter((number) => number !== undefined)
        .map(Number);
      expect(numbers, prefix).toEqual(numbers.map((_, k) => k + 1));
      expect(numbers.length, prefix).toBeGreaterThanOrEqual(prefix === "D" ? 16 : 1);
    }
    const unknown = lines.filter(({ id }) => !/^(O[GEN]|D[GENB]|P[GSTU]|D|A)\d+$/.test(id));
    expect(unknown).toEqual([]);
  });

  it("says of each line what tilec does with it, and names a test", () => {
    expect(lines.filter(({ statuses }) => statuses.length !== 1).map(({ id }) => id)).toEqual([]);
    expect(lines.filter(({ tests }) => tests.length === 0).map(({ id }) => id)).toEqual([]);
  });

  it("names tests that exist, each by a title that no other has in its file", () => {
    const wrong = lines.flatMap(({ id, tests }) =>
      tests
        .map(({ file, name }) => ({ id, file, name, found: matches(file, name) }))
        .filter(({ found }) => found !== 1),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the check of the page", () => {
  it("finds a line without a test, a test that is skipped or not there, and titles of it.each", () => {
    const [bare, named] = readLines(
      '- **X1** A. _Kept_.\n- **X2** B. _Kept_.\n  Test: `test/a.ts` "c", "d"\n',
    );
    expect(bare).toEqual({ id: "X1", statuses: ["Kept"], tests: [] });
    expect(named?.tests).toEqual([
      { file: "test/a.ts", name: "c" },
      { file: "test/a.ts", name: "d" },
    ]);
    const source =
      'describe("a", () => { it("b", f); it.skip("c", f); it.todo("d"); it.each([1])("e %i", f); it.each<T>([])("g", f); }); describe.skip("h", () => { it("i", f); });';
    const parsed = ts.createSourceFile("a.ts", source, ts.ScriptTarget.Latest);
    expect(titles(parsed)).toEqual(["a > b", "a > e %i", "a > g"]);
    expect(matches("test/docs/none.test.ts", "b")).toBe(0);
    expect(matches("test/docs/specifications.test.ts", "no such test")).toBe(0);
  });
});
