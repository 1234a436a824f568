/**
 * Builders with DirectML's operator descriptors, field for field. Each throws a CompileError (TC1xx) where
 * the document's rules are broken, an OutputTensor of another size or type included.
 */
import {
  defined,
  attrsFrom,
  CompileError,
  error,
  formatType,
  outputOf,
  sameShape,
  type ArgumentsOf,
  type DType,
  type OpDef,
  type Shape,
  type SourceFunc,
  type TensorType,
} from "../../ir/index.js";
import { oneOf, record, type Field, type Fields } from "../../backends/index.js";
import {
  directmlGather,
  directmlGatherElements,
  directmlGatherNd,
  directmlGatherNd1,
} from "../../ir/ops/directml.js";
import { directmlScatter, directmlScatterNd } from "../../ir/ops/directml-scatter.js";
import { attributeFields, checkArguments, extentsField } from "../api/check-options.js";
import { program } from "../api/program.js";

/** Element types of DirectML tensors, named as in DML_TENSOR_DATA_TYPE without the prefix. */
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

/** Type of a DirectML tensor: the fields of DML_BUFFER_TENSOR_DESC that a gather or scatter uses. */
export interface DmlTensorDesc {
  readonly DataType: DmlDataType;
  readonly Sizes: Shape;
}

interface DmlOperatorDesc {
  readonly InputTensor: DmlTensorDesc;
  readonly IndicesTensor: DmlTensorDesc;
  /** Updates of a scatter. */
  readonly UpdatesTensor?: DmlTensorDesc;
  /** Checked when given; derived otherwise. */
  readonly OutputTensor?: DmlTensorDesc;
}

/** The descriptor's own fields, all required, as the document has them. */
type Descriptor<D extends OpDef> = DmlOperatorDesc & Required<Omit<ArgumentsOf<D>, keyof DmlOptions>>;

/** Fields of DML_GATHER_OPERATOR_DESC, the arguments of {@link gather}. */
export type DmlGatherOperatorDesc = Descriptor<typeof directmlGather>;
/** Fields of DML_GATHER_ELEMENTS_OPERATOR_DESC, the arguments of {@link gatherElements}. */
export type DmlGatherElementsOperatorDesc = Descriptor<typeof directmlGatherElements>;
/** Fields of DML_GATHER_ND_OPERATOR_DESC, the arguments of {@link gatherNd}. */
export type DmlGatherNdOperatorDesc = Descriptor<typeof directmlGatherNd>;
/** Fields of DML_GATHER_ND1_OPERATOR_DESC, the arguments of {@link gatherNd1}. */
export type DmlGatherNd1OperatorDesc = Descriptor<typeof directmlGatherNd1>;

/**
 * Options of a DirectML gather that are not in the descriptor struct. `featureLevel`: DML_FEATURE_LEVEL,
 * default 4.1. `oob`: policy for indices out of range; DirectML's "clamped safely" is `clamp`.
 */
export type DmlOptions = Pick<ArgumentsOf<typeof directmlGather>, "featureLevel" | "oob">;

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
  ...record('a tensor, such as { DataType: "FLOAT32", Sizes: [4096, 1024] }', tensorFields, {
    needs: Object.keys(tensorFields),
  }),
  code: "TC103",
};
const operatorFields: Fields<DmlOperatorDesc> = {
  InputTensor: tensorField,
  IndicesTensor: tensorField,
  UpdatesTensor: tensorField,
  OutputTensor: tensorField,
};

const { featureLevel, oob } = attributeFields(directmlGather);
const optionFields: Fields<DmlOptions> = { featureLevel, oob };

/**
 * Options of a DirectML scatter that are not in the descriptor struct: the DML_FEATURE_LEVEL, and the policy
 * for indices out of range (default: skip the update).
 */
export type DmlScatterOptions = Pick<ArgumentsOf<typeof directmlScatter>, "featureLevel" | "oob">;

/** Tensors of a descriptor that may be absent, or are of other operators. */
const optionalTensors = (def: OpDef): readonly string[] =>
  def.writes === undefined ? ["OutputTensor", "UpdatesTensor"] : ["OutputTensor"];

/**
 * Returns the fields of an operator's descriptor: its tensors and every attribute that is not passed as a
 * separate option.
 */
const descriptorFields = (def: OpDef): Readonly<Record<string, Field>> => ({
  ...operatorFields,
  ...Object.fromEntries(
    Object.entries(attributeFields(def)).filter(([name]) => !Object.hasOwn(optionFields, name)),
  ),
});

const tensor = (desc: DmlTensorDesc): TensorType => ({ dtype: dtypeOf[desc.DataType], shape: desc.Sizes });

/**
 * Builds the source program of a DirectML operator from a descriptor. Throws a CompileError (TC1xx) if the
 * descriptor breaks a rule, for example for a wrong type (TC104) or size (TC103) of OutputTensor.
 */
function build<D extends OpDef>(
  def: D,
  desc: DmlOperatorDesc,
  options: DmlOptions | DmlScatterOptions,
  args: ArgumentsOf<D>,
): SourceFunc {
  const fields = descriptorFields(def);
  const needs = Object.keys(fields).filter((name) => !optionalTensors(def).includes(name));
  checkArguments(def.name, desc, fields, needs);
  checkArguments(`the options of ${def.name}`, options, optionFields, []);
  const func = program({
    op: def.name,
    attrs: attrsFrom(def, args),
    data: tensor(desc.InputTensor),
    indices: tensor(desc.IndicesTensor),
    ...defined({ others: desc.UpdatesTensor && [tensor(desc.UpdatesTensor)] }),
  });
  if (desc.OutputTensor !== undefined) {
    const [given, derived] = [tensor(desc.OutputTensor), outputOf(func).type];
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

/**
 * Builds the source program of a DirectML gather, which selects slices along an axis, from a
 * DML_GATHER_OPERATOR_DESC.
 */
export const gather = (desc: DmlGatherOperatorDesc, options: DmlOptions = {}): SourceFunc =>
  build(directmlGather, desc, options, { ...desc, ...options });

/**
 * Builds the source program of a DirectML gather of single elements along an axis, from a
 * DML_GATHER_ELEMENTS_OPERATOR_DESC.
 */
export const gatherElements = (desc: DmlGatherElementsOperatorDesc, options: DmlOptions = {}): SourceFunc =>
  build(directmlGatherElements, desc, options, { ...desc, ...options });

/** Builds the source program of a DirectML gather by index tuples, from a DML_GATHER_ND_OPERATOR_DESC. */
export const gatherNd = (desc: DmlGatherNdOperatorDesc, options: DmlOptions = {}): SourceFunc =>
  build(directmlGatherNd, desc, options, { ...desc, ...options });

/**
 * Builds the source program of a DirectML gather by index tuples with batch dims, from a
 * DML_GATHER_ND1_OPERATOR_DESC.
 */
export const gatherNd1 = (desc: DmlGatherNd1OperatorDesc, options: DmlOptions = {}): SourceFunc =>
  build(directmlGatherNd1, desc, options, { ...desc, ...options });

/** Fields of DML_SCATTER_OPERATOR_DESC, the arguments of {@link scatter}. */
export type DmlScatterOperatorDesc = DmlOperatorDesc & {
  readonly UpdatesTensor: DmlTensorDesc;
} & Required<Omit<ArgumentsOf<typeof directmlScatter>, keyof DmlOptions>>;
/** Fields of DML_SCATTER_ND_OPERATOR_DESC, the arguments of {@link scatterNd}. */
export type DmlScatterNdOperatorDesc = DmlOperatorDesc & {
  readonly UpdatesTensor: DmlTensorDesc;
} & Required<Omit<ArgumentsOf<typeof directmlScatterNd>, keyof DmlOptions>>;

/**
 * Builds the source program of a DirectML scatter of single elements along an axis, from a
 * DML_SCATTER_OPERATOR_DESC.
 */
export const scatter = (desc: DmlScatterOperatorDesc, options: DmlScatterOptions = {}): SourceFunc =>
  build(directmlScatter, desc, options, { ...desc, ...options });

/** Builds the source program of a DirectML scatter by index tuples, from a DML_SCATTER_ND_OPERATOR_DESC. */
export const scatterNd = (desc: DmlScatterNdOperatorDesc, options: DmlScatterOptions = {}): SourceFunc =>
  build(directmlScatterNd, desc, options, { ...desc, ...options });
