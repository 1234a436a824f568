/**
 * FileCheck for tilec's own output: substrings that must occur in order, written as comments beside the
 * input.
 *
 *   CHECK: text          occurs after the match before it; CHECK-COUNT-3: text does three times, one after the other
 *   CHECK-NEXT: text     on the next line; CHECK-SAME: on the same line; CHECK-EMPTY: the next line is empty
 *   CHECK-NOT: text      not before the next match
 *   CHECK-DAG: text      occurs after the match before its group, in any order and without overlaps inside the group
 *   CHECK-LABEL: text    splits the output: checks after it stay within its part
 *
 * `{{regex}}` matches a regular expression, `[[X:regex]]` captures, `[[X]]` is what was captured. A check that cannot
 * fail is an error: nothing to look for, a name captured twice, a label without checks, a NOT without
 * neighbours, a directive with a slip of the pen. Reference:
 * https://llvm.org/docs/CommandGuide/FileCheck.html.
 */
import { checkArgument } from "../../ir/argument.js";
import { clockVersion } from "../../ir/index.js";
import { distance } from "../../ir/did-you-mean.js";

const kinds = [
  "CHECK",
  "CHECK-NEXT",
  "CHECK-SAME",
  "CHECK-NOT",
  "CHECK-LABEL",
  "CHECK-DAG",
  "CHECK-COUNT",
  "CHECK-EMPTY",
] as const;
/** Kind of a check directive in a text test, as in LLVM FileCheck. */
export type CheckKind = (typeof kinds)[number];

/**
 * CHECK directive of a text test: a text that must, or for CHECK-NOT must not, occur in the output of a
 * command.
 */
export interface Check {
  readonly kind: CheckKind;
  readonly text: string;
  /** 1-based line in the test file. */
  readonly line: number;
  /** Number of times that the text of a CHECK-COUNT must occur. */
  readonly count?: number;
}

/** Reason why a text test fails, with the 1-based line in the test file. */
export interface CheckFailure {
  readonly line: number;
  readonly message: string;
  /** Line of the output that is most similar to a check without a match. */
  readonly nearest?: string;
}

/** A check may stand behind the statement it is about. */
const directive = /\/\/\s*(CHECK(?:-NEXT|-SAME|-NOT|-LABEL|-DAG|-EMPTY|-COUNT-([1-9]\d*))?):(.*)$/;

/** Returns the lines of a text without line ends (LF or CRLF). */
export const linesOf = (text: string): string[] => text.split(/\r?\n/);

/** Returns the CHECK directives of a text test, in order. */
export function parseChecks(source: string): Check[] {
  checkArgument("parseChecks", "text", source);
  return linesOf(source).flatMap((text, k) => {
    const [, name, count, wanted] = directive.exec(text) ?? [];
    if (name === undefined || wanted === undefined) return [];
    const base = { text: wanted.trim(), line: k + 1 };
    if (count !== undefined) return [{ kind: "CHECK-COUNT", count: Number(count), ...base }];
    const kind = kinds.find((other) => other === name);
    return kind === undefined ? [] : [{ kind, ...base }];
  });
}

/**
 * Returns a failure for each comment that resembles a check directive but is not one, for example a
 * misspelled directive. Lines for which `isComment` returns true are skipped.
 */
export function slipsIn(source: string, isComment: (line: string) => boolean = () => false): CheckFailure[] {
  return linesOf(source).flatMap((text, k) => {
    if (directive.test(text) || isComment(text)) return [];
    // A string may hold two slashes.
    const start = text.replaceAll(/"[^"]*"/g, (quoted) => "_".repeat(quoted.length)).indexOf("//");
    const comments = start === -1 ? [] : text.slice(start + 2).split("//");
    const slip = comments.map((comment) => comment.trim()).find(isSlip);
    if (slip === undefined) return [];
    const message = `${slip} looks like a directive and is none: it would check nothing`;
    return [{ line: k + 1, message }];
  });
}

/**
 * True if a comment resembles a check directive: the comment begins with `CHECK` or `error[`, or begins with
 * a misspelled directive name.
 */
function isSlip(comment: string): boolean {
  if (/^(?:CHECK|error\[)/.test(comment)) return true;
  const [head = ""] = comment.split(":");
  const name = head.trim().replaceAll(/[\s_]/g, "-").replace(/\d+$/, "n");
  return (
    distance(name, "RUN") <= 1 ||
    kinds.some((kind) => distance(name, kind === "CHECK-COUNT" ? "CHECK-COUNT-n" : kind) <= 2)
  );
}

/**
 * Returns a failure for each mistake in the checks of a text test, for example an empty text or a check that
 * cannot fail. Returns an empty list if there is no mistake.
 */
export function vacuousChecks(checks: readonly Check[]): CheckFailure[] {
  checkArgument("vacuousChecks", "list", checks);
  const failures: CheckFailure[] = [];
  const bound = new Set<string>();
  checks.forEach((check, k) => {
    const report = (message: string): void => {
      failures.push({ line: check.line, message });
    };
    if (check.kind === "CHECK-EMPTY") {
      if (check.text !== "") report("CHECK-EMPTY looks for an empty line, and has a text");
    } else if (check.text === "") report(`${check.kind} looks for nothing`);
    for (const [, name] of check.text.matchAll(/\[\[(\w+):/g)) {
      if (name !== undefined && bound.has(name))
        report(`[[${name}]] is captured twice: the second use cannot fail`);
      if (name !== undefined) bound.add(name);
    }
    for (const [, name] of check.text.matchAll(/\[\[(\w+)\]\]/g)) {
      if (name !== undefined && !bound.has(name)) report(`[[${name}]] is used before it is captured`);
    }
    const next = checks[k + 1];
    if (check.kind === "CHECK-LABEL" && (next === undefined || next.kind === "CHECK-LABEL")) {
      report("a label without a check under it");
    }
    const positive = checks.some((other) => other.kind !== "CHECK-NOT");
    if (check.kind === "CHECK-NOT" && !positive) report("CHECK-NOT needs a CHECK around it to say where");
    if (["CHECK-NEXT", "CHECK-SAME", "CHECK-EMPTY"].includes(check.kind) && k === 0)
      report(`${check.kind} comes first`);
  });
  return failures;
}

/**
 * Returns the failure of the first check that does not hold for a command's output. Returns undefined if all
 * checks hold.
 */
export function fileCheck(text: string, checks: readonly Check[]): CheckFailure | undefined {
  checkArgument("fileCheck", "text", text);
  checkArgument("fileCheck", "list", checks);
  const failure = firstFailure(text.replaceAll("\r\n", "\n"), checks);
  const clock = otherClock(checks);
  if (failure === undefined || clock === undefined) return failure;
  const pinned = `is pinned under clock ${clock}, and this is clock ${clockVersion}: take its figures again`;
  return { ...failure, message: `${pinned}; ${failure.message}` };
}

/** Returns a clock other than this one that checks state; undefined where they state none. */
function otherClock(checks: readonly Check[]): number | undefined {
  const clocks = checks.flatMap(({ text }) => /\b(?:clock|cost model)"?:? (\d+)\b/.exec(text)?.[1] ?? []);
  return clocks.map(Number).find((clock) => clock !== clockVersion);
}

/**
 * Returns the failure of the first check that does not hold for an output with LF line ends. Returns
 * undefined if all checks hold.
 */
function firstFailure(output: string, checks: readonly Check[]): CheckFailure | undefined {
  const bound = new Map<string, string>();
  let position = 0;
  let lineOfMatch = 0;
  let forbidden: Check[] = [];
  const groups = grouped(checks);
  for (const [k, group] of groups.entries()) {
    const [check] = group;
    if (check === undefined) continue;
    if (check.kind === "CHECK-NOT") {
      forbidden.push(check);
      continue;
    }
    const rest = groups.slice(check.kind === "CHECK-LABEL" ? k + 1 : k).flat();
    const end = pieceEnd(output, position, rest, bound);
    const hit = check.kind === "CHECK-DAG" ? inAnyOrder(output, group, position, end, bound) : undefined;
    const match = hit ?? inOrder(output, check, position, end, bound);
    if ("missing" in match) return missing(output, match.missing, position, lineOfMatch);
    const line = countLines(output, match.start);
    const next = check.kind === "CHECK-NEXT" || check.kind === "CHECK-EMPTY";
    if (next && line !== lineOfMatch + 1) {
      return {
        line: check.line,
        message: `found on line ${line + 1} of the output, not on the next line ${lineOfMatch + 2}`,
      };
    }
    if (check.kind === "CHECK-SAME" && line !== lineOfMatch) {
      return {
        line: check.line,
        message: `found on line ${line + 1} of the output, not on line ${lineOfMatch + 1}`,
      };
    }
    const stray = firstForbidden(output, forbidden, position, match.start, bound);
    if (stray !== undefined) return stray;
    forbidden = [];
    match.captured.forEach((value, name) => bound.set(name, value));
    position = match.end;
    lineOfMatch = countLines(output, match.end);
  }
  return firstForbidden(output, forbidden, position, output.length, bound);
}

/**
 * Returns checks in groups that are matched together. A group has consecutive CHECK-DAG directives, or one
 * other check.
 */
function grouped(checks: readonly Check[]): Check[][] {
  const groups: Check[][] = [];
  for (const check of checks) {
    const last = groups[groups.length - 1];
    if (check.kind === "CHECK-DAG" && last?.[0]?.kind === "CHECK-DAG") last.push(check);
    else groups.push([check]);
  }
  return groups;
}

interface Missing {
  readonly missing: Check;
}

/**
 * Returns the range of the output from the first to the last of a check's matches, in order. The search
 * covers character positions in [from, to). If there are fewer matches than the check requires, returns the
 * check as `missing`.
 */
function inOrder(
  output: string,
  check: Check,
  from: number,
  to: number,
  bound: ReadonlyMap<string, string>,
): Match | Missing {
  const first = find(output, check, from, to, bound);
  let last = first;
  for (let k = 1; last !== undefined && k < (check.count ?? 1); k++)
    last = find(output, check, last.end, to, bound);
  return first === undefined || last === undefined ? { missing: check } : { ...last, start: first.start };
}

/**
 * Returns the range of the output that the matches of a group of checks occupy, in any order and without
 * overlap. Returns the first check without a match as `missing`.
 */
function inAnyOrder(
  output: string,
  group: readonly Check[],
  from: number,
  to: number,
  bound: ReadonlyMap<string, string>,
): Match | Missing {
  const captured = new Map(bound);
  const taken: Match[] = [];
  for (const check of group) {
    let match = find(output, check, from, to, captured);
    for (;;) {
      const [start, end] = [match?.start ?? 0, match?.end ?? 0];
      const over = match && taken.find((other) => start < other.end && other.start < end);
      if (over === undefined) break;
      match = find(output, check, over.end, to, captured);
    }
    if (match === undefined) return { missing: check };
    match.captured.forEach((value, name) => captured.set(name, value));
    taken.push(match);
  }
  return {
    start: Math.min(...taken.map(({ start }) => start)),
    end: Math.max(...taken.map(({ end }) => end)),
    captured,
  };
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly captured: ReadonlyMap<string, string>;
}

/**
 * Returns the first match of a check that starts at a character position in [from, to), and the names that
 * the match captures. Undefined if there is no match.
 */
function find(
  output: string,
  check: Check,
  from: number,
  to: number,
  bound: ReadonlyMap<string, string>,
): Match | undefined {
  if (check.kind === "CHECK-EMPTY") {
    const ended = output.indexOf("\n\n", from);
    return ended === -1 || ended >= to ? undefined : { start: ended + 1, end: ended + 1, captured: bound };
  }
  const { pattern, names } = compile(check.text, bound);
  pattern.lastIndex = from;
  const match = pattern.exec(output);
  if (match === null || match.index >= to) return undefined;
  const captured = new Map(names.map((name, k) => [name, match[k + 1] ?? ""] as const));
  return { start: match.index, end: match.index + match[0].length, captured };
}

/**
 * Returns the character position at which the current section of the output ends: the start of the next
 * CHECK-LABEL match, or the end of the output. `rest` are the remaining checks.
 */
function pieceEnd(
  output: string,
  from: number,
  rest: readonly Check[],
  bound: ReadonlyMap<string, string>,
): number {
  const label = rest.find((check) => check.kind === "CHECK-LABEL");
  if (label === undefined || rest[0] === label) return output.length;
  return find(output, label, from, output.length, bound)?.start ?? output.length;
}

/**
 * Returns the regular expression for a check's text, and the names of the capture groups in order. `bound`
 * maps the names captured by earlier checks to the captured texts.
 */
function compile(text: string, bound: ReadonlyMap<string, string>): { pattern: RegExp; names: string[] } {
  const names: string[] = [];
  const source = text.replaceAll(
    /\{\{(.*?)\}\}|\[\[(\w+):(.*?)\]\]|\[\[(\w+)\]\]|[^{[]+|[{[]/g,
    (
      match,
      regex: string | undefined,
      name: string | undefined,
      inner: string | undefined,
      use: string | undefined,
    ) => {
      if (regex !== undefined) return `(?:${regex})`;
      if (name !== undefined) {
        names.push(name);
        return `(${inner ?? ""})`;
      }
      return escape(use === undefined ? match : (bound.get(use) ?? ""));
    },
  );
  return { pattern: new RegExp(source, "gm"), names };
}

/** Runs of blanks match runs of blanks. */
const escape = (text: string): string =>
  text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/[ \t]+/g, "[ \\t]+");

const countLines = (text: string, end: number): number => text.slice(0, end).split("\n").length - 1;

/**
 * Returns the failure of the first CHECK-NOT whose text occurs at a character position in [from, to);
 * undefined if none occurs.
 */
function firstForbidden(
  output: string,
  forbidden: readonly Check[],
  from: number,
  to: number,
  bound: ReadonlyMap<string, string>,
): CheckFailure | undefined {
  for (const check of forbidden) {
    const match = find(output, check, from, to, bound);
    if (match === undefined) continue;
    return {
      line: check.line,
      message: `found on line ${countLines(output, match.start) + 1} of the output: ${check.text}`,
    };
  }
  return undefined;
}

/**
 * Returns the failure of a check that has no match in the output, with the most similar line of the output.
 * `position` is the character and `line` the line, from 0, at which the search began.
 */
function missing(output: string, check: Check, position: number, line: number): CheckFailure {
  const lines = output.split("\n");
  const word = check.text.split(/[^\w%.]+/).find((piece) => piece.length > 2) ?? "";
  const near = lines.slice(line).find((text) => word !== "" && text.includes(word)) ?? lines[line] ?? "";
  const began = countLines(output, position) + 1;
  if (check.kind === "CHECK-EMPTY")
    return { line: check.line, message: `no line of the output from line ${began} on is empty` };
  const often = check.count === undefined ? "" : `${check.count} times `;
  return {
    line: check.line,
    message: `not found ${often}from line ${began} of the output on: ${check.text}; nearest: ${near.trim()}`,
    nearest: near.trim(),
  };
}
