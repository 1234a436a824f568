/** Queries of an editor about a `.tir` text: pure functions of the text, with lines and columns from 0. */
import {
  baseFill,
  byteCount,
  commonName,
  CompileError,
  dialectOf,
  findOp,
  formatText,
  formatType,
  inputsOf,
  isRead,
  isScatter,
  opDefs,
  parseModule,
  ubBuffers,
  ubBytes,
  type Diagnostic,
  type Func,
  type Operand,
  type Operators,
} from "../../ir/index.js";
import { entryOf } from "../../ir/entry-of.js";
import { PassError } from "../../passes/index.js";
import { explain } from "../api/explain.js";
import { Judgements } from "./judgements.js";
import { withProfile } from "../api/with-profile.js";
import { compilingBy, type Settings } from "./settings.js";
import { describeWord } from "./words.js";

/** Position in a text, with line and column numbers from 0. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Range of a text from `start` to `end`; `end` is excluded. */
export interface TextRange {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

/**
 * Replacement of a text range that resolves a diagnostic. `title`: text by which an editor offers the
 * replacement.
 */
export interface Fix {
  readonly title: string;
  readonly range: TextRange;
  readonly text: string;
}

/**
 * Returns the diagnostics of a `.tir` text from the parser, the operator rules and the verifier, without
 * duplicates. `before`: cache from an earlier version of the text.
 */
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

/**
 * Returns the text range of a diagnostic, at least one column long. A diagnostic without a source position
 * gets the first character of the text.
 */
export function rangeOf({ span }: Diagnostic): TextRange {
  const [line, column] = [(span?.line ?? 1) - 1, (span?.column ?? 1) - 1];
  return { start: { line, column }, end: { line, column: column + Math.max(1, span?.length ?? 1) } };
}

/** Returns a flag's value as an entry of a schedule: `[8, 64]`, `{kv = gm, bt = ub}` or a word. */
const entryText = (value: string): string => {
  if (/^\d/.test(value)) return `[${value.replaceAll(",", ", ")}]`;
  return value.includes("=") ? `{${value.replaceAll(",", ", ").replaceAll("=", " = ")}}` : value;
};

/**
 * Returns a fix that adds the schedule flags in a diagnostic's hint, for example `--tile`, to the function's
 * schedule. Undefined if the hint has no schedule flags, or if the fix would not resolve the diagnostic.
 */
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

/**
 * Returns the line, from 0, at which the function around a line begins; undefined if no function begins at or
 * before the line.
 */
function headBefore(lines: readonly string[], line: number): number | undefined {
  for (let k = Math.min(line, lines.length - 1); k >= 0; k--) if (/^\s*func\b/.test(lines[k] ?? "")) return k;
  return undefined;
}

/**
 * Returns the first line of a function, `head`, with schedule entries added or replaced. An entry has the
 * form `key = value`.
 */
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

/**
 * Returns the word at a position of a text, and the column, from 0, where the word begins. The word of a name
 * includes `%`. Undefined if there is no word.
 */
function wordAt(
  text: string,
  { line, column }: TextPosition,
): { readonly word: string; readonly start: number } | undefined {
  const row = text.split("\n")[line] ?? "";
  const result = [...row.matchAll(/%?[\w.-]+/g)].find(
    ({ index, 0: word }) => index <= column && column <= index + word.length,
  );
  return result === undefined ? undefined : { word: result[0], start: result.index };
}

/**
 * Returns the last function that begins at or before a line, which counts from 0; undefined if there is none.
 */
function funcAt({ funcs }: { readonly funcs: readonly Func[] }, line: number): Func | undefined {
  return [...funcs].reverse().find(({ span }) => span !== undefined && span.line - 1 <= line);
}

/**
 * Returns the hover text for a position in a `.tir` text; undefined if there is none. A name gives its type
 * and bytes; an operator, attribute or word of a statement gives its meaning. Elsewhere on a line with
 * `schedule`, `tile` or `profile`, the text is the UB bytes and the verdict of each rule.
 */
export function hover(
  text: string,
  file: string,
  place: TextPosition,
  settings: Settings = {},
): string | undefined {
  const func = funcAt(parseModule(text, file, settings.operators).module, place.line);
  const result = wordAt(text, place);
  if (func === undefined || result === undefined) return undefined;
  const { word, start } = result;
  if (word.startsWith("%")) return describeName(func, word.slice(1));
  const lines = text.split("\n");
  const row = lines[place.line] ?? "";
  const above = lines.slice(0, place.line).map((line) => `${line.replace(/\/\/.*/, "")}\n`);
  const meaning =
    describeOfOperator(row, word, start, settings.operators) ??
    describeWord(above.join(""), row, word, start);
  if (meaning !== undefined || func.level === "tile") return meaning;
  return /\bschedule\b|\btile\b|\bprofile\b/.test(row) ? describeSchedule(func, settings) : undefined;
}

/**
 * Returns the meaning of the word `word` in the line `row`: the called operator, or an attribute of that
 * operator. Undefined for any other word. `start`: column of the word, from 0.
 */
function describeOfOperator(
  row: string,
  word: string,
  start: number,
  operators: Operators = opDefs,
): string | undefined {
  const [statement = "", name = ""] = /^\s*%\w+\s*=\s*([\w.]+)/.exec(row) ?? [];
  const def = findOp(name, operators);
  if (def === undefined || start + word.length < statement.length) return undefined;
  if (start + word.length === statement.length)
    return `${word}: ${commonName(def, operators)} of ${dialectOf(def)}`;
  const isKey = /^\s*=/.test(row.slice(start + word.length));
  const help = isKey ? entryOf(def.attrs, word)?.help : undefined;
  return help === undefined ? undefined : `${word}: ${help}`;
}

/**
 * Returns the role of a function's operand as text, for example `data`. An input of a scatter is `base`,
 * `indices` or `updates`.
 */
function roleOf(func: Func, operand: Operand): string {
  const table = inputsOf(func).indexOf(operand);
  const role =
    table < 0 || func.level !== "access" || !isScatter(func.map)
      ? operand.role
      : func.map.indices.some(({ value }) => isRead(value) && value.table === table)
        ? "indices"
        : table === 0 && baseFill(func.map.write) === undefined
          ? "base"
          : "updates";
  return operand.inout === true ? `${role}, written in place` : role;
}

/**
 * Returns the type and the size in bytes of a named operand, or of a named buffer in the unified buffer (UB),
 * as text; undefined for other names.
 */
function describeName(func: Func, name: string): string | undefined {
  const operand = func.operands.find((candidate) => candidate.name === name);
  if (operand !== undefined)
    return `%${name}: ${formatType(operand.type)}, ${byteCount(operand.type)} B, ${roleOf(func, operand)}`;
  const buffer = func.level === "tile" ? ubBuffers(func).get(name) : undefined;
  if (buffer === undefined) return undefined;
  const at = buffer.addresses === undefined ? "" : `, at ${buffer.addresses.join(" and ")}`;
  return `%${name}: ${formatType(buffer)} in the unified buffer, ${ubBytes(buffer)} B${at}`;
}

/**
 * Returns text about a function's schedule: UB bytes, and the verdict and source of each rule. Undefined if
 * the function does not compile or a custom pass fails.
 */
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

/**
 * Returns the text range in which the name at a position is defined: as a parameter, a buffer, a loop
 * variable or a result. Undefined if there is no name at the position or no definition.
 */
export function definition(text: string, place: TextPosition): TextRange | undefined {
  const word = wordAt(text, place)?.word;
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

/** Returns a `.tir` text in canonical form, comments included; undefined if the text does not parse. */
export function formatted(text: string, file: string): string | undefined {
  const result = formatText(text, file);
  return result.ok ? result.text : undefined;
}
