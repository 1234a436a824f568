/** What tilec keeps of a model: plain data, tensors still encoded. */

/** A number, or the name of a symbolic dim (`dim_param`); "" for a dim without value and name. */
export type Dim = number | string;

/** TypeProto.Tensor. */
export interface OnnxTensorType {
  /** TensorProto.DataType. */
  readonly dataType: number;
  /** Absent: not even the rank is known. */
  readonly dims?: readonly Dim[];
  /** What of the shape cannot be read: `an extent of 2^60`. */
  readonly problem?: string;
}

/** ValueInfoProto. */
export interface OnnxValue {
  readonly name: string;
  /** Absent for a value that is no tensor (a sequence, map, optional or sparse tensor), or has no type. */
  readonly type?: OnnxTensorType;
}

/** TensorProto, its elements not yet read: a model's weights are large, and few of them are wanted. */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** TensorProto.DataType. */
  readonly dataType: number;
  readonly stored: "here" | "external" | "in segments";
  /** What of its shape cannot be read, which `dims` then lacks: `an extent of -1`. */
  readonly problem?: string;
  /** The encoded TensorProto: a view of the file. */
  readonly message: Uint8Array;
}

/** AttributeProto, the kinds that matter to gathers and shapes. */
export type OnnxAttribute =
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "ints"; readonly values: readonly bigint[] }
  /** Little-endian f32: a constant's bits must survive. */
  | { readonly kind: "float" | "floats"; readonly bytes: Uint8Array }
  | { readonly kind: "string" | "strings"; readonly values: readonly string[] }
  | { readonly kind: "tensor"; readonly tensor: OnnxTensor }
  | { readonly kind: "graphs"; readonly graphs: readonly OnnxGraph[] }
  /** Within a function: the value of the function's own attribute. */
  | { readonly kind: "reference"; readonly name: string }
  | { readonly kind: "other" };

/** NodeProto. */
export interface OnnxNode {
  readonly name: string;
  readonly op: string;
  /** "" for ONNX's own operators. */
  readonly domain: string;
  /** Names; "" for an optional input that is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/** GraphProto; the body of a function too, whose inputs have no types. */
export interface OnnxGraph {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: ReadonlyMap<string, OnnxTensor>;
  /** Names of sparse initializers, which tilec does not read. */
  readonly sparse: ReadonlySet<string>;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly values: readonly OnnxValue[];
}

/** FunctionProto. */
export interface OnnxFunction {
  readonly graph: OnnxGraph;
  /** Opset of ONNX's own operators in the body; absent when it imports none. */
  readonly opset?: number;
}

/** ModelProto. */
export interface OnnxModel {
  /** Names the model in diagnostics. */
  readonly file: string;
  /** Opset of ONNX's own operators; absent when the model imports none. */
  readonly opset?: number;
  readonly graph: OnnxGraph;
  readonly functions: readonly OnnxFunction[];
}
