/**
 * Base of the parsers of text. It looks at the next token, takes an expected token, or reports an unexpected
 * one at its place.
 */
import { defined } from "../defined.js";
import { DiagnosticError, error, type Diagnostic } from "../diagnostic.js";
import { at, maxElements } from "../types.js";
import type { Token, TokenKind } from "./lex.js";

/** Error that ends a parse at the first fault, with the diagnostic of the fault. */
export class ParseError extends DiagnosticError {
  constructor(readonly diagnostic: Diagnostic) {
    super([diagnostic]);
  }
}

/** Reader of a list of tokens, with a current position. */
export class TokenReader {
  protected position = 0;

  constructor(protected readonly tokens: readonly Token[]) {}

  /** Returns whole numbers in brackets. */
  protected intList(): number[] {
    this.punct("[");
    return this.intsUpTo("]");
  }

  /** Returns whole numbers with commas between them, and what stands behind the last. */
  protected intsUpTo(close: string): number[] {
    return this.listUpTo(close, () => this.int());
  }

  /** Returns what `read` reads, any number of times with commas between, up to a closing bracket. */
  protected listUpTo<T>(close: string, read: () => T): T[] {
    const list: T[] = [];
    while (!this.accept(close)) {
      if (list.length > 0) this.punct(",");
      list.push(read());
    }
    return list;
  }

  /** Returns what `read` reads, once or more with commas between. */
  protected listOf<T>(read: () => T): T[] {
    const list = [read()];
    while (this.accept(",")) list.push(read());
    return list;
  }

  /** Returns a whole number of at most 2^31 either way. */
  protected int(): number {
    const token = this.take("int", "a whole number");
    const value = Number(token.text);
    if (Math.abs(value) > maxElements) this.fail(token, `${token.text} is beyond 2^31`);
    return value;
  }

  /** Returns one of these words. */
  protected oneOf<T extends string>(words: readonly T[]): T {
    const token = this.take("word", words.join(" or "));
    let { text } = token;
    // `row-copy` is three tokens.
    while (words.some((word) => word.startsWith(`${text}-`)) && this.accept("-"))
      text += `-${this.take("word", "a word").text}`;
    const match = words.find((word) => word === text);
    return match ?? this.fail(token, `expected ${words.join(", ")}; found ${text}`);
  }

  /** Returns the next token, which stays. */
  protected peek(): Token {
    return at(this.tokens, Math.min(this.position, this.tokens.length - 1));
  }

  /** Returns the next token, which is of this kind. */
  protected take(kind: TokenKind, expected: string): Token {
    const token = this.peek();
    if (token.kind !== kind) this.fail(token, `expected ${expected}; found ${describe(token)}`);
    this.position++;
    return token;
  }

  /** Consumes the next token; fails unless it is this punctuation mark. */
  protected punct(text: string): void {
    const token = this.peek();
    if (!this.accept(text)) this.fail(token, `expected ${text}; found ${describe(token)}`);
  }

  /** Takes this mark where it is next. */
  protected accept(text: string): boolean {
    const token = this.peek();
    if (token.kind !== "punct" || token.text !== text) return false;
    this.position++;
    return true;
  }

  /** Returns the next token, which is this word. */
  protected word(text: string): Token {
    const token = this.peek();
    if (!this.acceptWord(text)) this.fail(token, `expected ${text}; found ${describe(token)}`);
    return token;
  }

  /** Takes this word where it is next. */
  protected acceptWord(text: string): boolean {
    const token = this.peek();
    if (token.kind !== "word" || token.text !== text) return false;
    this.position++;
    return true;
  }

  /** Ends the parse with a ParseError at a token. */
  protected fail(
    token: Token,
    message: string,
    hint?: string,
    code: "TC002" | "TC003" | "TC104" | "TC204" | "TC205" = "TC002",
  ): never {
    throw new ParseError(error(code, message, { span: token.span, ...defined({ hint }) }));
  }
}

/** Returns a token's text for messages, including the sigil (`%`, `@`). */
function describe({ kind, text }: Token): string {
  switch (kind) {
    case "end":
      return "the end of the text";
    case "value":
      return `%${text}`;
    case "symbol":
      return `@${text}`;
    case "word":
    case "int":
    case "number":
    case "string":
    case "punct":
      return text;
  }
}
