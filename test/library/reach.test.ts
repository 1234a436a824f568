/** What an import of each entry point loads: the build shares code among entry points, and brings none of them a package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { root } from "../support/root.js";

const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};
const entryPoints = Object.entries(exports).flatMap(([name, entry]) =>
  typeof entry === "string" ? [] : [{ name: name.replace(".", "tilec"), file: entry.default }],
);
const sourceOf = (file: string): string => file.replace("./dist/", "").replace(/\.js$/, ".ts");

const imported = new Map<string, readonly string[]>();

/** What a file imports when it loads. */
function importsOf(path: string): readonly string[] {
  let names = imported.get(path);
  if (names === undefined) {
    const { body } = parseAst(readFileSync(path, "utf8"), { lang: path.endsWith(".ts") ? "ts" : "js" });
    names = body.flatMap((statement) => {
      if (!("source" in statement) || statement.source === null) return [];
      if (statement.type === "ImportDeclaration" && statement.importKind === "type") return [];
      return [statement.source.value];
    });
    imported.set(path, names);
  }
  return names;
}

interface Reached {
  readonly files: ReadonlySet<string>;
  /** Of packages, and Node's. */
  readonly modules: ReadonlySet<string>;
}

/** What an import of a file, built or source, loads. */
function reached(file: string): Reached {
  const files = new Set<string>();
  const modules = new Set<string>();
  const visit = (name: string): void => {
    const path = existsSync(name) ? name : name.replace(/\.js$/, ".ts");
    if (files.has(path)) return;
    files.add(path);
    for (const next of importsOf(path)) {
      if (next.startsWith(".")) visit(join(dirname(path), next));
      else modules.add(next);
    }
  };
  visit(file);
  return { files, modules };
}

describe("the built package", () => {
  it.each(["ir", "passes", "backends", "reference", "sim", "webgpu", "pto"])(
    "imports nothing but its own files for tilec/%s, which runs in a browser as it is",
    (name) => {
      const file = entryPoints.find((entry) => entry.name === `tilec/${name}`)?.file ?? "";
      expect([...reached(root + file).modules]).toEqual([]);
    },
  );

  it.each(entryPoints)("imports no package for $name that its sources do not", ({ file }) => {
    const own = reached(root + sourceOf(file)).modules;
    expect([...reached(root + file).modules].filter((name) => !own.has(name))).toEqual([]);
  });

  it("is a fifteenth of its sources' files: each is found, read and linked on its own", () => {
    const { files } = reached(`${root}dist/src/index.js`);
    expect(files.size).toBeLessThan(reached(`${root}src/index.ts`).files.size / 15);
  });

  it.each([
    ["createRunner", "webgpu", 250_000],
    ["simulate", "sim", 328_000],
    ["CompileError", "ir", 1000],
  ])("gives a bundler that wants %s of tilec/%s less than %i bytes", async (name, entry, most) => {
    const file = entryPoints.find((one) => one.name === `tilec/${entry}`)?.file ?? "";
    const wanted = `export { ${name} } from ${JSON.stringify(root + file)};`;
    const bundle = await rolldown({
      input: "wanted",
      platform: "browser",
      plugins: [
        {
          name: "wanted",
          resolveId: (id) => (id === "wanted" ? id : null),
          load: (id) => (id === "wanted" ? wanted : null),
        },
      ],
    });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    expect(output[0].code.length).toBeLessThan(most);
  });

  it("imports what its entry points for Node and for Vitest stand on", () => {
    expect([...reached(`${root}dist/src/vitest/index.js`).modules]).toContain("vitest");
    expect([...reached(`${root}dist/src/device/index.js`).modules]).toContain("node:worker_threads");
  });
});
