import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codes, dtypes, parseModule } from "../../ir/index.js";
import { tryCompile } from "../../src/index.js";
import { runHere } from "../support/run-here.js";
import { root } from "../support/root.js";

const pages = [
  "README.md",
  ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
].sort();
const read = (page: string): string => readFileSync(root + page, "utf8");

/** The blocks of one language, with what stands behind the language's name. */
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    (match) => match[1] ?? "",
  );

describe("the pages", () => {
  it("hold programs that parse and compile", () => {
    let count = 0;
    for (const page of pages) {
      for (const program of blocks(read(page), "tir")) {
        count++;
        const { module, diagnostics } = parseModule(program, page);
        expect(diagnostics).toEqual([]);
        for (const func of module.funcs) {
          const result = tryCompile(func);
          expect(result.ok ? [] : result.diagnostics, program).toEqual([]);
        }
      }
    }
    expect(count).toBeGreaterThan(15);
  });

  it("link to files that exist", () => {
    for (const page of pages) {
      const folder = page.slice(0, page.lastIndexOf("/") + 1);
      for (const [, link] of read(page).matchAll(/\]\((?!http)([^)#]+)\)/g)) {
        expect(() => readFileSync(root + folder + link!), `${page}: ${link}`).not.toThrow(/ENOENT/);
      }
    }
  });

  it("explain every diagnostic code, in order", () => {
    const titles = [...read("docs/diagnostics.md").matchAll(/^## (TC\d+): (.*)$/gm)].map(
      ([, code, title]) => [code, title],
    );
    expect(titles).toEqual(Object.entries(codes).map(([code, { title }]) => [code, title]));
  });

  it("have every element type in the grammar", () => {
    const [, rule = ""] = /^dtype +=([^;]*);/m.exec(read("docs/ir.md")) ?? [];
    expect([...rule.matchAll(/"(\w+)"/g)].map(([, name]) => name)).toEqual(dtypes);
  });
});

/** Commands that only read; `npm`, files a reader would have to bring and pages that have tests of their own are left out. */
const commands = pages
  .filter((page) => !["docs/app.md", "docs/extending.md"].includes(page))
  .flatMap((page) =>
    blocks(read(page), "sh")
      .flatMap((block) => block.replaceAll("\\\n", " ").split("\n"))
      .filter((line) => line.startsWith("npx tilec ") && !/my-cases|my\.json|device\.json|> /.test(line))
      .map((line) => {
        const [command = "", note = ""] = line.split(/\s+#\s*/);
        return { page, command, status: Number(/exit code (\d)/.exec(note)?.[1] ?? 0) };
      }),
  );

/** Devices that a command opens are closed by its end. */
const inItsOwnProcess = (args: readonly string[]) =>
  spawnSync(process.execPath, ["dist/src/cli/main.js", ...args], { cwd: root, encoding: "utf8" });

describe("the commands in the pages", () => {
  it.each(commands)("$page: $command", async ({ command, status }) => {
    const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)]
      .map(([, quoted, word]) => quoted ?? word ?? "")
      .slice(2);
    const result = command.includes("webgpu") ? inItsOwnProcess(args) : await runHere(args, root);
    const written = args.filter((_, k) => ["--html", "--svg"].includes(args[k - 1] ?? ""));
    // Without `force`: a page that was not written is a failure.
    for (const name of written) rmSync(join(root, name));
    expect(result.status, result.stderr).toBe(status);
  });
});
