/** Text to tokens with positions. Comments run from `//` to the end of the line. */
import { error, type Diagnostic } from "../diagnostic.js";
import type { Span } from "../types.js";

/**
 * Kind of a token of the text form (`.tir`). A shape such as `8x16xf32` is a `word`. A `number` is a decimal
 * fraction or 32 bits in hexadecimal.
 */
export type TokenKind = "word" | "int" | "number" | "string" | "value" | "symbol" | "punct" | "end";

/** Token of the text form (`.tir`) with the position in the text. */
export interface Token {
  readonly kind: TokenKind;
  /** Without the sigil of `%value` and `@symbol`, without the quotes of a string. */
  readonly text: string;
  readonly span: Span;
}

/**
 * Words may hold dots (`onnx.gather`) and, as MLIR's shapes do, digits and x (`3x5xf32`). `#`, `?` and `!`
 * are of MLIR's attributes, dims and types.
 */
const tokenPattern =
  /(?<space>[ \t\r\n]+|\/\/[^\n]*)|(?<arrow>->)|(?<number>0x[0-9a-fA-F]{8}(?!\w)|-?\d+\.\d+(?:e[+-]?\d+)?)|(?<type>\d+(?:x\d+)*x[A-Za-z]\w*)|(?<int>-?\d+)|(?<string>"[^"\n]*")|(?<value>%\w+)|(?<symbol>@\w+)|(?<word>[A-Za-z_][\w.]*)|(?<punct><=|[(){}[\]<>,;:=+*/#?!-])/uy;

/** Comment in the text form (`.tir`): `//` and the text up to the end of the line. */
export interface Comment {
  readonly text: string;
  readonly line: number;
  /** True if an empty line follows. */
  readonly gap: boolean;
}

const start = { line: 1, column: 1 } as const;

/** Result of {@link lex}: the tokens, comments and lexical errors of a text. */
export interface Lexed {
  /** Tokens of the text; the last token has kind `end`. */
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
  /** TC001 for characters that begin no token. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the tokens, comments and lexical errors of a text; reading stops at the fifth error. `file`: name
 * of the text in diagnostics. `from`: line and column at which the text begins, from 1.
 */
export function lex(text: string, file: string, from: Pick<Span, "line" | "column"> = start): Lexed {
  const tokens: Token[] = [];
  const comments: Comment[] = [];
  const diagnostics: Diagnostic[] = [];
  let { line } = from;
  // Some editors and shells begin a file with a byte order mark, which stands in no column.
  const begin = text.startsWith("\ufeff") ? 1 : 0;
  let [lineStart, position] = [begin + 1 - from.column, begin];
  const spanAt = (start: number, length: number): Span => ({
    file,
    line,
    column: start - lineStart + 1,
    length,
  });
  while (position < text.length) {
    tokenPattern.lastIndex = position;
    const groups = tokenPattern.exec(text)?.groups;
    if (groups === undefined) {
      const shown = String.fromCodePoint(text.codePointAt(position) ?? 0);
      const unterminated = shown === '"';
      diagnostics.push(
        error(
          "TC001",
          unterminated ? "a string that does not end on its line" : `unexpected ${visible(shown)}`,
          {
            span: spanAt(position, shown.length),
          },
        ),
      );
      if (diagnostics.length >= maxLexErrors) break;
      position += shown.length;
      continue;
    }
    const matched = tokenPattern.lastIndex - position;
    const raw = text.slice(position, position + matched);
    if (groups["space"] === undefined) {
      const span = spanAt(position, matched);
      tokens.push({ ...classify(groups, raw), span });
    } else {
      if (raw.startsWith("//")) {
        comments.push({ text: raw.trimEnd(), line, gap: emptyLineAt(text, position + matched + 1) });
      }
      for (let k = raw.indexOf("\n"); k !== -1; k = raw.indexOf("\n", k + 1)) {
        line++;
        lineStart = position + k + 1;
      }
    }
    position += matched;
  }
  tokens.push({ kind: "end", text: "end of text", span: spanAt(position, 1) });
  return { tokens, comments, diagnostics };
}

function emptyLineAt(text: string, start: number): boolean {
  const end = text.indexOf("\n", start);
  return end !== -1 && text.slice(start, end).trim() === "";
}

/** Returns a character in quotes; by its number where it shows nothing. */
const visible = (character: string): string =>
  /[\p{C}\p{Z}]/u.test(character)
    ? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
    : JSON.stringify(character);

/** A binary file is one mistake, not a thousand. */
const maxLexErrors = 5;

/**
 * Returns the kind of a token, and the token's text without sigil (`%`, `@`) or quotes. `groups`: matched
 * groups of the token pattern.
 */
function classify(
  groups: Record<string, string | undefined>,
  raw: string,
): { kind: TokenKind; text: string } {
  if (groups["value"] !== undefined) return { kind: "value", text: raw.slice(1) };
  if (groups["symbol"] !== undefined) return { kind: "symbol", text: raw.slice(1) };
  if (groups["string"] !== undefined) return { kind: "string", text: raw.slice(1, -1) };
  if (groups["int"] !== undefined) return { kind: "int", text: raw };
  if (groups["number"] !== undefined) return { kind: "number", text: raw };
  if (groups["word"] !== undefined || groups["type"] !== undefined) return { kind: "word", text: raw };
  return { kind: "punct", text: raw };
}
