/**
 * Returns a text in which control characters, except tabs and line ends, are shown as escapes like `\u001b`.
 * A terminal then cannot move the cursor or hide text because of ids, names or files. JSON text keeps its
 * meaning.
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /\r(?!\n)|[^\P{Cc}\t\n\r]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
