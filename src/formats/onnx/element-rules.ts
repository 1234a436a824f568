/**
 * Rules of operators that work element by element: where all operands are small integers or truth values, as
 * shapes on their way through a model are, what they compute is followed. Sources: onnx/onnx
 * docs/Operators.md.
 */
import { dataType } from "./data-type.js";
import {
  broadcast,
  elementsAt,
  flatOf,
  int,
  typeOf,
  withDims,
  withElements,
  type ShapeRule,
  type TypeRule,
} from "./rule.js";
import { constantElements, type TrackedValue } from "./value.js";

/** Returns a truth value as an integer: 1 for true, 0 for false. */
export const truth = (holds: boolean): bigint => (holds ? 1n : 0n);

/**
 * Returns the element; undefined if the element is out of range for the type, because ONNX does not define
 * the result of an overflow.
 */
function fitting(type: number | undefined, element: bigint | undefined): bigint | undefined {
  if (element === undefined) return undefined;
  return element === BigInt.asIntN(type === dataType.i32 ? 32 : 64, element) ? element : undefined;
}

type Compute = (...operands: readonly [bigint, ...bigint[]]) => bigint | undefined;

/**
 * Computes the output elements of an elementwise operator with constant operands, broadcast to `dims`. An
 * element that cannot be computed is undefined. Returns undefined if `dims` or the elements of an operand are
 * unknown.
 */
function computed(
  inputs: readonly (TrackedValue | undefined)[],
  dims: TrackedValue["dims"],
  compute: Compute,
): TrackedValue["elements"] {
  const operands = inputs.map((input) => ({ dims: input?.dims ?? [], elements: constantElements(input) }));
  if (dims === undefined || operands.some(({ elements }) => elements === undefined)) return undefined;
  return elementsAt(dims, (position) => {
    const values = operands.flatMap(({ dims: extents, elements }) => {
      const tail = position.slice(position.length - extents.length);
      const at = tail.map((place, k) => (extents[k] === 1 ? 0 : place));
      return elements?.[flatOf(extents, at)] ?? [];
    });
    const [first, ...others] = values;
    return first === undefined || values.length < operands.length ? undefined : compute(first, ...others);
  });
}

/**
 * Returns the shape rule of an elementwise operator with broadcast operands. `type` infers the output's
 * element type, by default the type of the first operand. `compute` computes the elements of constant
 * outputs.
 */
export const elementwise =
  (compute?: Compute, type: TypeRule = typeOf(0)): ShapeRule =>
  (input) => {
    const { inputs, opset } = input;
    const to = type(input);
    const dims = opset < 7 ? inputs[0]?.dims : broadcast(inputs.map((operand) => operand?.dims));
    const value = withDims(to, dims);
    if (compute === undefined || opset < 7) return value;
    return withElements(
      value,
      computed(inputs, dims, compute)?.map((element) => fitting(to, element)),
    );
  };

/**
 * Infers the type, shape and known elements of the output of ONNX Mod. An element has the sign of the
 * divisor, or with `fmod` the sign of the dividend.
 */
export const modulo: ShapeRule = (input) =>
  elementwise((a, b = 0n) => {
    if (b === 0n) return undefined;
    const rest = a % b;
    return int(input.node, "fmod") === 1 || rest === 0n || rest < 0n === b < 0n ? rest : rest + b;
  })(input);

/**
 * Infers the type, shape and known elements of the output of ONNX Where, which selects between two values by
 * a condition. The element type is the type of the values.
 */
export const where: ShapeRule = ({ inputs }) => {
  const dims = broadcast(inputs.map((input) => input?.dims));
  const value = withDims(inputs[1]?.dataType ?? inputs[2]?.dataType, dims);
  return withElements(
    value,
    computed(inputs, dims, (condition, yes, no) => (condition === 0n ? no : yes)),
  );
};

/**
 * Returns the shape rule of an operator that converts the first input to `type`. Elements are inferred only
 * if `type` is bool, i32 or i64.
 */
export const castTo =
  (type: TypeRule): ShapeRule =>
  (input) => {
    const [x] = input.inputs;
    const to = type(input);
    const value = withDims(to, x?.dims);
    const elements = constantElements(x);
    const isTruth = to === dataType.bool;
    if (!isTruth && to !== dataType.i32 && to !== dataType.i64) return value;
    return withElements(
      value,
      elements?.map((element) =>
        isTruth && element !== undefined ? truth(element !== 0n) : fitting(to, element),
      ),
    );
  };
