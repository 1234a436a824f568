/**
 * Diagnostics of the compiler for each function of a text. A function whose text did not change is not
 * compiled again.
 */
import { CompileError, type Diagnostic, type Func } from "../../ir/index.js";
import { PassError } from "../../passes/index.js";
import { tryCompile, type CompileOptions } from "../api/compile.js";

interface Judged {
  readonly line: number;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Cache of the compiler's diagnostics for the functions of one `.tir` text. A function is compiled again if
 * the text of the function changes or the target is a JSON file.
 */
export class Judgements {
  private judged = new Map<string, Judged>();

  constructor(private readonly options: Pick<CompileOptions, "findTarget" | "passes">) {}

  /**
   * Returns the diagnostics of the functions of one version of a text, and discards those of the previous
   * version.
   */
  of(funcs: readonly Func[], text: string): Diagnostic[] {
    const lines = text.split("\n");
    const next = new Map<string, Judged>();
    const all = funcs.flatMap((func, k) => {
      const line = func.span?.line ?? 1;
      const text = lines.slice(line - 1, (funcs[k + 1]?.span?.line ?? lines.length + 1) - 1).join("\n");
      const judged = this.judged.get(text) ?? { line, diagnostics: this.judge(func) };
      // A target file may change without the text.
      if (func.target?.endsWith(".json") !== true) next.set(text, judged);
      return judged.diagnostics.map((diagnostic) => shifted(diagnostic, line - judged.line));
    });
    this.judged = next;
    return all;
  }

  private judge(func: Func): readonly Diagnostic[] {
    try {
      const result = tryCompile(func, this.options);
      return result.ok ? result.kernel.diagnostics : result.diagnostics;
    } catch (thrown) {
      if (thrown instanceof CompileError) return thrown.diagnostics;
      if (thrown instanceof PassError && !thrown.builtIn) return thrown.faults;
      throw thrown;
    }
  }
}

const shifted = (diagnostic: Diagnostic, by: number): Diagnostic =>
  diagnostic.span === undefined
    ? diagnostic
    : { ...diagnostic, span: { ...diagnostic.span, line: diagnostic.span.line + by } };
