/**
 * ONNX's Cast, DequantizeLinear, Add, Sub, Mul, Div, Min and Max as expressions of the elements that they
 * compute with.
 *
 * Source: onnx/onnx docs/Operators.md. Types that values have no arithmetic in are computed as ONNX Runtime
 * computes them: f16 and bf16 through f32, integers of fewer bits through i32, modulo their size.
 */
import {
  at,
  castTo,
  constant,
  dim,
  div,
  elementCount,
  isArithmeticType,
  isIntegerOperation,
  isRealSource,
  isSourceType,
  isValueType,
  type ArithmeticType,
  type DType,
  type Expression,
  type Linear,
  type Operation,
  type Reduced,
  type Shape,
} from "../../../ir/index.js";
import { fromHost } from "../../../backends/index.js";
import { broadcastCoords } from "../../../ir/ops/broadcast.js";
import { dtypeOf } from "./data-type.js";
import { int, type RuleInput } from "./rule.js";
import type { TrackedValue } from "./value.js";

/**
 * Read of one element of a node's input. `input` is the index of the input, and `at` has the coordinates of
 * the element as linear expressions of the output coordinates.
 */
export interface OperandRead {
  readonly input: number;
  readonly at: readonly Linear[];
}

/**
 * Computation of one output element of an ONNX node: an expression over elements of the inputs. A read in
 * `value` is an index into the list `reads`.
 */
export interface Elementwise {
  readonly reads: readonly OperandRead[];
  readonly value: Expression;
  /**
   * Reduction that combines the terms of an output element; absent if there is none. Its dim `r` follows the
   * dims of the output.
   */
  readonly reduced?: Reduced;
}

/**
 * Element types and shapes of a node's inputs, in order; undefined for an optional input that is left out.
 */
export type Operands = readonly ({ readonly dtype: DType; readonly shape: Shape } | undefined)[];

/**
 * Computation of one output element of an ONNX node, or the reason why tilec cannot compute the element
 * (`why`).
 */
export type Computed = Elementwise | { readonly why: string };

type Rule = (input: RuleInput, operands: Operands, shape: Shape) => Computed;

const read = (k: number): Expression => ({ kind: "read", read: k });

/**
 * Returns the reason why a node is not computed: tilec has no arithmetic for the element type `dtype`. Pass
 * undefined for an element type that tilec lacks.
 */
export const notIn = (dtype: DType | undefined): Computed => ({
  why: `values are not computed in ${dtype ?? "a type that tilec lacks"}`,
});

/**
 * Returns the type in which tilec computes with elements of `dtype`. f16 and bf16 map to f32, and narrow
 * integers to i32. Returns undefined if no type fits.
 */
export function arithmeticOf(dtype: DType): ArithmeticType | undefined {
  if (isArithmeticType(dtype)) return dtype;
  if (!isValueType(dtype)) return undefined;
  return dtype === "f16" || dtype === "bf16" ? "f32" : "i32";
}

/** Returns two or more operands one after the other, each result rounded to their type. */
const folded =
  (op: Operation): Rule =>
  (_, operands, shape) => {
    const types = operands.flatMap((operand) => operand?.dtype ?? []);
    const [dtype] = types;
    const arithmetic = dtype === undefined ? undefined : arithmeticOf(dtype);
    if (dtype === undefined || arithmetic === undefined || types.some((other) => other !== dtype))
      return notIn(dtype);
    // ONNX leaves a quotient by 0 open for integers.
    if (arithmetic !== "f32" && !isIntegerOperation(op)) return notIn(dtype);
    const reads = operands.flatMap((operand, input): OperandRead[] =>
      operand === undefined ? [] : [{ input, at: broadcastCoords(operand.shape, shape) }],
    );
    const value = reads
      .map((_read, k) => read(k))
      .reduce((left, right) =>
        castTo(dtype, arithmetic, {
          kind: "op",
          op,
          of: [castTo(arithmetic, dtype, left), castTo(arithmetic, dtype, right)],
        }),
      );
    return { reads, value };
  };

const rules: Readonly<Record<string, Rule>> = {
  Add: folded("add"),
  Sub: folded("sub"),
  Mul: folded("mul"),
  Div: folded("div"),
  Min: folded("min"),
  Max: folded("max"),

  Cast({ node }, [x], shape) {
    const to = dtypeOf(int(node, "to") ?? 0);
    if (x === undefined || !isSourceType(x.dtype)) return notIn(x?.dtype);
    if (to === undefined || !isValueType(to)) return notIn(to);
    return {
      reads: [{ input: 0, at: broadcastCoords(x.shape, shape) }],
      value: castTo(to, x.dtype, read(0)),
    };
  },

  DequantizeLinear(input, [x, scale, zero], shape) {
    const { node, opset } = input;
    if (x === undefined || !isSourceType(x.dtype)) return notIn(x?.dtype);
    if (scale === undefined || (scale.dtype !== "f32" && scale.dtype !== "f16")) return notIn(scale?.dtype);
    const output = int(node, "output_dtype") ?? 0;
    if (output !== 0 && dtypeOf(output) !== scale.dtype)
      return { why: "output_dtype is not the type of its scale" };
    const stated = int(node, "axis") ?? 1;
    const axis = opset < 13 ? undefined : stated < 0 ? stated + x.shape.length : stated;
    const block = int(node, "block_size") ?? 0;
    const place = placeOf(x.shape, scale.shape, axis, block);
    if (place === undefined) return { why: "its scale has another shape than an axis or blocks of it" };
    const number = fixedNumber(input.inputs[2]);
    // Source: onnx/onnx docs/Operators.md, DequantizeLinear: the zero point of 8-bit real numbers must be 0.
    const isReal = isRealSource(x.dtype);
    if (
      isReal &&
      zero !== undefined &&
      input.inputs[2]?.constant?.()?.bytes.every((byte) => byte === 0) !== true
    )
      return { why: "its zero point is not known to be 0, as that of 8-bit real numbers must be" };
    const zeros: Expression | undefined =
      zero === undefined || isReal
        ? undefined
        : number !== undefined
          ? { kind: "number", type: "i32", bits: number >>> 0 }
          : castTo("i32", zero.dtype, read(2));
    const scaled: Expression =
      zeros === undefined || (zeros.kind === "number" && zeros.bits === 0)
        ? read(0)
        : { kind: "op", op: "sub", of: [castTo("i32", x.dtype, read(0)), zeros] };
    const reads: OperandRead[] = [
      { input: 0, at: shape.map((_, k) => dim(k)) },
      { input: 1, at: place },
      ...(zeros === undefined || number !== undefined ? [] : [{ input: 2, at: place }]),
    ];
    const product: Expression = {
      kind: "op",
      op: "mul",
      of: [{ kind: "cast", to: "f32", of: scaled }, castTo("f32", scale.dtype, read(1))],
    };
    return { reads, value: castTo(scale.dtype, "f32", product) };
  },
};

/**
 * Returns the coordinates, in the scale tensor, of the quantization scale that applies to an element. A scale
 * applies to the entire tensor, to one position along `axis`, or to `block` consecutive positions. Returns
 * undefined if the scale tensor has another shape.
 */
function placeOf(
  shape: Shape,
  scale: Shape,
  axis: number | undefined,
  block: number,
): readonly Linear[] | undefined {
  if (axis !== undefined && block > 0) {
    const blocks = shape.map((extent, k) => (k === axis ? Math.ceil(extent / block) : extent));
    if (scale.length !== blocks.length || scale.some((extent, k) => extent !== at(blocks, k)))
      return undefined;
    return shape.map((_, k) => (k === axis ? div(dim(k), block) : dim(k)));
  }
  if (scale.length === 0) return [];
  if (scale.length > 1) return undefined;
  if (axis !== undefined && scale[0] === shape[axis]) return [dim(axis)];
  return scale[0] === 1 ? [constant(0)] : undefined;
}

/**
 * Returns the one element of a constant tensor as a number. Undefined if the value is not constant, has more
 * or fewer elements than one, or is not a number in JavaScript.
 */
function fixedNumber(value: TrackedValue | undefined): number | undefined {
  const tensor = value?.constant?.();
  if (tensor === undefined || elementCount(tensor.type.shape) !== 1) return undefined;
  const [element] = fromHost(tensor.type, tensor.bytes);
  return typeof element === "number" ? element : undefined;
}

/**
 * True if an operator of ONNX's default domain computes element by element. tilec can merge nodes of an
 * elementwise operator into an adjacent gather.
 */
export const isElementwise = (op: string): boolean => Object.hasOwn(rules, op);

/**
 * Returns the computation of one output element of an elementwise node, or the reason why tilec cannot
 * compute the element. `shape` is the shape of the output.
 */
export const elementwiseOf = (input: RuleInput, operands: Operands, shape: Shape): Computed =>
  rules[input.node.op]?.(input, operands, shape) ?? { why: "it computes something else" };
