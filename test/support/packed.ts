/**
 * What a user of the package has: a project outside the repository with the packed tarball in its `node_modules`.
 * Needs a built `dist/` and no network: the package's dependencies are links to those installed here.
 */
import { execFileSync, spawnSync, type SpawnSyncReturns } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { extract } from "tar";
import type { SourceFile } from "typescript";
import { inject } from "vitest";
import { root } from "./root.js";

const installed = realpathSync(join(root, "node_modules"));

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
}

/** The libraries that a project's types are checked against. */
export interface Libraries {
  /** Of TypeScript: `es2023`, `dom`, … */
  readonly lib: readonly string[];
  /** Packages of global types; linked where a project names them. */
  readonly types: readonly string[];
}

const node: Libraries = { lib: ["es2023"], types: ["node"] };

/** Declarations of packages, read once for all programs. */
const parsed = new Map<string, SourceFile | undefined>();

/** The unpacked tarball. Workers that pack at one time each do so in a folder of their own; the first to be done stays. */
function packed(): string {
  const folder = inject("packedFolder");
  const ready = join(folder, "package");
  if (existsSync(ready)) return ready;
  const own = mkdtempSync(join(folder, "pack-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", own], { cwd: root });
  const [tarball] = readdirSync(own).filter((name) => name.endsWith(".tgz"));
  if (tarball === undefined) throw new Error("npm pack wrote no tarball");
  extract({ file: join(own, tarball), cwd: own, sync: true });
  try {
    renameSync(join(own, "package"), ready);
  } catch (thrown) {
    if (!existsSync(ready)) throw thrown;
  }
  return ready;
}

export class PackedProject {
  readonly folder = realpathSync(mkdtempSync(join(inject("packedFolder"), "project-")));
  readonly manifest: Manifest;
  /** Environment of its processes. */
  env: NodeJS.ProcessEnv = process.env;

  constructor() {
    const home = join(this.folder, "node_modules/tilec");
    // A copy: a linked package would find the packages around the place it is linked to.
    cpSync(packed(), home, { recursive: true });
    this.manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as Manifest;
    for (const name of Object.keys(this.manifest.dependencies)) this.link(name);
    this.write("package.json", JSON.stringify({ type: "module", private: true }));
  }

  /** What an import of each entry point names: `tilec`, `tilec/ir`, …; that of a test runner has a project of its own. */
  get entryPoints(): readonly string[] {
    return Object.keys(this.manifest.exports)
      .filter((path) => !path.endsWith(".json") && path !== "./vitest")
      .map((path) => path.replace(/^\./, "tilec"));
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), text);
  }

  /**
   * TypeScript's complaints about files of the project and about the package's declarations, those of other packages apart; writes
   * the files' JavaScript.
   */
  async compile(files: readonly string[], { lib, types }: Libraries = node): Promise<string> {
    // Takes longer to load than most tests of a project take.
    const { default: ts } = await import("typescript");
    for (const name of types) this.link(name === "node" ? "@types/node" : name);
    const options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: lib.map((name) => `lib.${name}.d.ts`),
      types: [...types],
    };
    const host = ts.createCompilerHost(options);
    host.getCurrentDirectory = () => this.folder;
    const parse = host.getSourceFile.bind(host);
    host.getSourceFile = (path, ...rest) => {
      if (!path.includes("/node_modules/")) return parse(path, ...rest);
      if (!parsed.has(path)) parsed.set(path, parse(path, ...rest));
      return parsed.get(path);
    };
    const program = ts.createProgram(
      files.map((file) => join(this.folder, file)),
      options,
      host,
    );
    // Packages that are linked lie elsewhere.
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(this.folder));
    const found = [
      ...program.getOptionsDiagnostics(),
      ...program.getGlobalDiagnostics(),
      ...own.flatMap((file) => [
        ...program.getSyntacticDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ]),
    ];
    program.emit();
    return ts.formatDiagnostics(found, host);
  }

  /** Node in the project's folder. */
  node(...args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync(process.execPath, args, { cwd: this.folder, encoding: "utf8", env: this.env });
  }

  /** The command line of the package. */
  tilec(...args: readonly string[]): SpawnSyncReturns<string> {
    return this.node("node_modules/tilec/dist/src/cli/main.js", ...args);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Installs what charts need. */
  linkCharts(): void {
    for (const name of ["@observablehq/plot", "linkedom"]) this.link(name);
  }

  /** Installs a package that is installed here. */
  link(name: string): void {
    const link = join(this.folder, "node_modules", name);
    if (existsSync(link)) return;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(installed, name), link, "dir");
  }
}
