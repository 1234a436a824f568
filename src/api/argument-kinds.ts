/**
 * Kinds of arguments that only functions above the compiler take: records, searches, parts of models and
 * reports.
 */
import { checkKind, fieldsOf, isObject, type Kind } from "../../ir/argument.js";

/**
 * Returns a predicate that is true if a value has all the named fields and each field is itself an object.
 */
const holds =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    names.every((name) => isObject(fieldsOf(value)[name]));
const isRecord = (value: unknown): boolean => typeof fieldsOf(value)["record"] === "string";

const kinds = {
  target: [
    "a target, such as targets.cpu",
    (value: unknown) =>
      typeof fieldsOf(value)["name"] === "string" && typeof fieldsOf(value)["kind"] === "string",
  ],
  record: ["a record, such as one of parseRecords", isRecord],
  records: [
    "a list of records, such as those of parseRecords",
    (value: unknown) => Array.isArray(value) && value.every(isRecord),
  ],
  "best record": ["a task with its best candidate, such as one of bestOf(records)", holds("task", "best")],
  "search task": ["a task of a search, such as taskOf(program)", holds("gather", "target")],
  "search result": [
    "what a search found, such as await tune(program)",
    holds("gather", "candidates", "counts"),
  ],
  "size results": [
    "what a search of sizes found, such as await tuneSizes(program)",
    holds("gather", "pieces"),
  ],
  "measured task": ["a task with inputs and the expected output", holds("inputs", "expected")],
  candidate: ["a candidate of a search, such as one of (await tune(program)).candidates", holds("schedule")],
  explanation: ["an explanation, such as explain(program)", holds("schedule", "rules", "footprint")],
  steps: [
    "a list of passes with the program before and after each",
    (value: unknown) => Array.isArray(value) && value.every(holds("before", "after")),
  ],
  timing: ["the walk of a kernel, such as walkOf(kernel.tile, kernel.target)", holds("events")],
  node: [
    "a node of a model, such as one of findGathers(model)",
    (value: unknown) =>
      typeof fieldsOf(value)["op"] === "string" && Array.isArray(fieldsOf(value)["outputs"]),
  ],
  "tensor of a model": [
    "a tensor of a model, such as one of readModel(bytes, file)",
    (value: unknown) =>
      Array.isArray(fieldsOf(value)["dims"]) && fieldsOf(value)["message"] instanceof Uint8Array,
  ],
  "read gather": [
    "a gather of a model that is ok, such as one of findGathers(model)",
    holds("program", "node"),
  ],
  "fold cycles": [
    "cycles, an object with folded and separate",
    (value: unknown) => ["folded", "separate"].every((name) => typeof fieldsOf(value)[name] === "number"),
  ],
  files: ["a Map of bytes by path", (value: unknown) => value instanceof Map],
  programs: [
    "a list of programs, each with its nodes",
    (value: unknown) =>
      Array.isArray(value) && value.every((entry: unknown) => Array.isArray(fieldsOf(entry)["nodes"])),
  ],
  uses: [
    "a list of nodes and who reads them, such as surveyModel(model).nodes",
    (value: unknown) => Array.isArray(value) && value.every(holds("node", "readers")),
  ],
  case: [
    "a case, such as one of readCases(text, file)",
    (value: unknown) => typeof fieldsOf(value)["id"] === "string",
  ],
} as const satisfies Readonly<Record<string, Kind>>;

/**
 * Throws a CompileError (TC702) if `value` is not of the kind `kind`, for example `record` or `explanation`.
 * `call`: name of the called function, for the message.
 */
export const checkApiArgument = (call: string, kind: keyof typeof kinds, value: unknown): void => {
  checkKind(call, kinds[kind], value);
};
