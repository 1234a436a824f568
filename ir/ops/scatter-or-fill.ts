/** Scatters of single elements of a tensor, or of one number, along a dim, which torch and PyPTO have. */
import type { Combine } from "../access.js";
import { oobOf } from "./attributes.js";
import {
  breakRule,
  checkElements,
  intAttr,
  resolvedAs,
  shapesOf,
  wordAttr,
  type AttrSpec,
  type OpInputs,
  type Resolved,
} from "./op-def.js";
import {
  checkCombine,
  checkReach,
  checkUpdates,
  elementsScatter,
  numberAs,
  scatterOperator,
} from "./scatter.js";

const combinations = { none: "set", add: "add", multiply: "mul" } as const satisfies Readonly<
  Record<string, Combine>
>;

/** Definition of the attribute `reduce`: the combination with the old element; default `none`. */
export const reduceSpec = {
  key: "reduce",
  kind: "word",
  words: ["none", "add", "multiply"],
  default: "none",
  help: "what becomes of an element that an update names",
} as const satisfies AttrSpec;

/** Returns the combination that the attribute `reduce` states. */
export const reduceOf = ({ attrs }: OpInputs): Combine =>
  combinations[wordAttr(attrs, "reduce") as keyof typeof combinations];

/** Source of the written values. */
export interface SourceOrNumber {
  /** Attribute of the number that is written, in the place of the input `src`. */
  readonly attr: string;
  /** Names both in messages. */
  readonly either: string;
}

/**
 * Returns the resolved operator that writes elements of `src`, or a number, along dim `along`. Throws a
 * RuleError for invalid inputs or attributes. `who`: name of the operator.
 */
export function scatterOrFill(
  inputs: OpInputs,
  along: number,
  combine: Combine,
  { attr, either }: SourceOrNumber,
  who: string,
): Resolved {
  checkElements(inputs, along, false, who);
  const { dtype, shape: data } = inputs.data;
  checkCombine(inputs, combine, dtype, who);
  const number = intAttr(inputs.attrs, attr);
  const [, , source] = inputs.inputs;
  if ((number === undefined) === (source === undefined))
    breakRule("TC105", inputs, `${who} takes ${either}: give exactly one of them`);
  if (source !== undefined) {
    checkUpdates(inputs, 2, source.shape, "src", who);
    checkReach(inputs, source.shape, who);
  }
  const value = number === undefined ? undefined : numberAs(inputs, number, dtype, attr, who);
  const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
  const scatter = elementsScatter(data, inputs.indices.shape, along, policy, combine, value);
  return resolvedAs(scatterOperator(scatter, shapesOf(inputs)), policy);
}
