/** Parts of a model that tilec keeps: plain data, with tensors still encoded. */

/**
 * Dim of a model: its extent, or the name of a symbolic dim (`dim_param`); "" for a dim without value or
 * name.
 */
export type Dim = number | string;

/** Tensor type of a model (TypeProto.Tensor), with the dims that tilec can read. */
export interface OnnxTensorType {
  /** TensorProto.DataType. */
  readonly dataType: number;
  /** Absent: not even the rank is known. */
  readonly dims?: readonly Dim[];
  /** Part of the shape that cannot be read: `an extent of 2^60`. */
  readonly problem?: string;
}

/** Value of a graph, its name and type (ValueInfoProto). */
export interface OnnxValue {
  readonly name: string;
  /** Absent for a value that is no tensor (a sequence, map, optional or sparse tensor), or has no type. */
  readonly type?: OnnxTensorType;
}

/** Tensor of a model (TensorProto) with encoded elements: weights are large, and few of them are read. */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** TensorProto.DataType. */
  readonly dataType: number;
  readonly stored: "here" | "external" | "in segments";
  /** Part of the shape that cannot be read, and that `dims` then lacks: `an extent of -1`. */
  readonly problem?: string;
  /** The encoded TensorProto: a view of the file. */
  readonly message: Uint8Array;
}

/** Attribute of a node (AttributeProto), limited to the kinds that gathers and shapes need. */
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

/** Node of a graph (NodeProto). */
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

/** Graph of a model (GraphProto), or the body of a function, whose inputs have no types. */
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

/** Function of a model (FunctionProto): its body and opset. */
export interface OnnxFunction {
  readonly graph: OnnxGraph;
  /** Opset of ONNX's own operators in the body; absent when it imports none. */
  readonly opset?: number;
}

/** Model that has been read (ModelProto): its main graph, functions and opset. */
export interface OnnxModel {
  /** Names the model in diagnostics. */
  readonly file: string;
  /** Opset of ONNX's own operators; absent when the model imports none. */
  readonly opset?: number;
  readonly graph: OnnxGraph;
  readonly functions: readonly OnnxFunction[];
}
