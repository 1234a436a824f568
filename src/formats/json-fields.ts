/** Fields of JSON files: each says what it takes to the checker, and as a JSON Schema (draft-07) to editors. */
import { defined, error } from "../../ir/index.js";
import {
  choice,
  isObject,
  lacking,
  listOf,
  oneOf,
  problemsOf,
  record,
  refusal,
  shownKey,
  takes,
  yesOrNo,
  type Field,
} from "../../backends/index.js";

type Schema = Readonly<Record<string, unknown>>;

export type JsonField = Field & { readonly schema: Schema };

/** One field for each key of a type: the compiler names the one that is missing. */
export type JsonFields<T> = Readonly<Record<keyof Required<T>, JsonField>>;

type Table = Readonly<Record<string, JsonField>>;

const code = "TC013";

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !Array.isArray(value);

const leaf = (takes: string, schema: Schema, holds: (value: unknown) => boolean): JsonField => ({
  code,
  takes,
  schema,
  holds,
});

export const anything = leaf("anything", {}, () => true);
export const anyObject = leaf("an object", { type: "object" }, isRecord);
export const anyList = leaf("a list", { type: "array" }, Array.isArray);
export const trueOrFalse: JsonField = { ...yesOrNo, code, schema: { type: "boolean" } };
export const text = leaf("a text", { type: "string" }, (value) => typeof value === "string");
/** 1e999 in a file is read as Infinity. */
export const finite = leaf("a number", { type: "number" }, Number.isFinite);

export const filledText = leaf(
  "a text that is not empty",
  { type: "string", minLength: 1 },
  (value) => typeof value === "string" && value !== "",
);

export const textLike = (takes: string, pattern: RegExp): JsonField =>
  leaf(
    takes,
    { type: "string", pattern: pattern.source },
    (value) => typeof value === "string" && pattern.test(value),
  );

export const whole = leaf("a whole number", { type: "integer" }, Number.isInteger);

/** A whole number from `minimum` to `maximum`, both included. */
export const wholeFrom = (minimum: number, maximum?: number): JsonField =>
  leaf(
    `a whole number, ${minimum} ${maximum === undefined ? "or more" : `to ${maximum}`}`,
    { type: "integer", minimum, ...defined({ maximum }) },
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= (maximum ?? Infinity),
  );

export const wordOf = (words: readonly (string | number)[], takes = words.join(" or ")): JsonField => ({
  ...oneOf(words, code),
  takes,
  schema: { enum: words },
});

export const only = (value: string | number, takes = String(value)): JsonField => ({
  ...oneOf([value], code),
  takes,
  schema: { const: value },
});

export const list = (takes: string, entry: JsonField): JsonField => ({
  ...listOf(takes, entry, code),
  schema: { type: "array", items: entry.schema },
});

/** An object whose keys are names of the file's own. */
export const byName = (takes: string, entry: JsonField): JsonField => ({
  code,
  takes,
  problems: (value, path, suggest) =>
    isRecord(value)
      ? Object.entries(value).flatMap(([name, given]) =>
          problemsOf(entry, given, `${path}.${shownKey(name)}`, suggest),
        )
      : [refusal({ code, takes }, value, path)],
  schema: { type: "object", additionalProperties: entry.schema },
});

const schemasOf = (fields: Table): Schema =>
  Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));

/** An object with these fields and no others; `takes` names it. */
export const object = (takes: string, fields: Table, needs: readonly string[] = []): JsonField => ({
  ...record(takes, fields, { code, needs }),
  schema: { type: "object", properties: schemasOf(fields), required: needs, additionalProperties: false },
});

/** For conditions: an object with these fields, whatever else it has. */
export const objectWith = (fields: Table, needs: readonly string[] = Object.keys(fields)): JsonField =>
  leaf(
    "an object",
    { type: "object", required: needs, properties: schemasOf(fields) },
    (value) =>
      isRecord(value) &&
      needs.every((name) => Object.hasOwn(value, name)) &&
      Object.entries(fields).every(
        ([name, field]) => !Object.hasOwn(value, name) || takes(field, value[name]),
      ),
  );

/** For conditions: what `field` does not take. */
export const not = (field: JsonField): JsonField =>
  leaf(`no ${field.takes}`, { not: field.schema }, (value) => !takes(field, value));

/** A rule: `what`, which is an object, has these of its fields. Other values pass. */
export const has = (what: string, fields: Table): JsonField => ({
  code,
  takes: what,
  problems: (value) =>
    Object.entries(fields)
      .filter(([name]) => isRecord(value) && !Object.hasOwn(value, name))
      .map(([name, field]) => lacking(what, name, field)),
  schema: { required: Object.keys(fields) },
});

/** A rule: what an object has under `name` is what `field` takes. */
export const hasAt = (name: string, field: JsonField): JsonField => ({
  code,
  takes: field.takes,
  problems: (value, path, suggest) =>
    isRecord(value) && Object.hasOwn(value, name)
      ? problemsOf(field, value[name], path === "" ? name : `${path}.${name}`, suggest)
      : [],
  schema: { properties: { [name]: field.schema } },
});

/** A rule: an object has exactly one of these fields. */
export const hasOneOf = (names: readonly string[]): JsonField => ({
  code,
  takes: `an object with one of ${names.join(", ")}`,
  problems(value, path) {
    const given = names.filter((name) => isRecord(value) && Object.hasOwn(value, name));
    if (given.length === 1 || !isRecord(value)) return [];
    const found = given.length === 0 ? "none" : given.join(" and ");
    return [error(code, `${path} takes one of ${names.join(", ")}; it has ${found}`)];
  },
  schema: { oneOf: names.map((name) => ({ required: [name] })) },
});

/** `then` for what `condition` takes, and `otherwise` for the rest. */
export const when = (condition: JsonField, then: JsonField, otherwise = anything): JsonField => ({
  ...choice(otherwise.takes, (value) => (takes(condition, value) ? then : otherwise), code),
  schema: {
    if: condition.schema,
    ...(then === anything ? {} : { then: then.schema }),
    ...(otherwise === anything ? {} : { else: otherwise.schema }),
  },
});

/** What `field` takes and no rule refuses. */
export const withRules = (field: JsonField, rules: readonly JsonField[]): JsonField => ({
  code,
  takes: field.takes,
  problems: (value, path, suggest) =>
    [field, ...rules].flatMap((rule) => problemsOf(rule, value, path, suggest)),
  schema: { ...field.schema, allOf: rules.map(({ schema }) => schema) },
});

export const described = (description: string, field: JsonField): JsonField => ({
  ...field,
  schema: { description, ...field.schema },
});

/** The same field, whose schema stands in the file's `definitions` under `name`. */
export const referenced = (name: string, field: JsonField): JsonField => ({
  ...field,
  schema: { $ref: `#/definitions/${name}` },
});
