/**
 * Completions at a position of a `.tir` text: operators, their attributes, schedule entries and their words.
 */
import {
  entryInText,
  findOp,
  opDefs,
  commonName,
  scheduleEntries,
  targets,
  wordsOf,
  type Operators,
} from "../../ir/index.js";
import type { TextPosition } from "./analysis.js";

/**
 * Completion that the language server offers to an editor. `label`: text to insert. `detail`: description.
 */
export interface Completion {
  readonly label: string;
  readonly detail: string;
}

/**
 * Result of a completion request: the completions at a position of a text, and the column where the completed
 * word begins.
 */
export interface Completions {
  /** Column, from 0, where the word to complete begins. */
  readonly from: number;
  readonly options: readonly Completion[];
}

const entries: readonly Completion[] = Object.values(scheduleEntries).map(({ text, help }) => ({
  label: `${text} = `,
  detail: help,
}));

const withDetail = (words: readonly string[], detail: string): readonly Completion[] =>
  words.map((label) => ({ label, detail }));

/**
 * Returns the words that a schedule entry takes, by the name of the entry in a text; undefined if the entry
 * takes numbers.
 */
function entryValues(name: string): readonly Completion[] | undefined {
  const entry = entryInText(name);
  if (entry === undefined) return undefined;
  const words = wordsOf(entry);
  return words.length === 0 ? undefined : withDetail(words, entry.help);
}

/**
 * Returns the completions at a position of a `.tir` text; undefined if there are none. The position counts
 * lines and columns from 0. `operators`: operators that the text may name.
 */
export function completions(
  text: string,
  { line, column }: TextPosition,
  operators: Operators = opDefs,
): Completions | undefined {
  const row = (text.split("\n")[line] ?? "").slice(0, column);
  const word = /[\w.-]*$/.exec(row)?.[0] ?? "";
  const before = row.slice(0, row.length - word.length);
  const options = optionsAfter(before, operators);
  return options === undefined ? undefined : { from: before.length, options };
}

/**
 * Returns the completions for the cursor position after the text `before`: target names, operators, schedule
 * entries or attributes. Undefined if there are none.
 */
function optionsAfter(before: string, operators: Operators): readonly Completion[] | undefined {
  if (/\btarget\("$/.test(before))
    return Object.values(targets).map(({ name, title }) => ({ label: name, detail: title }));
  if (/%\w+\s*=\s*$/.test(before))
    return operators.map((def) => ({ label: def.name, detail: commonName(def, operators) }));
  const schedule = /\bschedule\s*\{((?:[^{}]|\{[^{}]*\})*)$/.exec(before)?.[1];
  if (schedule !== undefined) return inList(schedule, entries, entryValues);
  const [, op = "", inside = ""] = /=\s*([\w.]+)\s+%[^{]*\{([^}]*)$/.exec(before) ?? [];
  const def = findOp(op, operators);
  if (def === undefined) return undefined;
  const attrs = Object.entries(def.attrs);
  return inList(
    inside,
    attrs.map(([name, { help }]) => ({ label: `${name} = `, detail: help })),
    (name) => {
      const spec = attrs.find(([key]) => key === name)?.[1];
      return spec?.kind === "word"
        ? withDetail(
            spec.words.map((word) => `"${word}"`),
            spec.help,
          )
        : undefined;
    },
  );
}

/**
 * Returns the completions for the end of a list of entries `name = value`: `valuesOf(name)` after an equals
 * sign, and `names` at the start of an entry. Undefined at any other place. `inside`: text of the list before
 * the cursor.
 */
function inList(
  inside: string,
  names: readonly Completion[],
  valuesOf: (name: string) => readonly Completion[] | undefined,
): readonly Completion[] | undefined {
  const [, name] = /(\w+)\s*=\s*$/.exec(inside) ?? [];
  if (name !== undefined) return valuesOf(name);
  return /(^|,)\s*$/.test(inside.replaceAll(/\[[^\]]*\]|\{[^}]*\}/g, "")) ? names : undefined;
}
