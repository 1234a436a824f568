/**
 * ONNX's ReduceSum, ReduceMean, ReduceMax and ReduceMin over one dim, as what the terms along it come to.
 *
 * Source: onnx/onnx docs/Operators.md. It leaves the order of a sum open; here terms are taken in ascending,
 * from +0. Types that values have no arithmetic in are computed as those of the operations are: f16 and bf16
 * through f32.
 */
import { castTo, dim, maxReductionElements, type Reduction } from "../../../ir/index.js";
import { arithmeticOf, notIn, type Computed, type Operands } from "./elementwise.js";
import { givenAxes, int, normalized, type RuleInput } from "./rule.js";

interface Kind {
  readonly how: Reduction;
  /** The opset from which its axes are an input. */
  readonly since: number;
}

const kinds: ReadonlyMap<string, Kind> = new Map([
  ["ReduceSum", { how: "fold", since: 13 }],
  ["ReduceMean", { how: "mean", since: 18 }],
  ["ReduceMax", { how: "max", since: 18 }],
  ["ReduceMin", { how: "min", since: 18 }],
]);

/**
 * True if an operator of ONNX's default domain is a reduction that tilec can merge into the preceding gather.
 */
export const isReduction = (op: string): boolean => kinds.has(op);

/**
 * Returns the computation of one output element of a reduction node, or the reason why tilec cannot compute
 * the element.
 */
export function reductionOf(input: RuleInput, [x]: Operands): Computed {
  const { node } = input;
  const kind = kinds.get(node.op);
  const given = kind === undefined ? undefined : givenAxes(input, kind.since);
  if (kind === undefined || given === undefined)
    return { why: "its axes are known only when the model runs" };
  if (x === undefined) return notIn(undefined);
  const { dtype, shape } = x;
  const allAxes = given.length === 0 && int(node, "noop_with_empty_axes") !== 1;
  const axes = allAxes ? shape.map((_, k) => k) : normalized(given, shape.length);
  const [axis, ...others] = axes ?? [];
  if (axis === undefined || others.length > 0) return { why: "it reduces another number of dims than one" };
  const arithmetic = arithmeticOf(dtype);
  if (arithmetic === undefined) return notIn(dtype);
  const { how } = kind;
  if (how === "mean" && arithmetic !== "f32") return { why: `a mean of ${dtype} is no f32` };
  const max = shape[axis] ?? 0;
  if (max === 0 || max > maxReductionElements(how)) return { why: `it reduces ${max} elements` };
  const kept = (int(node, "keepdims") ?? 1) === 1;
  const outRank = kept ? shape.length : shape.length - 1;
  const coords = shape.map((_, k) => (k === axis ? dim(outRank) : dim(k > axis && !kept ? k - 1 : k)));
  const value = castTo(dtype, arithmetic, {
    kind: "reduce",
    how,
    of: castTo(arithmetic, dtype, { kind: "read", read: 0 }),
  });
  return { reads: [{ input: 0, at: coords }], value, reduced: { max } };
}
