/** Checks of the fields of a config. */
import {
  byName,
  isObject,
  listOf,
  oneOf,
  problemsOf,
  refusal,
  shownKey,
  text,
  type Field,
  type Fields,
} from "../../backends/index.js";
import { profiles, type AttrSpec } from "../../ir/index.js";
import { isPass } from "../../passes/index.js";
import { targetField } from "../api/check-options.js";
import type { Config } from "../api/config.js";

const code = "TC018";

const passField: Field = { code, takes: "a pass, as definePass of tilec/passes makes one", holds: isPass };

/** Kinds of attributes that an operator may have. */
const attributeKinds: Readonly<Record<AttrSpec["kind"], true>> = {
  int: true,
  number: true,
  ints: true,
  text: true,
  word: true,
};

/** Predicates of a valid default, by the kind of the attribute. */
const isDefault: Readonly<Record<AttrSpec["kind"], (value: unknown, words: unknown) => boolean>> = {
  int: (value) => value === undefined || Number.isSafeInteger(value),
  number: (value) => value === undefined || Number.isFinite(value),
  ints: (value) => value === undefined || (Array.isArray(value) && value.every(Number.isSafeInteger)),
  text: (value) => value === undefined || typeof value === "string",
  word: (value, words) => Array.isArray(words) && words.includes(value),
};

const attributeField: Field = {
  code,
  takes: `an object with help and a kind: ${Object.keys(attributeKinds).join(", ")}; a word also has words, and a default among them`,
  holds: (value) =>
    isObject(value) &&
    typeof value["help"] === "string" &&
    typeof value["kind"] === "string" &&
    Object.hasOwn(attributeKinds, value["kind"]) &&
    isDefault[value["kind"] as AttrSpec["kind"]](value["default"], value["words"]),
};

const operatorField: Field = {
  code,
  takes: "an operator, as defineOperator of tilec/ir makes one",
  problems(value, path) {
    if (!isObject(value) || !isObject(value["attrs"]) || typeof value["resolve"] !== "function")
      return [refusal(operatorField, value, path)];
    const { name, attrs, inputs } = value;
    const named = typeof name === "string" && /^[a-z]\w*\.[a-z]\w*$/i.test(name);
    const words = Object.keys(attrs);
    const odd = words.filter((attr) => !/^[a-z]\w*$/i.test(attr));
    return [
      ...odd.map((attr) => refusal(attributeNameField, attr, `${path}.attrs`)),
      ...(named ? [] : [refusal(operatorNameField, name, `${path}.name`)]),
      ...(inputs === undefined ? [] : problemsOf(operatorInputsField, inputs, `${path}.inputs`)),
      ...Object.entries(attrs).flatMap(([attr, spec]) =>
        problemsOf(attributeField, spec, `${path}.attrs.${shownKey(attr)}`),
      ),
    ];
  },
};

const operatorNameField: Pick<Field, "code" | "takes"> = {
  code,
  takes: "two words with a dot between, such as mine.roll",
};

const attributeNameField: Pick<Field, "code" | "takes"> = {
  code,
  takes: "attributes by names of letters, digits and _",
};

const operatorInputsField: Field = {
  code,
  takes: "the names of its inputs, two or more: the data, then the indices",
  holds: (value) =>
    Array.isArray(value) &&
    value.length > 1 &&
    new Set(value).size === value.length &&
    value.every((name) => /^\w+$/.test(String(name))),
};

const targetOrFileField: Field = {
  code,
  takes: "a target, or the path of a target file (.json)",
  problems(value, path) {
    if (typeof value === "string" && value.endsWith(".json")) return [];
    return isObject(value) ? problemsOf(targetField, value, path) : [refusal(targetOrFileField, value, path)];
  },
};

const backendField: Field = {
  code,
  takes: "a backend: an object with a name and prepare(kernel)",
  holds: (value) =>
    isObject(value) && typeof value["name"] === "string" && typeof value["prepare"] === "function",
};

/** Validation rules for the fields of a config file, by field name. */
export const configFields: Fields<Config> = {
  passes: listOf("a list of passes", passField, code),
  pipeline: { ...text(code), takes: 'a pipeline, such as "default, mine after select-tile"' },
  profile: oneOf(profiles, code),
  operators: listOf("a list of operators", operatorField, code),
  targets: listOf("a list of targets", targetOrFileField, code),
  backends: byName("an object of backends by name", backendField, code),
};
