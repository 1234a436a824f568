/**
 * PyTorch's gather, index_select, take_along_dim and nn.functional.embedding.
 *
 * Source: docs.pytorch.org/docs/stable, the pages of these names, and
 * aten/src/ATen/native/TensorAdvancedIndexing.cpp. Indices are of int32 or int64; none counts from the end,
 * and one out of range is an error. A scalar counts as a tensor of one element, but for take_along_dim along
 * a dim.
 */
import { outputShape } from "../operator.js";
import { at, type DType } from "../types.js";
import { axis, dimAxis, flatAxis, oobOf, oobSpec } from "./attributes.js";
import {
  type AttrSpec,
  axisOf,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  resolvedAs,
  withoutScalars,
} from "./op-def.js";
import { takeAlongOperator, takeFlatOperator } from "./take.js";

/** The page's signature and example say so; its list of parameters has 0. */
const flatDim = {
  ...flatAxis,
  argument: "dim",
  help: `${axis.help}; absent, both tensors count as flat`,
} as const satisfies AttrSpec;
const oob = oobSpec("error");

/** Element types of tensors in torch's operators, without the unsigned types of 16 bits and more. */
export const tensorTypes: readonly DType[] = [
  ...(["bool", "u8", "i8", "i16", "i32", "i64"] as const),
  ...(["f16", "bf16", "f32", "f64", "c64", "c128"] as const),
];
const indexTypes: readonly DType[] = ["i32", "i64"];

function checkTypes(inputs: OpInputs, who: string): void {
  checkDType(inputs, "data", tensorTypes, who);
  checkDType(inputs, "indices", indexTypes, who);
  checkRank(inputs, "data", 1, 8, who);
}

/** Operator torch.gather: selects elements along a dim. */
export const torchGather = defineOperator({
  name: "torch.gather",
  kind: "gather_elements",
  inputs: ["input", "index"],
  attrs: { dim: dimAxis, oob },
  resolve(given) {
    const inputs = withoutScalars(given);
    checkTypes(inputs, "torch.gather");
    checkSameRank(inputs, "torch.gather");
    const along = axisOf(inputs, "dim");
    checkElements(inputs, along, false, "torch.gather");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    return {
      operator: { op: "gather_elements", axis: along, data, indices },
      output: given.indices.shape,
      negative: "illegal",
      oob: oobOf(inputs),
    };
  },
});

/** Operator torch.index_select: selects slices along a dim. */
export const torchIndexSelect = defineOperator({
  name: "torch.index_select",
  kind: "gather",
  inputs: ["input", "index"],
  attrs: { dim: dimAxis, oob },
  resolve(given) {
    const inputs = withoutScalars(given);
    checkTypes(inputs, "torch.index_select");
    checkRank(inputs, "indices", 1, 1, "torch.index_select");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const isScalar = given.data.shape.length === 0;
    if (isScalar && at(indices, 0) !== 1)
      breakRule("TC103", given, `torch.index_select takes one index of a scalar, not ${at(indices, 0)}`);
    const operator = { op: "gather", axis: axisOf(inputs, "dim"), data, indices } as const;
    const output = isScalar ? [] : outputShape(operator);
    return { operator, output, negative: "illegal", oob: oobOf(inputs) };
  },
});

/**
 * Operator torch.take_along_dim: selects elements along a dim, or from the flat tensor if there is no dim.
 */
export const torchTakeAlongDim = defineOperator({
  name: "torch.take_along_dim",
  inputs: ["input", "indices"],
  attrs: { dim: flatDim, oob },
  resolve(given) {
    const isFlat = given.attrs["dim"] === undefined;
    const inputs = isFlat ? withoutScalars(given) : given;
    checkTypes(inputs, "torch.take_along_dim");
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    const operator = isFlat
      ? takeFlatOperator(inputs, policy)
      : takeAlongOperator(inputs, axisOf(inputs, "dim"), policy, "torch.take_along_dim");
    return resolvedAs(operator, policy);
  },
});

/** Operator torch.embedding: selects rows of a weight matrix. */
export const torchEmbedding = defineOperator({
  name: "torch.embedding",
  inputs: ["weight", "input"],
  attrs: {
    padding_idx: {
      key: "paddingIdx",
      kind: "int",
      help: "the row that no gradient reaches; it is read like any other",
    },
    oob,
  },
  resolve(inputs) {
    checkTypes(inputs, "torch.embedding");
    checkRank(inputs, "data", 2, 2, "torch.embedding");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const [rows = 0] = data;
    const padding = intAttr(inputs.attrs, "padding_idx");
    if (padding !== undefined && (padding < -rows || padding >= rows)) {
      breakRule(
        "TC105",
        inputs,
        `padding_idx ${padding} is outside [${-rows}, ${rows - 1}], the rows of weight`,
      );
    }
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    return resolvedAs({ op: "gather", axis: 0, data, indices }, policy);
  },
});
