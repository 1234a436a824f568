/** The gathers and scatters of a model, each as a program of its own, or why it cannot be one. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { checkArgument } from "../../../ir/argument.js";
import {
  defined,
  CompileError,
  findOp,
  inputsOf,
  invariant,
  keyOf,
  resolveSource,
  UniqueNames,
  type AccessFunc,
  type AttrValue,
  type Code,
  type Diagnostic,
  type OpName,
  type TensorType,
} from "../../../ir/index.js";
import { faultsOf } from "../../../ir/faults.js";
import type { ProgramDescription } from "../../api/program.js";
import type { TensorValue } from "../tensor.js";
import { asGather } from "./compress.js";
import { describeDataType, dtypeOf } from "./data-type.js";
import { problem, quoted } from "./fail.js";
import { ChainFolder } from "./fold.js";
import { labelOf } from "./label-of.js";
import type { FoldCycles } from "./fold-cycles.js";
import { pricesOf, type FoldOptions } from "./fold-options.js";
import { missingBindings, type Bindings } from "./bindings.js";
import { walkModel, type Visited } from "./infer.js";
import { dynamicProgram, dynamicShape, type MaxSizes, type DynamicShape } from "./dynamic-sizes.js";
import { inferOutputs } from "./shape-rules.js";
import type { OnnxModel, OnnxNode } from "./model.js";
import { Uses, type OnnxUse } from "./uses.js";
import { showDims, tensorValue, type TrackedValue } from "./value.js";

interface Named {
  /** A symbol of the text form, unique in the model. */
  readonly name: string;
  readonly node: OnnxNode;
}

/** ONNX node that reads or writes by index and that tilec does not compile. `diagnostic` gives the reason. */
export interface OnnxUncompiled extends Named {
  readonly ok: false;
  readonly compiled: false;
  readonly diagnostic: Diagnostic;
}

/**
 * Result of {@link surveyModel}: the gathers of a model, and other nodes that read or write by index, in the
 * order of the model.
 */
export interface OnnxSurvey {
  readonly nodes: readonly (OnnxGather | OnnxUncompiled)[];
  /** Shapes and types that the model declares and that its nodes contradict. */
  readonly warnings: readonly Diagnostic[];
  /**
   * All nodes of the model in order, each with the nodes that read its outputs. The nodes of a body follow
   * the node that contains the body.
   */
  readonly uses: readonly OnnxUse[];
}

/**
 * Access program into which a gather and the adjacent view operators, gathers and arithmetic are merged.
 * `reads` has the names of the model's tensors that the program reads. `inputs` has the values of those
 * inputs that are constant in the model.
 */
export interface OnnxFolded {
  /** Program. Its name is a symbol of the text form, unique in the model. */
  readonly func: AccessFunc;
  /** Nodes that the program computes, in the order of the model. */
  readonly nodes: readonly OnnxNode[];
  /** Names of the model's tensors that the program reads, by the keys of the program's inputs. */
  readonly reads: Readonly<Record<string, string>>;
  /** Values of the inputs that are constant in the model, by input name. */
  readonly inputs: Readonly<Record<string, TensorValue>>;
  /**
   * Estimated cycles with and without the merge. Absent if no costs are estimated, or if a node cannot be a
   * kernel of its own.
   */
  readonly cycles?: FoldCycles;
  /**
   * Hint (TC910) if the program sums floats, because ONNX does not define the order of the additions; else
   * empty.
   */
  readonly hints: readonly Diagnostic[];
}

/**
 * Gather node of a model. If `ok` is true, the node has a program and constant operands. If `ok` is false,
 * the node has the reason why no program exists.
 */
export type OnnxGather =
  | (Named & {
      readonly ok: true;
      readonly program: ProgramDescription;
      /** Value of the data; absent if it is not constant in the model. */
      readonly data?: TensorValue;
      readonly indices?: TensorValue;
      /** Values of further inputs that are constant in the model, by key. */
      readonly others?: Readonly<Record<string, TensorValue>>;
      /** The same with the views and gathers around it, as one access program. */
      readonly folded?: OnnxFolded;
      /** Nodes next to it that are not folded, and why. */
      readonly kept: readonly string[];
      /** Cycles of a fold that was not taken, and of its nodes as separate kernels, which take less. */
      readonly unfolded?: FoldCycles;
    })
  | (Named & {
      readonly ok: false;
      /**
       * `open`: a shape or an element type is not known. `refused`: it cannot be read, or breaks a rule of its operator.
       */
      readonly verdict: "open" | "refused";
      readonly diagnostic: Diagnostic;
      /** Program over symbols; absent unless outermost dims alone are open, and `maxSizes` bounds them. */
      readonly open?: OnnxDynamic;
    });

/**
 * Access program of a gather with dynamic sizes (`func`), with the values of the operands that are constant
 * in the model.
 */
export interface OnnxDynamic {
  readonly func: AccessFunc;
  /** Value of the data; absent if it is not constant in the model. */
  readonly data?: TensorValue;
  readonly indices?: TensorValue;
  readonly others?: Readonly<Record<string, TensorValue>>;
}

/**
 * Returns the inputs of a gather that are constant in the model, by key: `data`, `indices` and further keys.
 */
export function fixedInputs(
  gather: Pick<OnnxGather & { readonly ok: true }, "data" | "indices" | "others">,
): Readonly<Record<string, TensorValue>> {
  checkArgument("fixedInputs", "object", gather);
  const { data, indices, others = {} } = gather;
  return {
    ...defined({ data, indices }),
    ...others,
  };
}

/**
 * Returns the keys of the inputs of a gather that the caller has to provide, because the model has no
 * constant for the input.
 */
export function dynamicInputs(gather: OnnxGather & { readonly ok: true }): readonly string[] {
  checkApiArgument("openInputs", "read gather", gather);
  const fixed = fixedInputs(gather);
  return inputNames(gather.program, gather.node).filter((key) => !Object.hasOwn(fixed, key));
}

interface Operator {
  readonly op: OpName;
  /** Its integer and string attributes, under ONNX's names, which are also tilec's, with their defaults. */
  readonly attributes: Readonly<Record<string, number | string>>;
  /**
   * Opsets in which the operator changed, newest first (onnx/onnx docs/Changelog.md). None: it is of another
   * domain.
   */
  readonly versions: readonly number[];
}

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["Gather", { op: "onnx.gather", attributes: { axis: 0 }, versions: [13, 11, 1] }],
  ["GatherElements", { op: "onnx.gather_elements", attributes: { axis: 0 }, versions: [13, 11] }],
  ["GatherND", { op: "onnx.gather_nd", attributes: { batch_dims: 0 }, versions: [13, 12, 11] }],
  [
    "com.microsoft.GatherBlockQuantized",
    {
      op: "onnx.gather_block_quantized",
      attributes: { bits: 4, block_size: 128, gather_axis: 0, quantize_axis: 1 },
      versions: [],
    },
  ],
  ["Scatter", { op: "onnx.scatter", attributes: { axis: 0 }, versions: [11, 9] }],
  [
    "ScatterElements",
    {
      op: "onnx.scatter_elements",
      attributes: { axis: 0, reduction: "none" },
      versions: [18, 16, 13, 11],
    },
  ],
  ["ScatterND", { op: "onnx.scatter_nd", attributes: { reduction: "none" }, versions: [18, 16, 13, 11] }],
  ["TensorScatter", { op: "onnx.tensor_scatter", attributes: { axis: -2, mode: "linear" }, versions: [24] }],
]);

/** Returns the gather or scatter operator of an ONNX node; undefined for any other node. */
const operatorOf = ({ domain, op }: OnnxNode): Operator | undefined =>
  operators.get(domain === "" ? op : `${domain}.${op}`);

/** True if a node may be compiled: Compress is a gather where its condition is a constant. */
const isCompiled = (node: OnnxNode): boolean =>
  operatorOf(node) !== undefined || (node.domain === "" && node.op === "Compress");

/** True if input `k` of a node is the base of a scatter. */
const isBase = (node: OnnxNode, k: number): boolean =>
  k === 0 && findOp(operatorOf(node)?.op ?? "")?.writes !== undefined;

/** Reasons why operators that read or write by index are not compiled, by operator. */
const uncompiled: ReadonlyMap<string, string> = new Map([
  ["OneHot", "it writes by index"],
  ["Compress", "the shape of its output depends on the values of its condition"],
]);

/** Ways out of what is not compiled. */
const remedies: ReadonlyMap<string, string> = new Map([
  [
    "Compress",
    "make the condition a constant; or use Gather with an input of the positions, numpy.flatnonzero(condition)",
  ],
]);

/**
 * Returns the gathers and scatters of a model in order, including nodes in bodies of If, Loop and Scan and in
 * functions. Compress is included if the condition is constant. Throws a CompileError (TC014) if `bindings`
 * do not fit the model.
 */
export const findGathers = (
  model: OnnxModel,
  bindings: Bindings = {},
  folding: FoldOptions = {},
): OnnxGather[] =>
  surveyModel(model, bindings, folding).nodes.flatMap((node) => ("compiled" in node ? [] : [node]));

/**
 * Returns the gathers of a model, the other nodes that read or write by index, and warnings. `uses` has all
 * nodes, each with the nodes that read its outputs. Throws a CompileError (TC014) if `bindings` do not fit
 * the model.
 */
export function surveyModel(
  model: OnnxModel,
  bindings: Bindings = {},
  folding: FoldOptions = {},
): OnnxSurvey {
  checkArgument("surveyModel", "model", model);
  const gathers: (OnnxGather | OnnxUncompiled)[] = [];
  const warnings: Diagnostic[] = [];
  const names = new UniqueNames();
  const { bind = {}, most = {} } = bindings;
  const unbound = missingBindings(model.graph, { ...bind, ...most });
  const hint =
    unbound === undefined
      ? "infer shapes and save the model: onnx.shape_inference.infer_shapes(model, data_prop=True); shapes that depend on values stay unknown"
      : `bind the dynamic dims of the inputs, such as --bind ${unbound}`;
  const folder = new ChainFolder(model, isCompiled, isBase, pricesOf(folding));
  const programs = new Map<OnnxNode, ProgramDescription>();
  const uses = new Uses();
  const visit = (visited: Visited): void => {
    const { node } = visited;
    uses.visit(node, visited.inputs);
    const resolved = asGather(visited);
    const operator = operatorOf(resolved.node);
    const where = placeOf(model.file, node);
    if (operator === undefined) {
      const why = node.domain === "" ? uncompiled.get(node.op) : undefined;
      if (why === undefined) return;
      const compiles = `${why}; tilec compiles ${[...operators.keys()].join(", ")}`;
      const diagnostic = problem(where, compiles, remedies.get(node.op));
      gathers.push({ name: nameOf(names, node), node, ok: false, compiled: false, diagnostic });
      return;
    }
    const gather = {
      ...toGather({ where, hint, maxSizes: most, name: nameOf(names, node) }, resolved, operator),
      node,
    };
    gathers.push(gather);
    if (gather.ok) programs.set(node, gather.program);
  };
  walkModel(model, bindings, {
    visit,
    leave(left) {
      if (folding.fold !== "never")
        folder.leave({ ...left, inputs: asGather(left).inputs }, programs.get(left.node));
      uses.leave(left);
    },
    returned(values) {
      uses.returned(values);
    },
    contradicted(name, node, declared, made) {
      const [says, makes] = [declared, made].map(shownType);
      const message = `${quoted(name)} is declared ${says ?? ""}, and ${labelOf(node)} makes ${makes ?? ""}`;
      const hint =
        "tilec uses the declared type; infer shapes again: onnx.shape_inference.infer_shapes(model)";
      warnings.push({ ...problem(model.file, message, hint), severity: "warning" });
    },
  });
  const nodes = gathers.map((entry) =>
    entry.ok && folding.fold !== "never" ? withFolding(entry, folder, names) : entry,
  );
  const named = new Map(gathers.map(({ node, name }) => [node, name]));
  return { nodes, warnings, uses: uses.list((node) => named.get(node) ?? nameOf(names, node)) };
}

/** Formats the type of a value as far as it is known: `f32[2, ?]`. */
const shownType = ({ dataType, dims }: TrackedValue): string => {
  const type = dataType === undefined ? undefined : (dtypeOf(dataType) ?? describeDataType(dataType));
  return `${type ?? ""}${dims === undefined ? "" : showDims(dims)}`;
};

/**
 * Returns a unique name for a node. Node names contain slashes, dots and colons, may repeat, and may be
 * absent.
 */
const nameOf = (names: UniqueNames, node: OnnxNode): string =>
  names.next(node.name, node.outputs[0] ?? "", node.op);

const placeOf = (file: string, node: OnnxNode): string => `${file}: ${labelOf(node)}`;

/**
 * Returns a copy of `gather` with the result of merging adjacent nodes into the gather. Field `folded`: the
 * merged program; absent if no node is merged. Field `kept`: the reasons why adjacent nodes are not merged.
 */
function withFolding<G extends OnnxGather & { readonly ok: true }>(
  gather: G,
  folder: ChainFolder,
  names: UniqueNames,
): G {
  let kept: readonly string[] = [];
  try {
    const { folded, ...left } = folder.foldingOf(gather.node, `${gather.name}_folded`);
    ({ kept } = left);
    if (folded === undefined) return { ...gather, ...left };
    const { func, sources, ...rest } = folded;
    const inputs = inputsOf(func).flatMap(({ name, type }, k) => {
      const value = sources[k]?.value;
      const tensor = value === undefined ? undefined : (value.constant?.() ?? tensorValue(value));
      // Bytes that hold packed elements are those elements.
      return tensor === undefined ? [] : [[name, { ...tensor, type }] as const];
    });
    const named = { ...func, name: names.next(func.name) };
    const reads = inputsOf(func).map((input, k) => [keyOf(input), sources[k]?.name ?? ""] as const);
    const tensors = { inputs: Object.fromEntries(inputs), reads: Object.fromEntries(reads) };
    return { ...gather, folded: { func: named, ...tensors, ...rest }, ...left };
  } catch (thrown) {
    return { ...gather, kept: [...kept, ...faultsOf(thrown).map(({ message }) => message)] };
  }
}

/** A node's place in diagnostics, its name, and the way out for an operand whose shape is open. */
interface Around {
  readonly where: string;
  readonly name: string;
  readonly hint: string;
  readonly maxSizes: MaxSizes;
}

/**
 * Returns the gather of an ONNX node, with a program if the shapes and types of the operands are known. A
 * gather without a program is `open` if a shape or type is unknown, and `refused` if the node breaks a rule
 * or is not supported.
 */
function toGather({ where, name, hint, maxSizes }: Around, visited: Visited, operator: Operator): OnnxGather {
  const { node } = visited;
  try {
    const attrs = attributes(where, visited, operator);
    const without = (
      verdict: "open" | "refused",
      diagnostic: Diagnostic,
      dynamic?: OnnxDynamic,
    ): OnnxGather => ({
      name,
      node,
      ok: false,
      verdict,
      diagnostic,
      ...defined({ open: dynamic }),
    });
    const inputs = inputNames(operator, node).map((role, k) =>
      operand({ where, hint, maxSizes }, visited, role, k),
    );
    const given = inputs.flatMap((input) => ("why" in input ? [] : [input]));
    const unknown = inputs.find((input) => "why" in input);
    if (unknown !== undefined) {
      const broken = brokenAtAnySize(operator.op, attrs, inputs);
      return broken === undefined ? without("open", unknown.why) : without("refused", broken);
    }
    const [data, indices, ...others] = given;
    invariant(data !== undefined && indices !== undefined, "an operator has data and indices");
    const program = {
      name,
      op: operator.op,
      attrs,
      data: data.type,
      indices: indices.type,
      ...(others.length === 0 ? {} : { others: others.map(({ type }) => type) }),
    };
    const fixed = others.flatMap(({ role, value }) => (value === undefined ? [] : [[role, value] as const]));
    const facts = {
      ...defined({ data: data.value, indices: indices.value }),
      ...(fixed.length === 0 ? {} : { others: Object.fromEntries(fixed) }),
    };
    const diagnostic = given.find(({ unbound }) => unbound !== undefined)?.unbound;
    if (diagnostic === undefined) return { name, node, ok: true, program, kept: [], ...facts };
    const made = outputDims(visited);
    const output = made === undefined ? undefined : dynamicShape(made, maxSizes);
    if (output === undefined) {
      const inner = bindInPlace(made ?? [], maxSizes);
      return without("open", { ...diagnostic, ...defined({ hint: inner }) });
    }
    const outermost = [...given, output].map((tensor) => tensor.outermost);
    const roles = given.map(({ role }) => role);
    const opened = dynamicProgram(program, roles, outermost, maxSizes);
    return "func" in opened
      ? without("open", diagnostic, { func: opened.func, ...facts })
      : without("refused", opened.diagnostics[0] ?? diagnostic);
  } catch (thrown) {
    const [diagnostic] = faultsOf(thrown);
    if (diagnostic === undefined) throw thrown;
    return { name, node, ok: false, verdict: "refused", diagnostic };
  }
}

const refuse = (where: string, message: string, hint?: string): CompileError =>
  new CompileError([problem(where, message, hint)]);

/** Returns the dialect's names of a node's inputs, without the optional inputs that the node leaves out. */
function inputNames({ op }: { readonly op: string }, { inputs }: OnnxNode): readonly string[] {
  const { inputs: names = ["data", "indices"], optional = [] } = findOp(op) ?? {};
  return names.filter((name, k) => !optional.includes(name) || (inputs[k] ?? "") !== "");
}

/**
 * Returns the attributes of a gather node by name, with defaults for absent attributes. The key `opset` has
 * the version of the operator. Throws a CompileError (TC014) for an invalid attribute or an unknown opset.
 */
function attributes(where: string, visited: Visited, operator: Operator): Record<string, AttrValue> {
  const { node, opset } = visited;
  const { versions } = operator;
  const named = Object.entries(operator.attributes).map(
    ([name, otherwise]) => [name, attributeOf(where, node, name, otherwise)] as const,
  );
  if (versions.length === 0) return Object.fromEntries(named);
  if (opset === undefined) {
    throw refuse(where, "the model does not say which opset it is in", "add an opset_import for domain ''");
  }
  // Older than the operator itself: opset 1, for the dialect's rules to refuse.
  return { ...Object.fromEntries(named), opset: versions.find((version) => version <= opset) ?? 1 };
}

/**
 * Returns the integer or string attribute `name` of a node, or `otherwise` if the attribute is absent. Throws
 * a CompileError (TC014) if the attribute is of the wrong kind, exceeds 32 bits, or refers to a function
 * parameter.
 */
function attributeOf(where: string, node: OnnxNode, name: string, otherwise: number | string): AttrValue {
  const given = node.attributes.get(name);
  const noOther = (): CompileError =>
    refuse(where, `${name} must be ${typeof otherwise === "number" ? "an integer" : "a string"}`);
  switch (given?.kind) {
    case undefined:
      return otherwise;
    case "int":
      if (typeof otherwise === "string") throw noOther();
      if (BigInt.asIntN(32, given.value) !== given.value) {
        throw refuse(where, `${name} is ${given.value.toString()}`);
      }
      return Number(given.value);
    case "string":
      if (typeof otherwise === "number") throw noOther();
      return given.values[0] ?? "";
    case "reference":
      throw refuse(
        where,
        `${name} is a parameter of the function, ${quoted(given.name)}`,
        "inline the model's functions: onnx.inliner.inline_local_functions(model)",
      );
    case "float":
    case "floats":
    case "graphs":
    case "ints":
    case "other":
    case "strings":
    case "tensor":
      throw noOther();
  }
}

/** Returns the dims of the output of a node; undefined where not even the rank is known. */
const outputDims = ({ node, inputs, opset }: Visited): TrackedValue["dims"] =>
  opset === undefined ? undefined : inferOutputs({ node, inputs, opset })[0]?.dims;

interface Place {
  readonly where: string;
  readonly hint: string;
  readonly maxSizes: MaxSizes;
}

interface GivenOperand extends Pick<DynamicShape, "outermost"> {
  readonly role: string;
  /** At its most. */
  readonly type: TensorType;
  readonly value?: TensorValue;
  /** Diagnostic for a shape that is dynamic. */
  readonly unbound?: Diagnostic;
}

/** An operand whose shape or element type is not known, and why. */
interface UnknownOperand {
  readonly why: Diagnostic;
  /** Type of the operand if its rank and element type are known. Unknown extents are 1. */
  readonly type?: TensorType;
}

/** Codes of rules that no extent has a part in. */
const ofAnySize: ReadonlySet<Code> = new Set(["TC101", "TC102", "TC104", "TC105"]);

/**
 * Returns the error if a gather node breaks a rule that does not depend on extents. Returns undefined if no
 * rule is broken, or if the type of an operand is unknown.
 */
function brokenAtAnySize(
  op: OpName,
  attrs: Readonly<Record<string, AttrValue>>,
  operands: readonly (GivenOperand | UnknownOperand)[],
): Diagnostic | undefined {
  const inputs = operands.flatMap(({ type }) => type ?? []);
  if (inputs.length < operands.length) return undefined;
  const result = resolveSource({ op, attrs, inputs });
  return result.ok ? undefined : result.diagnostics.find(({ code }) => ofAnySize.has(code));
}

/**
 * Returns the type of operand `k` of a gather, with the value if the operand is constant in the model.
 * Returns a diagnostic if the type is unknown. Throws a CompileError (TC014) if the operand is missing,
 * cannot be read, or has an unsupported element type.
 */
function operand(
  { where, hint, maxSizes }: Place,
  { node, inputs }: Visited,
  role: string,
  k: number,
): GivenOperand | UnknownOperand {
  const name = node.inputs[k] ?? "";
  if (name === "") throw refuse(where, `input ${role} is missing`);
  const value: TrackedValue = inputs[k] ?? {};
  const shown = `${role} ${quoted(name)}`;
  if (value.problem !== undefined) throw refuse(where, `${shown} is ${value.problem}`);
  const { dims, dataType } = value;
  if (dims === undefined || dataType === undefined) {
    const missing = `the ${dims === undefined ? "shape" : "element type"} of ${shown} is not known`;
    return { why: problem(where, missing, hint) };
  }
  const dtype = dtypeOf(dataType);
  if (dtype === undefined) throw refuse(where, `${shown} has ${describeDataType(dataType)}`);
  const opened = dynamicShape(dims, maxSizes);
  const whyDynamic = (): Diagnostic => symbolic({ where, hint, maxSizes }, shown, dims);
  if (opened === undefined) {
    const shape = dims.map((dim) => (typeof dim === "number" ? dim : 1));
    return { why: whyDynamic(), type: { dtype, shape } };
  }
  const tensor = value.constant?.() ?? tensorValue(value);
  const { shape, outermost } = opened;
  return {
    role,
    type: { dtype, shape },
    outermost,
    ...defined({ value: tensor }),
    ...(outermost === null ? {} : { unbound: whyDynamic() }),
  };
}

/**
 * Returns an error (TC014) that lists the dims of an operand without a fixed extent. The hint says how to
 * bind these dims. `shown` names the operand in the message.
 */
function symbolic(
  { where, hint, maxSizes }: Place,
  shown: string,
  dims: readonly (number | string)[],
): Diagnostic {
  const unbound = dims.flatMap((dim, k) => (typeof dim === "number" ? [] : [{ dim, k }]));
  const list = unbound
    .map(({ dim, k }) => (dim === "" ? `dim ${k}` : `dim ${k} (${quoted(dim)})`))
    .join(", ");
  return problem(
    where,
    `${shown} has shape ${showDims(dims)}: ${list} ${unbound.length === 1 ? "has" : "have"} no fixed extent`,
    bindInPlace(dims, maxSizes) ?? hint,
  );
}

/**
 * Returns a hint to use `--bind` instead of `--most` for the inner dims of an operand, because only an
 * outermost dim can have an upper bound. Returns undefined if `--most` names no inner dim of the operand.
 */
function bindInPlace(dims: readonly (number | string)[], maxSizes: MaxSizes): string | undefined {
  const inner = dims
    .slice(1)
    .flatMap((dim) =>
      typeof dim === "string" && Object.hasOwn(maxSizes, dim) ? [`${dim}=${maxSizes[dim] ?? 0}`] : [],
    );
  if (inner.length === 0) return undefined;
  return `--bind ${[...new Set(inner)].join(",")} in place of --most: only an outermost dim stays open, of the output too`;
}
