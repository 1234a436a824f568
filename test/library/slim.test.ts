/** What `npm install tilec` brings, and what the packages that it leaves out are missed by. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackedProject } from "../support/packed.js";
import { root } from "../support/root.js";

const installed = realpathSync(join(root, "node_modules"));

let project: PackedProject;
beforeAll(() => {
  project = new PackedProject();
});
afterAll(() => {
  project.remove();
});

/** As `du` counts: each file takes whole blocks of 4 kB. */
function blocks(path: string): number {
  const own = statSync(path);
  if (!own.isDirectory()) return Math.ceil(own.size / 4096) * 4096;
  const inside = readdirSync(path).filter((name) => name !== "node_modules");
  return inside.reduce((sum, name) => sum + blocks(join(path, name)), 4096);
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Folders of packages below `node_modules` that these need, themselves included. */
function closure(names: readonly string[]): ReadonlySet<string> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    // Node's look-up: the nearest node_modules, from the inside out.
    let at = from;
    while (at !== "" && packages[`${at}/node_modules/${name}`] === undefined)
      at = at.includes("/node_modules/") ? at.slice(0, at.lastIndexOf("/node_modules/")) : "";
    const folder = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (found.has(folder)) return;
    found.add(folder);
    for (const next of Object.keys(packages[folder]?.dependencies ?? {})) visit(next, folder);
  };
  for (const name of names) visit(name, "");
  return found;
}

/** Files of types that one imports, itself among them. */
function typesFrom(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"(\.[^"]+)\.js"/g))
    typesFrom(join(file, "..", `${path}.d.ts`), found);
  return found;
}

describe("an install", () => {
  it("has the types of every entry point, and what they import", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
    };
    const doors = Object.values(exports).flatMap((door) => (typeof door === "string" ? [] : [door.types]));
    expect(doors.length).toBeGreaterThan(10);
    const found = new Set<string>();
    for (const types of doors) typesFrom(join(project.folder, "node_modules/tilec", types), found);
    expect(found.size).toBeGreaterThan(200);
  });

  it("is 40 packages and 16.9 MB at most", () => {
    const folders = closure(Object.keys(project.manifest.dependencies));
    expect(folders.size).toBeGreaterThan(10);
    expect(folders.size + 1).toBeLessThanOrEqual(40);
    const others = [...folders].reduce((sum, name) => sum + blocks(join(installed, "..", name)), 0);
    const own = blocks(join(project.folder, "node_modules/tilec"));
    expect((own + others) / 1e6).toBeLessThanOrEqual(16.9);
  });

  const gather = ["--op", "gather", "--data", "f32[64,16]", "--indices", "i32[32]"];
  const cases = "node_modules/tilec/test/conformance/cases/bits.json";
  const charts = "npm install @observablehq/plot linkedom";
  it.each([
    [["lsp"], "npm install vscode-languageserver vscode-languageserver-textdocument"],
    [["tune", ...gather, "--budget", "2", "--html", "page.html"], charts],
    [["run", ...gather, "--seed", "1", "--trace", "page.html"], charts],
    [["check", cases, "--reporter", "junit"], "npm install xmlbuilder2"],
  ])("without its optional packages, tilec %j names the line that installs them", (words, line) => {
    const { status, stderr } = project.tilec(...words);
    expect(stderr).toContain("TC703");
    expect(stderr).toContain(line);
    expect(status).toBe(1);
  });

  it("explains, compiles and diffs without them, and a page throws TC703", () => {
    expect(project.tilec("explain", ...gather).status).toBe(0);
    expect(project.tilec("compile", ...gather, "--emit", "module").status).toBe(0);
    project.write(
      "report.mjs",
      `import { compile, explain, gather } from "tilec";
       import { passPage, renderExplanation, timelinePage } from "tilec/report";
       import { estimateTiming } from "tilec/sim";
       const op = gather({ data: ["f32", [8, 4]], indices: ["i32", [3]], axis: 0 });
       console.log(renderExplanation(explain(op)).length > 0, passPage("t", []).length > 0);
       const kernel = compile(op);
       try {
         timelinePage(kernel, estimateTiming(kernel.tile, kernel.target));
       } catch (thrown) {
         console.log(thrown.diagnostics[0].code);
       }`,
    );
    const { stdout, stderr } = project.node("report.mjs");
    expect([stdout, stderr]).toEqual(["true true\nTC703\n", ""]);
  });
});
