/**
 * Names of operators: the dialect before the point, the operator behind it; and what a name that no operator
 * has probably means.
 */
import { didYouMean } from "../did-you-mean.js";
import type { OpDef, Operators } from "./op-def.js";

/** Returns the dialect of an operator: the part of the operator's name before the dot. */
export const dialectOf = (def: OpDef): string => def.name.slice(0, def.name.indexOf("."));
/** Returns the name of an operator without the dialect. */
export const unqualifiedName = ({ name }: Pick<OpDef, "name">): string => name.slice(name.indexOf(".") + 1);

/**
 * Normalises an operator name: `GatherElements`, `gather_elements` and `gather-elements` give the same
 * letters. A final `_` stays: `scatter_` is another operator than `scatter`.
 */
const letters = (word: string): string => word.toLowerCase().replaceAll(/[^a-z0-9_]|_(?!$)/g, "");

/**
 * Returns the full names of the operators that a misspelled or unqualified name, such as
 * `onnx.GatherElements`, probably means. The list is empty if no operator is similar.
 */
export function operatorsMeant(name: string, operators: Operators): readonly string[] {
  const split = name.indexOf(".");
  const [dialect, word] = [name.slice(0, Math.max(0, split)), name.slice(split + 1)];
  const same = (called: string | undefined): boolean =>
    called !== undefined && letters(called) === letters(word);
  const named = operators.filter((def) => same(unqualifiedName(def)) || same(def.testName));
  const inDialect = named.filter((def) => dialectOf(def) === dialect);
  const groups = [inDialect, named, operators.filter(({ kind }) => same(kind))];
  const [group] = groups.filter((group) => group.length > 0);
  if (group !== undefined) return group.map((def) => def.name);
  const near =
    didYouMean(
      name,
      operators.map((def) => def.name),
    ) ?? didYouMean(word, operators.map(unqualifiedName));
  return operators.flatMap((def) => (def.name === near || unqualifiedName(def) === near ? [def.name] : []));
}
