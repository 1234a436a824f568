/** Kinds of arguments, as functions of the library check them at least: callers are not all TypeScript. */
import { CompileError, error } from "./diagnostic.js";
import { isDType } from "./element-types.js";

/** Returns the fields of an object; of anything else none. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
/** True for an object, a list too. */
export const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
const isTile = (value: unknown): boolean =>
  Array.isArray(fieldsOf(value)["body"]) && Array.isArray(fieldsOf(value)["operands"]);

const kinds = {
  text: ["a text", (value: unknown) => typeof value === "string"],
  list: ["a list", (value: unknown) => Array.isArray(value)],
  object: ["an object", isObject],
  bytes: ["a Uint8Array", (value: unknown) => value instanceof Uint8Array || ArrayBuffer.isView(value)],
  module: [
    "a module, such as { funcs: [program] }",
    (value: unknown) => Array.isArray(fieldsOf(value)["funcs"]),
  ],
  program: [
    "a program, such as compile(program).tile",
    (value: unknown) => Array.isArray(fieldsOf(value)["operands"]),
  ],
  "tile program": ["a tile program, such as compile(program).tile", isTile],
  kernel: ["a kernel, such as compile(program)", (value: unknown) => isTile(fieldsOf(value)["tile"])],
  type: [
    'a tensor type, such as { dtype: "f32", shape: [4] }',
    (value: unknown) => Array.isArray(fieldsOf(value)["shape"]),
  ],
  tensor: ["a tensor, an object with type and bytes", (value: unknown) => isObject(fieldsOf(value)["type"])],
  dtype: ["an element type, such as f32", (value: unknown) => typeof value === "string" && isDType(value)],
  operand: ["an operand, such as outputOf(func)", (value: unknown) => isObject(fieldsOf(value)["type"])],
  coordinate: ["a coordinate, such as dim(0)", (value: unknown) => Array.isArray(fieldsOf(value)["terms"])],
  schedule: ["a schedule, such as func.schedule", isObject],
  tiling: [
    "a tiling, such as context.tilings.of(func, schedule)",
    (value: unknown) => isObject(fieldsOf(value)["gather"]),
  ],
  "index rule": [
    "the rule of an index, such as indexRule(site, dtype)",
    (value: unknown) => typeof fieldsOf(value)["extent"] === "number",
  ],
  code: [
    "the code of a rule, such as TC104",
    (value: unknown) => typeof value === "string" && /^TC\d{3}$/.test(value),
  ],
  model: ["a model, such as readModel(bytes, file)", (value: unknown) => isObject(fieldsOf(value)["graph"])],
} as const satisfies Readonly<Record<string, Kind>>;

/** Kind of an argument. */
export type ArgumentKind = keyof typeof kinds;

/** Throws a CompileError (TC702) for an argument of another kind than `call` takes. */
export const checkArgument = (call: string, kind: ArgumentKind, value: unknown): void => {
  checkKind(call, kinds[kind], value);
};

/** What a function takes in words, and whether a value is such. */
export type Kind = readonly [takes: string, holds: (value: unknown) => boolean];

/** Throws a CompileError (TC702) for an argument that is not of a kind. */
export function checkKind(call: string, kind: Kind, value: unknown): void {
  const takes = kind[0];
  if (kind[1](value)) return;
  const shown =
    typeof value === "function" || isObject(value) ? `a value of type ${typeof value}` : String(value);
  throw new CompileError([error("TC702", `${call} takes ${takes}, not ${shown}`)]);
}
