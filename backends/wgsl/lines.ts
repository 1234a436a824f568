/** Lines of code with indentation. */
export class Lines {
  private readonly out: string[] = [];
  private depth = 0;

  line(text: string): void {
    this.out.push(text === "" ? "" : "  ".repeat(this.depth) + text);
  }

  /** `head {` (or `{` alone), what `body` writes one level deeper, `}`. */
  block(head: string, body: () => void): void {
    this.line(head === "" ? "{" : `${head} {`);
    this.depth++;
    body();
    this.depth--;
    this.line("}");
  }

  toString(): string {
    return `${this.out.join("\n")}\n`;
  }
}
