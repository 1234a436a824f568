/**
 * Definition of a source operator: its attributes, its dialect's rules, and the dialect-free operator that it
 * stands for.
 *
 * Each dialect keeps its own legality. Code that follows `resolve` does not know from which dialect a gather
 * came.
 */
import { eitherOf } from "../counted.js";
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
   * In case files; flags write it with dashes. Operators that mean the same by an attribute share its key.
   * Absent: the name in text, in camel case.
   */
  readonly key?: string;
  /** Name of the attribute in the framework's own builder. Absent: the key. */
  readonly argument?: string;
  /** One line for the flag. */
  readonly help: string;
}

/**
 * Definition of an attribute of an operator: names, kind of value and default. `int`: an integer. `number`: a
 * finite number. `ints`: a list of integers. `word`: one of `words`. `text`: a string that the operator
 * parses.
 */
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

/**
 * Result of a dialect's rules for an operator: the dialect-free operator, the output type, and the policies
 * for index values.
 */
export interface Resolved {
  readonly operator: Operator;
  /**
   * Shape of the output in the framework. In DirectML it keeps leading dims of extent 1, which the
   * dialect-free operator's output lacks.
   */
  readonly output: Shape;
  /** Element type of the output. Absent: that of the data. */
  readonly dtype?: DType;
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  /**
   * A type that is taken although the framework's own sources disagree on it: `message` says so, `notes` cite
   * both sources.
   */
  readonly disputed?: { readonly message: string; readonly notes: readonly string[] };
}

/**
 * Arguments of `OpDef.resolve`, which applies an operator's rules: input types, attributes with defaults,
 * target and PyPTO rule profile.
 */
export interface OpInputs {
  readonly attrs: Attrs;
  readonly data: TensorType;
  /** The first index input; `inputs` has the others too. */
  readonly indices: TensorType;
  readonly inputs: readonly TensorType[];
  /** Profile of the program's schedule. Absent if an operator is checked without a schedule. */
  readonly profile?: Profile | undefined;
  /** Target of the program. Absent if an operator is checked for any target. */
  readonly target?: Target | undefined;
  readonly span?: Span | undefined;
}

/**
 * Input of an operator after boolean masks are replaced by index arrays: an unchanged input, or one index
 * array made from a mask. Such an array lists, for each true element of the mask, the coordinate along dim
 * `maskDim` of the mask.
 */
export interface ExpandedInput {
  /** Position, from 0, of the original input. */
  readonly input: number;
  /** Dim of the mask, from 0. Absent for an unchanged input. */
  readonly maskDim?: number;
}

/**
 * Result of replacing an operator's boolean masks by index arrays: the changed attributes, and all inputs.
 */
export interface ExpandedMasks {
  /** The attributes that change. */
  readonly attrs: Attrs;
  readonly inputs: readonly ExpandedInput[];
}

/**
 * Result of a dialect's rules for an operator: the resolved operator, or the diagnostics of the broken rules.
 */
export type ResolveResult =
  | { readonly ok: true; readonly resolved: Resolved }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Name of a dialect-free operator kind, such as `gather_nd`, as in flags and JSON files of test cases. */
export type CommonName = Exclude<Operator["op"], "mapped">;

/** Definition of a framework's operator, such as `onnx.gather`: names, inputs, attributes and rules. */
export interface OpDef {
  /** Dialect and operator, as in text: `onnx.gather_elements`. */
  readonly name: `${string}.${string}`;
  /**
   * Dialect-free operator that this operator represents; also the operator's name in case files and flags.
   * Absent: the operator has only its own name.
   */
  readonly kind?: CommonName;
  /**
   * Name of the operator in the framework's own tests, where another operator has that name. In case files
   * and flags the name means this operator.
   */
  readonly testName?: string;
  /** Names of the inputs, in order. Absent: data and indices. */
  readonly inputs?: readonly [data: string, ...indices: string[]];
  /** Those of them that may be left out. */
  readonly optional?: readonly string[];
  /** Returns the names of the given inputs. Absent: the first ones of `inputs`. */
  readonly namesOf?: (inputs: readonly TensorType[]) => readonly string[];
  /** Those that values are made from; the others behind the data are indices. */
  readonly values?: readonly string[];
  /**
   * Memory of a scatter's result: that of its first input (`in place`), or a copy of it (`copy`). Absent: the
   * operator gathers.
   */
  readonly writes?: "in place" | "copy";
  /** It counts an index of bool as 0 or 1. */
  readonly boolIndices?: true;
  /** It takes any number of further inputs like the last. */
  readonly variadic?: true;
  /**
   * Returns the operator with index inputs in the place of bool inputs, which are masks. Breaks a rule where
   * a mask does not fit the data. Absent: it takes no masks.
   */
  readonly expandMasks?: (inputs: OpInputs) => ExpandedMasks;
  /**
   * Refuses types, ranks and empty tensors that an operator of a framework does not take. Returns the dispute
   * on a type that it takes although the framework's own sources disagree on it. Absent: `resolve` alone says
   * it.
   */
  readonly takes?: (inputs: OpInputs) => Resolved["disputed"];
  /** Its rules on the result, for whoever declares another. */
  readonly resultRules?: string;
  /**
   * Upper limit (exclusive) of the elements of its table, where the framework states one. Absent:
   * `maxTableElements`.
   */
  readonly maxElements?: number;
  /** Framework that cuts the tiles of the operator itself, and whose rules on them bind on every target. */
  readonly framework?: Framework;
  /** By name in text. */
  readonly attrs: Readonly<Record<string, AttrSpec>>;
  /**
   * Origin of an operator that is not built in, for a note on its diagnostics: `operators[0] of
   * tilec.config.ts`.
   */
  readonly origin?: string;
  /** Applies the dialect's rules. `attrs` are complete: defaults filled in, kinds checked. */
  resolve(inputs: OpInputs): Resolved;
}

/** Returns an operator's definition unchanged, with the exact type. */
export const defineOperator = <const D extends OpDef>(definition: D): D => definition;

/**
 * List of operators that programs may name: the built-in operators, followed by operators that a user adds.
 */
export type Operators = readonly OpDef[];

/** Returns the shapes of an operator's inputs, in order. */
export const shapesOf = ({ inputs }: Pick<OpInputs, "inputs">): readonly Shape[] =>
  inputs.map(({ shape }) => shape);

/** Returns a resolved operator whose output has the shape of the dialect-free operator's. */
export const resolvedAs = (
  operator: Operator,
  { negative, oob }: Pick<Resolved, "negative" | "oob">,
): Resolved => ({ operator, output: outputShape(operator), negative, oob });

/** Error thrown by an operator's `resolve` for broken rules, with one diagnostic for each rule. */
export class RuleError extends DiagnosticError {}

/**
 * Code of the diagnostic for a broken rule of an operator: axis (TC101), ranks (TC102), extents (TC103),
 * types (TC104), attributes (TC105) or sizes (TC106).
 */
export type RuleCode = "TC101" | "TC102" | "TC103" | "TC104" | "TC105" | "TC106";

/**
 * Throws a RuleError with one diagnostic for a broken rule of an operator. `message`: the fault, with
 * numbers. `hint`: a suggested change.
 */
export function breakRule(code: RuleCode, inputs: OpInputs, message: string, hint?: string): never {
  checkArgument("breakRule", "code", code);
  checkArgument("breakRule", "object", inputs);
  throw new RuleError([error(code, message, { span: inputs.span, ...defined({ hint }) })]);
}

/**
 * Returns the value of an attribute of kind `int` or `number`; undefined if the attribute is absent and has
 * no default.
 */
export const intAttr = (attrs: Attrs, name: string): number | undefined => {
  checkArgument("intAttr", "object", attrs);
  const value: AttrValue | undefined = attrs[name];
  return typeof value === "number" ? value : undefined;
};

/**
 * Returns the value of an attribute of kind `ints`; an empty list if the attribute is absent and has no
 * default.
 */
export const intsAttr = (attrs: Attrs, name: string): readonly number[] => {
  const value: AttrValue | undefined = attrs[name];
  return typeof value === "object" ? value : [];
};

/**
 * Returns the value of an attribute of kind `word` or `text`; an empty string if the attribute is absent and
 * has no default.
 */
export const wordAttr = (attrs: Attrs, name: string): string => {
  const value: AttrValue | undefined = attrs[name];
  return typeof value === "string" ? value : "";
};

/**
 * Returns an axis in [0, rank - 1]; a negative `axis` counts from the end of the `rank` dims. Throws a
 * RuleError (TC101) if `axis` is outside [-rank, rank - 1].
 */
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

/** Returns the axis of the data that an attribute states; see {@link axisInRange}. `name`: the attribute. */
export const axisOf = (inputs: OpInputs, name = "axis"): number =>
  axisInRange(inputs, intAttr(inputs.attrs, name) ?? 0, inputs.data.shape.length, name);

/**
 * Returns the type of an input. Throws a RuleError (TC104) if its element type is not in `allowed`, or if the
 * input is missing. `name`: name of the input. `who`: name of the operator. `instead`: returns text to append
 * to the hint.
 */
export function checkTypeOf(
  inputs: OpInputs,
  name: string,
  type: TensorType | undefined,
  allowed: readonly DType[],
  who: string,
  instead: () => string = () => "",
): TensorType {
  if (type === undefined || !allowed.includes(type.dtype))
    breakRule(
      "TC104",
      inputs,
      `${who} does not take ${name} of type ${String(type?.dtype)}`,
      [`use ${eitherOf(allowed)}`, instead()].filter((piece) => piece !== "").join("; "),
    );
  return type;
}

/** Throws a RuleError (TC104) if the element type of `data` or `indices` is not in `allowed`. */
export function checkDType(
  inputs: OpInputs,
  operand: "data" | "indices",
  allowed: readonly DType[],
  who: string,
  instead?: () => string,
): void {
  checkTypeOf(inputs, operand, inputs[operand], allowed, who, instead);
}

/** Returns the inputs with the shape [1] instead of [] for scalar data and scalar indices. */
export function withoutScalars(inputs: OpInputs): OpInputs {
  const raised = (type: TensorType): TensorType => (type.shape.length === 0 ? { ...type, shape: [1] } : type);
  return { ...inputs, data: raised(inputs.data), indices: raised(inputs.indices) };
}

/**
 * Returns the policy `clamp` if one of `extents` is 0, else `oob`; for frameworks that read no indices if an
 * extent is 0.
 */
export const unlessEmpty = (extents: Shape, oob: OutOfBounds): OutOfBounds =>
  extents.includes(0) ? "clamp" : oob;

/**
 * Throws a RuleError (TC102) if the operand's rank is outside [`lowest`, `highest`]. `who`: name of the
 * operator. `instead`: returns the hint; empty for none.
 */
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

/** Throws a RuleError (TC102) if data and indices differ in rank. `who`: the operator's name. */
export function checkSameRank(inputs: OpInputs, who: string): void {
  const [r, q] = [inputs.data.shape.length, inputs.indices.shape.length];
  if (r !== q) breakRule("TC102", inputs, `${who} takes data and indices of one rank, not ${r} and ${q}`);
}

/**
 * Returns the name of input `k`, counted from 0. Additional inputs of a variadic operator are numbered, such
 * as `i1` and `i2` after `i0`.
 */
export function inputName({ inputs = ["data", "indices"] }: Pick<OpDef, "inputs">, k: number): string {
  const last = inputs.length - 1;
  const { [Math.min(k, last)]: name = "" } = inputs;
  return k <= last ? name : `${name.replace(/\d+$/, "")}${Number(/\d+$/.exec(name)?.[0] ?? 0) + k - last}`;
}

/** Returns the names of an operator's given inputs, in order. */
export const inputNames = (def: OpDef, inputs: readonly TensorType[]): readonly string[] =>
  def.namesOf?.(inputs) ?? inputs.map((_, k) => inputName(def, k));

/**
 * Throws a RuleError for an operator that exceeds tilec's limits: rank (TC102), or extents and number of
 * elements (TC106). Also throws a RuleError (TC103) for a policy that would read an element of an empty dim.
 */
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
        `${operand} dim ${long} has an extent of ${at(shape, long)}; the limit is 2^31 - 1`,
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
          `out-of-range policy ${oob} needs an element to read, and dim ${k} of ${at(names, 0)} has 0 elements`,
        );
      }
    }
  }
}

/**
 * Throws a RuleError for invalid index tuples of a gather or scatter. TC105: number of batch dims. TC103:
 * extents of the batch dims, or size of the tuple.
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

/**
 * Throws a RuleError (TC103) if indices and data have incompatible extents along a dim other than `axis`.
 * `exact`: true if the extents must be equal, as in DirectML (decision D4); false if the indices may have the
 * smaller extent. `who`: name of the operator.
 */
export function checkElements(inputs: OpInputs, axis: number, exact: boolean, who: string): void {
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  data.forEach((extent, k) => {
    const index = at(indices, k);
    if (k !== axis && (exact ? index !== extent : index > extent)) {
      breakRule(
        "TC103",
        inputs,
        `dim ${k} of indices is ${index} and of data ${extent}; except along axis ${axis}, ${who} takes ${exact ? "equal extents" : "no larger extent in indices"}`,
      );
    }
  });
}
