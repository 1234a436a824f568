/**
 * FileCheck for tilec's own output: substrings that must occur in order, written as comments beside the input.
 *
 *   CHECK: text        occurs after the match before it
 *   CHECK-NEXT: text   on the next line; CHECK-SAME: on the same line; CHECK-NOT: not before the next match
 *   CHECK-LABEL: text  splits the output: checks after it stay within its part
 *
 * `{{regex}}` matches a regular expression, `[[X:regex]]` captures, `[[X]]` is what was captured. A check that cannot
 * fail is an error: nothing to look for, a name captured twice, a label without checks, a NOT without neighbours.
 */
export type CheckKind = "CHECK" | "CHECK-NEXT" | "CHECK-SAME" | "CHECK-NOT" | "CHECK-LABEL";

/** A directive of a text test. */
export interface Check {
  readonly kind: CheckKind;
  readonly text: string;
  /** 1-based line in the test file. */
  readonly line: number;
}

/** Why a text test fails, with the line of its file. */
export interface CheckFailure {
  readonly line: number;
  readonly message: string;
  /** Of a check that finds nothing: the line of the output most like it. */
  readonly nearest?: string;
}

/** A check may stand behind the statement it is about. */
const directive = /\/\/\s*(CHECK(?:-NEXT|-SAME|-NOT|-LABEL)?):(.*)$/;

/** The CHECK lines of a text, in order. */
export function parseChecks(source: string): Check[] {
  return source.split("\n").flatMap((text, k) => {
    const [, kind, wanted] = directive.exec(text) ?? [];
    return kind === undefined || wanted === undefined
      ? []
      : [{ kind: kind as CheckKind, text: wanted.trim(), line: k + 1 }];
  });
}

/** Mistakes in the checks themselves. */
export function vacuousChecks(checks: readonly Check[]): CheckFailure[] {
  const found: CheckFailure[] = [];
  const bound = new Set<string>();
  checks.forEach((check, k) => {
    const report = (message: string): void => {
      found.push({ line: check.line, message });
    };
    if (check.text === "") report(`${check.kind} looks for nothing`);
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
    if ((check.kind === "CHECK-NEXT" || check.kind === "CHECK-SAME") && k === 0)
      report(`${check.kind} comes first`);
  });
  return found;
}

/** The first check that fails, if any. */
export function fileCheck(output: string, checks: readonly Check[]): CheckFailure | undefined {
  const bound = new Map<string, string>();
  let position = 0;
  let lineOfMatch = 0;
  let forbidden: Check[] = [];
  for (const [k, check] of checks.entries()) {
    if (check.kind === "CHECK-NOT") {
      forbidden.push(check);
      continue;
    }
    const part = partEnd(output, position, checks.slice(k + (check.kind === "CHECK-LABEL" ? 1 : 0)), bound);
    const match = find(output, check, position, part, bound);
    if (match === undefined) return missing(output, check, position, lineOfMatch);
    const line = countLines(output, match.start);
    if (check.kind === "CHECK-NEXT" && line !== lineOfMatch + 1) {
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

interface Match {
  readonly start: number;
  readonly end: number;
  readonly captured: ReadonlyMap<string, string>;
}

function find(
  output: string,
  check: Check,
  from: number,
  to: number,
  bound: ReadonlyMap<string, string>,
): Match | undefined {
  const { pattern, names } = compile(check.text, bound);
  pattern.lastIndex = from;
  const match = pattern.exec(output);
  if (match === null || match.index >= to) return undefined;
  const captured = new Map(names.map((name, k) => [name, match[k + 1] ?? ""] as const));
  return { start: match.index, end: match.index + match[0].length, captured };
}

/** Where the part that a label opened ends: at the next label. */
function partEnd(
  output: string,
  from: number,
  rest: readonly Check[],
  bound: ReadonlyMap<string, string>,
): number {
  const label = rest.find((check) => check.kind === "CHECK-LABEL");
  if (label === undefined || rest[0] === label) return output.length;
  return find(output, label, from, output.length, bound)?.start ?? output.length;
}

function compile(text: string, bound: ReadonlyMap<string, string>): { pattern: RegExp; names: string[] } {
  const names: string[] = [];
  const source = text.replaceAll(
    /\{\{(.*?)\}\}|\[\[(\w+):(.*?)\]\]|\[\[(\w+)\]\]|[^{[]+|[{[]/g,
    (
      whole,
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
      return escape(use === undefined ? whole : (bound.get(use) ?? ""));
    },
  );
  return { pattern: new RegExp(source, "gm"), names };
}

/** Runs of blanks match runs of blanks. */
const escape = (text: string): string =>
  text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/[ \t]+/g, "[ \\t]+");

const countLines = (text: string, end: number): number => text.slice(0, end).split("\n").length - 1;

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

function missing(output: string, check: Check, position: number, line: number): CheckFailure {
  const lines = output.split("\n");
  const word = check.text.split(/[^\w%.]+/).find((part) => part.length > 2) ?? "";
  const near = lines.slice(line).find((text) => word !== "" && text.includes(word)) ?? lines[line] ?? "";
  const began = countLines(output, position) + 1;
  return {
    line: check.line,
    message: `not found from line ${began} of the output on: ${check.text}; nearest: ${near.trim()}`,
    nearest: near.trim(),
  };
}
