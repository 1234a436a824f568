/** Positions of the objects of a JSON list, and of the values of their keys. */
import { createScanner } from "jsonc-parser";
import type { Span } from "../../ir/index.js";

/**
 * Source position of an element of a JSON list. If the element is an object, `values` has the position of
 * each key's value.
 */
export interface ElementPosition {
  readonly span: Span;
  /** Position of each value by key; empty if the element is no object. */
  readonly values: ReadonlyMap<string, Span>;
}

/**
 * Returns the source position of each element of the outermost JSON list. `text` must be valid JSON. `file`:
 * file name in the positions.
 */
export function elementPositions(text: string, file: string): readonly ElementPosition[] {
  const scanner = createScanner(text, true);
  const positions: { readonly span: Span; readonly values: Map<string, Span> }[] = [];
  let level = 0;
  let key: string | undefined;
  /** The next token begins an element of the list, or the value of a key. */
  let begins: "element" | "value" | undefined;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const token = text[scanner.getTokenOffset()] ?? "";
    const closes = token === "]" || token === "}";
    const span = {
      ...{ file, line: scanner.getTokenStartLine() + 1, column: scanner.getTokenStartCharacter() + 1 },
      length: scanner.getTokenLength(),
    };
    if (begins === "element" && !closes) positions.push({ span, values: new Map() });
    if (begins === "value" && key !== undefined) positions.at(-1)?.values.set(key, span);
    begins = undefined;
    if (closes) level--;
    if (token === "[" || token === "{") level++;
    if (level === 1 && (token === "[" || token === ",")) begins = "element";
    if (level === 2 && token === '"') key = scanner.getTokenValue();
    if (level === 2 && token === ":") begins = "value";
  }
  return positions;
}

/**
 * Returns the first key that occurs twice in the outermost JSON object; undefined if all keys differ. `text`
 * must be valid JSON.
 */
export function repeatedKey(text: string): string | undefined {
  const keys = new Set<string>();
  const scanner = createScanner(text, true);
  let level = 0;
  let previous = "";
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const token = text[scanner.getTokenOffset()] ?? "";
    if (token === "]" || token === "}") level--;
    if (token === "[" || token === "{") level++;
    if (level === 1 && token === '"' && previous !== ":") {
      const key = scanner.getTokenValue();
      if (keys.has(key)) return key;
      keys.add(key);
    }
    previous = token;
  }
  return undefined;
}
