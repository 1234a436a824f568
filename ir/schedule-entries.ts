/**
 * The entries of a schedule: how each is written, what it means, what holds where nobody gives it. Texts,
 * flags, checks of options, case files, completions and forms derive from this table.
 */
import { checkArgument } from "./argument.js";
import { defaultProfile } from "./profile.js";
import {
  budgetRules,
  gatherClasses,
  profiles,
  residencies,
  rotations,
  type EntryValue,
  type ResolvedSchedule,
  type Schedule,
} from "./schedule.js";
import type { Target } from "./target.js";
import type { Shape } from "./types.js";

/**
 * Whole numbers, one for each dim of the output (of the domain, for a scatter): `[8, 64]` in a text, `8,64`
 * as a flag.
 */
interface ListForm {
  readonly form: "list";
  /** Value that the hint of an invalid flag shows. */
  readonly example: string;
  /** Description of the value that the library's option takes, in words. */
  readonly takes: string;
}

/** A whole number. */
interface CountForm {
  readonly form: "count";
  /** Unit of the number: a flag takes `64KiB`, too. */
  readonly unit?: "bytes";
}

interface WordForm<Word> {
  readonly form: "word";
  readonly words: readonly Word[];
}

/**
 * One value for all operands, or a value for each operand by its key: `{kv = gm, bt = ub}` in a text,
 * `kv=gm,bt=ub` as a flag.
 */
interface ByOperandForm<All, Each> {
  readonly form: "by-operand";
  readonly all: readonly All[];
  readonly each: readonly Each[];
  /** Description of the value that the library's option takes, in words. */
  readonly takes: string;
  /** Message for a flag with an invalid value. `write` states what to type instead. */
  readonly rule: string;
  readonly write: string;
}

/** The form that fits the values of an entry. */
type FormOf<T> = [T] extends [Shape]
  ? ListForm
  : [T] extends [number]
    ? CountForm
    : [T] extends [string]
      ? WordForm<T>
      : ByOperandForm<Extract<T, string | number>, Extract<T, Readonly<Record<string, unknown>>>[string]>;

interface Row<T> {
  /** Name of the value in `--help`. */
  readonly argument: string;
  readonly help: string;
  /** Text that `--help` appends to `help`. */
  readonly usage?: string;
  /** True if the compiler and searches choose among several values where the entry is absent. */
  readonly searched: boolean;
  /** Stays open where nobody gives it: what it means follows from the gather and all other entries. */
  readonly derived?: true;
  /** Returns the value of an absent entry on a target. Absent where the value depends on the gather too. */
  readonly default?: (target: Target) => T;
}

/** In the order in which entries are printed. */
const rows = {
  tile: {
    form: "list",
    argument: "shape",
    help: "extents over the output dims",
    usage: ", such as 8,1024",
    example: "8,1024",
    takes: "a list of numbers, one for each output dim",
    searched: true,
  },
  view: {
    form: "list",
    argument: "shape",
    help: "view shape: splits the iteration before the tile does",
    example: "8,1024",
    takes: "a list of numbers, one for each output dim",
    searched: true,
  },
  profile: {
    form: "word",
    words: profiles,
    argument: "name",
    help: "full-load rule",
    searched: false,
    derived: true,
    default: () => defaultProfile,
  },
  residency: {
    form: "by-operand",
    all: residencies,
    each: ["ub", "gm"],
    argument: "name|list",
    help: "where the data lives",
    usage: ": ub, gm, auto or kv=gm,bt=ub",
    takes: `ub or gm or auto, or the first two by operand, such as { kv: "gm", bt: "ub" }`,
    rule: "a residency of an operand is ub or gm",
    write: "write --residency ub, gm or auto, or by operand --residency kv=gm,bt=ub",
    searched: true,
    default: (target) => target.defaultResidency,
  },
  order: {
    form: "list",
    argument: "dims",
    help: "output dims, outermost loop first",
    usage: ", such as 1,0",
    example: "1,0",
    takes: "a list of the output dims, outermost loop first",
    searched: true,
  },
  buffers: {
    form: "by-operand",
    all: [1, 2],
    each: [1, 2],
    argument: "n|list",
    help: "copies of what loops move",
    usage: ": 2, or indices=2,output=2",
    takes: "1 or 2, or these by operand, such as { indices: 2, output: 2 }",
    rule: "the number of copies must be 1 or 2",
    write: "write --buffers 2 or --buffers indices=2,output=2",
    searched: true,
  },
  cores: {
    form: "count",
    argument: "n",
    help: "cores that share the tasks",
    searched: false,
    default: (target) => target.cores,
  },
  budgetRule: {
    form: "word",
    words: budgetRules,
    argument: "rule",
    help: "what counts against UB",
    searched: false,
    default: () => "full",
  },
  ubBytes: {
    form: "count",
    unit: "bytes",
    argument: "bytes",
    help: "unified buffer size in bytes",
    usage: ": 65536 or 64KiB",
    searched: false,
    default: (target) => target.ubBytes,
  },
  lowering: {
    form: "word",
    words: gatherClasses,
    argument: "class",
    help: "instructions of the gather, in place of the fastest",
    searched: false,
    derived: true,
  },
  rotate: {
    form: "word",
    words: rotations,
    argument: "word",
    help: "let cores load shared slabs in different order",
    searched: false,
    derived: true,
  },
} as const satisfies {
  readonly [K in keyof Schedule]-?: Row<Required<Schedule>[K]> & FormOf<Required<Schedule>[K]>;
};

type Rows = typeof rows;

/** Key of a schedule entry whose value a search chooses if the user gives none. */
export type SearchedEntry = { [K in keyof Rows]: Rows[K]["searched"] extends true ? K : never }[keyof Rows];

/** Entries whose value depends on the gather where they are open. */
type OptionalEntry = {
  [K in keyof Rows]: Rows[K] extends { readonly default: unknown } ? never : K;
}[keyof Rows];

/** Description of a schedule entry: the names in texts and flags, the type of the value, and the default. */
export type ScheduleEntry = Row<EntryValue> & {
  readonly key: keyof Schedule;
  /** Its name in a text: `ub_bytes`. */
  readonly text: string;
  /** Its flag, without the dashes: `ub-bytes`. */
  readonly flag: string;
} & (ListForm | CountForm | WordForm<string> | ByOperandForm<string | number, string | number>);

const keys = Object.keys(rows) as readonly (keyof Schedule)[];

/**
 * Returns a camel-case key with `mark` before each capital letter, in lower case: `ubBytes` is `ub_bytes` in
 * a text and `--ub-bytes` as a flag.
 */
const withBreaks = (key: string, mark: string): string =>
  key.replaceAll(/[A-Z]/g, (letter) => mark + letter.toLowerCase());

const named = (key: keyof Schedule): ScheduleEntry => ({
  key,
  text: withBreaks(key, "_"),
  flag: withBreaks(key, "-"),
  ...rows[key],
});

/** Descriptions of all schedule entries, keyed by entry, in print order. */
export const scheduleEntries = Object.fromEntries(keys.map((key) => [key, named(key)])) as Readonly<
  Record<keyof Schedule, ScheduleEntry>
>;

/** Returns the description of the schedule entry with the given text name; undefined if there is none. */
export const entryInText = (name: string): ScheduleEntry | undefined =>
  Object.values(scheduleEntries).find(({ text }) => text === name);

/**
 * Returns the words that are valid as the whole value of a schedule entry. The list is empty for an entry
 * that takes numbers.
 */
export function wordsOf(entry: ScheduleEntry): readonly string[] {
  switch (entry.form) {
    case "list":
    case "count":
      return [];
    case "word":
      return entry.words;
    case "by-operand":
      return entry.all.filter((value) => typeof value === "string");
  }
}

/** Returns a copy of a schedule with only the schedule entries that are defined. */
export const givenEntries = (from: Schedule): Schedule =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));

const defaults = keys.flatMap((key) => {
  const { default: defaultOf } = scheduleEntries[key];
  return defaultOf === undefined ? [] : [[key, defaultOf] as const];
});

/**
 * Returns the default values of schedule entries on a target. Schedule entries whose default also depends on
 * the gather are not included.
 */
export function defaultsOn(target: Target): Required<Omit<Schedule, OptionalEntry>> {
  const entries: Partial<Record<keyof Schedule, EntryValue>> = {};
  for (const [key, defaultOf] of defaults) entries[key] = defaultOf(target);
  return entries as Required<Omit<Schedule, OptionalEntry>>;
}

/**
 * True if a schedule has a value for each schedule entry and no residency `auto`. Entries that are derived
 * from the gather may be absent. Throws a CompileError (TC702) if the argument is not a schedule.
 */
export function isResolved(schedule: Schedule): schedule is ResolvedSchedule {
  checkArgument("isResolved", "schedule", schedule);
  return (
    keys.every((key) => schedule[key] !== undefined || scheduleEntries[key].derived === true) &&
    schedule.residency !== "auto"
  );
}
