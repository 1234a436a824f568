/** Records that come from outside TypeScript's sight, options above all: a table says what each field takes. */
import type { Code } from "../ir/codes.js";
import { error, type Diagnostic } from "../ir/diagnostic.js";

export type Field =
  | {
      readonly code: Code;
      /** In words, after "it takes". */
      readonly takes: string;
      readonly holds: (value: unknown) => boolean;
      /** The words of an enumeration. */
      readonly words?: readonly string[];
    }
  /** A field with fields of its own; `path` names it. */
  | {
      readonly code: Code;
      readonly takes: string;
      readonly problems: (value: unknown, path: string) => readonly Diagnostic[];
    };

/** One field for each key of a type: a key that the type gains is missed by the compiler here. */
export type Fields<T> = Readonly<Record<keyof Required<T>, Field>>;

export const oneOf = (words: readonly string[], code: Code = "TC702"): Field => ({
  code,
  takes: words.join(" or "),
  holds: (value) => typeof value === "string" && words.includes(value),
  words,
});

export const wholeNumber = (least: number, code: Code = "TC702"): Field => ({
  code,
  takes: least === -Infinity ? "a whole number" : `a whole number, ${least} or more`,
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= least,
});

export const yesOrNo: Field = {
  code: "TC702",
  takes: "true or false",
  holds: (value) => typeof value === "boolean",
};

export const callable: Field = {
  code: "TC702",
  takes: "a function",
  holds: (value) => typeof value === "function",
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

export interface FieldOptions {
  /** Of an unknown field; default TC702. */
  readonly code?: Code;
  /** Stands before the fields' names in messages: `data.`. */
  readonly path?: string;
  /** Other fields are welcome: the value is more than what is asked of it. */
  readonly open?: boolean;
  /** Fields that must be there. */
  readonly needs?: readonly string[];
}

/** The word that was meant; the caller's, because nothing here may depend on a package. */
export type Suggest = (word: string, words: readonly string[]) => string | undefined;

/**
 * Every field of `value` that the table does not have or whose value it does not take. A field that is undefined is
 * absent.
 */
export function checkFields(
  what: string,
  value: unknown,
  fields: Readonly<Record<string, Field>>,
  { code = "TC702", path = "", open = false, needs = [] }: FieldOptions = {},
  suggest: Suggest = () => undefined,
): Diagnostic[] {
  const names = Object.keys(fields);
  if (!isObject(value)) {
    return [error(code, `${what} takes an object with ${names.join(", ")}, not ${shown(value)}`)];
  }
  const meant = (word: string, words: readonly string[]): { readonly hint?: string } => {
    const near = suggest(word, words);
    return near === undefined ? {} : { hint: `did you mean ${near}?` };
  };
  const found: Diagnostic[] = [];
  for (const name of open ? [] : Object.keys(value)) {
    if (Object.hasOwn(fields, name)) continue;
    const message = `${what} has no ${path}${name}; it has ${names.join(", ")}`;
    found.push(error(code, message, meant(name, names)));
  }
  for (const [name, field] of Object.entries(fields)) {
    const given = value[name];
    if (given === undefined) {
      if (needs.includes(name))
        found.push(error(field.code, `${what} lacks ${path}${name}; it takes ${field.takes}`));
    } else if ("problems" in field) found.push(...field.problems(given, `${path}${name}`));
    else if (!field.holds(given)) {
      const hint = typeof given === "string" ? meant(given, field.words ?? []) : {};
      const message = `${path}${name} is ${shown(given)}; it takes ${field.takes}`;
      found.push(error(field.code, message, hint));
    }
  }
  return found;
}

const longest = 60;
const mostEntries = 8;

/** A value in a message, short; whatever it is, this does not throw. */
export function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "string") {
    return `${JSON.stringify(value.slice(0, longest))}${value.length > longest ? "…" : ""}`;
  }
  if (!isObject(value)) return String(value);
  if (ArrayBuffer.isView(value)) return `a ${kindOf(value)} of ${value.byteLength} bytes`;
  if (!Array.isArray(value)) return "an object";
  const entries = value.slice(0, mostEntries).map((entry) => (isObject(entry) ? "…" : shown(entry)));
  return `[${[...entries, ...(value.length > mostEntries ? ["…"] : [])].join(", ")}]`;
}

/** `Float32Array` and its kin, of whatever realm: `instanceof` knows those of its own alone. */
export const kindOf = (value: ArrayBufferView): string =>
  Object.prototype.toString.call(value).slice("[object ".length, -1);
