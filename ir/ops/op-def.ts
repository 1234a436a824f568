/**
 * What a source operator is: its attributes, its dialect's rules, and the dialect-free operator it stands for.
 *
 * Each dialect keeps its own legality; nothing below `resolve` knows which dialect a gather came from.
 */
import { checkArgument } from "../argument.js";
import { defined } from "../defined.js";
import { gatherDims, type NegativeIndex, type OutOfBounds } from "../access.js";
import { DiagnosticError, error, type Diagnostic } from "../diagnostic.js";
import type { Attrs, AttrValue } from "../attrs.js";
import { accessMap, inputShapes, outputShape, type Operator } from "../operator.js";
import type { Framework } from "../framework.js";
import type { Profile } from "../schedule.js";
import type { Target } from "../target.js";
import {
  at,
  elementCount,
  shownAmount,
  formatShape,
  formatType,
  maxElements,
  maxRank,
  maxTableElements,
  type DType,
  type Shape,
  type Span,
  type TensorType,
} from "../types.js";

interface AttrNames {
  /**
   * In case files; flags write it with dashes. Operators that mean the same by an attribute share its key. Absent: the name in text,
   * in camel case.
   */
  readonly key?: string;
  /** What the framework's own builder calls it. Absent: the key. */
  readonly argument?: string;
  /** One line for the flag. */
  readonly help: string;
}

/** An integer in a range that the rules check, any finite number, a list of integers, one of a fixed set of words, or a text that the rules read. */
export type AttrSpec = AttrNames &
  (
    | { readonly kind: "int"; readonly default?: number }
    | { readonly kind: "number"; readonly default?: number }
    | { readonly kind: "ints"; readonly default?: readonly number[] }
    | { readonly kind: "text"; readonly default?: string }
    | {
        readonly kind: "word";
        readonly words: readonly string[];
        readonly default?: string;
        /** True if the words are versions, oldest first, and later ones are taken too: `5.0`. */
        readonly later?: true;
      }
  );

/** A source operator with every dialect rule applied. */
export interface Resolved {
  readonly operator: Operator;
  /** The output as the framework sees it: DirectML keeps leading ones that the operator's own output lacks. */
  readonly output: Shape;
  /** Element type of the output. Absent: that of the data. */
  readonly dtype?: DType;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  /** A type that is taken although the framework's own sources disagree on it: `message` says so, `notes` cite both sources. */
  readonly disputed?: { readonly message: string; readonly notes: readonly string[] };
}

/** What an operator is asked about: its inputs' types and its attributes, with defaults. */
export interface OpInputs {
  readonly attrs: Attrs;
  readonly data: TensorType;
  /** The first index input; `inputs` has the others too. */
  readonly indices: TensorType;
  readonly inputs: readonly TensorType[];
  /** Profile of the program's schedule; absent where only the operator is asked about, without one. */
  readonly profile?: Profile | undefined;
  /** Machine that the program is for; absent where only the operator is asked about, on any machine. */
  readonly target?: Target | undefined;
  readonly span?: Span | undefined;
}

/** An input of an operator without masks: an input as it was, or of a mask the coordinates of its truths in one of its dims. */
export interface ExpandedInput {
  /** Number of the input among those that were given. */
  readonly input: number;
  /** The dim of the mask. */
  readonly maskDim?: number;
}

/** An operator with indices in the place of its boolean masks. */
export interface ExpandedMasks {
  /** The attributes that change. */
  readonly attrs: Attrs;
  readonly inputs: readonly ExpandedInput[];
}

/** An operator with its output's type, or why there is none. */
export type ResolveResult =
  | { readonly ok: true; readonly resolved: Resolved }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** An operator that dialects share by name, in case files and flags. */
export type CommonName = Exclude<Operator["op"], "mapped">;

/** The one home of what an operator is called and takes: text, case files, flags and builders derive from it. */
export interface OpDef {
  /** Dialect and operator, as in text: `onnx.gather_elements`. */
  readonly name: `${string}.${string}`;
  /** The dialect-free operator it stands for, which is its common name in case files and flags. Absent: it has its own alone. */
  readonly kind?: CommonName;
  /** What the framework's own tests call it, where that is another operator's name: in case files and flags it is this operator's. */
  readonly testName?: string;
  /** What its inputs are called, in order. Absent: data and indices. */
  readonly inputs?: readonly [data: string, ...indices: string[]];
  /** Those of them that may be left out. */
  readonly optional?: readonly string[];
  /** Which of the names are those of given inputs. Absent: the first ones. */
  readonly namesOf?: (inputs: readonly TensorType[]) => readonly string[];
  /** Those that values are made from; the others behind the data are indices. */
  readonly values?: readonly string[];
  /** Of a scatter: whether its result is the memory of its first input, or a copy of it. Absent: it gathers. */
  readonly writes?: "in place" | "copy";
  /** It counts an index of bool as 0 or 1. */
  readonly boolIndices?: true;
  /** It takes any number of further inputs like the last. */
  readonly variadic?: true;
  /**
   * Returns the operator with index inputs in the place of bool inputs, which are masks. Breaks a rule where a mask does not fit the data.
   * Absent: it takes no masks.
   */
  readonly expandMasks?: (inputs: OpInputs) => ExpandedMasks;
  /**
   * Refuses types, ranks and empty tensors that an operator of a framework does not take. Returns the dispute on a type that it takes although
   * the framework's own sources disagree on it. Absent: `resolve` alone says it.
   */
  readonly takes?: (inputs: OpInputs) => Resolved["disputed"];
  /** Its rules on the result, for whoever declares another. */
  readonly resultRules?: string;
  /** Upper limit (exclusive) of the elements of its table, where the framework states one. Absent: `maxTableElements`. */
  readonly maxElements?: number;
  /** Framework that cuts the tiles of the operator itself, and whose rules on them bind on every target. */
  readonly framework?: Framework;
  /** By name in text. */
  readonly attrs: Readonly<Record<string, AttrSpec>>;
  /** Where an operator that tilec does not have is from, for a note beside what is wrong with it: `operators[0] of tilec.config.ts`. */
  readonly origin?: string;
  /** Applies the dialect's rules. `attrs` are complete: defaults filled in, kinds checked. */
  resolve(inputs: OpInputs): Resolved;
}

/**
 * An operator's definition as it is given, with its type: what builders and lists of operators take. What TypeScript cannot judge,
 * such as a map that leaves its operand, is judged where the operator is used.
 */
export const defineOperator = <const D extends OpDef>(definition: D): D => definition;

/** Operators that texts, flags and case files may name: the built-in ones, and a project's own behind them. */
export type Operators = readonly OpDef[];

/** Raised inside `resolve` at the rules broken; the registry turns it into diagnostics. */
export class RuleError extends DiagnosticError {}

/** Codes of broken rules of an operator: of its axis, ranks, extents, types, attributes and sizes, in the order of the numbers. */
export type RuleCode = "TC101" | "TC102" | "TC103" | "TC104" | "TC105" | "TC106";

/** Refuses an operator for a rule: `message` is the rule's sentence with the numbers. Never returns. */
export function breakRule(code: RuleCode, inputs: OpInputs, message: string, hint?: string): never {
  checkArgument("breakRule", "code", code);
  checkArgument("breakRule", "object", inputs);
  throw new RuleError([error(code, message, { span: inputs.span, ...defined({ hint }) })]);
}

/** The value of an attribute of kind `int` or `number`; undefined where it has no default and is not given. */
export const intAttr = (attrs: Attrs, name: string): number | undefined => {
  checkArgument("intAttr", "object", attrs);
  const value: AttrValue | undefined = attrs[name];
  return typeof value === "number" ? value : undefined;
};

/** The value of an attribute of kind `ints`; empty where it has no default and is not given. */
export const intsAttr = (attrs: Attrs, name: string): readonly number[] => {
  const value: AttrValue | undefined = attrs[name];
  return typeof value === "object" ? value : [];
};

/** The value of an attribute of kind `word` or `text`; empty where it has no default and is not given. */
export const wordAttr = (attrs: Attrs, name: string): string => {
  const value: AttrValue | undefined = attrs[name];
  return typeof value === "string" ? value : "";
};

/** An axis in [-rank, rank - 1], counted from the front. */
export function axisInRange(inputs: OpInputs, axis: number, rank: number, name = "axis"): number {
  if (axis < -rank || axis >= rank) {
    breakRule(
      "TC101",
      inputs,
      `${name} ${axis} is outside [${-rank}, ${rank - 1}] of rank-${rank} data ${formatType(inputs.data)}`,
      `choose ${name} between ${-rank} and ${rank - 1}`,
    );
  }
  return axis < 0 ? axis + rank : axis;
}

/** Refuses (TC104) an input whose element type is none of `allowed`. `who` is the operator's name; `instead` ends the hint. */
export function checkDType(
  inputs: OpInputs,
  operand: "data" | "indices",
  allowed: readonly DType[],
  who: string,
  instead: () => string = () => "",
): void {
  const { dtype } = inputs[operand];
  if (!allowed.includes(dtype)) {
    breakRule(
      "TC104",
      inputs,
      `${who} does not take ${operand} of type ${dtype}`,
      [`it takes ${allowed.join(", ")}`, instead()].filter((piece) => piece !== "").join("; "),
    );
  }
}

/**
 * Returns the inputs with a scalar as a tensor of one element: data and indices then have one dim at least.
 */
export function withoutScalars(inputs: OpInputs): OpInputs {
  const raised = (type: TensorType): TensorType => (type.shape.length === 0 ? { ...type, shape: [1] } : type);
  return { ...inputs, data: raised(inputs.data), indices: raised(inputs.indices) };
}

/**
 * Returns the policy of an operator whose framework looks up no index where these extents leave none: nothing
 * is out of range there, and no element takes what is nearest.
 */
export const unlessEmpty = (extents: Shape, oob: OutOfBounds): OutOfBounds =>
  extents.includes(0) ? "clamp" : oob;

/** Refuses (TC102) an input of another rank than `lowest` to `highest`. `who` is the operator's name; `instead` is the hint. */
export function checkRank(
  inputs: OpInputs,
  operand: "data" | "indices",
  lowest: number,
  highest: number,
  who: string,
  instead: () => string = () => "",
): void {
  const rank = inputs[operand].shape.length;
  if (rank < lowest || rank > highest) {
    const hint = instead();
    breakRule(
      "TC102",
      inputs,
      `${who} takes ${operand} of rank ${lowest} to ${highest}, not ${rank}`,
      hint === "" ? undefined : hint,
    );
  }
}

export function checkSameRank(inputs: OpInputs, who: string): void {
  const [r, q] = [inputs.data.shape.length, inputs.indices.shape.length];
  if (r !== q) breakRule("TC102", inputs, `${who} takes data and indices of one rank, not ${r} and ${q}`);
}

/** What an operator calls an input: the further ones of a variadic operator continue its last. */
export function inputName({ inputs = ["data", "indices"] }: Pick<OpDef, "inputs">, k: number): string {
  const last = inputs.length - 1;
  const { [Math.min(k, last)]: name = "" } = inputs;
  return k <= last ? name : `${name.replace(/\d+$/, "")}${Number(/\d+$/.exec(name)?.[0] ?? 0) + k - last}`;
}

/** What an operator calls given inputs, in their order. */
export const inputNames = (def: OpDef, inputs: readonly TensorType[]): readonly string[] =>
  def.namesOf?.(inputs) ?? inputs.map((_, k) => inputName(def, k));

/** Rules that hold in every dialect. */
export function checkLimits(def: OpDef, inputs: OpInputs, resolved: Resolved): void {
  const { operator, oob } = resolved;
  const output = outputShape(operator);
  const names = inputNames(def, inputs.inputs);
  const named = inputShapes(operator).map((shape, k) => [at(names, k), shape] as const);
  for (const [operand, shape] of [...named, ["output", output] as const]) {
    if (shape.length > maxRank) {
      breakRule("TC102", inputs, `${operand} has rank ${shape.length}; tilec takes rank ${maxRank} at most`);
    }
    const elements = elementCount(shape);
    const limit = operand === at(names, 0) ? (def.maxElements ?? maxTableElements) : maxElements;
    if (elements >= limit) {
      breakRule(
        "TC106",
        inputs,
        `${operand} ${formatShape(shape)} has ${shownAmount(elements)} elements; ${def.name} takes 2^${Math.log2(limit)} - 1 at most`,
        "split the tensor along a dim that is not the gather dim",
      );
    }
    const long = shape.findIndex((extent) => extent >= maxElements);
    if (long !== -1) {
      breakRule(
        "TC106",
        inputs,
        `${operand} dim ${long} has an extent of ${at(shape, long)}; 2^31 - 1 is the most`,
        "split the tensor along that dim",
      );
    }
  }
  const data = at(inputShapes(operator), 0);
  // A policy that must read an element has none to read.
  if (elementCount(output) > 0 && oob !== "error" && oob !== "zero") {
    for (const k of gatherDims(accessMap(operator, resolved.negative, oob))) {
      if (at(data, k) === 0) {
        breakRule(
          "TC103",
          inputs,
          `out-of-range policy ${oob} needs an element to read, and data dim ${k} has none`,
        );
      }
    }
  }
}

/**
 * The shared rules of gather_nd: batch dims and tuple size. A tuple of none names all of the data, as
 * onnxruntime and TensorFlow have it.
 */
export function checkTuple(inputs: OpInputs, data: Shape, indices: Shape, batchDims: number): void {
  const [r, q] = [data.length, indices.length];
  if (batchDims < 0 || batchDims >= Math.min(q, r)) {
    breakRule(
      "TC105",
      inputs,
      `batch dims ${batchDims} must be in [0, ${Math.min(q, r) - 1}], below both ranks`,
    );
  }
  for (let k = 0; k < batchDims; k++) {
    if (data[k] !== indices[k]) {
      breakRule("TC103", inputs, `batch dim ${k} is ${at(data, k)} in data and ${at(indices, k)} in indices`);
    }
  }
  const tuple = at(indices, q - 1);
  if (tuple > r - batchDims) {
    breakRule(
      "TC103",
      inputs,
      `the last dim of indices, the tuple size, is ${tuple}; it must be in [0, ${r - batchDims}]`,
    );
  }
}

/** index <= data off the axis: the rule of ONNX runtimes, torch and PyPTO; DirectML's is exact (decision D4). */
export function checkElements(inputs: OpInputs, axis: number, exact: boolean, who: string): void {
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  data.forEach((extent, k) => {
    const index = at(indices, k);
    if (k !== axis && (exact ? index !== extent : index > extent)) {
      breakRule(
        "TC103",
        inputs,
        `indices dim ${k} is ${index} and data dim ${k} is ${extent}; off the axis ${who} takes ${exact ? "equal extents" : "none larger"}`,
      );
    }
  });
}
