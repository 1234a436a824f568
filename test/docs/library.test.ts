/** docs/library.md in a project that has the tarball: every entry point has a block, and prints what the page says. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";

const page = readFileSync(new URL("../../docs/library.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```ts (\S+)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```)?/gm)].map(
  ([, file = "", code = "", output]) => ({ file, code, output }),
);

describe("the page of entry points", () => {
  let project: PackedProject;
  beforeAll(() => {
    project = new PackedProject();
    project.linkCharts();
    for (const { file, code } of blocks) project.write(file, code);
  });
  afterAll(() => {
    project.remove();
  });

  it("has a heading for each, and blocks that compile", async () => {
    const headings = [...page.matchAll(/^## (.*)$/gm)].flatMap(([, text = ""]) => text.split(/, | and /));
    const { exports } = project.manifest;
    const entries = Object.keys(exports).filter((path) => path !== "./package.json");
    expect([...headings].sort()).toEqual(entries.map((path) => path.replace(/^\./, "tilec")).sort());
    expect(await project.compile(blocks.map(({ file }) => file))).toBe("");
  });

  it.each(blocks)("$file prints what the page says", ({ file, output }) => {
    const { stdout, stderr } = project.node(file.replace(".ts", ".js"));
    expect(stderr).toBe("");
    expect(stdout).toBe(output);
  });
});
