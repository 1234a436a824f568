/**
 * `.onnx` files: the fields of ModelProto that a gather needs. Field numbers are those of onnx/onnx onnx.proto; fields
 * that are not named here are stepped over.
 */
import { defined } from "../../../ir/defined.js";
import { checkArgument } from "../../../ir/argument.js";
import type {
  Dim,
  OnnxAttribute,
  OnnxFunction,
  OnnxGraph,
  OnnxModel,
  OnnxNode,
  OnnxTensor,
  OnnxTensorType,
  OnnxValue,
} from "./model.js";
import { readAttribute } from "./read-attribute.js";
import { Message, Source } from "./wire.js";

/** Graphs within graphs (If, Loop, Scan); protobuf's own readers stop at 100 messages, three to a graph. */
const maxGraphDepth = 32;

/**
 * Cost of the empty lists and maps of a node or graph, in items. A node of five bytes must cost more than a
 * name.
 */
const tables = 8;

/** No runtime takes a tensor of more dims; a longer list is no shape. */
const maxDims = 64;

/**
 * Parses an ONNX model (ModelProto). `file` names the model in diagnostics. Throws a CompileError (TC014) if
 * the bytes are not a complete and valid model.
 */
export function readModel(bytes: Uint8Array, file: string): OnnxModel {
  checkArgument("readModel", "bytes", bytes);
  const source = new Source(file);
  const message = new Message(source, "ModelProto", bytes);
  let irVersion = 0n;
  let opset: number | undefined;
  let graph: OnnxGraph | undefined;
  const functions: OnnxFunction[] = [];
  while (message.next()) {
    switch (message.field) {
      case 1:
        irVersion = message.int();
        break;
      case 7:
        if (graph !== undefined) throw message.fail("a second graph");
        graph = readGraph(message.message("GraphProto"), 0);
        break;
      case 8:
        opset = readOpset(message.message("OperatorSetIdProto")) ?? opset;
        break;
      case 25:
        functions.push(readFunction(message.message("FunctionProto")));
        break;
      default:
        message.skip();
    }
  }
  if (graph === undefined) throw source.fail("no graph in it", "the file is truncated, or not an ONNX model");
  // Opset imports arrived with IR version 3; what came before is opset 1.
  if (opset === undefined && irVersion < 3n) opset = 1;
  return { file, graph, functions, ...defined({ opset }) };
}

/** Returns both names of the domain of ONNX's own operators, as one. */
const canonicalDomain = (domain: string): string => (domain === "ai.onnx" ? "" : domain);

/**
 * Parses an opset import (OperatorSetIdProto) and returns the opset version of ONNX's default domain. Returns
 * undefined for another domain. Throws an error if the version is not valid.
 */
function readOpset(message: Message): number | undefined {
  let domain = "";
  let version = 0n;
  while (message.next()) {
    if (message.field === 1) domain = message.text();
    else if (message.field === 2) version = message.int();
    else message.skip();
  }
  if (canonicalDomain(domain) !== "") return undefined;
  if (version < 1n || version > 1_000_000n)
    throw message.source.fail(`opset ${version.toString()} is no version`);
  return Number(version);
}

/**
 * Parses a function of a model (FunctionProto) and returns the body and the opset. Unknown fields are
 * skipped.
 */
function readFunction(message: Message): OnnxFunction {
  message.source.spend(tables);
  const pieces = emptyGraph();
  let opset: number | undefined;
  while (message.next()) {
    switch (message.field) {
      case 1:
        pieces.name = message.text();
        break;
      case 4:
        pieces.inputs.push({ name: message.text() });
        break;
      case 5:
        pieces.outputs.push({ name: message.text() });
        break;
      case 7:
        pieces.nodes.push(readNode(message.message("NodeProto"), 0));
        break;
      case 9:
        opset = readOpset(message.message("OperatorSetIdProto")) ?? opset;
        break;
      case 12:
        pieces.values.push(readValue(message.message("ValueInfoProto")));
        break;
      default:
        message.skip();
    }
  }
  return { graph: pieces, ...defined({ opset }) };
}

const emptyGraph = () => ({
  name: "",
  nodes: [] as OnnxNode[],
  initializers: new Map<string, OnnxTensor>(),
  sparse: new Set<string>(),
  inputs: [] as OnnxValue[],
  outputs: [] as OnnxValue[],
  values: [] as OnnxValue[],
});

/**
 * Parses a graph (GraphProto). `depth` is the number of enclosing graphs, 0 for the main graph. Throws an
 * error if graphs are nested more than `maxGraphDepth` deep.
 */
function readGraph(message: Message, depth: number): OnnxGraph {
  if (depth > maxGraphDepth)
    throw message.source.fail(`graphs within graphs more than ${maxGraphDepth} deep`);
  message.source.spend(tables);
  const pieces = emptyGraph();
  while (message.next()) {
    switch (message.field) {
      case 1:
        pieces.nodes.push(readNode(message.message("NodeProto"), depth));
        break;
      case 2:
        pieces.name = message.text();
        break;
      case 5: {
        const tensor = readTensorHeader(message.source, message.payload());
        pieces.initializers.set(tensor.name, tensor);
        break;
      }
      case 11:
        pieces.inputs.push(readValue(message.message("ValueInfoProto")));
        break;
      case 12:
        pieces.outputs.push(readValue(message.message("ValueInfoProto")));
        break;
      case 13:
        pieces.values.push(readValue(message.message("ValueInfoProto")));
        break;
      case 15:
        pieces.sparse.add(readSparseName(message.message("SparseTensorProto")));
        break;
      default:
        message.skip();
    }
  }
  return pieces;
}

/** Parses a node (NodeProto). `depth` is the nesting depth of the graph that contains the node. */
function readNode(message: Message, depth: number): OnnxNode {
  message.source.spend(tables);
  const node = {
    name: "",
    op: "",
    domain: "",
    inputs: [] as string[],
    outputs: [] as string[],
    attributes: new Map<string, OnnxAttribute>(),
  };
  while (message.next()) {
    switch (message.field) {
      case 1:
        node.inputs.push(message.text());
        break;
      case 2:
        node.outputs.push(message.text());
        break;
      case 3:
        node.name = message.text();
        break;
      case 4:
        node.op = message.text();
        break;
      case 5: {
        const { name, attribute } = readAttribute(message.message("AttributeProto"), {
          graph: (inner) => readGraph(inner, depth + 1),
          tensor: readTensorHeader,
        });
        node.attributes.set(name, attribute);
        break;
      }
      case 7:
        node.domain = canonicalDomain(message.text());
        break;
      default:
        message.skip();
    }
  }
  return node;
}

/** Parses a SparseTensorProto and returns the name of the tensor in the field `values` (field 1). */
function readSparseName(message: Message): string {
  let name = "";
  while (message.next()) {
    if (message.field === 1) ({ name } = readTensorHeader(message.source, message.payload()));
    else message.skip();
  }
  return name;
}

/**
 * Parses a ValueInfoProto and returns the name and type of a graph value. The type is absent if the value is
 * not a tensor.
 */
function readValue(message: Message): OnnxValue {
  let name = "";
  let type: OnnxTensorType | undefined;
  while (message.next()) {
    if (message.field === 1) name = message.text();
    else if (message.field === 2) type = readType(message.message("TypeProto"));
    else message.skip();
  }
  return { name, ...defined({ type }) };
}

/** Parses a TypeProto and returns the tensor type (field 1); undefined if the type is not a tensor. */
function readType(message: Message): OnnxTensorType | undefined {
  let type: OnnxTensorType | undefined;
  while (message.next()) {
    if (message.field === 1) type = readTensorType(message.message("TypeProto.Tensor"));
    else message.skip();
  }
  return type;
}

/**
 * Parses a TypeProto.Tensor and returns the element type and the dims, or a `problem` if the dims cannot be
 * read.
 */
function readTensorType(message: Message): OnnxTensorType {
  let dataType = 0;
  let shape: readonly (bigint | string)[] | undefined;
  while (message.next()) {
    if (message.field === 1) dataType = message.int32();
    else if (message.field === 2) shape = readShape(message.message("TensorShapeProto"));
    else message.skip();
  }
  if (shape === undefined) return { dataType };
  const problem = problemOf(shape);
  if (problem !== undefined) return { dataType, problem };
  return { dataType, dims: shape.map((dim): Dim => (typeof dim === "bigint" ? Number(dim) : dim)) };
}

/**
 * Parses a TensorShapeProto and returns the dims. Each dim is an extent, the name of a symbolic dim, or ""
 * for an unknown extent.
 */
function readShape(message: Message): readonly (bigint | string)[] {
  const dims: (bigint | string)[] = [];
  while (message.next()) {
    if (message.field === 1) dims.push(readDim(message.message("TensorShapeProto.Dimension")));
    else message.skip();
  }
  return dims;
}

/**
 * Parses one dim of a TensorShapeProto and returns the extent or the name. Returns "" if the dim has no
 * extent and no name, or if the extent is negative.
 */
function readDim(message: Message): bigint | string {
  let dim: bigint | string = "";
  while (message.next()) {
    if (message.field === 1) {
      const value = message.int();
      // Some exporters write -1 for a dim that they do not know.
      dim = value < 0n ? "" : value;
    } else if (message.field === 2) dim = message.text();
    else message.skip();
  }
  return dim;
}

/**
 * Returns a phrase for the reason why a shape cannot be read, for example `an extent of 9007199254740993`.
 * Returns undefined if the shape can be read.
 */
function problemOf(shape: readonly (bigint | string)[]): string | undefined {
  if (shape.length > maxDims) return `a shape of more than ${maxDims} dims`;
  const wrong = shape.find(
    (dim) => typeof dim === "bigint" && (dim < 0n || dim > BigInt(Number.MAX_SAFE_INTEGER)),
  );
  return wrong === undefined ? undefined : `an extent of ${wrong.toString()}`;
}

/** Parses a TensorProto without decoding the elements. `source` is the file that contains the tensor. */
export function readTensorHeader(source: Source, bytes: Uint8Array): OnnxTensor {
  const message = new Message(source, "TensorProto", bytes);
  const dims: bigint[] = [];
  let [name, dataType, external, segments] = ["", 0, false, false];
  while (message.next()) {
    switch (message.field) {
      case 1:
        message.ints((value) => {
          source.spend();
          dims.push(value);
        });
        break;
      case 2:
        dataType = message.int32();
        break;
      case 3:
        segments = true;
        message.skip();
        break;
      case 8:
        name = message.text();
        break;
      case 14:
        // data_location: EXTERNAL = 1. external_data (13) means nothing without it.
        external = message.int32() === 1;
        break;
      default:
        message.skip();
    }
  }
  source.spend();
  const stored = external ? "external" : segments ? "in segments" : "here";
  const head = { name, dataType, stored, message: bytes } as const;
  const problem = problemOf(dims);
  return problem === undefined ? { ...head, dims: dims.map(Number) } : { ...head, dims: [], problem };
}
