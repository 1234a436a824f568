/**
 * Rules over the fields of JSON files: each says what it takes to the checker, and as a JSON Schema
 * (draft-07) to editors.
 */
import { defined, error } from "../../ir/index.js";
import {
  choice,
  isRecord,
  lacking,
  leaf,
  oneOf,
  problemsOf,
  takes,
  type Field,
  type Schema,
} from "../../backends/index.js";

type Table = Readonly<Record<string, Field>>;

const code = "TC013";

/**
 * Returns the JSON Schema (draft-07) of a rule for JSON values; an empty schema for a rule without
 * restrictions.
 */
export function schemaOf(field: Field): Schema {
  if (field.schema !== undefined) return field.schema;
  if ("holds" in field) {
    return field.words === undefined ? {} : { enum: field.words };
  }
  const { entry, each, fields, options: { needs = [], allowsOthers = false } = {} } = field;
  if (entry !== undefined) return { type: "array", items: schemaOf(entry) };
  if (each !== undefined) return { type: "object", additionalProperties: schemaOf(each) };
  if (fields === undefined) return {};
  const closed = allowsOthers ? {} : { additionalProperties: false };
  return { type: "object", properties: schemasOf(fields), required: needs, ...closed };
}

const schemasOf = (fields: Table): Schema =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]));

/** Rule that accepts every JSON value. */
export const anything = leaf("anything", {}, () => true, code);

/**
 * Returns a rule that accepts strings that match `pattern`. `takes`: description of the strings in
 * diagnostics.
 */
export const textLike = (takes: string, pattern: RegExp): Field =>
  leaf(
    takes,
    { type: "string", pattern: pattern.source },
    (value) => typeof value === "string" && pattern.test(value),
    code,
  );

/**
 * Returns a rule that accepts only the given string or number. `takes` describes the value in diagnostics.
 */
export const only = (value: string | number, takes = String(value)): Field => ({
  ...oneOf([value], code, takes),
  schema: { const: value },
});

/** Rule that accepts an integer. */
export const integer = leaf("a whole number", { type: "integer" }, Number.isInteger, code);

/**
 * Returns a rule that accepts an integer from `minimum` to `maximum`, ends included. Without `maximum`, there
 * is no upper limit.
 */
export const integerFrom = (minimum: number, maximum?: number): Field =>
  leaf(
    `a whole number, ${minimum} ${maximum === undefined ? "or more" : `to ${maximum}`}`,
    { type: "integer", minimum, ...defined({ maximum }) },
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= (maximum ?? Infinity),
    code,
  );

/**
 * Returns a rule that accepts an object with all keys in `needs` whose values pass the rules in `fields`.
 * Other keys are allowed.
 */
export const objectWith = (fields: Table, needs: readonly string[] = Object.keys(fields)): Field =>
  leaf(
    "an object",
    { type: "object", required: needs, properties: schemasOf(fields) },
    (value) =>
      isRecord(value) &&
      needs.every((name) => Object.hasOwn(value, name)) &&
      Object.entries(fields).every(
        ([name, field]) => !Object.hasOwn(value, name) || takes(field, value[name]),
      ),
    code,
  );

/** Returns a rule that accepts every JSON value that `field` rejects. */
export const not = (field: Field): Field =>
  leaf(`no ${field.takes}`, { not: schemaOf(field) }, (value) => !takes(field, value), code);

/**
 * Returns a rule that requires an object to have all keys of `fields`; values that are not objects pass.
 * `what` names the object in diagnostics.
 */
export const has = (what: string, fields: Table): Field => ({
  code,
  takes: what,
  problems: (value) =>
    Object.entries(fields)
      .filter(([name]) => isRecord(value) && !Object.hasOwn(value, name))
      .map(([name, field]) => lacking(what, name, field)),
  schema: { required: Object.keys(fields) },
});

/**
 * Returns a rule that checks the value of an object's key `name` by the rule `field`. Objects without the key
 * pass.
 */
export const hasAt = (name: string, field: Field): Field => ({
  code,
  takes: field.takes,
  problems: (value, path, suggest) =>
    isRecord(value) && Object.hasOwn(value, name)
      ? problemsOf(field, value[name], path === "" ? name : `${path}.${name}`, suggest)
      : [],
  schema: { properties: { [name]: schemaOf(field) } },
});

/** Returns a rule that requires an object to have exactly one of the given keys. */
export const hasOneOf = (names: readonly string[]): Field => ({
  code,
  takes: `an object with one of ${names.join(", ")}`,
  problems(value, path) {
    const given = names.filter((name) => isRecord(value) && Object.hasOwn(value, name));
    if (given.length === 1 || !isRecord(value)) return [];
    const shown = given.length === 0 ? "none" : given.join(" and ");
    return [error(code, `${path} takes one of ${names.join(", ")}; it has ${shown}`)];
  },
  schema: { oneOf: names.map((name) => ({ required: [name] })) },
});

/**
 * Returns a rule that checks a value by `then` if `condition` accepts the value, and by `otherwise` if
 * `condition` rejects the value.
 */
export const when = (condition: Field, then: Field, otherwise = anything): Field => ({
  ...choice(otherwise.takes, (value) => (takes(condition, value) ? then : otherwise), code),
  schema: {
    if: schemaOf(condition),
    ...(then === anything ? {} : { then: schemaOf(then) }),
    ...(otherwise === anything ? {} : { else: schemaOf(otherwise) }),
  },
});

/** Returns a rule that accepts a value if `field` and all of `rules` accept the value. */
export const withRules = (field: Field, rules: readonly Field[]): Field => ({
  code,
  takes: field.takes,
  problems: (value, path, suggest) =>
    [field, ...rules].flatMap((rule) => problemsOf(rule, value, path, suggest)),
  schema: { ...schemaOf(field), allOf: rules.map(schemaOf) },
});

/** Returns a rule with the checks of `field` and a description in the JSON Schema. */
export const described = (description: string, field: Field): Field => ({
  ...field,
  schema: { description, ...schemaOf(field) },
});

/**
 * Returns a rule with the checks of `field`, whose JSON Schema is a reference to `name` in the schema's
 * `definitions`.
 */
export const referenced = (name: string, field: Field): Field => ({
  ...field,
  schema: { $ref: `#/definitions/${name}` },
});
