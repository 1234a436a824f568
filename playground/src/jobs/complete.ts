/** Completions of the editor: the language server's. */
import { completions } from "../../../src/lsp/completions.js";
import type { Work } from "./messages.js";

/**
 * Returns the completions at a position of a program text, or null if there are none. `line` and `column`
 * count from 0.
 */
export const complete = (text: string, line: number, column: number): Work["complete"]["answer"] =>
  completions(text, { line, column }) ?? null;
