/** Colours of `.tir`: the editors' TextMate grammar, read line by line. */
import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags, type Tag } from "@lezer/highlight";
import grammar from "../../editors/vscode/syntaxes/tir.tmLanguage.json";

interface Rule {
  readonly pattern: RegExp;
  readonly scope: string;
}

/**
 * A pattern with captures names its parts, and the first of them that a line's rest begins with is taken;
 * strings end on their line.
 */
const rules: readonly Rule[] = grammar.patterns.flatMap(({ name, match, captures }): Rule[] => {
  if (match === undefined) return name === undefined ? [] : [{ pattern: /"[^"]*"?/y, scope: name }];
  if (name !== undefined) return [{ pattern: new RegExp(match, "y"), scope: name }];
  return Object.values(captures ?? {}).map(({ name: scope }) => ({ pattern: partOf(scope), scope }));
});

/** Returns the pattern of one part of `func @name`: the keyword, or the name after it. */
function partOf(scope: string): RegExp {
  return scope.startsWith("keyword") ? /\bfunc\b/y : /@[\w.$-]+/y;
}

const styles: readonly (readonly [scope: string, tag: Tag])[] = [
  ["comment", tags.comment],
  ["string", tags.string],
  ["entity.name.function", tags.definition(tags.variableName)],
  ["variable", tags.variableName],
  ["keyword", tags.keyword],
  ["support.function", tags.function(tags.variableName)],
  ["storage.type", tags.typeName],
  ["support.type.property-name", tags.propertyName],
  ["constant.language", tags.atom],
  ["constant.numeric", tags.number],
];

/** Dots would name modifiers. */
const nameOf = (scope: string): string => `tir-${scope.replaceAll(".", "-")}`;

/**
 * Consumes the next token of a line of `.tir` text. Returns the name of the token's highlighting style, or
 * null if the token has no style.
 */
function token(stream: StringStream): string | null {
  for (const { pattern, scope } of rules) {
    pattern.lastIndex = stream.pos;
    const found = pattern.exec(stream.string)?.[0];
    if (found === undefined || found === "") continue;
    stream.pos += found.length;
    const style = styles.find(([known]) => scope.startsWith(known));
    return style === undefined ? null : nameOf(style[0]);
  }
  stream.next();
  return null;
}

const language = StreamLanguage.define({
  name: "tir",
  token,
  tokenTable: Object.fromEntries(styles.map(([scope, tag]) => [nameOf(scope), tag])),
});

const colours = HighlightStyle.define(styles.map(([scope, tag]) => ({ tag, class: nameOf(scope) })));

/** CodeMirror extension that highlights the syntax of `.tir` programs in the editor. */
export const tirHighlighting: Extension = [language, syntaxHighlighting(colours)];
