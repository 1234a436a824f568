/**
 * moe.combine: the rows of the experts that a token was sent to, weighted and added.
 *
 * out[t] = sum over k of x[inverse[t, k]] * weights[t, k], in f32 with k ascending, which is the order that
 * TensorRT-LLM states (NVIDIA/TensorRT-LLM#14592).
 */
import { dim, index } from "../linear.js";
import { at, formatShape, formatType, type DType, type TensorType } from "../types.js";
import { castTo, type Expression } from "../values/expression.js";
import { oobOf, oobSpec } from "./attributes.js";
import { mappedGather } from "./mapped-gather.js";
import {
  checkDType,
  checkTypeOf,
  checkRank,
  defineOperator,
  breakRule,
  resolvedAs,
  type OpInputs,
} from "./op-def.js";

const who = "moe.combine";
const floats: readonly DType[] = ["f32", "f16", "bf16"];

/**
 * Returns the type of the input `weights` of `moe.combine`. Throws a RuleError if `weights` are not floats
 * (TC104), or do not have the shape of `inverse` (TC103).
 */
function weightsOf(inputs: OpInputs): TensorType {
  const { indices: inverse } = inputs;
  const weights = checkTypeOf(inputs, "weights", inputs.inputs[2], floats, who);
  if (formatShape(weights.shape) !== formatShape(inverse.shape))
    breakRule(
      "TC103",
      inputs,
      `weights are ${formatType(weights)}, and inverse is ${formatType(inverse)}: the shapes must be equal`,
    );
  return weights;
}

/**
 * Operator moe.combine: sums, for each token, the weighted rows of the experts to which the token was sent.
 */
export const moeCombine = defineOperator({
  name: "moe.combine",
  inputs: ["x", "inverse", "weights"],
  values: ["weights"],
  attrs: { oob: oobSpec("error") },
  resolve(inputs) {
    checkDType(inputs, "data", floats, who);
    checkDType(inputs, "indices", ["i32", "i64"], who);
    checkRank(inputs, "data", 2, 2, who);
    checkRank(inputs, "indices", 2, 2, who);
    const { data: x, indices: inverse } = inputs;
    const weights = weightsOf(inputs);
    const [tokens, experts] = [at(inverse.shape, 0), at(inverse.shape, 1)];
    if (experts === 0)
      breakRule(
        "TC103",
        inputs,
        `inverse ${formatType(inverse)} gives each token 0 experts; a token needs 1 or more`,
      );
    const oob = oobOf(inputs);
    const place = [dim(0), dim(2)];
    const product: Expression = {
      kind: "op",
      op: "mul",
      of: [
        castTo("f32", x.dtype, { kind: "read", read: 0 }),
        castTo("f32", weights.dtype, { kind: "read", read: 1 }),
      ],
    };
    const shapes = [x, inverse, weights].map(({ shape }) => shape);
    const operator = mappedGather(shapes, [tokens, at(x.shape, 1)], {
      reduced: { max: experts },
      indices: [{ value: { table: 1, at: place }, outOfRange: oob, extent: at(x.shape, 0) }],
      reads: [
        { table: 0, at: [index(0), dim(1)] },
        { table: 2, at: place },
      ],
      value: castTo(x.dtype, "f32", { kind: "reduce", how: "fold", of: product }),
    });
    return resolvedAs(operator, { negative: "illegal", oob });
  },
});
