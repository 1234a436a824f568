/** Kinds of arguments, as functions of the library check them at least: callers are not all TypeScript. */
import { CompileError, error } from "./diagnostic.js";
import { isDType } from "./element-types.js";

/**
 * Returns an object unchanged, with a type that permits reading any property. Returns an empty object for a
 * value that is not an object.
 */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
/** True if a value is an object or a list; false for null and functions. */
export const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const isTile = (value: unknown): boolean =>
  Array.isArray(fieldsOf(value)["body"]) && Array.isArray(fieldsOf(value)["operands"]);

/** Kinds of arguments, in the words of messages. */
const words = {
  program: "a program, such as compile(program).tile",
  coordinate: "a coordinate, such as dim(0)",
  type: 'a tensor type, such as { dtype: "f32", shape: [4] }',
  schedule: "a schedule, such as func.schedule",
  tiling: "a tiling, such as context.tilings.of(func, schedule)",
  text: "a string",
  list: "a list",
  object: "an object",
  bytes: "a Uint8Array",
  module: "a module, such as { funcs: [program] }",
  "tile program": "a tile program, such as compile(program).tile",
  kernel: "a kernel, such as compile(program)",
  tensor: "a tensor, an object with type and bytes",
  dtype: "an element type, such as f32",
  operand: "an operand, such as outputOf(func)",
  "index rule": "the rule of an index, such as indexRule(site, dtype)",
  code: "the code of a rule, such as TC104",
  model: "a model, such as readModel(bytes, file)",
} as const;

/** Name of a kind of argument that library functions check, such as `program` or `dtype`. */
export type ArgumentKind = keyof typeof words;

/** True if a value is valid for a kind of argument. Checks the type, or the fields that the kind requires. */
function isOf(kind: ArgumentKind, value: unknown): boolean {
  switch (kind) {
    case "program":
      return Array.isArray(fieldsOf(value)["operands"]);
    case "coordinate":
      return Array.isArray(fieldsOf(value)["terms"]);
    case "type":
      return Array.isArray(fieldsOf(value)["shape"]);
    case "object":
    case "schedule":
      return isObject(value);
    case "tiling":
      return isObject(fieldsOf(value)["gather"]);
    case "text":
      return typeof value === "string";
    case "list":
      return Array.isArray(value);
    case "bytes":
      return value instanceof Uint8Array || ArrayBuffer.isView(value);
    case "module":
      return Array.isArray(fieldsOf(value)["funcs"]);
    case "tile program":
      return isTile(value);
    case "kernel":
      return isTile(fieldsOf(value)["tile"]);
    case "tensor":
    case "operand":
      return isObject(fieldsOf(value)["type"]);
    case "dtype":
      return typeof value === "string" && isDType(value);
    case "index rule":
      return typeof fieldsOf(value)["extent"] === "number";
    case "code":
      return typeof value === "string" && /^TC\d{3}$/.test(value);
    case "model":
      return isObject(fieldsOf(value)["graph"]);
  }
}

/**
 * Throws a CompileError (TC702) if `value` is invalid for the kind of argument. `call`: name of the library
 * function, for the message.
 */
export const checkArgument = (call: string, kind: ArgumentKind, value: unknown): void => {
  if (!isOf(kind, value)) refuse(call, words[kind], value);
};

/** Kind of argument for {@link checkKind}: a description for messages, and a predicate for valid values. */
export type Kind = readonly [takes: string, holds: (value: unknown) => boolean];

/**
 * Throws a CompileError (TC702) if the kind's predicate rejects `value`. `call`: name of the library
 * function, for the message.
 */
export function checkKind(call: string, [takes, holds]: Kind, value: unknown): void {
  if (!holds(value)) refuse(call, takes, value);
}

function refuse(call: string, takes: string, value: unknown): never {
  const shown =
    typeof value === "function" || isObject(value) ? `a value of type ${typeof value}` : String(value);
  throw new CompileError([error("TC702", `${call} takes ${takes}, not ${shown}`)]);
}
