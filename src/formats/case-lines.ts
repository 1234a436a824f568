/** Lines at which the cases of a file begin. */
import { createScanner } from "jsonc-parser";

/**
 * Returns the line number, from 1, on which each JSON test case of a file begins. `depth`: nesting of test
 * cases, 0 for a single one, 1 for a list, 2 for `{cases}`. `text` must be valid JSON.
 */
export function caseLines(text: string, depth: 0 | 1 | 2): number[] {
  const scanner = createScanner(text, true);
  const lines: number[] = [];
  let level = 0;
  let key = "";
  /** The next token begins an element of the list of cases. */
  let begins = depth === 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const token = text[scanner.getTokenOffset()] ?? "";
    const closes = token === "]" || token === "}";
    if (begins && !closes) lines.push(scanner.getTokenStartLine() + 1);
    begins = false;
    if (depth === 2 && level === 1 && token === '"') key = scanner.getTokenValue();
    if (closes) level--;
    if (token === "[" || token === "{") level++;
    const inList = level === depth && depth > 0 && (depth === 1 || key === "cases");
    if (inList && (token === "[" || token === ",")) begins = true;
  }
  return lines;
}
