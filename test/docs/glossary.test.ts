import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

const read = (path: string): string => readFileSync(root + path, "utf8");
const entries = read("docs/glossary.md")
  .split("\n")
  .filter((line) => line.startsWith("- "));

/** Names that a source file of the project exports by a declaration. */
const declared = new Set(
  ["ir", "passes", "backends", "src"].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) =>
        [
          ...read(`${folder}/${name}`).matchAll(/^export (?:interface|type|const|function|class) (\w+)/gm),
        ].map(([, declaration]) => declaration),
      ),
  ),
);

/** Anchor that a page gives to a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(/\s/g, "-");

describe("the glossary", () => {
  it("defines each term once", () => {
    const terms = entries.flatMap((entry) => {
      const [head = ""] = entry.split(":");
      return [...head.matchAll(/\*\*([^*]+)\*\*/g)].map(([, term]) => term);
    });
    expect(entries.filter((entry) => !/^- \*\*[^*]+\*\*[^:]*: \S/.test(entry))).toEqual([]);
    expect(terms.filter((term, k) => terms.indexOf(term) !== k)).toEqual([]);
    expect(terms.length).toBeGreaterThan(35);
  });

  it("names declarations that exist", () => {
    const names = entries.flatMap((entry) => /\(`(\w+)`\)$/.exec(entry)?.[1] ?? []);
    expect(names.filter((name) => !declared.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(20);
  });

  it("links to headings that exist", () => {
    const links = entries.flatMap((entry) => [...entry.matchAll(/\]\(([^)#]+)#([^)]+)\)/g)]);
    const missing = links.filter(
      ([, page, target]) =>
        ![...read(`docs/${page}`).matchAll(/^#+ (.*)$/gm)].some(([, heading]) => anchor(heading!) === target),
    );
    expect(missing.map(([link]) => link)).toEqual([]);
    expect(links.length).toBeGreaterThan(4);
  });
});
