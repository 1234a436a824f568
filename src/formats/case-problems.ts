/** Where a case file breaks its schema, in words. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { shown } from "../../backends/index.js";
import { didYouMean } from "../api/did-you-mean.js";
import { caseSchema } from "./case-schema.js";

export interface CaseProblem {
  /** Keys from the root of the file; none: the file itself. */
  readonly path: readonly string[];
  /** One sentence; fields are named from `path[from]` on. */
  message(from: number): string;
}

let validator: ValidateFunction | undefined;

/** In the order of the file, but unknown fields first: what a mistyped field stands for is often missing too. */
export function caseProblems(file: unknown): CaseProblem[] {
  // Compiled when the first case file is read; a test validates the schema itself.
  validator ??= new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    validateSchema: false,
  }).compile(caseSchema);
  if (validator(file)) return [];
  const found = (validator.errors ?? []).filter(({ keyword }) => keyword !== "if");
  const either = found.filter(({ keyword }) => keyword === "oneOf");
  return found
    .filter((problem) => !either.some((whole) => isBranchOf(whole, problem)))
    .sort((a, b) => Number(isUnknownField(b)) - Number(isUnknownField(a)))
    .map((problem) => {
      const path = problem.instancePath.split("/").slice(1).map(unescaped);
      return { path, message: (from: number) => inWords(problem, fieldName(path.slice(from))) };
    });
}

const unescaped = (key: string): string => key.replaceAll("~1", "/").replaceAll("~0", "~");

/** `data.shape[1]` */
const fieldName = (path: readonly string[]): string =>
  path.reduce((text, key) => {
    if (/^\d+$/.test(key)) return `${text}[${key}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");

const isUnknownField = ({ keyword }: ErrorObject): boolean => keyword === "additionalProperties";

/** Each alternative of a `oneOf` that fails is a problem of its own; the whole says it better. */
const isBranchOf = (whole: ErrorObject, problem: ErrorObject): boolean =>
  problem.instancePath === whole.instancePath &&
  (whole.schema as readonly unknown[]).includes(problem.parentSchema);

/** For the end of a message: the nearest known word, or all of them. */
function meant(word: string, known: readonly string[]): string {
  const found = word === "" ? undefined : didYouMean(word, known);
  return found === undefined ? `known: ${known.join(", ")}` : `did you mean ${found}?`;
}

function inWords(problem: ErrorObject, field: string): string {
  const params = problem.params as Readonly<Record<string, unknown>>;
  const what = field === "" ? "it" : field;
  switch (problem.keyword) {
    case "additionalProperties": {
      const unknown = String(params["additionalProperty"]);
      const known = Object.keys((problem.parentSchema?.["properties"] ?? {}) as object);
      return `unknown field ${shown(unknown)}${field === "" ? "" : ` in ${field}`}; ${meant(unknown, known)}`;
    }
    case "required":
      return `${field === "" ? "" : `${field} has `}no field ${String(params["missingProperty"])}`;
    case "enum": {
      const words = (params["allowedValues"] as readonly unknown[]).map(String);
      const { data } = problem;
      return `${what} cannot be ${shown(data)}; ${meant(typeof data === "string" ? data : "", words)}`;
    }
    case "const":
      return `${what} must be ${shown(params["allowedValue"])}, not ${shown(problem.data)}`;
    case "oneOf": {
      const fields = (problem.schema as readonly { required: readonly string[] }[]).map((s) => s.required[0]);
      return `${what} must have one of ${fields.join(", ")}`;
    }
    default:
      return `${what} ${problem.message ?? problem.keyword}, not ${shown(problem.data)}`;
  }
}
