/** Builders with ONNX's arguments. Each throws a CompileError (TC1xx) where ONNX's rules are broken. */
import { attrsFrom, type ArgumentsOf, type OpDef, type SourceFunc } from "../../ir/index.js";
import type { Fields } from "../../backends/index.js";
import { onnxGather, onnxGatherElements, onnxGatherNd } from "../../ir/ops/onnx.js";
import { attributeFields, checkArguments, pairField } from "../api/check-options.js";
import { program, typeOf, type TypePair } from "../api/program.js";

interface Tensors {
  readonly data: TypePair;
  readonly indices: TypePair;
}

/** `axis` in [-rank, rank - 1], default 0; `opset` 1, 11 or 13 and up, default 13; `oob`, ONNX says `error`. */
export type OnnxGatherArguments = Tensors & ArgumentsOf<typeof onnxGather>;
/** Inputs and attributes of GatherElements. */
export type OnnxGatherElementsArguments = Tensors & ArgumentsOf<typeof onnxGatherElements>;
/** `batchDims` below both ranks, default 0; `opset` and `oob` as for gather. */
export type OnnxGatherNdArguments = Tensors & ArgumentsOf<typeof onnxGatherNd>;

const tensorFields: Fields<Tensors> = { data: pairField, indices: pairField };

function build<D extends OpDef>(def: D, args: Tensors & ArgumentsOf<D>): SourceFunc {
  checkArguments(def.name, args, { ...tensorFields, ...attributeFields(def) }, Object.keys(tensorFields));
  return program({
    op: def.name,
    attrs: attrsFrom(def, args),
    data: typeOf(args.data),
    indices: typeOf(args.indices),
  });
}

/** Output shape: data[:axis] + indices + data[axis+1:]. */
export const gather = (args: OnnxGatherArguments): SourceFunc => build(onnxGather, args);

/** Output shape: that of indices. */
export const gatherElements = (args: OnnxGatherElementsArguments): SourceFunc =>
  build(onnxGatherElements, args);

/** Output shape: indices[:-1] + data[batchDims + indices[-1]:]. */
export const gatherNd = (args: OnnxGatherNdArguments): SourceFunc => build(onnxGatherNd, args);
