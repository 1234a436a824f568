/** Completions of the editor: the language server's. */
import { completions } from "../../../src/lsp/completions.js";
import type { Work } from "./messages.js";

export const complete = (text: string, line: number, column: number): Work["complete"]["answer"] =>
  completions(text, { line, column }) ?? null;
