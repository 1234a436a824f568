/**
 * Builders with DirectML's operator descriptors, field for field. Each throws a CompileError (TC1xx) where the
 * document's rules are broken, an OutputTensor of another size or type included.
 */
import {
  CompileError,
  error,
  formatType,
  sameShape,
  type Attrs,
  type DType,
  type FeatureLevel,
  type OutOfBounds,
  type Shape,
  type SourceFunc,
  type TensorType,
} from "../../ir/index.js";
import { oneOf, type Field, type Fields } from "../../backends/index.js";
import { attrField, checkArguments, checkOptions, extentsField } from "../api/check-options.js";
import { program } from "../api/program.js";

export type DmlDataType =
  | "FLOAT64"
  | "FLOAT32"
  | "FLOAT16"
  | "INT64"
  | "INT32"
  | "INT16"
  | "INT8"
  | "UINT64"
  | "UINT32"
  | "UINT16"
  | "UINT8";

/** DML_BUFFER_TENSOR_DESC, as far as a gather cares. */
export interface DmlTensorDesc {
  readonly DataType: DmlDataType;
  readonly Sizes: Shape;
}

interface DmlOperatorDesc {
  readonly InputTensor: DmlTensorDesc;
  readonly IndicesTensor: DmlTensorDesc;
  /** Checked when given; derived otherwise. */
  readonly OutputTensor?: DmlTensorDesc;
}

export interface DmlGatherOperatorDesc extends DmlOperatorDesc {
  readonly Axis: number;
  readonly IndexDimensions: number;
}

export interface DmlGatherElementsOperatorDesc extends DmlOperatorDesc {
  readonly Axis: number;
}

export interface DmlGatherNdOperatorDesc extends DmlOperatorDesc {
  readonly InputDimensionCount: number;
  readonly IndicesDimensionCount: number;
}

export interface DmlGatherNd1OperatorDesc extends DmlGatherNdOperatorDesc {
  readonly BatchDimensionCount: number;
}

export interface DmlOptions {
  /** DML_FEATURE_LEVEL; default 4.1. It gates types, ranks and negative indices. */
  readonly featureLevel?: FeatureLevel;
  /** Out-of-range policy; the document's "clamped safely" is `clamp` here. */
  readonly oob?: OutOfBounds;
}

const dtypeOf: Readonly<Record<DmlDataType, DType>> = {
  FLOAT64: "f64",
  FLOAT32: "f32",
  FLOAT16: "f16",
  INT64: "i64",
  INT32: "i32",
  INT16: "i16",
  INT8: "i8",
  UINT64: "u64",
  UINT32: "u32",
  UINT16: "u16",
  UINT8: "u8",
};

const tensorFields: Fields<DmlTensorDesc> = {
  DataType: oneOf(Object.keys(dtypeOf), "TC104"),
  Sizes: extentsField,
};
const tensorField: Field = {
  code: "TC103",
  takes: 'a tensor, such as { DataType: "FLOAT32", Sizes: [4096, 1024] }',
  problems: (value, path) =>
    checkOptions(path, value, tensorFields, { path: `${path}.`, needs: ["DataType", "Sizes"] }),
};
const operatorFields: Fields<DmlOperatorDesc> = {
  InputTensor: tensorField,
  IndicesTensor: tensorField,
  OutputTensor: tensorField,
};
const operands = ["InputTensor", "IndicesTensor"] as const;
const counts = ["InputDimensionCount", "IndicesDimensionCount"] as const;
const gatherFields: Fields<DmlGatherOperatorDesc> = {
  ...operatorFields,
  Axis: attrField,
  IndexDimensions: attrField,
};
const gatherElementsFields: Fields<DmlGatherElementsOperatorDesc> = { ...operatorFields, Axis: attrField };
const gatherNdFields: Fields<DmlGatherNdOperatorDesc> = {
  ...operatorFields,
  InputDimensionCount: attrField,
  IndicesDimensionCount: attrField,
};
const gatherNd1Fields: Fields<DmlGatherNd1OperatorDesc> = {
  ...gatherNdFields,
  BatchDimensionCount: attrField,
};
const optionFields: Fields<DmlOptions> = { featureLevel: attrField, oob: attrField };

const tensor = (desc: DmlTensorDesc): TensorType => ({ dtype: dtypeOf[desc.DataType], shape: desc.Sizes });

function build(op: string, desc: DmlOperatorDesc, attrs: Attrs, options: DmlOptions): SourceFunc {
  checkArguments(`the options of ${op}`, options, optionFields, []);
  const func = program({
    op,
    attrs: {
      ...attrs,
      ...(options.featureLevel === undefined ? {} : { feature_level: options.featureLevel }),
      ...(options.oob === undefined ? {} : { oob: options.oob }),
    },
    data: tensor(desc.InputTensor),
    indices: tensor(desc.IndicesTensor),
  });
  if (desc.OutputTensor !== undefined) {
    const [given, derived] = [tensor(desc.OutputTensor), func.output.type];
    if (given.dtype !== derived.dtype) {
      throw new CompileError([
        error("TC104", `OutputTensor is ${given.dtype} and InputTensor ${derived.dtype}`),
      ]);
    }
    if (!sameShape(given.shape, derived.shape)) {
      throw new CompileError([
        error("TC103", `OutputTensor is ${formatType(given)}; the size formula gives ${formatType(derived)}`),
      ]);
    }
  }
  return func;
}

/** DML_GATHER_OPERATOR_DESC */
export function gather(desc: DmlGatherOperatorDesc, options: DmlOptions = {}): SourceFunc {
  checkArguments("directml.gather", desc, gatherFields, [...operands, "Axis", "IndexDimensions"]);
  const attrs = { axis: desc.Axis, index_dimensions: desc.IndexDimensions };
  return build("directml.gather", desc, attrs, options);
}

/** DML_GATHER_ELEMENTS_OPERATOR_DESC */
export function gatherElements(desc: DmlGatherElementsOperatorDesc, options: DmlOptions = {}): SourceFunc {
  checkArguments("directml.gather_elements", desc, gatherElementsFields, [...operands, "Axis"]);
  return build("directml.gather_elements", desc, { axis: desc.Axis }, options);
}

const ndAttrs = (desc: DmlGatherNdOperatorDesc): Attrs => ({
  input_dimension_count: desc.InputDimensionCount,
  indices_dimension_count: desc.IndicesDimensionCount,
});

/** DML_GATHER_ND_OPERATOR_DESC */
export function gatherNd(desc: DmlGatherNdOperatorDesc, options: DmlOptions = {}): SourceFunc {
  checkArguments("directml.gather_nd", desc, gatherNdFields, [...operands, ...counts]);
  return build("directml.gather_nd", desc, ndAttrs(desc), options);
}

/** DML_GATHER_ND1_OPERATOR_DESC */
export function gatherNd1(desc: DmlGatherNd1OperatorDesc, options: DmlOptions = {}): SourceFunc {
  checkArguments("directml.gather_nd1", desc, gatherNd1Fields, [
    ...operands,
    ...counts,
    "BatchDimensionCount",
  ]);
  const attrs = { ...ndAttrs(desc), batch_dimension_count: desc.BatchDimensionCount };
  return build("directml.gather_nd1", desc, attrs, options);
}
