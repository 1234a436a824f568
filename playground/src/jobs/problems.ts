/** What the language server says of a text, for the editor of the page. */
import { defined } from "../../../ir/defined.js";
import { diagnose, fixOf, hover, rangeOf } from "../../../src/lsp/analysis.js";
import { Judgements } from "../../../src/lsp/judgements.js";
import type { Problem } from "./messages.js";
import { fileName } from "./program.js";

const before = new Judgements({});

export const textProblems = (text: string): readonly Problem[] =>
  diagnose(text, fileName, {}, before).map((diagnostic) => {
    const fix = fixOf(text, fileName, diagnostic, {}, before);
    return { diagnostic, range: rangeOf(diagnostic), ...defined({ fix }) };
  });

export const hoverAt = (text: string, line: number, column: number): string | null =>
  hover(text, fileName, { line, column }) ?? null;
