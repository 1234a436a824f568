/**
 * Checks the result of `resolve` of an operator that tilec does not have: one in JavaScript may return
 * anything.
 */
import { outOfBoundsPolicies } from "../access.js";
import { inputShapes, outputShape, type Operator } from "../operator.js";
import { assertNever, elementCount, formatShape, type Shape, type TensorType } from "../types.js";
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
  const { operator, output } = resolved ?? {};
  if (operator === undefined || !Object.hasOwn(kinds, operator.op))
    return `it resolves to no operator of ${Object.keys(kinds).join(", ")}`;
  return (
    wordFault(resolved ?? {}) ??
    disputeFault(resolved?.disputed) ??
    shapeFault(operator, output, inputs) ??
    operatorFault(operator)
  );
}

const isPolicy = (word: unknown): boolean => outOfBoundsPolicies.some((policy) => policy === word);

/** Returns a sentence about a policy that is none; undefined if there is none. */
function wordFault({ negative, oob }: Partial<Resolved>): string | undefined {
  if (negative === undefined || !Object.hasOwn(negatives, negative))
    return `negative is ${String(negative)}, and takes ${Object.keys(negatives).join(", ")}`;
  return isPolicy(oob) ? undefined : `oob is ${String(oob)}, and takes ${outOfBoundsPolicies.join(", ")}`;
}

/** Returns a sentence about a dispute that is no message with notes; undefined if there is none. */
function disputeFault(disputed: Resolved["disputed"]): string | undefined {
  const { message, notes } = disputed ?? { message: "", notes: [] };
  const isText = (value: unknown): boolean => typeof value === "string";
  return isText(message) && Array.isArray(notes) && notes.every(isText)
    ? undefined
    : "disputed takes a message and a list of notes";
}

/** Returns a sentence about the first shape that does not fit the operator; undefined if there is none. */
function shapeFault(
  operator: Operator,
  output: Shape | undefined,
  inputs: readonly TensorType[],
): string | undefined {
  const [expected, given] = [inputShapes(operator), inputs.map(({ shape }) => shape)];
  const result = outputShape(operator);
  const odd = [...expected, result, output].find((shape) => !isShape(shape));
  if (odd !== undefined || output === undefined)
    return `it has the shape ${JSON.stringify(odd)}, whose extents are not whole numbers`;
  const packed = operator.op === "mapped" && operator.types !== undefined;
  if (expected.length !== given.length || (!packed && expected.some((shape, k) => !alike(shape, given[k]))))
    return `it reads inputs ${shown(expected)}, and is given ${shown(given)}`;
  return alike(output, result)
    ? undefined
    : `its output is ${formatShape(output)}, and its operator gives ${formatShape(result)}`;
}

/** Returns a sentence about the axis or the index values of an operator; undefined if they have no fault. */
function operatorFault(operator: Operator): string | undefined {
  switch (operator.op) {
    case "gather":
    case "gather_elements": {
      const { axis, data } = operator;
      return Number.isSafeInteger(axis) && axis >= 0 && axis < data.length
        ? undefined
        : `axis ${axis} is none of the dims of data ${formatShape(data)}`;
    }
    case "gather_nd":
      return undefined;
    case "mapped": {
      const wrong = operator.map.indices.find(
        ({ outOfRange }) => outOfRange !== "any" && !isPolicy(outOfRange),
      );
      return wrong && `its map has an index value of policy ${wrong.outOfRange}`;
    }
    default:
      return assertNever(operator);
  }
}

const isShape = (shape: unknown): boolean =>
  Array.isArray(shape) && shape.every((extent) => Number.isSafeInteger(extent) && Number(extent) >= 0);

/** True if two shapes have the same number of elements. DirectML's leading ones make no difference. */
const alike = (a: Shape, b: Shape | undefined): boolean =>
  b !== undefined && elementCount(a) === elementCount(b);

const shown = (shapes: readonly Shape[]): string => shapes.map(formatShape).join(", ");
