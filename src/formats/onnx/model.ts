/** Parts of a model that tilec keeps: plain data, with tensors still encoded. */

/**
 * Extent of one dim in an ONNX model: a number, the name of a symbolic dim (`dim_param`), or "" if the model
 * has neither.
 */
export type Dim = number | string;

/**
 * Declared type of a tensor in an ONNX model (TypeProto.Tensor): the element type, and the dims if readable.
 */
export interface OnnxTensorType {
  /** Element type, as an ONNX code (TensorProto.DataType). */
  readonly dataType: number;
  /** Extents of the dims; absent if not even the rank is known. */
  readonly dims?: readonly Dim[];
  /** Part of the shape that cannot be read: `an extent of 2^60`. */
  readonly problem?: string;
}

/** Input, output or intermediate value of an ONNX graph (ValueInfoProto): the name and the declared type. */
export interface OnnxValue {
  readonly name: string;
  /** Absent if the value has no declared type or is a sequence, map, optional or sparse tensor. */
  readonly type?: OnnxTensorType;
}

/** Tensor stored in an ONNX model (TensorProto), for example a weight. The elements are not decoded. */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** Element type, as an ONNX code (TensorProto.DataType). */
  readonly dataType: number;
  readonly stored: "here" | "external" | "in segments";
  /** Part of the shape that cannot be read, in words: `an extent of -1`. `dims` lacks this part. */
  readonly problem?: string;
  /** The encoded TensorProto: a view of the file. */
  readonly message: Uint8Array;
}

/** Attribute of an ONNX node (AttributeProto). An attribute of a kind that tilec does not read is `other`. */
export type OnnxAttribute =
  | { readonly kind: "int"; readonly value: bigint }
  | { readonly kind: "ints"; readonly values: readonly bigint[] }
  /** Values as the bytes of little-endian f32, so that the bits of a constant are kept. */
  | { readonly kind: "float" | "floats"; readonly bytes: Uint8Array }
  | { readonly kind: "string" | "strings"; readonly values: readonly string[] }
  | { readonly kind: "tensor"; readonly tensor: OnnxTensor }
  | { readonly kind: "graphs"; readonly graphs: readonly OnnxGraph[] }
  /** Reference, in the body of a function, to the function's own attribute `name`. */
  | { readonly kind: "reference"; readonly name: string }
  | { readonly kind: "other" };

/** Node of an ONNX graph (NodeProto): an operator with inputs, outputs and attributes. */
export interface OnnxNode {
  readonly name: string;
  readonly op: string;
  /** Domain of the operator; "" for ONNX's own operators. */
  readonly domain: string;
  /** Names of the input tensors; "" for an optional input that is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/**
 * Graph of an ONNX model (GraphProto), or the body of a function. The inputs of a function body have no
 * types.
 */
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

/** Function that an ONNX model defines (FunctionProto): the body, and the opset of the body. */
export interface OnnxFunction {
  readonly graph: OnnxGraph;
  /** Opset of ONNX's own operators in the body; absent if the function imports none. */
  readonly opset?: number;
}

/** Parsed ONNX model (ModelProto): the main graph, the functions and the opset. */
export interface OnnxModel {
  /** Name of the model in diagnostics. */
  readonly file: string;
  /** Opset of ONNX's own operators; absent when the model imports none. */
  readonly opset?: number;
  readonly graph: OnnxGraph;
  readonly functions: readonly OnnxFunction[];
}
