/** Canonical text with the comments of the text that it is made from. */
import { checkArgument } from "../argument.js";
import { hasErrors, type Diagnostic } from "../diagnostic.js";
import { invariant } from "../types.js";
import { lex, type Comment } from "./lex.js";
import { parseTokens } from "./parse.js";
import { printModule } from "./print.js";

/** Result of formatting the text of a `.tir` file: the canonical text, or the diagnostics of errors. */
export type FormatResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Returns a `.tir` text in canonical form, with the comments. Returns the diagnostics instead if the text has
 * errors. `file`: name of the text in diagnostics.
 */
export function formatText(text: string, file: string): FormatResult {
  checkArgument("formatText", "text", text);
  const { tokens, comments, diagnostics: unlexed } = lex(text, file);
  if (hasErrors(unlexed)) return { ok: false, diagnostics: unlexed };
  const { module, diagnostics, lines } = parseTokens(tokens);
  if (hasErrors(diagnostics)) return { ok: false, diagnostics };
  const printed = printModule(module).trimEnd().split("\n");
  const begun = printed.flatMap((line, k) => (line === "" ? [] : [k]));
  invariant(begun.length === lines.length, "each line of the canonical text was read somewhere");
  const withCode = new Set(tokens.slice(0, -1).map(({ span }) => span.line));
  /** By line of the canonical text; those before the end under its length. */
  const before = new Map<number, Comment[]>();
  const after = new Map<number, Comment[]>();
  for (const comment of comments) {
    const trails = withCode.has(comment.line);
    const next = lines.findIndex((line) => line > comment.line);
    const place = next === -1 ? lines.length : next;
    const line = begun[trails ? place - 1 : place] ?? printed.length;
    const comments = trails ? after : before;
    comments.set(line, [...(comments.get(line) ?? []), comment]);
  }
  const formatted = [...printed, undefined].flatMap((line, k): string[] => {
    // The end of a body is less far in than the statements before it.
    const indent = `${/^ */.exec(line ?? "")?.[0] ?? ""}${line?.trim() === "}" ? "  " : ""}`;
    const above = (before.get(k) ?? []).flatMap((comment) =>
      comment.gap ? [`${indent}${comment.text}`, ""] : [`${indent}${comment.text}`],
    );
    const trailing = (after.get(k) ?? []).map((comment) => ` ${comment.text}`).join("");
    return line === undefined ? above : [...above, `${line}${trailing}`];
  });
  return { ok: true, text: `${formatted.join("\n").trimEnd()}\n` };
}
