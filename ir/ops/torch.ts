/**
 * PyTorch's gather, index_select, take_along_dim and nn.functional.embedding.
 *
 * Source: docs.pytorch.org/docs/stable, the pages of these names. Indices are LongTensors, where a page says so IntTensors too;
 * none counts from the end, and one out of range is an error.
 */
import { outputShape } from "../operator.js";
import type { DType } from "../types.js";
import { axis, oobOf, oobSpec } from "./attributes.js";
import {
  type AttrSpec,
  axisInRange,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
} from "./op-def.js";
import { takeAlongOperator, takeFlatOperator } from "./take.js";

const dim = { ...axis, argument: "dim" } as const satisfies AttrSpec;
/** The page's signature and example say so; its list of parameters has 0. */
const flatDim = {
  key: "axis",
  argument: "dim",
  kind: "int",
  help: `${axis.help}; absent, both tensors count as flat`,
} as const satisfies AttrSpec;
const oob = oobSpec("error");

/** torch.dtype without the unsigned types of 16 bits and more, which have "limited support". */
const tensorTypes: readonly DType[] = [
  ...(["bool", "u8", "i8", "i16", "i32", "i64"] as const),
  ...(["f16", "bf16", "f32", "f64", "c64", "c128"] as const),
];
const long: readonly DType[] = ["i64"];
const intOrLong: readonly DType[] = ["i32", "i64"];

function checkTypes(inputs: OpInputs, who: string, indices: readonly DType[]): void {
  checkDType(inputs, "data", tensorTypes, who);
  checkDType(inputs, "indices", indices, who);
  checkRank(inputs, "data", 1, 8, who);
}

const dimOf = (inputs: OpInputs): number =>
  axisInRange(inputs, intAttr(inputs.attrs, "dim") ?? 0, inputs.data.shape.length, "dim");

export const torchGather = defineOperator({
  name: "torch.gather",
  kind: "gather_elements",
  inputs: ["input", "index"],
  attrs: { dim, oob },
  resolve(inputs) {
    checkTypes(inputs, "torch.gather", long);
    checkSameRank(inputs, "torch.gather");
    const along = dimOf(inputs);
    checkElements(inputs, along, false, "torch.gather");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    return {
      operator: { op: "gather_elements", axis: along, data, indices },
      output: indices,
      negative: "illegal",
      oob: oobOf(inputs),
    };
  },
});

export const torchIndexSelect = defineOperator({
  name: "torch.index_select",
  kind: "gather",
  inputs: ["input", "index"],
  attrs: { dim, oob },
  resolve(inputs) {
    checkTypes(inputs, "torch.index_select", intOrLong);
    checkRank(inputs, "indices", 1, 1, "torch.index_select");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const operator = { op: "gather", axis: dimOf(inputs), data, indices } as const;
    return { operator, output: outputShape(operator), negative: "illegal", oob: oobOf(inputs) };
  },
});

export const torchTakeAlongDim = defineOperator({
  name: "torch.take_along_dim",
  inputs: ["input", "indices"],
  attrs: { dim: flatDim, oob },
  resolve(inputs) {
    checkTypes(inputs, "torch.take_along_dim", long);
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    const operator =
      inputs.attrs["dim"] === undefined
        ? takeFlatOperator(inputs, policy)
        : takeAlongOperator(inputs, dimOf(inputs), policy, "torch.take_along_dim");
    return { operator, output: outputShape(operator), ...policy };
  },
});

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
    checkTypes(inputs, "torch.embedding", intOrLong);
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
    const operator = { op: "gather", axis: 0, data, indices } as const;
    return { operator, output: outputShape(operator), negative: "illegal", oob: oobOf(inputs) };
  },
});
