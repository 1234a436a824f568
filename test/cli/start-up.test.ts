/** What a command line loads before it does anything: files resolved are what starting takes. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url).href;
const main = fileURLToPath(new URL("dist/src/cli/main.js", root));

interface Loaded {
  /** Sources, from the repository's root. */
  readonly modules: readonly string[];
  readonly packages: readonly string[];
  readonly stdout: string;
}

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** Sources of a built file, by the map that lies beside it. */
function sourcesOf(url: string): readonly string[] {
  const map = url.startsWith("file:") ? fileURLToPath(`${url}.map`) : "";
  if (!existsSync(map)) return [];
  const { sources } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] };
  return sources.map((source) => new URL(source, url).href);
}

/** The modules of tilec, and the packages, that a command line ran, by V8's coverage, and what it printed. */
function loadedBy(...args: string[]): Loaded {
  const folder = mkdtempSync(join(tmpdir(), "tilec-start-"));
  try {
    const { stdout } = spawnSync(process.execPath, [main, ...args], {
      encoding: "utf8",
      env: { ...process.env, NODE_V8_COVERAGE: folder },
    });
    const coverages = readdirSync(folder).map(
      (file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Coverage,
    );
    const urls = coverages.flatMap(({ result }) => result.map(({ url }) => url));
    const sources = urls.flatMap(sourcesOf);
    return {
      modules: sources.flatMap((url) => (url.startsWith(root) ? [url.slice(root.length)] : [])),
      packages: [
        ...new Set(urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])),
      ],
      stdout,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const commands = [
  "compile",
  "opt",
  "diff",
  "run",
  "explain",
  "legal",
  "plan",
  "tune",
  "records",
  "check",
  "targets",
  "devices",
  "fmt",
  "lsp",
];

describe("starting", () => {
  it.each([["--help"], ["--version"]])("tilec %s loads no command, pass or backend", (flag) => {
    const { modules, stdout } = loadedBy(flag);
    expect(stdout).not.toBe("");
    expect(modules.some((file) => file === "src/cli/command-line.ts")).toBe(true);
    expect(modules.filter((file) => /^(passes|backends|src\/api)\//.test(file))).toEqual([]);
    expect(modules.length).toBeLessThan(25);
  });

  it("tilec fmt --help loads fmt, with its flags, and no other command", () => {
    const { modules, stdout } = loadedBy("fmt", "--help");
    expect(stdout).toContain("--check");
    expect(
      modules.filter((file) => /^src\/cli\/(compile|run|check|tune|legal|explain)\.ts$/.test(file)),
    ).toEqual([]);
  });

  it("tilec check loads a reporter, the watcher and the differ when it is asked for them", () => {
    const cases = ["check", "test/conformance/cases/seed.json", "--backend", "reference"];
    const { packages, stdout } = loadedBy(...cases);
    expect(stdout).toContain("passed");
    expect(packages).toContain("commander");
    expect(packages.filter((name) => ["xmlbuilder2", "chokidar", "diff"].includes(name))).toEqual([]);
    const asked = loadedBy(...cases, "--reporter", "junit");
    expect(asked.packages).toContain("xmlbuilder2");
    expect(asked.stdout).toContain("<testsuites");
  });

  const readers = ["src/formats/cases.ts", "src/formats/onnx/read-model.ts"];

  it.each([["compile"], ["run", "--seed", "1"], ["explain"], ["legal"]])(
    "tilec %s of a text loads no reader of other files",
    (name, ...flags) => {
      const { modules, packages, stdout } = loadedBy(name, "examples/sort-columns.tir", ...flags);
      expect(stdout).not.toBe("");
      expect(modules).toContain("src/cli/load.ts");
      expect(modules.filter((file) => readers.includes(file))).toEqual([]);
      expect(packages).toContain("commander");
      const slow = ["jsonc-parser", "csv-stringify", "diff", "@noble/hashes"];
      expect(packages.filter((name) => slow.includes(name))).toEqual([]);
    },
  );

  it.each([
    ["examples/embedding.onnx", "src/formats/onnx/read-model.ts"],
    ["test/conformance/cases/seed.json", "src/formats/cases.ts"],
  ])("tilec compile %s loads the reader of its kind of file alone", (file, reader) => {
    const { modules } = loadedBy("compile", file);
    expect(modules.filter((name) => readers.includes(name))).toEqual([reader]);
  });

  it.each([
    ["help", "fmt"],
    ["fmt", "--help"],
  ])("tilec %s %s prints the command's own page", (...args) => {
    expect(loadedBy(...args).stdout).toContain("Usage: tilec fmt [options] <files...>");
  });

  it.each(commands)("tilec %s --help prints its usage: it loads alone", (name) => {
    const { status, stdout } = spawnSync(process.execPath, [main, name, "--help"], { encoding: "utf8" });
    expect(stdout).toContain(`Usage: tilec ${name} [options]`);
    expect(status).toBe(0);
  });

  it("lists every command with its summary", () => {
    const { stdout } = loadedBy("--help");
    for (const name of commands) {
      expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
    }
  });
});
