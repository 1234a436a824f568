/** Columns that a line of a comment may take. */
export const columns = 110;

/** Words that open a clause where a verb or a noun belongs. */
export const clauseWords = ["What", "Where", "Which", "How", "Of", "Behind", "Whether", "Why"];

/** True if a line of a comment speaks to a tool. */
const isDirective = (line) => /^\s*(?:eslint-|@ts-|prettier-ignore)/.test(line);

/** True if a line of a comment keeps its line breaks: lists, tables, tags, code, indented text and directives. */
const isFixed = (line) => isDirective(line) || /^(?:\s|[-*|@#`<>]|\d+[.)] )/.test(line);

/** Returns words in lines of at most `width` characters; a word that is longer has a line of its own. */
function wrapped(words, width) {
  const lines = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Returns lines with paragraphs wrapped anew; lines that keep their breaks stay. */
export function rewrapped(lines, width) {
  const result = [];
  let words = [];
  const flush = () => {
    result.push(...wrapped(words, width));
    words = [];
  };
  for (const line of lines) {
    if (line.trim() === "" || isFixed(line)) {
      flush();
      result.push(line);
    } else words.push(...line.trim().split(/\s+/));
  }
  flush();
  return result;
}

/** Returns the text of each line of a docstring, without its marks. */
export const docLines = (value) =>
  value
    .replace(/^\*/, "")
    .split("\n")
    .map((line, k) => (k === 0 ? line.trim() : line.replace(/^\s*\*? ?/, "").trimEnd()));

/** Returns a docstring in lines of at most {@link columns}. */
export function printDoc(lines, indent) {
  const width = columns - indent.length - " * ".length;
  const text = rewrapped(lines, width);
  while (text[0]?.trim() === "") text.shift();
  while (text.at(-1)?.trim() === "") text.pop();
  const single = `${indent}/** ${text[0] ?? ""} */`;
  if (text.length === 1 && single.length <= columns) return single.slice(indent.length);
  return ["/**", ...text.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n");
}

/** Returns a line of a comment without its marks. */
const unmarked = (line) =>
  line
    .trim()
    .replace(/^(?:\/\/|\/\*\*|\*)\s*/, "")
    .replace(/\s*\*\/$/, "");

/** True if a line is too long and has a place to break it. */
const isLong = (line) => line.length > columns && /\s/.test(unmarked(line)) && !isDirective(unmarked(line));

/** Keeps lines of comments within {@link columns}; the fix wraps them anew and changes no word. */
export const commentColumns = {
  meta: {
    type: "layout",
    fixable: "whitespace",
    schema: [],
    messages: { long: "a line of a comment has more than {{columns}} columns" },
  },
  create(context) {
    const { sourceCode } = context;
    const { lines } = sourceCode;
    const before = (comment) => lines[comment.loc.start.line - 1].slice(0, comment.loc.start.column);
    const isAlone = (comment) => before(comment).trim() === "";
    const report = (node, fix) => {
      context.report({ loc: node.loc, messageId: "long", data: { columns }, ...(fix && { fix }) });
    };
    const judgeBlock = (comment) => {
      const own = lines.slice(comment.loc.start.line - 1, comment.loc.end.line);
      if (!own.some(isLong)) return;
      const indent = before(comment);
      const isDoc = comment.value.startsWith("*") && isAlone(comment);
      const text = isDoc ? printDoc(docLines(comment.value), indent) : undefined;
      // A docstring that cannot be wrapped further has a word that is too long, or lines that keep their breaks.
      if (text === sourceCode.getText(comment)) return;
      report(comment, text && ((fixer) => fixer.replaceText(comment, text)));
    };
    const judgeGroup = (group) => {
      const [first] = group;
      const last = group.at(-1);
      if (!group.some(({ loc }) => isLong(lines[loc.start.line - 1]))) return;
      if (!isAlone(first)) return report(first);
      const indent = before(first);
      const width = columns - indent.length - "// ".length;
      const text = rewrapped(
        group.map(({ value }) => value.replace(/^ /, "").trimEnd()),
        width,
      )
        .map((line, k) => `${k === 0 ? "" : indent}// ${line}`.trimEnd())
        .join("\n");
      const range = [first.range[0], last.range[1]];
      if (text !== sourceCode.text.slice(...range))
        report(first, (fixer) => fixer.replaceTextRange(range, text));
    };
    return {
      Program() {
        let group = [];
        const flush = () => {
          if (group.length > 0) judgeGroup(group);
          group = [];
        };
        for (const comment of sourceCode.getAllComments()) {
          const last = group.at(-1);
          const follows =
            last !== undefined &&
            comment.type === "Line" &&
            isAlone(comment) &&
            isAlone(last) &&
            comment.loc.start.line === last.loc.start.line + 1;
          if (!follows) flush();
          if (comment.type === "Line") group.push(comment);
          else judgeBlock(comment);
        }
        flush();
      },
    };
  },
};

/** Forbids docstrings that begin with a clause: functions begin with a verb, types and constants with a noun, booleans with "True if". */
export const docstringOpenings = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: {
      clause:
        "a docstring begins with {{word}}: begin with a verb (Returns, Emits), a noun (Upper limit of), or True if",
    },
  },
  create(context) {
    const pattern = new RegExp(`^(${clauseWords.join("|")})\\b`);
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          if (comment.type !== "Block" || !comment.value.startsWith("*")) continue;
          const text = docLines(comment.value).find((line) => line.trim() !== "") ?? "";
          const [, word] = pattern.exec(text.trim()) ?? [];
          if (word !== undefined) context.report({ loc: comment.loc, messageId: "clause", data: { word } });
        }
      },
    };
  },
};
