/** Modules of several programs in a folder, with an index that names them. */
import { CompileError, type Diagnostic } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";
import type { EmittedModule } from "../module/emit-module.js";
import { outputFormats } from "../output/mark.js";
import { printKey } from "../module/module-facts.js";
import { moduleStems } from "./module-stems.js";
import type { LoadedProgram } from "./loaded-program.js";
import type { OutputFolder } from "./outputs.js";
import { printDiagnostics } from "./terminal.js";

interface Folder {
  readonly folder: OutputFolder;
  readonly compileAs: (program: LoadedProgram) => Promise<Kernel>;
  readonly emitAs: (kernel: Kernel) => Promise<EmittedModule>;
}

/** One module a program. Programs that are refused are warnings, beside others; alone, they are the error. */
export async function writeModuleFolder(
  programs: readonly LoadedProgram[],
  { folder, compileAs, emitAs }: Folder,
): Promise<void> {
  const refused: Diagnostic[] = [];
  const written: { readonly name: string; readonly stem: string }[] = [];
  const stemOf = moduleStems(programs.map(({ func }) => func.name));
  for (const program of programs) {
    const { name } = program.func;
    const stem = stemOf(name);
    try {
      const kernel = await compileAs(program);
      const { code, declarations } = await emitAs(kernel);
      printDiagnostics(kernel.diagnostics);
      folder.write(`${stem}.js`, code, outputFormats.code);
      folder.write(`${stem}.d.ts`, declarations, outputFormats.code);
      written.push({ name, stem });
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      refused.push(...thrown.diagnostics);
    }
  }
  if (written.length === 0) throw new CompileError(refused);
  printDiagnostics(refused.map((diagnostic) => ({ ...diagnostic, severity: "warning" as const })));
  const index = written
    .map(({ name, stem }) => `export * as ${printKey(name)} from "./${stem}.js";\n`)
    .join("");
  folder.write("index.js", index, outputFormats.code);
  folder.write("index.d.ts", index, outputFormats.code);
}
