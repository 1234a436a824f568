/** Modules of several programs in a folder, with an index that names them. */
import type { Kernel } from "../api/compile.js";
import type { EmittedModule } from "../module/emit-module.js";
import { outputFormats } from "../output/mark.js";
import { printKey } from "../module/module-facts.js";
import { moduleStems } from "./module-stems.js";
import type { LoadedProgram } from "./loaded-program.js";
import type { Outputs } from "./outputs.js";
import { printDiagnostics } from "./terminal.js";

interface Folder {
  readonly path: string;
  readonly compileAs: (program: LoadedProgram) => Promise<Kernel>;
  readonly emitAs: (kernel: Kernel) => Promise<EmittedModule>;
}

/**
 * Writes one JavaScript module for each program that compiles, and an index of these modules, to a folder.
 * CompileErrors of other programs are printed. Rejects with a CompileError if none of the programs compiles,
 * and with any other error at once.
 */
export async function writeModuleFolder(
  programs: readonly LoadedProgram[],
  outputs: Outputs,
  { path, compileAs, emitAs }: Folder,
): Promise<void> {
  const folder = outputs.folder(path);
  const stemOf = moduleStems(programs.map(({ func }) => func.name));
  const named = programs.map((program) => ({ name: program.func.name, program }));
  const written = await outputs.each(named, async ({ name, program }) => {
    const stem = stemOf(name);
    const kernel = await compileAs(program);
    const { code, declarations } = await emitAs(kernel);
    printDiagnostics(kernel.diagnostics);
    folder.write(`${stem}.js`, code, outputFormats.code);
    folder.write(`${stem}.d.ts`, declarations, outputFormats.code);
    return { name, stem };
  });
  const index = written
    .map(({ name, stem }) => `export * as ${printKey(name)} from "./${stem}.js";\n`)
    .join("");
  folder.write("index.js", index, outputFormats.code);
  folder.write("index.d.ts", index, outputFormats.code);
}
