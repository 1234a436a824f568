/** Walks a model in order and tells, at every node, what is known of its inputs. */
import { sameShape, type Shape } from "../../../ir/index.js";
import type { TensorValue } from "../tensor.js";
import { codeOf, dataType } from "./data-type.js";
import { failure, quoted } from "./fail.js";
import type { Dim, OnnxGraph, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "./model.js";
import { readTensor } from "./read-tensor.js";
import { inferOutput } from "./shape-rules.js";
import { common, merged, once, type Value } from "./value.js";

/** What the user knows and the model leaves open. */
export interface Bindings {
  /** Extents of symbolic dims by name: `{ batch: 1 }`. */
  readonly dims?: Readonly<Record<string, number>>;
  /** Shapes of graph inputs by name, for dims without a name. */
  readonly shapes?: Readonly<Record<string, Shape>>;
  /** Graph inputs whose elements are known. */
  readonly values?: ReadonlyMap<string, TensorValue>;
}

export interface Visited {
  readonly node: OnnxNode;
  readonly inputs: readonly (Value | undefined)[];
  /** Opset of ONNX's own operators where the node is. */
  readonly opset?: number;
}

type Visit = (visited: Visited) => void;

/** Names in a graph, and in the graphs around it: a body sees what its If or Loop sees. */
class Scope {
  readonly #values = new Map<string, Value>();
  constructor(readonly outer?: Scope) {}

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  find(name: string): Value | undefined {
    return this.#values.get(name) ?? this.outer?.find(name);
  }
}

interface Walk {
  readonly file: string;
  readonly opset?: number;
  readonly dims: Readonly<Record<string, number>>;
  readonly visit: Visit;
}

/** Visits every node, those of nested graphs and of functions too. Throws a CompileError when a binding does not fit. */
export function walkModel(model: OnnxModel, bindings: Bindings, visit: Visit): void {
  const { file, opset } = model;
  const dims = bindings.dims ?? {};
  const walk: Walk = { file, dims, visit, ...(opset === undefined ? {} : { opset }) };
  walkGraph(model.graph, new Scope(), walk, boundInputs(model, bindings));
  for (const { graph, opset: version } of model.functions) {
    walkGraph(
      graph,
      new Scope(),
      { file, dims, visit, ...(version === undefined ? {} : { opset: version }) },
      new Map(),
    );
  }
}

/** Returns what is known of the graph's outputs. */
function walkGraph(
  graph: OnnxGraph,
  scope: Scope,
  walk: Walk,
  bound: ReadonlyMap<string, Value>,
): readonly (Value | undefined)[] {
  const declared = new Map<string, Value>();
  for (const value of [...graph.values, ...graph.outputs]) {
    if (value.type !== undefined) declared.set(value.name, declaredValue(value, walk.dims));
  }
  for (const input of graph.inputs) scope.set(input.name, declaredValue(input, walk.dims));
  for (const tensor of graph.initializers.values()) scope.set(tensor.name, initializer(tensor, walk.file));
  for (const name of graph.sparse)
    scope.set(name, { problem: "a sparse initializer, which tilec does not read" });
  for (const [name, value] of bound) scope.set(name, value);
  for (const node of graph.nodes) {
    const inputs = node.inputs.map((name) => (name === "" ? undefined : scope.find(name)));
    walk.visit({ node, inputs, ...(walk.opset === undefined ? {} : { opset: walk.opset }) });
    const outputs = outputsOf(node, inputs, scope, walk);
    node.outputs.forEach((name, k) => {
      if (name !== "") scope.set(name, merged(declared.get(name), outputs[k] ?? {}));
    });
  }
  return graph.outputs.map(({ name }) => scope.find(name));
}

function outputsOf(
  node: OnnxNode,
  inputs: readonly (Value | undefined)[],
  scope: Scope,
  walk: Walk,
): readonly (Value | undefined)[] {
  const bodies: (readonly (Value | undefined)[])[] = [];
  for (const attribute of node.attributes.values()) {
    if (attribute.kind !== "graphs") continue;
    for (const graph of attribute.graphs) bodies.push(walkGraph(graph, new Scope(scope), walk, new Map()));
  }
  if (node.domain !== "" || walk.opset === undefined) return [];
  if (node.op === "If") {
    const [yes, no] = bodies;
    return node.outputs.map((_, k) => common(yes?.[k], no?.[k]));
  }
  if (node.op === "Constant") return [constant(node, walk.file)];
  return [inferOutput({ node, inputs, opset: walk.opset })];
}

function declaredValue(value: OnnxValue, bindings: Readonly<Record<string, number>>): Value {
  const { type } = value;
  if (type === undefined) return {};
  const dims = type.dims?.map((dim): Dim =>
    typeof dim === "string" && Object.hasOwn(bindings, dim) ? (bindings[dim] ?? dim) : dim,
  );
  return {
    ...(type.dataType === 0 ? {} : { dataType: type.dataType }),
    ...(dims === undefined ? {} : { dims }),
  };
}

const initializer = (tensor: OnnxTensor, file: string): Value => ({
  dataType: tensor.dataType,
  dims: tensor.dims,
  constant: once(() => readTensor(tensor, file)),
});

/** Constant: one of its attributes holds the value (value_* since opset 12). */
function constant(node: OnnxNode, file: string): Value {
  for (const [name, attribute] of node.attributes) {
    switch (attribute.kind) {
      case "tensor":
        return initializer({ ...attribute.tensor, name: node.outputs[0] ?? attribute.tensor.name }, file);
      case "int":
        return integers([attribute.value], []);
      case "ints":
        return integers(attribute.values, [attribute.values.length]);
      case "float":
      case "floats": {
        const shape = attribute.kind === "float" ? [] : [attribute.bytes.byteLength / 4];
        const tensor: TensorValue = { type: { dtype: "f32", shape }, bytes: attribute.bytes.slice() };
        return { dataType: dataType.f32, dims: shape, constant: () => tensor };
      }
      case "string":
      case "strings": {
        const shape = attribute.kind === "string" ? [] : [attribute.values.length];
        const tensor: TensorValue = {
          type: { dtype: "string", shape },
          bytes: new Uint8Array(),
          strings: attribute.values,
        };
        return { dataType: dataType.string, dims: shape, constant: () => tensor };
      }
      case "graphs":
      case "reference":
      case "other":
        if (name === "sparse_value") return { problem: "a sparse constant, which tilec does not read" };
    }
  }
  return {};
}

function integers(values: readonly bigint[], shape: Shape): Value {
  const bytes = new Uint8Array(BigInt64Array.from(values).buffer);
  const tensor: TensorValue = { type: { dtype: "i64", shape }, bytes };
  return { dataType: dataType.i64, dims: shape, constant: () => tensor };
}

/** Graph inputs as the user binds them, checked against what the model declares. */
function boundInputs(model: OnnxModel, bindings: Bindings): ReadonlyMap<string, Value> {
  const inputs = new Map(model.graph.inputs.map((input) => [input.name, input]));
  const bound = new Map<string, Value>();
  const declaredFor = (name: string, shape: Shape): Value => {
    const input = inputs.get(name);
    if (input === undefined) {
      const names = [...inputs.keys()].slice(0, 8).map(quoted).join(", ");
      throw failure(
        model.file,
        `it has no input ${quoted(name)}`,
        names === "" ? undefined : `one of ${names}`,
      );
    }
    const value = declaredValue(input, bindings.dims ?? {});
    if (value.dims === undefined) return value;
    const fits = value.dims.map((dim, k) => (typeof dim === "number" ? dim : (shape[k] ?? -1)));
    if (!sameShape(fits, shape)) {
      throw failure(
        model.file,
        `input ${quoted(name)} is declared ${showDims(value.dims)}, not [${shape.join(", ")}]`,
      );
    }
    return value;
  };
  for (const [name, shape] of Object.entries(bindings.shapes ?? {})) {
    bound.set(name, { ...declaredFor(name, shape), dims: shape });
  }
  for (const [name, tensor] of bindings.values ?? []) {
    const { dtype, shape } = tensor.type;
    const type = codeOf(dtype);
    if ((declaredFor(name, shape).dataType ?? type) !== type) {
      throw failure(model.file, `input ${quoted(name)} is not declared ${dtype}, the type of its value`);
    }
    bound.set(name, { dataType: type, dims: shape, constant: () => tensor });
  }
  return bound;
}

/** `[batch, 3, ?]` */
export const showDims = (dims: readonly Dim[]): string =>
  `[${dims.map((dim) => (typeof dim === "number" ? String(dim) : dim === "" ? "?" : dim.slice(0, 40))).join(", ")}]`;
