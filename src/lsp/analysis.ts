/** What an editor asks about a `.tir` text: pure functions of the text, places in lines and columns from 0. */
import {
  byteCount,
  CompileError,
  formatText,
  formatType,
  parseModule,
  ubBuffers,
  ubBytes,
  type Diagnostic,
  type Func,
} from "../../ir/index.js";
import { PassError } from "../../passes/index.js";
import { explain } from "../api/explain.js";
import { Judgements } from "./judgements.js";
import { withProfile } from "../api/with-profile.js";
import { compilingBy, type Settings } from "./settings.js";

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export interface TextRange {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

/** A replacement that makes a diagnostic go away. */
export interface Fix {
  readonly title: string;
  readonly range: TextRange;
  readonly text: string;
}

/** Everything that the parser, the rules and the verifier say, each once. `before`: what was judged of an earlier version. */
export function diagnose(
  text: string,
  file: string,
  settings: Settings = {},
  before = new Judgements(compilingBy(settings)),
): Diagnostic[] {
  const { module, diagnostics } = parseModule(text, file, settings.operators);
  const funcs = module.funcs.map((func) => withProfile(func, settings.profile));
  return [...diagnostics, ...before.of(funcs, text)];
}

export function rangeOf({ span }: Diagnostic): TextRange {
  const [line, column] = [(span?.line ?? 1) - 1, (span?.column ?? 1) - 1];
  return { start: { line, column }, end: { line, column: column + Math.max(1, span?.length ?? 1) } };
}

/** A flag's value as an entry of a schedule: `[8, 64]`, `{kv = gm, bt = ub}` or a word. */
const entryText = (value: string): string => {
  if (/^\d/.test(value)) return `[${value.replaceAll(",", ", ")}]`;
  return value.includes("=") ? `{${value.replaceAll(",", ", ").replaceAll("=", " = ")}}` : value;
};

/** The hint's flags as entries of the schedule. Undefined for a hint in words, and for one that would not help. */
export function fixOf(
  text: string,
  file: string,
  diagnostic: Diagnostic,
  settings: Settings = {},
  before = new Judgements(compilingBy(settings)),
): Fix | undefined {
  const entries = [...(diagnostic.hint ?? "").matchAll(/--(tile|view|order|profile|residency) (\S+)/g)].map(
    ([, key = "", value = ""]) => `${key} = ${entryText(value)}`,
  );
  const lines = text.split("\n");
  const head = headBefore(lines, (diagnostic.span?.line ?? 1) - 1);
  if (entries.length === 0 || head === undefined) return undefined;
  const old = lines[head] ?? "";
  const after = withSchedule(old, entries);
  const fixed = lines.map((line, k) => (k === head ? after : line)).join("\n");
  const still = diagnose(fixed, file, settings, before).some(
    ({ code, severity, span }) =>
      severity === "error" && (code === diagnostic.code || span?.line === head + 1),
  );
  if (still) return undefined;
  const range = { start: { line: head, column: 0 }, end: { line: head, column: old.length } };
  return { title: diagnostic.hint ?? "", range, text: after };
}

/** The line of the function that a line is in. */
function headBefore(lines: readonly string[], line: number): number | undefined {
  for (let k = Math.min(line, lines.length - 1); k >= 0; k--) if (/^\s*func\b/.test(lines[k] ?? "")) return k;
  return undefined;
}

function withSchedule(head: string, entries: readonly string[]): string {
  const match = /schedule\s*\{((?:[^{}]|\{[^{}]*\})*)\}/.exec(head);
  if (match === null) return head.replace(/\s*\{\s*$/, ` schedule {${entries.join(", ")}} {`);
  let inside = match[1] ?? "";
  for (const entry of entries) {
    const [key = ""] = entry.split(" ");
    const old = new RegExp(`\\b${key}\\s*=\\s*(?:\\[[^\\]]*\\]|\\{[^}]*\\}|[\\w-]+)`);
    inside = old.test(inside) ? inside.replace(old, entry) : `${inside}, ${entry}`;
  }
  return head.replace(match[0], `schedule {${inside}}`);
}

/** The word at a place, a name with its `%`. */
function wordAt(text: string, { line, column }: TextPosition): string | undefined {
  const row = text.split("\n")[line] ?? "";
  return [...row.matchAll(/%?[\w.-]+/g)].find(
    ({ index, 0: word }) => index <= column && column <= index + word.length,
  )?.[0];
}

/** The function whose text holds a line. */
function funcAt({ funcs }: { readonly funcs: readonly Func[] }, line: number): Func | undefined {
  return [...funcs].reverse().find(({ span }) => span !== undefined && span.line - 1 <= line);
}

/** On a name, its type and bytes; elsewhere in a function above the tile level, each rule's verdict with its source, and the footprint. */
export function hover(
  text: string,
  file: string,
  place: TextPosition,
  settings: Settings = {},
): string | undefined {
  const func = funcAt(parseModule(text, file, settings.operators).module, place.line);
  const word = wordAt(text, place);
  if (func === undefined || word === undefined) return undefined;
  if (word.startsWith("%")) return describeName(func, word.slice(1));
  if (func.level === "tile") return undefined;
  const row = text.split("\n")[place.line] ?? "";
  return /\bschedule\b|\btile\b|\bprofile\b/.test(row) ? describeSchedule(func, settings) : undefined;
}

function describeName(func: Func, name: string): string | undefined {
  const operand = func.operands.find((candidate) => candidate.name === name);
  if (operand !== undefined)
    return `%${name}: ${formatType(operand.type)}, ${byteCount(operand.type)} B, ${operand.role}`;
  const buffer = func.level === "tile" ? ubBuffers(func).get(name) : undefined;
  if (buffer === undefined) return undefined;
  const at = buffer.addresses === undefined ? "" : `, at ${buffer.addresses.join(" and ")}`;
  return `%${name}: ${formatType(buffer)} in the unified buffer, ${ubBytes(buffer)} B${at}`;
}

function describeSchedule(func: Func, settings: Settings): string | undefined {
  try {
    const { rules, footprint, target } = explain(withProfile(func, settings.profile), compilingBy(settings));
    const bytes = footprint.parts.map(({ part, counted }) => `${part} ${counted} B`).join(" + ");
    return [
      `${bytes} = ${footprint.bytes} B of ${footprint.budget} B on ${target}`,
      ...rules.map(
        ({ pass, rule, detail, source }) => `${pass ? "pass" : "FAIL"} ${rule}: ${detail} (${source})`,
      ),
    ].join("\n\n");
  } catch (thrown) {
    if (thrown instanceof CompileError || (thrown instanceof PassError && !thrown.builtIn)) return undefined;
    throw thrown;
  }
}

/** Where the name at a place is introduced: a parameter, a buffer, a loop variable or a result. */
export function definition(text: string, place: TextPosition): TextRange | undefined {
  const word = wordAt(text, place);
  const lines = text.split("\n");
  const head = headBefore(lines, place.line);
  if (word?.startsWith("%") !== true || head === undefined) return undefined;
  const introduced = new RegExp(`${word.replaceAll(/[.-]/g, "\\$&")}(?=\\s*(?::|=))`);
  for (let line = head; line < lines.length; line++) {
    const code = (lines[line] ?? "").replace(/\/\/.*$/, "");
    if (line > head && /^\s*func\b/.test(code)) return undefined;
    const column = code.search(introduced);
    if (column >= 0) return { start: { line, column }, end: { line, column: column + word.length } };
  }
  return undefined;
}

/** The canonical text, comments and all; undefined for text that does not parse. */
export function formatted(text: string, file: string): string | undefined {
  const result = formatText(text, file);
  return result.ok ? result.text : undefined;
}
