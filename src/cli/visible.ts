/**
 * A text for a terminal: control characters of ids, names and files are shown as `\u001b`, so that none moves
 * the cursor, paints or hides what stands beside it. Tabs and the ends of lines stay. What comes of a JSON
 * text is JSON that means the same.
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /\r(?!\n)|[^\P{Cc}\t\n\r]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
