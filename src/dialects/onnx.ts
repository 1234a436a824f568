/** Builders with ONNX's arguments. Each throws a CompileError (TC1xx) where ONNX's rules are broken. */
import type { OutOfBounds, SourceFunc } from "../../ir/index.js";
import type { Fields } from "../../backends/index.js";
import { attrField, checkArguments, pairField } from "../api/check-options.js";
import { program, typeOf, type TypePair } from "../api/program.js";

export interface OnnxGatherArguments {
  readonly data: TypePair;
  readonly indices: TypePair;
  /** In [-rank, rank - 1]; default 0. */
  readonly axis?: number;
  /** 1, 11 or 13 and up; default 13. */
  readonly opset?: number;
  /** Out-of-range policy; ONNX says `error`. */
  readonly oob?: OutOfBounds;
}

export interface OnnxGatherNdArguments extends Omit<OnnxGatherArguments, "axis"> {
  readonly batchDims?: number;
}

const commonFields = { data: pairField, indices: pairField, opset: attrField, oob: attrField };
const gatherFields: Fields<OnnxGatherArguments> = { ...commonFields, axis: attrField };
const gatherNdFields: Fields<OnnxGatherNdArguments> = { ...commonFields, batchDims: attrField };

const common = (args: { readonly opset?: number; readonly oob?: OutOfBounds }) => ({
  ...(args.opset === undefined ? {} : { opset: args.opset }),
  ...(args.oob === undefined ? {} : { oob: args.oob }),
});

/** Output shape: data[:axis] + indices + data[axis+1:]. */
export const gather = (args: OnnxGatherArguments): SourceFunc => alongAxis("gather", args);

/** Output shape: that of indices. */
export const gatherElements = (args: OnnxGatherArguments): SourceFunc => alongAxis("gather_elements", args);

function alongAxis(op: "gather" | "gather_elements", args: OnnxGatherArguments): SourceFunc {
  checkArguments(`onnx.${op}`, args, gatherFields, ["data", "indices"]);
  return program({
    op: `onnx.${op}`,
    attrs: { axis: args.axis ?? 0, ...common(args) },
    data: typeOf(args.data),
    indices: typeOf(args.indices),
  });
}

/** Output shape: indices[:-1] + data[batchDims + indices[-1]:]. */
export function gatherNd(args: OnnxGatherNdArguments): SourceFunc {
  checkArguments("onnx.gather_nd", args, gatherNdFields, ["data", "indices"]);
  return program({
    op: "onnx.gather_nd",
    attrs: { batch_dims: args.batchDims ?? 0, ...common(args) },
    data: typeOf(args.data),
    indices: typeOf(args.indices),
  });
}
