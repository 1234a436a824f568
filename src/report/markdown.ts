/** Text of files in pages of Markdown and in pictures. */

/** Returns text as one line without control characters. */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\uFFFE\uFFFF]+/gu, " ").trim();

/** Characters that Markdown or HTML would read as markup. */
const markup = /^[#>+-]|[\\`*<~]|&(?=#?\w+;)|(?<=\])[([]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

/** Returns text escaped for literal display in Markdown, on one line. */
export const markdownText = (text: string): string => oneLine(text).replace(markup, "\\$&");

/**
 * Returns text as a Markdown code span on one line. The fence is longer than any sequence of backticks in the
 * text.
 */
export function codeSpan(text: string): string {
  const line = oneLine(text);
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return fence + space + line + space + fence;
}
