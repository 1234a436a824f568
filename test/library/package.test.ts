/** The tarball as registries and tools see it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";
import { root } from "../support/root.js";

let project: PackedProject;
let home: string;
beforeAll(() => {
  project = new PackedProject();
  home = join(project.folder, "node_modules/tilec");
});
afterAll(() => {
  project.remove();
});

describe("an install", () => {
  it("runs no script of the package: npm 11 warns of each", () => {
    const { scripts } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { scripts: object };
    const run = ["preinstall", "install", "postinstall", "prepare"].filter((name) => name in scripts);
    expect(run).toEqual([]);
  });
});

/** Files of the package that Node or a bundler reads. */
const scripts = (): readonly string[] =>
  readdirSync(join(home, "dist"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.js$/.test(file))
    .map((file) => join(home, "dist", file));

/** Packages that a file imports or resolves: `@a/b` of `import "@a/b/c"`. A text in WebAssembly has `(import "env"`. */
const packagesOf = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /(?:\bfrom|(?<!\()\bimport|\bimport\(|\bresolve\()\s*"((?:@[\w-][\w.-]*\/)?[\w-][\w.-]*)(?:\/[^"\s]*)?"/g,
    ),
  ].map(([, name]) => name!);

describe("the tarball", () => {
  it("imports no package but its dependencies and peers", () => {
    const { name, dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(join(home, "package.json"), "utf8"),
    ) as Record<"dependencies" | "peerDependencies" | "peerDependenciesMeta", object> & { name: string };
    const known = [name, ...Object.keys(dependencies), ...Object.keys(peerDependencies)];
    const used = new Set(scripts().flatMap((file) => packagesOf(readFileSync(file, "utf8"))));
    const outside = [...used].filter((one) => !builtinModules.includes(one) && !known.includes(one));
    expect(outside).toEqual([]);
    // The expression sees what it should: a dependency, two that are imported late, a peer.
    expect([...used]).toEqual(expect.arrayContaining(["commander", "nanotar", "webgpu", "vitest"]));
    expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies));
  });

  it("has no file that names a map which it leaves out", () => {
    const named = scripts().flatMap((file) => {
      const [, map] = /^\/\/# sourceMappingURL=(\S+)/m.exec(readFileSync(file, "utf8")) ?? [];
      return map === undefined || existsSync(join(dirname(file), map)) ? [] : [file];
    });
    expect(named).toEqual([]);
  });

  it("has no complaint of publint", async () => {
    const { messages, pkg } = await publint({ pkgDir: home, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg ?? {}, { color: false }))).toEqual([]);
  });

  it("has types that resolve for everybody who can import modules", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-attw-"));
    try {
      execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
        cwd: root,
      });
      const [tarball] = readdirSync(folder);
      const data = new Uint8Array(readFileSync(join(folder, tarball!)));
      const result = await checkPackage(createPackageFromTarballData(data));
      if (result.types === false) throw new Error("the package has no types");
      // Resolution before package exports (node10), and require of a module from CommonJS, are not offered.
      const told = result.problems.filter(
        (problem) =>
          !("resolutionKind" in problem && ["node10", "node16-cjs"].includes(problem.resolutionKind)),
      );
      expect(told).toEqual([]);
      expect(Object.keys(result.entrypoints)).toContain("./vitest");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("holds what the pages name and link to: license, examples, cases, schema, pages", () => {
    for (const file of [
      "LICENSE",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "examples/sort-columns.tir",
      "test/conformance/cases/seed.json",
      "schema/case.json",
    ])
      expect([file, existsSync(join(home, file))]).toEqual([file, true]);
    const pages = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((file) =>
      /^(docs\/.*|[A-Z]+)\.md$/.test(file),
    );
    const links = pages.flatMap((page) =>
      [...readFileSync(join(home, page), "utf8").matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)].map(
        ([, to = ""]) => [page, to] as const,
      ),
    );
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(([page, to]) => !existsSync(join(home, dirname(page), to)))).toEqual([]);
    const { status, stderr } = project.tilec(
      "explain",
      join(home, "examples/sort-columns.tir"),
      "--profile",
      "head",
    );
    expect(status, stderr).toBe(0);
    expect(project.tilec("check", join(home, "test/conformance/cases/seed.json")).status).toBe(0);
  });
});
