/** The part of markdown-it that the pages of the documentation use; the package has no types. */
declare module "markdown-it" {
  /** Piece of a parsed text: a tag that opens or closes, or a text with its pieces. */
  interface Token {
    readonly type: string;
    readonly content: string;
    readonly children: readonly Token[] | null;
    hidden: boolean;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
  }
  /** Parser and renderer of Markdown. */
  export default class MarkdownIt {
    constructor(options?: { readonly html?: boolean });
    readonly options: object;
    readonly renderer: { render(tokens: readonly Token[], options: object, env: object): string };
    parse(text: string, env: object): readonly Token[];
    renderInline(text: string): string;
  }
}
