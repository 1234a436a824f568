/** Records that TypeScript does not check, such as options and files: a table says what each field takes. */
import type { Code } from "../ir/codes.js";
import { error, type Diagnostic } from "../ir/diagnostic.js";

/** JSON Schema (draft-07) of a value. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * Validation rule for a value. `holds` tests the complete value; `problems` returns the diagnostics of the
 * value's members.
 */
export type Field = {
  readonly code: Code;
  /** Valid values in words, for messages: the text after `it takes`. */
  readonly takes: string;
  /** JSON Schema of valid values for editors; absent if it follows from the other fields. */
  readonly schema?: Schema;
} & (
  | {
      readonly holds: (value: unknown) => boolean;
      /** The words of an enumeration. */
      readonly words?: readonly (string | number)[];
      /** The word of the enumeration that another name stands for. */
      readonly meaning?: (name: string) => string | undefined;
    }
  /**
   * A field with parts of its own; `path` names it, and is empty for the value that is checked as a whole.
   */
  | {
      readonly problems: (value: unknown, path: string, suggest?: Suggest) => readonly Diagnostic[];
      /** The field of a list's entries. */
      readonly entry?: Field;
      /** The field of the values by name. */
      readonly each?: Field;
      /** The fields of a record, and how it is held to them. */
      readonly fields?: Table;
      readonly options?: FieldOptions;
    }
);

/** Validation rules by field name, with one rule for each key of a type. */
export type Fields<T> = Readonly<Record<keyof Required<T>, Field>>;

type Table = Readonly<Record<string, Field>>;

const isText = (value: unknown): value is string => typeof value === "string";

/**
 * Returns a validation rule that tests a value as a whole with `holds`. `takes`: description of valid values
 * in messages. `schema`: JSON Schema of valid values for editors.
 */
export const leaf = (
  takes: string,
  schema: Schema,
  holds: (value: unknown) => boolean,
  code: Code = "TC702",
): Field => ({ code, takes, schema, holds });

/** Returns a validation rule that accepts any string. */
export const text = (code?: Code): Field => leaf("a string", { type: "string" }, isText, code);

/** Returns a validation rule that accepts a string that is not empty. */
export const filledText = (code?: Code): Field =>
  leaf(
    "a string that is not empty",
    { type: "string", minLength: 1 },
    (value) => isText(value) && value !== "",
    code,
  );

/**
 * Returns a validation rule that accepts a finite number. The rule rejects Infinity, which is the value of
 * 1e999 in a file.
 */
export const finite = (code?: Code): Field => leaf("a number", { type: "number" }, Number.isFinite, code);

/** Returns a validation rule that accepts a finite number of at least 0; fractions are allowed. */
export const amount = (code?: Code): Field =>
  leaf(
    "a number, 0 or more",
    { type: "number", minimum: 0 },
    (value) => Number.isFinite(value) && Number(value) >= 0,
    code,
  );

/** Returns a validation rule that accepts a boolean. */
export const yesOrNo = (code?: Code): Field =>
  leaf("true or false", { type: "boolean" }, (value) => typeof value === "boolean", code);

/** Returns a validation rule that accepts an object other than an array or null. */
export const anyObject = (code?: Code): Field => leaf("an object", { type: "object" }, isRecord, code);

/** Returns a validation rule that accepts any array. */
export const anyList = (code?: Code): Field => leaf("a list", { type: "array" }, Array.isArray, code);

/**
 * Returns a validation rule that accepts one of the words or numbers of an enumeration. `takes`: description
 * of valid values in messages.
 */
export const oneOf = (
  words: readonly (string | number)[],
  code: Code = "TC702",
  takes = words.join(" or "),
): Field => ({
  code,
  takes,
  holds: (value) => words.some((word) => word === value),
  words,
});

/** Returns a validation rule that accepts an integer from `min` to `max`. */
export const integer = (
  min: number,
  code: Code = "TC702",
  max = Infinity,
): Extract<Field, { readonly holds: unknown }> => ({
  code,
  takes:
    min === -Infinity
      ? "a whole number"
      : `a whole number, ${max === Infinity ? `${min} or more` : `${min} to ${max}`}`,
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
});

/** Validation rule that accepts a function. */
export const callable: Field = {
  code: "TC702",
  takes: "a function",
  holds: (value) => typeof value === "function",
};

/** True if a value is an object or an array, and not null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** True if a value is an object, and neither an array nor null. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value);

/**
 * Options for the validation of an object's fields: diagnostic code, prefix of field names in messages,
 * tolerance of unknown fields, and required fields.
 */
export interface FieldOptions {
  /** Diagnostic code for an unknown field, and for a value that is not a record. Default TC702. */
  readonly code?: Code;
  /** Prefix of field names in messages, for example `data.`. */
  readonly path?: string;
  /** True to accept unknown fields. Default false. */
  readonly allowsOthers?: boolean;
  /** Names of required fields. */
  readonly needs?: readonly string[];
}

/**
 * Function that returns the entry of `words` that a misspelt word probably means; undefined if none is
 * similar.
 */
export type Suggest = (word: string, words: readonly string[]) => string | undefined;

const noSuggestion: Suggest = () => undefined;

/** A longer list of names hides the hint that stands behind it. */
const maxNamesWithHint = 20;

/**
 * Returns a diagnostic for each unknown field, rejected value and missing required field of an object; an
 * empty list for a valid object. A field that is undefined counts as absent. `what`: name of the object in
 * messages.
 */
export function checkFields(
  what: string,
  value: unknown,
  fields: Table,
  { code = "TC702", path = "", allowsOthers = false, needs = [] }: FieldOptions = {},
  suggest: Suggest = noSuggestion,
): Diagnostic[] {
  const names = Object.keys(fields);
  if (!isObject(value)) {
    return [error(code, `${what} takes an object with ${names.join(", ")}, not ${shownValue(value)}`)];
  }
  const diagnostics: Diagnostic[] = [];
  for (const name of allowsOthers ? [] : Object.keys(value)) {
    if (Object.hasOwn(fields, name)) continue;
    const meant = meantBy(name, names, suggest);
    const listed = meant.hint === undefined || names.length <= maxNamesWithHint;
    const listing = listed ? `; it has ${names.join(", ")}` : "";
    diagnostics.push(error(code, `${what} has no ${path}${shownKey(name)}${listing}`, meant));
  }
  for (const [name, field] of Object.entries(fields)) {
    const given = value[name];
    if (given === undefined) {
      if (needs.includes(name)) diagnostics.push(lacking(what, `${path}${name}`, field));
    } else if ("problems" in field || !field.holds(given)) {
      // One by one: a list in a file has more problems than a call has arguments.
      for (const problem of problemsOf(field, given, `${path}${name}`, suggest)) diagnostics.push(problem);
    }
  }
  return diagnostics;
}

/**
 * Returns a diagnostic for each reason why a validation rule rejects `value`; an empty list for a valid
 * value. `path`: path of the value in messages.
 */
export function problemsOf(
  field: Field,
  value: unknown,
  path: string,
  suggest: Suggest = noSuggestion,
): readonly Diagnostic[] {
  if ("problems" in field) return field.problems(value, path, suggest);
  if (field.holds(value)) return [];
  if (typeof value !== "string") return [refusal(field, value, path)];
  const meaning = field.meaning?.(value);
  const meant = meaning === undefined ? meantBy(value, field.words, suggest) : { hint: `write ${meaning}` };
  return [refusal(field, value, path, meant)];
}

/** True if a validation rule accepts a value. */
export const takes = (field: Field, value: unknown): boolean =>
  "holds" in field ? field.holds(value) : field.problems(value, "").length === 0;

/** Returns the diagnostic that `what` lacks the required field `name`. */
export const lacking = (what: string, name: string, { code, takes }: Field): Diagnostic =>
  error(code, `${what} lacks ${name}; it takes ${takes}`);

/**
 * Returns the diagnostic for a value that a validation rule rejects. `path`: path of the value in messages;
 * empty for the root. `meant`: optional hint at the intended value.
 */
export const refusal = (
  { code, takes }: Pick<Field, "code" | "takes">,
  value: unknown,
  path: string,
  meant: { readonly hint?: string } = {},
): Diagnostic =>
  error(code, `${path === "" ? "it" : path} is ${shownValue(value)}; it takes ${takes}`, meant);

/**
 * Returns a diagnostic hint with the entry of `words` that a misspelt word probably means; an empty object if
 * none is similar.
 */
function meantBy(
  word: string,
  words: readonly (string | number)[] = [],
  suggest: Suggest,
): { readonly hint?: string } {
  const near = suggest(word, words.map(String));
  return near === undefined ? {} : { hint: `did you mean ${near}?` };
}

/**
 * Returns a validation rule that accepts an object whose fields satisfy the rules in `fields`. `takes`:
 * description of the object in messages.
 */
export function record(takes: string, fields: Table, options: Omit<FieldOptions, "path"> = {}): Field {
  const { code = "TC702" } = options;
  return {
    code,
    takes,
    fields,
    options,
    problems(value, path, suggest) {
      if (!isRecord(value)) return [refusal({ code, takes }, value, path)];
      const [what, prefix] = path === "" ? [takes, ""] : [path, `${path}.`];
      return checkFields(what, value, fields, { ...options, path: prefix }, suggest);
    },
  };
}

/**
 * Returns a validation rule that accepts an array if the rule `entry` accepts each entry. `takes`:
 * description of valid arrays in messages.
 */
export function listOf(takes: string, entry: Field, code: Code = "TC702"): Field {
  return {
    code,
    takes,
    entry,
    problems: (value, path, suggest) =>
      Array.isArray(value)
        ? value.flatMap((given: unknown, k) => problemsOf(entry, given, `${path}[${k}]`, suggest))
        : [refusal({ code, takes }, value, path)],
  };
}

/**
 * Returns a validation rule that accepts an object with arbitrary keys if the rule `entry` accepts each
 * value. `takes`: description of valid objects in messages.
 */
export function byName(takes: string, entry: Field, code: Code = "TC702"): Field {
  return {
    code,
    takes,
    each: entry,
    problems: (value, path, suggest) =>
      isRecord(value)
        ? Object.entries(value).flatMap(([name, given]) =>
            problemsOf(entry, given, `${path}.${shownKey(name)}`, suggest),
          )
        : [refusal({ code, takes }, value, path)],
  };
}

/**
 * Returns a validation rule for values of several kinds, for example statements. `takes`: description of
 * valid values in messages. `fieldOf`: returns the rule for a given value.
 */
export const choice = (takes: string, fieldOf: (value: unknown) => Field, code: Code = "TC702"): Field => ({
  code,
  takes,
  problems: (value, path, suggest) => problemsOf(fieldOf(value), value, path, suggest),
});

const longest = 60;
const maxEntries = 8;

/**
 * Returns the text of an object's key for a message. A long key, or a key with special characters, is quoted
 * and shortened.
 */
export const shownKey = (key: string): string =>
  key.length <= longest && /^[\w$]+$/.test(key) ? key : shownValue(key);

/** Returns a short text of any value for a message. Never throws. */
export function shownValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "string") {
    return `${JSON.stringify(value.slice(0, longest))}${value.length > longest ? "…" : ""}`;
  }
  if (!isObject(value)) return String(value);
  if (ArrayBuffer.isView(value)) return `a ${kindOf(value)} of ${value.byteLength} bytes`;
  if (!Array.isArray(value)) return "an object";
  const entries = value.slice(0, maxEntries).map((entry) => (isObject(entry) ? "…" : shownValue(entry)));
  return `[${[...entries, ...(value.length > maxEntries ? ["…"] : [])].join(", ")}]`;
}

/**
 * Returns the type name of a typed array or DataView, for example `Float32Array`. The name is also correct
 * for arrays of another JavaScript realm, where `instanceof` fails.
 */
export const kindOf = (value: ArrayBufferView): string =>
  (Reflect.get(typedArray, Symbol.toStringTag, value) as string | undefined) ?? "DataView";

/** Its getter of the tag gives the name of any realm's typed arrays, and nothing for other values. */
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
