/** Answers of the language server about a text, for the editor of the page. */
import { defined } from "../../../ir/defined.js";
import { diagnose, fixOf, hover, rangeOf } from "../../../src/lsp/analysis.js";
import { Judgements } from "../../../src/lsp/judgements.js";
import type { Problem } from "./messages.js";
import { fileName } from "./program.js";

const before = new Judgements({});

/** Returns the diagnostics of a program text, each with the range in the text, and a fix if there is one. */
export const textProblems = (text: string): readonly Problem[] =>
  diagnose(text, fileName, {}, before).map((diagnostic) => {
    const fix = fixOf(text, fileName, diagnostic, {}, before);
    return { diagnostic, range: rangeOf(diagnostic), ...defined({ fix }) };
  });

/**
 * Returns the hover text at a position of a program text, or null if there is none. `line` and `column` count
 * from 0.
 */
export const hoverAt = (text: string, line: number, column: number): string | null =>
  hover(text, fileName, { line, column }) ?? null;
