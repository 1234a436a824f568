/** What may be written at a place of a `.tir` text: operators, their attributes, entries of a schedule and their words. */
import {
  findOp,
  opDefs,
  commonName,
  printSchedule,
  profiles,
  residencies,
  budgetRules,
  targets,
  type Schedule,
} from "../../ir/index.js";
import type { Place } from "./analysis.js";

export interface Completion {
  readonly label: string;
  readonly detail: string;
}

export interface Completions {
  /** Column, from 0, at which what is completed begins. */
  readonly from: number;
  readonly options: readonly Completion[];
}

/** An entry of each kind: its name is what printing gives it. */
const every: Required<Schedule> = {
  tile: [1],
  view: [1],
  profile: "strict",
  residency: "ub",
  order: [0],
  buffers: 1,
  cores: 1,
  budgetRule: "full",
  ubBytes: 1,
};

const entryHelp: Readonly<Record<keyof Schedule, string>> = {
  tile: "extents over the output dims, in elements",
  view: "splits the iteration before the tile does",
  profile: "full-load rule",
  residency: "where the data lives",
  order: "output dims, outermost loop first",
  buffers: "copies of what the loops move",
  cores: "cores that share the tasks",
  budgetRule: "what counts against the unified buffer",
  ubBytes: "unified buffer size, in bytes",
};

const entries: readonly Completion[] = (Object.keys(every) as (keyof Schedule)[]).map((key) => {
  const printed = printSchedule({ [key]: every[key] });
  return { label: `${printed.slice(0, printed.indexOf(" "))} = `, detail: entryHelp[key] };
});

const wordsOf = (words: readonly string[], detail: string): readonly Completion[] =>
  words.map((label) => ({ label, detail }));

const values: Readonly<Record<string, readonly Completion[]>> = {
  profile: wordsOf(profiles, entryHelp.profile),
  residency: wordsOf(residencies, entryHelp.residency),
  budget_rule: wordsOf(budgetRules, entryHelp.budgetRule),
};

/** Undefined where nothing is known to fit. */
export function completions(text: string, { line, column }: Place): Completions | undefined {
  const row = (text.split("\n")[line] ?? "").slice(0, column);
  const word = /[\w.-]*$/.exec(row)?.[0] ?? "";
  const before = row.slice(0, row.length - word.length);
  const options = optionsAfter(before);
  return options === undefined ? undefined : { from: before.length, options };
}

function optionsAfter(before: string): readonly Completion[] | undefined {
  if (/\btarget\("$/.test(before))
    return Object.values(targets).map(({ name, title }) => ({ label: name, detail: title }));
  if (/%\w+\s*=\s*$/.test(before)) return opDefs.map((def) => ({ label: def.name, detail: commonName(def) }));
  const schedule = /\bschedule\s*\{((?:[^{}]|\{[^{}]*\})*)$/.exec(before)?.[1];
  if (schedule !== undefined) return inList(schedule, entries, (name) => values[name]);
  const [, op = "", inside = ""] = /=\s*([\w.]+)\s+%[^{]*\{([^}]*)$/.exec(before) ?? [];
  const def = findOp(op);
  if (def === undefined) return undefined;
  const attrs = Object.entries(def.attrs);
  return inList(
    inside,
    attrs.map(([name, { help }]) => ({ label: `${name} = `, detail: help })),
    (name) => {
      const spec = attrs.find(([known]) => known === name)?.[1];
      return spec?.kind === "word"
        ? wordsOf(
            spec.words.map((word) => `"${word}"`),
            spec.help,
          )
        : undefined;
    },
  );
}

/** Names at the start of an entry, its values behind the equals sign. */
function inList(
  inside: string,
  names: readonly Completion[],
  valuesOf: (name: string) => readonly Completion[] | undefined,
): readonly Completion[] | undefined {
  const [, name] = /(\w+)\s*=\s*$/.exec(inside) ?? [];
  if (name !== undefined) return valuesOf(name);
  return /(^|,)\s*$/.test(inside.replaceAll(/\[[^\]]*\]|\{[^}]*\}/g, "")) ? names : undefined;
}
