/**
 * Rules of operators that work element by element: where all operands are small integers or truth values, as shapes on
 * their way through a model are, what they compute is followed. Sources: onnx/onnx docs/Operators.md.
 */
import { dataType } from "./data-type.js";
import { broadcast, elementsAt, flatOf, int, withDims, withElements, type ShapeRule } from "./rule.js";
import { knownElements, type TrackedValue } from "./value.js";

const truth = (holds: boolean): bigint => (holds ? 1n : 0n);

/** What does not fit its type is not followed: ONNX says nothing of overflow. */
function fitting(type: number | undefined, element: bigint | undefined): bigint | undefined {
  if (element === undefined) return undefined;
  return element === BigInt.asIntN(type === dataType.i32 ? 32 : 64, element) ? element : undefined;
}

type Compute = (a: bigint, b: bigint, c: bigint) => bigint | undefined;

/** The elements of a broadcast operator over what is known of its operands. */
function computed(
  inputs: readonly (TrackedValue | undefined)[],
  dims: TrackedValue["dims"],
  compute: Compute,
): TrackedValue["elements"] {
  const operands = inputs.map((input) => ({ dims: input?.dims ?? [], elements: knownElements(input) }));
  if (dims === undefined || operands.some(({ elements }) => elements === undefined)) return undefined;
  return elementsAt(dims, (position) => {
    const values = operands.map(({ dims: own, elements }) => {
      const tail = position.slice(position.length - own.length);
      return elements?.[
        flatOf(
          own,
          tail.map((at, k) => (own[k] === 1 ? 0 : at)),
        )
      ];
    });
    if (values.some((value) => value === undefined)) return undefined;
    const [a = 0n, b = 0n, c = 0n] = values;
    return compute(a, b, c);
  });
}

/** Before opset 7 shapes were broadcast by an attribute, and elements are not followed. */
export const elementwise =
  (type?: number, compute?: Compute): ShapeRule =>
  ({ inputs, opset }) => {
    const to = type ?? inputs[0]?.dataType;
    const dims = opset < 7 ? inputs[0]?.dims : broadcast(inputs.map((input) => input?.dims));
    const value = withDims(to, dims);
    if (compute === undefined || opset < 7) return value;
    return withElements(
      value,
      computed(inputs, dims, compute)?.map((element) => fitting(to, element)),
    );
  };

export const elementRules: Readonly<Record<string, ShapeRule>> = {
  Add: elementwise(undefined, (a, b) => a + b),
  Sub: elementwise(undefined, (a, b) => a - b),
  Mul: elementwise(undefined, (a, b) => a * b),
  /** Of integers, truncating; by 0 it is undefined. */
  Div: elementwise(undefined, (a, b) => (b === 0n ? undefined : a / b)),
  Min: elementwise(),
  Max: elementwise(),
  And: elementwise(dataType.bool, (a, b) => a & b),
  Or: elementwise(dataType.bool, (a, b) => a | b),
  Xor: elementwise(dataType.bool, (a, b) => a ^ b),
  Not: elementwise(dataType.bool, (a) => truth(a === 0n)),
  Equal: elementwise(dataType.bool, (a, b) => truth(a === b)),
  Greater: elementwise(dataType.bool, (a, b) => truth(a > b)),
  GreaterOrEqual: elementwise(dataType.bool, (a, b) => truth(a >= b)),
  Less: elementwise(dataType.bool, (a, b) => truth(a < b)),
  LessOrEqual: elementwise(dataType.bool, (a, b) => truth(a <= b)),

  Where({ inputs }) {
    const dims = broadcast(inputs.map((input) => input?.dims));
    const value = withDims(inputs[1]?.dataType ?? inputs[2]?.dataType, dims);
    return withElements(
      value,
      computed(inputs, dims, (condition, a, b) => (condition === 0n ? b : a)),
    );
  },

  Cast({ node, inputs: [x] }) {
    const to = int(node, "to");
    const value = withDims(to, x?.dims);
    const elements = knownElements(x);
    if (to === dataType.bool) {
      return withElements(
        value,
        elements?.map((e) => (e === undefined ? e : truth(e !== 0n))),
      );
    }
    if (to !== dataType.i32 && to !== dataType.i64) return value;
    return withElements(
      value,
      elements?.map((e) => fitting(to, e)),
    );
  },
};
