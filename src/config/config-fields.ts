/** What each field of a config takes. */
import {
  isObject,
  listOf,
  problemsOf,
  refusal,
  shownKey,
  type Field,
  type Fields,
} from "../../backends/index.js";
import { isPass } from "../../passes/index.js";
import { targetField } from "../api/check-options.js";
import type { Config } from "../api/config.js";

const code = "TC018";

const passField: Field = { code, takes: "a pass, as definePass of tilec/passes makes one", holds: isPass };

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

const backendsField: Field = {
  code,
  takes: "an object of backends by name",
  problems: (value, path) =>
    isObject(value) && !Array.isArray(value)
      ? Object.entries(value).flatMap(([name, backend]) =>
          problemsOf(backendField, backend, `${path}.${shownKey(name)}`),
        )
      : [refusal(backendsField, value, path)],
};

export const configFields: Fields<Config> = {
  passes: listOf("a list of passes", passField, code),
  pipeline: {
    code,
    takes: 'a pipeline, such as "default, mine after select-tile"',
    holds: (value) => typeof value === "string",
  },
  targets: listOf("a list of targets", targetOrFileField, code),
  backends: backendsField,
};
