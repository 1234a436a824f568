/** Writer of lines of generated code, indented by nesting level. */
export class Lines {
  private readonly out: string[] = [];
  private depth = 0;

  constructor(private readonly indent = "  ") {}

  line(text: string): void {
    this.out.push(text === "" ? "" : this.indent.repeat(this.depth) + text);
  }

  /** Emits `head {` (or `{` alone), the lines of `body` one level deeper, and `}`. */
  block(head: string, body: () => void): void {
    this.line(head === "" ? "{" : `${head} {`);
    this.depth++;
    body();
    this.depth--;
    this.line("}");
  }

  /** Returns the lines that `body` writes, one level deeper, and removes them from the text so far. */
  aside(body: () => void): readonly string[] {
    const start = this.out.length;
    this.depth++;
    body();
    this.depth--;
    return this.out.splice(start);
  }

  /** Returns the lines that `body` writes, and removes them from the text so far. */
  apart(body: () => void): readonly string[] {
    const start = this.out.length;
    body();
    return this.out.splice(start);
  }

  append(lines: readonly string[]): void {
    this.out.push(...lines);
  }

  toString(): string {
    return `${this.out.join("\n")}\n`;
  }
}
