/** The product's sources with edits that exist in memory alone, and what TypeScript says of them. */
import ts from "typescript";
import { root } from "./root.js";

export interface Edit {
  readonly file: string;
  /** Stands in the file; absent for a new file. */
  readonly find?: string;
  readonly put: string;
}

const folders = ["ir", "passes", "backends", "src"];
const config: unknown = ts.readConfigFile(`${root}tsconfig.json`, (file) => ts.sys.readFile(file)).config;
const { options, fileNames } = ts.parseJsonConfigFileContent(
  { ...(config as object), include: folders },
  ts.sys,
  root.slice(0, -1),
);
/** Parsed once: an edited program shares the files that it leaves alone. */
const parsed = new Map<string, ts.SourceFile | undefined>();

function programOf(edits: readonly Edit[], emitting: ts.CompilerOptions): ts.Program {
  const texts = new Map<string, string>();
  for (const { file, find, put } of edits) {
    const path = root + file;
    const text = texts.get(path) ?? (find === undefined ? "" : (ts.sys.readFile(path) ?? ""));
    if (find !== undefined && !text.includes(find)) throw new Error(`${file} has no ${find}`);
    texts.set(path, find === undefined ? put : text.replace(find, () => put));
  }
  const all = { ...options, ...emitting, declaration: false, declarationMap: false, sourceMap: false };
  const host = ts.createCompilerHost(all);
  const original = { ...host };
  host.fileExists = (path) => texts.has(path) || original.fileExists(path);
  host.readFile = (path) => texts.get(path) ?? original.readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = texts.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, language);
    if (!parsed.has(path)) parsed.set(path, original.getSourceFile(path, language, ...rest));
    return parsed.get(path);
  };
  return ts.createProgram(fileNames, all, host);
}

export interface SourceError {
  readonly file: string;
  readonly message: string;
}

/** Writes the JavaScript of the edited sources to a folder; `errorsIn` says whether they are right. */
export function emitEdited(edits: readonly Edit[], outDir: string): void {
  programOf(edits, { outDir, noCheck: true }).emit();
}

/** What is wrong with the edited sources. */
export function errorsIn(edits: readonly Edit[]): readonly SourceError[] {
  const program = programOf(edits, { noEmit: true });
  const found = [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()];
  return found.map(({ file, messageText }) => ({
    file: file?.fileName.slice(root.length) ?? "options",
    message: ts.flattenDiagnosticMessageText(messageText, " "),
  }));
}
