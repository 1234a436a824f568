/** Walks a model in order and tells, at every node, what is known of its inputs. */
import { defined } from "../../../ir/defined.js";
import type { Shape } from "../../../ir/index.js";
import { faultsOf } from "../../../ir/faults.js";
import { once } from "../once.js";
import type { TensorValue } from "../tensor.js";
import { dataType } from "./data-type.js";
import { boundInputs, declaredValue, sorted, type Bindings } from "./bindings.js";
import type { OnnxGraph, OnnxModel, OnnxNode, OnnxTensor } from "./model.js";
import { labelOf } from "./label-of.js";
import { readTensor } from "./read-tensor.js";
import { inferOutputs } from "./shape-rules.js";
import { common, contradict, constantElements, merged, type TrackedValue } from "./value.js";

/**
 * ONNX node that shape inference visits, with the tracked values (inferred type, dims and elements) of the
 * inputs. An omitted input is undefined.
 */
export interface Visited {
  readonly node: OnnxNode;
  readonly inputs: readonly (TrackedValue | undefined)[];
  /** Opset of ONNX's default domain in the graph or function that contains the node. */
  readonly opset?: number;
}

/**
 * ONNX node whose outputs have been inferred, with the tracked values (inferred type, dims and elements) of
 * the inputs and outputs. An omitted output is undefined.
 */
export interface Left extends Visited {
  readonly outputs: readonly (TrackedValue | undefined)[];
}

type Visit = (visited: Visited) => void;
type Leave = (left: Left) => void;
/** Told of an output that the model declares as one tensor and its node makes as another. */
type Contradicted = (name: string, node: OnnxNode, declared: TrackedValue, made: TrackedValue) => void;
/** Told of what a graph, or the body of a function or of an If, gives to those outside. */
type Returned = (values: readonly (TrackedValue | undefined)[]) => void;

interface Callbacks {
  readonly visit: Visit;
  readonly leave: Leave;
  readonly contradicted: Contradicted;
  readonly returned: Returned;
}

/** Names in a graph, and in the graphs around it: a body sees what its If or Loop sees. */
class Scope {
  readonly #values = new Map<string, TrackedValue>();
  constructor(readonly outer?: Scope) {}

  set(name: string, value: TrackedValue): void {
    this.#values.set(name, value);
  }

  find(name: string): TrackedValue | undefined {
    return this.#values.get(name) ?? this.outer?.find(name);
  }
}

interface Walk extends Callbacks {
  readonly file: string;
  readonly opset?: number;
  readonly dims: Readonly<Record<string, number>>;
}

/**
 * Visits every node of a model in order, including nodes of nested graphs and functions, and reports inferred
 * values to `callbacks`. Throws a CompileError if a binding does not fit the model.
 */
export function walkModel(model: OnnxModel, bindings: Bindings, callbacks: Callbacks): void {
  const { file, opset } = model;
  const { dims, shapes } = sorted(model, bindings);
  const walk: Walk = { file, dims, ...callbacks, ...defined({ opset }) };
  walkGraph(model.graph, new Scope(), walk, boundInputs(model, dims, shapes, bindings.values ?? new Map()));
  for (const { graph, opset: version } of model.functions) {
    walkGraph(graph, new Scope(), { file, dims, ...callbacks, ...defined({ opset: version }) }, new Map());
  }
}

/**
 * Visits the nodes of a graph in order and returns the tracked values (inferred type, dims and elements) of
 * the graph's outputs. A graph output that no node computes is undefined.
 */
function walkGraph(
  graph: OnnxGraph,
  scope: Scope,
  walk: Walk,
  bound: ReadonlyMap<string, TrackedValue>,
): readonly (TrackedValue | undefined)[] {
  const declared = new Map<string, TrackedValue>();
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
    const visited = { node, inputs, ...defined({ opset: walk.opset }) };
    walk.visit(visited);
    const outputs = outputsOf(node, inputs, scope, walk);
    const values = node.outputs.map((name, k) => {
      if (name === "") return undefined;
      const [said, made] = [declared.get(name), outputs[k] ?? {}];
      if (said !== undefined && contradict(said, made)) walk.contradicted(name, node, said, made);
      const value: TrackedValue = { ...merged(said, made) };
      scope.set(name, value);
      return value;
    });
    walk.leave({ ...visited, outputs: values });
  }
  const returned = graph.outputs.map(({ name }) => scope.find(name));
  walk.returned(returned);
  return returned;
}

/**
 * Returns the outputs that `infer` computes for a node. If `infer` throws an error, every output has only a
 * `problem` with the message of the error.
 */
function inferred(
  node: OnnxNode,
  infer: () => readonly (TrackedValue | undefined)[],
): readonly (TrackedValue | undefined)[] {
  try {
    return infer();
  } catch (thrown) {
    const [{ message } = { message: "" }] = faultsOf(thrown);
    return node.outputs.map(() => ({
      problem: `made by ${labelOf(node)}, whose shape is not known: ${message}`,
    }));
  }
}

/**
 * Visits the nested graphs of a node and returns the tracked values (inferred type, dims and elements) of the
 * node's outputs. Returns an empty list if the opset is unknown.
 */
function outputsOf(
  node: OnnxNode,
  inputs: readonly (TrackedValue | undefined)[],
  scope: Scope,
  walk: Walk,
): readonly (TrackedValue | undefined)[] {
  const bodies = new Map<string, readonly (TrackedValue | undefined)[]>();
  for (const [name, attribute] of node.attributes) {
    if (attribute.kind !== "graphs") continue;
    for (const graph of attribute.graphs)
      bodies.set(name, walkGraph(graph, new Scope(scope), walk, new Map()));
  }
  const { opset, file } = walk;
  if (opset === undefined) return [];
  return inferred(node, () => {
    if (node.op === "") return node.outputs.map(() => ({ problem: "made by a node that names no operator" }));
    if (node.domain !== "") return inferOutputs({ node, inputs, opset });
    if (node.op === "If") {
      const [yes = [], no = []] = [bodies.get("then_branch"), bodies.get("else_branch")];
      const condition = constantElements(inputs[0])?.[0];
      if (condition !== undefined) return condition === 0n ? no : yes;
      return node.outputs.map((_, k) => common(yes[k], no[k]));
    }
    if (node.op === "Constant") return [constant(node, file)];
    return inferOutputs({ node, inputs, opset });
  });
}

const initializer = (tensor: OnnxTensor, file: string): TrackedValue =>
  tensor.problem === undefined
    ? { dataType: tensor.dataType, dims: tensor.dims, constant: once(() => readTensor(tensor, file)) }
    : { problem: `a tensor with ${tensor.problem}` };

/**
 * Infers the type, shape and elements of the output of ONNX Constant. Returns a `problem` if tilec cannot
 * read the value.
 */
function constant(node: OnnxNode, file: string): TrackedValue {
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
        const tensor: TensorValue = { type: { dtype: "f32", shape }, bytes: new Uint8Array(attribute.bytes) };
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
        if (name === "value") return { problem: "a constant whose value cannot be read" };
    }
  }
  return {};
}

function integers(values: readonly bigint[], shape: Shape): TrackedValue {
  const bytes = new Uint8Array(BigInt64Array.from(values).buffer);
  const tensor: TensorValue = { type: { dtype: "i64", shape }, bytes };
  return { dataType: dataType.i64, dims: shape, constant: () => tensor };
}
