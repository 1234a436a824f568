/** Bindings of the dynamic dims of a model, and their check against what the model declares. */
import { defined, sameShape, type CompileError, type Shape } from "../../../ir/index.js";
import type { TensorValue } from "../tensor.js";
import { dataTypeCode } from "./data-type.js";
import { modelError, quoted } from "./fail.js";
import type { Dim, OnnxGraph, OnnxModel, OnnxValue } from "./model.js";
import { showDims, type TrackedValue } from "./value.js";

/**
 * Values that the user supplies for an ONNX model: extents of symbolic dims, shapes of inputs, upper bounds
 * of extents, and elements of graph inputs.
 */
export interface Bindings {
  /**
   * Extents of symbolic dims and shapes of graph inputs, by name: `{ batch: 1, state: [2, 1, 128] }`. A shape
   * also sets the dims that have no name.
   */
  readonly bind?: Readonly<Record<string, number | Shape>>;
  /** Upper bounds of the symbolic dims that remain dynamic: `{ batch: 64 }`. */
  readonly most?: Readonly<Record<string, number>>;
  /** Graph inputs whose elements are known. */
  readonly values?: ReadonlyMap<string, TensorValue>;
}

/**
 * Returns the data type and dims that a model declares for a value, with symbolic dims replaced by the
 * extents in `bindings`. Returns an empty object if the value has no declared type.
 */
export function declaredValue(value: OnnxValue, bindings: Readonly<Record<string, number>>): TrackedValue {
  const { type } = value;
  if (type === undefined) return {};
  const dims = type.dims?.map((dim): Dim =>
    typeof dim === "string" && Object.hasOwn(bindings, dim) ? (bindings[dim] ?? dim) : dim,
  );
  return {
    ...(type.problem === undefined ? {} : { problem: `declared with ${type.problem}` }),
    ...(type.dataType === 0 ? {} : { dataType: type.dataType }),
    ...defined({ dims }),
  };
}

/**
 * Separates bindings into extents of symbolic dims (`dims`) and shapes of graph inputs (`shapes`). Throws a
 * CompileError (TC014) for an invalid extent, a dim that the model lacks, or a dim with an extent and an
 * upper bound.
 */
export function sorted(model: OnnxModel, { bind = {}, most = {} }: Bindings) {
  const dims = new Map<string, number>();
  const shapes = new Map<string, Shape>();
  const symbols = symbolicDims(model.graph);
  for (const [name, bound] of Object.entries(bind)) {
    const extents = typeof bound === "number" ? [bound] : bound;
    const wrong = extents.find((extent) => !Number.isSafeInteger(extent) || extent < 0);
    if (wrong !== undefined) {
      throw modelError(
        model.file,
        `${quoted(name)} is bound to ${wrong}; an extent must be 0 or more`,
        "bind a whole number, 0 or more",
      );
    }
    if (typeof bound !== "number") shapes.set(name, bound);
    else if (symbols.has(name)) dims.set(name, bound);
    else {
      const isInput = model.graph.inputs.some((input) => input.name === name);
      const hint = `${name} is an input: bind its shape, --bind ${name}=[${bound}]`;
      throw noDim(model, name, symbols, isInput ? hint : undefined);
    }
  }
  for (const [name, extent] of Object.entries(most)) {
    if (!Number.isSafeInteger(extent) || extent < 1)
      throw modelError(
        model.file,
        `the maximum of ${quoted(name)} is ${extent}; it must be 1 or more`,
        `give a whole number, 1 or more, or bind ${quoted(name)} to an extent`,
      );
    if (!symbols.has(name)) throw noDim(model, name, symbols);
    const bound = dims.get(name);
    if (bound !== undefined)
      throw modelError(
        model.file,
        `dim ${quoted(name)} is both bound to ${bound} and dynamic`,
        "give bind or most for it, not both",
      );
  }
  return { dims: Object.fromEntries(dims), shapes };
}

function noDim({ file }: OnnxModel, name: string, symbols: ReadonlySet<string>, hint?: string): CompileError {
  const has = symbols.size === 0 ? "all dims are numbers" : `its symbolic dims are ${shown(symbols)}`;
  return modelError(file, `the model has no symbolic dim ${quoted(name)}`, hint ?? has);
}

/**
 * Returns the names of the symbolic dims of a graph, including the dims in the bodies of If, Loop and Scan.
 */
function symbolicDims(graph: OnnxGraph, names = new Set<string>()): ReadonlySet<string> {
  for (const { type } of [...graph.inputs, ...graph.values, ...graph.outputs]) {
    for (const dim of type?.dims ?? []) if (typeof dim === "string" && dim !== "") names.add(dim);
  }
  for (const { attributes } of graph.nodes) {
    for (const attribute of attributes.values()) {
      if (attribute.kind === "graphs") for (const body of attribute.graphs) symbolicDims(body, names);
    }
  }
  return names;
}

const shown = (names: Iterable<string>): string => [...names].slice(0, 8).map(quoted).join(", ");

/**
 * Returns the graph inputs for which the user gives a shape or elements, by name. Throws a CompileError
 * (TC014) if an input does not exist or is declared with another shape or element type.
 */
export function boundInputs(
  model: OnnxModel,
  dims: Readonly<Record<string, number>>,
  shapes: ReadonlyMap<string, Shape>,
  values: ReadonlyMap<string, TensorValue>,
): ReadonlyMap<string, TrackedValue> {
  const inputs = new Map(model.graph.inputs.map((input) => [input.name, input]));
  const bound = new Map<string, TrackedValue>();
  const declaredFor = (name: string, shape: Shape): TrackedValue => {
    const input = inputs.get(name);
    if (input === undefined) {
      throw modelError(
        model.file,
        `the model has no input ${quoted(name)}`,
        inputs.size === 0 ? undefined : `its inputs are ${shown(inputs.keys())}`,
      );
    }
    const value = declaredValue(input, dims);
    if (value.dims === undefined) return value;
    const fits = value.dims.map((dim, k) => (typeof dim === "number" ? dim : (shape[k] ?? -1)));
    if (!sameShape(fits, shape)) {
      throw modelError(
        model.file,
        `input ${quoted(name)} is declared ${showDims(value.dims)}, not [${shape.join(", ")}]`,
      );
    }
    return value;
  };
  for (const [name, shape] of shapes) bound.set(name, { ...declaredFor(name, shape), dims: shape });
  for (const [name, tensor] of values) {
    const { dtype, shape } = tensor.type;
    const type = dataTypeCode(dtype);
    if ((declaredFor(name, shape).dataType ?? type) !== type) {
      throw modelError(model.file, `input ${quoted(name)} is not declared ${dtype}, the type of its value`);
    }
    bound.set(name, { dataType: type, dims: shape, constant: () => tensor });
  }
  return bound;
}

/**
 * Returns an example of the text after `--bind`, such as `batch=1`, that gives an extent to each symbolic dim
 * of the graph's inputs. Dims that already have an extent are left out; returns undefined if none remains.
 */
export function missingBindings(
  { inputs, initializers }: OnnxGraph,
  bind: Readonly<Record<string, number | Shape>>,
): string | undefined {
  const names = new Set<string>();
  for (const { name, type } of inputs) {
    const dims = Object.hasOwn(bind, name) || initializers.has(name) ? [] : (type?.dims ?? []);
    const unbound = dims.filter((dim) => typeof dim === "string" && !Object.hasOwn(bind, dim));
    if (unbound.includes("")) {
      const extents = dims.map((dim) => (typeof dim === "number" ? dim : 1)).join("x");
      names.add(`${name}=${dims.length === 1 ? `[${extents}]` : extents}`);
    } else for (const dim of unbound) names.add(`${dim}=1`);
  }
  return names.size === 0 ? undefined : [...names].join(",");
}
