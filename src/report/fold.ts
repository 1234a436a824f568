/** Lines of a report folded at words, to the width of a terminal. */

/** A hanging indent beyond this share of the width leaves too little for the text. */
const maxIndent = 0.6;

/**
 * Returns `text` with each line wrapped between words to at most `width` characters. Wrapped text is indented
 * to the start of the line's last column; columns are separated by two or more spaces. Words longer than a
 * line are not split.
 */
export const folded = (text: string, width: number): string =>
  text
    .split("\n")
    .map((line) => foldedLine(line, width))
    .join("\n");

/**
 * Returns a line wrapped between words to at most `width` characters, as text with line breaks. Words longer
 * than a line are not split.
 */
function foldedLine(line: string, width: number): string {
  const indent = hangingIndent(line, width);
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const before = rest.lastIndexOf(" ", width);
    // A word that is longer than a line stays whole.
    const end = before > indent ? before : rest.indexOf(" ", Math.max(width, indent + 1));
    if (end === -1) break;
    lines.push(rest.slice(0, end).trimEnd());
    rest = " ".repeat(indent) + rest.slice(end).trimStart();
  }
  return [...lines, rest].join("\n");
}

/**
 * Returns the indent of folded lines: the start of the last column, after the last gap of two or more spaces.
 * Without such a gap, two more than the line's own indent.
 */
function hangingIndent(line: string, width: number): number {
  const gaps = [...line.slice(0, Math.floor(width * maxIndent)).matchAll(/\S {2,}(?=\S)/g)];
  const last = gaps.at(-1);
  if (last !== undefined) return last.index + last[0].length;
  return line.length - line.trimStart().length + 2;
}
