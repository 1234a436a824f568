/**
 * PyPTO's `gather(input, dim, index)` and `index_select(input, dim, index)`.
 *
 * Sources: hicann/pypto docs/zh/api/operation/pypto-gather.md and pypto-index_select.md. No empty tensors, fewer
 * than 2^31 elements, no negative indices; ranks as at the repository's head (decision D3).
 */
import { elementCount, formatType, type DType } from "../types.js";
import {
  axisInRange,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  fail,
  intAttr,
  type AttrSpec,
  type OpDef,
  type OpInputs,
} from "./op-def.js";
import { axis, oobOf, oobSpec } from "./attributes.js";

const dim = { ...axis, argument: "dim" } as const satisfies AttrSpec;
/** The union of the chips; bool and the 8-bit floats exist on the 950 alone and are left out. */
const dataTypes: readonly DType[] = ["f32", "f16", "bf16", "i32", "u32", "i16", "u16", "i8", "u8"];

function checkInputs(inputs: OpInputs, who: string): void {
  checkDType(inputs, "data", dataTypes, who);
  checkDType(inputs, "indices", ["i32", "i64"], who);
  for (const operand of ["data", "indices"] as const) {
    if (elementCount(inputs[operand].shape) === 0) {
      fail(
        "TC103",
        inputs,
        `${who} takes no empty tensors, and ${operand} is ${formatType(inputs[operand])}`,
      );
    }
  }
}

export const pyptoGather = {
  name: "pypto.gather",
  kind: "gather_elements",
  attrs: { dim, oob: oobSpec("error") },
  resolve(inputs) {
    checkInputs(inputs, "pypto.gather");
    checkRank(inputs, "data", 1, 5, "pypto.gather");
    checkSameRank(inputs, "pypto.gather");
    const axis = axisInRange(inputs, intAttr(inputs.attrs, "dim") ?? 0, inputs.data.shape.length, "dim");
    checkElements(inputs, axis, false);
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    return {
      operator: { op: "gather_elements", axis, data, indices },
      output: indices,
      negative: "illegal",
      oob: oobOf(inputs),
    };
  },
} as const satisfies OpDef;

export const pyptoIndexSelect = {
  name: "pypto.index_select",
  kind: "gather",
  attrs: { dim, oob: oobSpec("error") },
  resolve(inputs) {
    checkInputs(inputs, "pypto.index_select");
    checkRank(inputs, "data", 1, 4, "pypto.index_select");
    checkRank(inputs, "indices", 1, 2, "pypto.index_select");
    const axis = axisInRange(inputs, intAttr(inputs.attrs, "dim") ?? 0, inputs.data.shape.length, "dim");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    return {
      operator: { op: "gather", axis, data, indices },
      output: [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)],
      negative: "illegal",
      oob: oobOf(inputs),
    };
  },
} as const satisfies OpDef;
