/**
 * Checks the result of `resolve` of an operator that tilec does not have: one in JavaScript may return
 * anything.
 */
import { outOfBoundsPolicies } from "../access.js";
import { inputShapes, outputShape, type Operator } from "../operator.js";
import { elementCount, formatShape, type Shape, type TensorType } from "../types.js";
import type { Resolved } from "./op-def.js";

const kinds: Readonly<Record<Operator["op"], true>> = {
  gather: true,
  gather_elements: true,
  gather_nd: true,
  mapped: true,
};
const negatives: Readonly<Record<Resolved["negative"], true>> = { "from-end": true, illegal: true };

/**
 * Returns a sentence about the fault in the result of an operator's `resolve`; undefined if there is none.
 * Faults that the verifier of access maps reports are ignored.
 */
export function resolvedFault(resolved: Resolved, inputs: readonly TensorType[]): string | undefined {
  try {
    return faultIn(resolved, inputs);
  } catch (thrown) {
    return `what it resolves to cannot be read: ${String(thrown)}`;
  }
}

/**
 * Returns a sentence about the first fault in the operator, policies, shapes or axis of the result of
 * `resolve`; undefined if there is none.
 */
function faultIn(resolved: Partial<Resolved> | undefined, inputs: readonly TensorType[]): string | undefined {
  const { operator, output, negative, oob, disputed } = resolved ?? {};
  if (operator === undefined || !Object.hasOwn(kinds, operator.op))
    return `it resolves to no operator of ${Object.keys(kinds).join(", ")}`;
  if (negative === undefined || !Object.hasOwn(negatives, negative))
    return `negative is ${String(negative)}, and takes ${Object.keys(negatives).join(", ")}`;
  const isPolicy = (word: unknown): boolean => outOfBoundsPolicies.some((policy) => policy === word);
  if (!isPolicy(oob)) return `oob is ${String(oob)}, and takes ${outOfBoundsPolicies.join(", ")}`;
  const { message, notes } = disputed ?? { message: "", notes: [] };
  if (typeof message !== "string" || !Array.isArray(notes) || notes.some((note) => typeof note !== "string"))
    return "disputed takes a message and a list of notes";
  const [expected, given] = [inputShapes(operator), inputs.map(({ shape }) => shape)];
  const result = outputShape(operator);
  const odd = [...expected, result, output].find((shape) => !isShape(shape));
  if (odd !== undefined || output === undefined)
    return `it has the shape ${JSON.stringify(odd)}, whose extents are not whole numbers`;
  const packed = operator.op === "mapped" && operator.types !== undefined;
  if (expected.length !== given.length || (!packed && expected.some((shape, k) => !alike(shape, given[k]))))
    return `it reads inputs ${shown(expected)}, and is given ${shown(given)}`;
  if (!alike(output, result))
    return `its output is ${formatShape(output)}, and its operator gives ${formatShape(result)}`;
  if (operator.op === "gather" || operator.op === "gather_elements") {
    const { axis, data } = operator;
    if (!Number.isSafeInteger(axis) || axis < 0 || axis >= data.length)
      return `axis ${axis} is none of the dims of data ${formatShape(data)}`;
  }
  if (operator.op !== "mapped") return undefined;
  const wrong = operator.map.indices.find(({ outOfRange }) => outOfRange !== "any" && !isPolicy(outOfRange));
  return wrong === undefined ? undefined : `its map has an index value of policy ${wrong.outOfRange}`;
}

const isShape = (shape: unknown): boolean =>
  Array.isArray(shape) && shape.every((extent) => Number.isSafeInteger(extent) && Number(extent) >= 0);

/** True if two shapes have the same number of elements. DirectML's leading ones make no difference. */
const alike = (a: Shape, b: Shape | undefined): boolean =>
  b !== undefined && elementCount(a) === elementCount(b);

const shown = (shapes: readonly Shape[]): string => shapes.map(formatShape).join(", ");
