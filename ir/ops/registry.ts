/** Every source operator, and the one way to apply a dialect's rules. */
import { defined } from "../defined.js";
import { error, warning, type Diagnostic } from "../diagnostic.js";
import type { Attrs, AttrValue } from "../attrs.js";
import { inputsOf, type AccessFunc, type SourceFunc } from "../func.js";
import { defaultProfile } from "../profile.js";
import { isResolved } from "../schedule-entries.js";
import type { Profile } from "../schedule.js";
import type { Target } from "../target.js";
import {
  assertNever,
  at,
  formatShape,
  isIndexDType,
  type DType,
  type Span,
  type TensorType,
} from "../types.js";
import { directmlGather, directmlGatherElements, directmlGatherNd, directmlGatherNd1 } from "./directml.js";
import { onnxGatherBlockQuantized } from "./block-quantized.js";
import { onnxGather, onnxGatherElements, onnxGatherNd } from "./onnx.js";
import { onnxScatter, onnxScatterElements, onnxScatterNd, onnxTensorScatter } from "./onnx-scatter.js";
import {
  pyptoIndexAdd,
  pyptoIndexAddInPlace,
  pyptoIndexAddUb,
  pyptoScatter,
  pyptoScatterInPlace,
  pyptoScatterUpdate,
} from "./pypto-scatter.js";
import { torchIndexAdd, torchIndexCopy, torchScatter, torchScatterAdd } from "./torch-scatter.js";
import {
  checkLimits,
  inputNames,
  RuleError,
  type AttrSpec,
  type ExpandedMasks,
  type OpDef,
  type Operators,
  type OpInputs,
  type Resolved,
  type ResolveResult,
} from "./op-def.js";
import { resolvedFault } from "./resolved-fault.js";
import { moeCombine } from "./moe.js";
import { pyptoGather, pyptoIndexSelect } from "./pypto.js";
import { jaxTake, jaxTakeAlongAxis } from "./jax.js";
import { operatorsMeant } from "./operator-names.js";
import { pyptoGatherInUb } from "./gather-in-ub.js";
import { numpyIndex, numpyTake, numpyTakeAlongAxis } from "./numpy.js";
import { torchEmbeddingBag } from "./embedding-bag.js";
import { directmlScatter, directmlScatterNd } from "./directml-scatter.js";
import {
  tfScatterNd,
  tfTensorScatterNdAdd,
  tfTensorScatterNdMax,
  tfTensorScatterNdMin,
  tfTensorScatterNdUpdate,
} from "./tf-scatter.js";
import { numpyPutAlongAxis } from "./numpy-scatter.js";
import { stablehloGather } from "./stablehlo.js";
import { stablehloScatter } from "./stablehlo-scatter.js";
import {
  jaxAtAdd,
  jaxAtMax,
  jaxAtMin,
  jaxAtMul,
  jaxAtSet,
  numpyAddAt,
  pyptoIndexPutInPlace,
  torchIndexPut,
} from "./subscript-scatter.js";
import { tfGather, tfGatherNd } from "./tf.js";
import { torchEmbedding, torchGather, torchIndexSelect, torchTakeAlongDim } from "./torch.js";

/** One line an operator: what it is called and takes is in its definition. */
const registered = [
  onnxGather,
  onnxGatherElements,
  onnxGatherNd,
  onnxGatherBlockQuantized,
  directmlGather,
  directmlGatherElements,
  directmlGatherNd,
  directmlGatherNd1,
  pyptoGather,
  pyptoIndexSelect,
  pyptoGatherInUb,
  stablehloGather,
  torchGather,
  torchIndexSelect,
  torchTakeAlongDim,
  torchEmbedding,
  torchEmbeddingBag,
  tfGather,
  tfGatherNd,
  numpyTake,
  numpyTakeAlongAxis,
  numpyIndex,
  jaxTake,
  jaxTakeAlongAxis,
  moeCombine,
  onnxScatterElements,
  onnxScatterNd,
  onnxScatter,
  onnxTensorScatter,
  pyptoScatterUpdate,
  pyptoScatterInPlace,
  pyptoScatter,
  pyptoIndexAddInPlace,
  pyptoIndexAdd,
  pyptoIndexAddUb,
  torchScatter,
  torchScatterAdd,
  torchIndexCopy,
  torchIndexAdd,
  directmlScatter,
  directmlScatterNd,
  tfTensorScatterNdUpdate,
  tfTensorScatterNdAdd,
  tfTensorScatterNdMin,
  tfTensorScatterNdMax,
  tfScatterNd,
  torchIndexPut,
  pyptoIndexPutInPlace,
  jaxAtSet,
  jaxAtAdd,
  jaxAtMul,
  jaxAtMin,
  jaxAtMax,
  numpyPutAlongAxis,
  numpyAddAt,
  stablehloScatter,
] as const;

/** Definitions of all built-in operators, of every dialect. */
export const opDefs: Operators = registered;

/** Name of a built-in operator with the dialect: `onnx.gather`. */
export type OpName = (typeof registered)[number]["name"];
/** Name of a framework whose operators are built in, such as `onnx`. */
export type Dialect = OpName extends `${infer D}.${string}` ? D : never;
type SpecOf<D> = D extends OpDef ? D["attrs"][keyof D["attrs"]] : never;
type KeyOf<S> = S extends { readonly key: infer K extends string } ? K : never;
/** Key of an operator attribute in flags and JSON files of test cases; any key but `oob`. */
export type AttributeKey = Exclude<KeyOf<SpecOf<(typeof registered)[number]>>, "oob">;

/**
 * Returns the definition of the operator with the given name, such as `onnx.gather`; undefined if there is
 * none.
 */
export const findOp = (name: string, operators: Operators = opDefs): OpDef | undefined =>
  operators.find((def) => def.name === name);

/** Operator as called in a framework's program: name, attributes and input types. */
export interface SourceOp {
  readonly op: string;
  readonly attrs: Attrs;
  /** Types of the data, then of the other inputs. */
  readonly inputs: readonly TensorType[];
  /** Operators among which `op` is looked up. Absent: the built-in operators. */
  readonly operators?: Operators | undefined;
  /** Profile of the program's schedule. Absent if an operator is checked without a schedule. */
  readonly profile?: Profile | undefined;
  /** Target of the program. Absent if an operator is checked for any target. */
  readonly target?: Target | undefined;
  readonly span?: Span | undefined;
}

/**
 * Returns the operator of a source function, as an argument for {@link resolveSource}. `target`: absent if
 * target-dependent rules are not to be checked.
 */
export const sourceOp = (func: SourceFunc, target?: Target): SourceOp => ({
  op: func.op,
  attrs: func.attrs,
  inputs: inputsOf(func).map(({ type }) => type),
  operators: func.operators,
  profile: func.schedule.profile ?? defaultProfile,
  target,
  span: func.opSpan,
});

/**
 * Cache of resolved operators, by the attributes of the program. A builder, the pipeline and `reference`
 * resolve the same program. Callers build programs in between that do not carry the result. The keys are
 * weak, so that an entry is freed with its program.
 */
const resolvedBefore = new WeakMap<Attrs, { readonly source: SourceOp; readonly result: ResolveResult }>();

/** Returns the dialect-free operator of a framework's operator, or the diagnostics of broken rules. */
export function resolveSource(source: SourceOp): ResolveResult {
  const before = resolvedBefore.get(source.attrs);
  const same =
    before?.source.op === source.op &&
    before.source.operators === source.operators &&
    before.source.profile === source.profile &&
    before.source.target === source.target &&
    before.source.inputs.length === source.inputs.length &&
    before.source.inputs.every((type, k) => type === source.inputs[k]) &&
    before.source.span === (source.span ?? before.source.span);
  if (before !== undefined && same) return before.result;
  const result = resolve(source);
  resolvedBefore.set(source.attrs, { source, result });
  return result;
}

/**
 * Returns the diagnostics for element types and ranks of an access-level gather that break the rules of the
 * framework's operator. The list is empty for a gather without a framework operator, and for a complete
 * schedule without a PyPTO rule profile.
 */
export function judgeTypes(gather: AccessFunc, target: Target): readonly Diagnostic[] {
  const { framework, frameworkOp, schedule, opSpan: span } = gather;
  if (framework === undefined || frameworkOp === undefined) return [];
  const name = `${framework}.${frameworkOp.name}`;
  const def = findOp(name);
  if (def?.framework !== framework) return [unknownOperator(name, opDefs, span)];
  const attrs = defined({ level: frameworkOp.level });
  const unknown = unknownAttrs(def, attrs, span);
  if (unknown.length > 0) return unknown;
  const inputs = inputsOf(gather).map(({ type }) => type);
  const [data, indices] = inputs;
  if (def.takes === undefined || data === undefined || indices === undefined) return [];
  if (schedule.profile === undefined && isResolved(schedule)) return [];
  const { profile = defaultProfile } = schedule;
  try {
    const disputed = def.takes({ attrs, data, indices, inputs, profile, target, span });
    return disputed === undefined ? [] : [disputeOn(disputed, span)];
  } catch (thrown) {
    if (thrown instanceof RuleError) return thrown.diagnostics;
    throw thrown;
  }
}

/**
 * Returns the warning (TC911) for an element type on which a framework's documentation, code and tests
 * disagree.
 */
export const disputeOn = (
  { message, notes }: NonNullable<Resolved["disputed"]>,
  span: Span | undefined,
): Diagnostic => warning("TC911", message, { span, notes });

/** True if an operator that takes masks is given one. */
const hasMasks = ({ expandMasks: expand }: OpDef, inputs: readonly TensorType[]): boolean =>
  expand !== undefined && inputs.slice(1).some(({ dtype }) => dtype === "bool");

/** Returns the refusal of a mask whose values are known only at run time. */
const unknownMask = (name: string, span: Span | undefined): Diagnostic =>
  error("TC104", `${name} is a boolean mask, and the shape of the output depends on its values`, {
    span,
    hint: `give the mask's values, --indices mask.npy; or index by the positions of its true elements, from numpy.flatnonzero(${name}) or numpy.nonzero(${name})`,
  });

/**
 * Returns the changed attributes and all inputs of an operator after boolean masks are replaced by index
 * inputs. Undefined if the operator has no masks or breaks a rule.
 */
export function expandMasks({
  op,
  attrs,
  inputs,
  operators = opDefs,
  span,
}: Omit<SourceOp, "target">): ExpandedMasks | undefined {
  const def = findOp(op, operators);
  const [data, indices] = inputs;
  if (def === undefined || data === undefined || indices === undefined || !hasMasks(def, inputs))
    return undefined;
  try {
    return def.expandMasks?.({ attrs: withDefaults(def, attrs), data, indices, inputs, span });
  } catch (thrown) {
    // An operator of a project that crashes does so in `resolve` too, which says where it is from.
    if (thrown instanceof RuleError || !opDefs.includes(def)) return undefined;
    throw thrown;
  }
}

/** Returns the error (TC003) for an unknown operator, with a hint that names similar operators. */
function unknownOperator(name: string, operators: Operators, span: Span | undefined): Diagnostic {
  const names = operators.map((def) => def.name);
  const [meant, ...others] = operatorsMeant(name, operators);
  const hint =
    meant === undefined ? `known: ${names.join(", ")}` : `did you mean ${[meant, ...others].join(" or ")}?`;
  return error("TC003", `unknown operator ${name}`, { span, hint });
}

const boolHint =
  "cast bool to an integer type to count it as 0 and 1, or pass the positions at which a mask holds";

/**
 * Returns the hint that names a type of integers that an operator takes for input `k`, from 0. Undefined if
 * the operator takes neither i64 nor i32. `name`: name of the input.
 */
function castOf(source: SourceOp, k: number, name: string): string | undefined {
  const isTaken = (dtype: DType): boolean => {
    const inputs = source.inputs.map((type, other) => (other === k ? { ...type, dtype } : type));
    const result = resolve({ ...source, inputs });
    return result.ok || result.diagnostics.every(({ code }) => code !== "TC104");
  };
  const taken = (["i64", "i32"] as const).find(isTaken);
  return taken === undefined ? undefined : `cast ${name} to ${taken}`;
}

/**
 * Returns the dialect-free operator of a framework's operator, or the diagnostics of faults such as broken
 * rules.
 */
function resolve(source: SourceOp): ResolveResult {
  const { operators = opDefs } = source;
  const def = findOp(source.op, operators);
  if (def === undefined) {
    const unknown = unknownOperator(source.op, operators, source.span);
    return { ok: false, diagnostics: [unknown] };
  }
  const diagnostics = [...checkInputs(def, source), ...checkAttrs(def, source)];
  const [data, indices] = source.inputs;
  if (diagnostics.length > 0 || data === undefined || indices === undefined)
    return { ok: false, diagnostics };
  const inputs: OpInputs = { ...source, data, indices, attrs: withDefaults(def, source.attrs) };
  try {
    const names = inputNames(def, source.inputs);
    const masks = hasMasks(def, source.inputs) ? def.expandMasks?.(inputs) : undefined;
    source.inputs.slice(1).forEach(({ dtype }, k) => {
      const name = at(names, k + 1);
      if (isIndexDType(dtype) || def.values?.includes(name) === true) return;
      if (masks !== undefined && dtype === "bool") throw new RuleError([unknownMask(name, source.span)]);
      if (dtype === "bool" && def.boolIndices === true) return;
      const message = `${name} must be integers, not ${dtype}`;
      const hint = dtype === "bool" ? boolHint : castOf(source, k + 1, name);
      throw new RuleError([error("TC104", message, { span: source.span, ...defined({ hint }) })]);
    });
    const resolved = def.resolve(inputs);
    const fault = opDefs.includes(def) ? undefined : resolvedFault(resolved, source.inputs);
    if (fault !== undefined) {
      const message = `${def.name}: ${fault}`;
      return { ok: false, diagnostics: [error("TC201", message, { span: source.span, ...originOf(def) })] };
    }
    checkLimits(def, inputs, resolved);
    return { ok: true, resolved };
  } catch (thrown) {
    if (thrown instanceof RuleError) return { ok: false, diagnostics: thrown.diagnostics };
    if (opDefs.includes(def)) throw thrown;
    const message = `${def.name} crashed: ${String(thrown)}`;
    return { ok: false, diagnostics: [error("TC201", message, { span: source.span, ...originOf(def) })] };
  }
}

/**
 * Returns the diagnostic notes that say where an operator is defined; an empty object for an operator without
 * `origin`.
 */
export const originOf = ({ name, origin }: OpDef): { readonly notes?: readonly string[] } =>
  origin === undefined ? {} : { notes: [`${name} is ${origin}`] };

/**
 * Returns the diagnostics for a wrong number of inputs (TC702) and for fractional or negative extents
 * (TC103); an empty list if there are none.
 */
function checkInputs(def: OpDef, source: SourceOp): Diagnostic[] {
  const { inputs: names = ["data", "indices"], optional = [], variadic = false } = def;
  const [given, expected] = [source.inputs.length, names.length];
  if (given < expected - optional.length || (given > expected && !variadic)) {
    const takes = `${names.join(", ")}${variadic ? ", …" : ""}`;
    return [error("TC702", `${def.name} takes ${takes}, not ${given} inputs`, { span: source.span })];
  }
  const called = inputNames(def, source.inputs);
  return source.inputs.flatMap(({ shape }, k) => {
    if (shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0)) return [];
    const message = `${at(called, k)} ${formatShape(shape)} has an extent that is not a whole number`;
    return [error("TC103", message, { span: source.span })];
  });
}

/** Returns an error (TC105) for each attribute that an operator does not have. */
const unknownAttrs = (def: OpDef, attrs: Attrs, span: Span | undefined): Diagnostic[] =>
  Object.keys(attrs)
    .filter((name) => !Object.hasOwn(def.attrs, name))
    .map((name) => {
      const hint = `${def.name} has the attributes ${Object.keys(def.attrs).join(", ")}`;
      return error("TC105", `${def.name} has no attribute ${name}`, { span, hint });
    });

/**
 * Returns the diagnostics (TC105) for unknown attributes and for invalid attribute values; an empty list if
 * there are none.
 */
function checkAttrs(def: OpDef, source: SourceOp): Diagnostic[] {
  return Object.entries(source.attrs).flatMap(([name, value]) => {
    const spec = Object.hasOwn(def.attrs, name) ? def.attrs[name] : undefined;
    if (spec === undefined) return unknownAttrs(def, { [name]: value }, source.span);
    const refused = (takes: string): Diagnostic[] => [
      error("TC105", `${name} must be ${takes}, not ${formatAttr(value)}`, { span: source.span }),
    ];
    switch (spec.kind) {
      case "int":
        return Number.isSafeInteger(value) ? [] : refused("a whole number");
      case "number":
        return Number.isFinite(value) ? [] : refused("a number");
      case "ints":
        return Array.isArray(value) && value.every((entry) => Number.isSafeInteger(entry))
          ? []
          : refused("a list of whole numbers");
      case "text":
        return typeof value === "string" ? [] : refused("a string");
      case "word": {
        if (typeof value === "string" && (spec.words.includes(value) || isLater(spec, value))) return [];
        const hint = `one of ${spec.words.join(", ")}`;
        return [error("TC105", `${name} cannot be ${formatAttr(value)}`, { span: source.span, hint })];
      }
      default:
        return assertNever(spec);
    }
  });
}

/**
 * True if an attribute accepts later versions, and `value` (such as `4.2`) is a version later than the last
 * version that the attribute lists.
 */
function isLater({ words, later }: Extract<AttrSpec, { kind: "word" }>, value: string): boolean {
  const numbersOf = (version: string): number[] => version.split(".").map(Number);
  const [[major = 0, minor = 0], [last = 0, lastMinor = 0]] = [
    numbersOf(value),
    numbersOf(words.at(-1) ?? ""),
  ];
  return later === true && /^\d{1,4}\.\d{1,4}$/.test(value) && (major - last || minor - lastMinor) > 0;
}

const formatAttr = (value: AttrValue): string =>
  typeof value === "object" ? formatShape(value) : typeof value === "string" ? `"${value}"` : String(value);

function withDefaults(def: OpDef, attrs: Attrs): Attrs {
  const defaults = Object.entries(def.attrs).flatMap(([name, spec]) =>
    spec.default === undefined ? [] : [[name, spec.default] as const],
  );
  return { ...Object.fromEntries(defaults), ...attrs };
}
