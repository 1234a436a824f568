/**
 * Where index values are read: each as soon as the output dims that it follows are known, so that one value serves all that
 * lies inside them.
 */
import { dimsOf, indicesOf, type Linear, type Term } from "../../ir/linear.js";
import { at } from "../../ir/types.js";

/** Index operands that are read once for everything inside an output dim. */
export interface Stage {
  /** The innermost dim whose loop stands around them; -1: none. */
  readonly dim: number;
  /** Numbers of the index operands, in the order of the map. */
  readonly indices: readonly number[];
  /** The terms of the data's address that are known here and at no stage before: index operands, and quotients and remainders of dims. */
  readonly adds: Linear;
}

/** Whether a term moves with an output dim by steps of one length. */
export const isStep = ({ of }: Term): boolean => of.kind === "dim";

/** True if a term moves with output dims or index operands. */
export const isOverPoint = (term: Term): boolean => {
  const form = { at: 0, terms: [term] };
  return dimsOf(form).length > 0 || indicesOf(form).length > 0;
};

/** The terms of an address that no pointer follows by steps: index operands, and quotients and remainders of dims. */
export const beyondSteps = ({ terms }: Linear): readonly Term[] =>
  terms.filter((term) => !isStep(term) && isOverPoint(term));

/**
 * The stages of a map, outermost first. `indices`: its addresses and sums. None stands outside of the one before it, so that the
 * first index operand that ends an element does so. The last one knows the whole address of the data but for its steps, and those of the
 * other elements that a value is made from.
 */
export function stagesOf(
  indices: readonly Linear[],
  data: Linear,
  others: readonly Linear[] = [],
): readonly Stage[] {
  const stages: { readonly dim: number; readonly indices: number[]; readonly adds: Term[] }[] = [
    { dim: -1, indices: [], adds: [] },
  ];
  const latest = (): (typeof stages)[number] => at(stages, stages.length - 1);
  const stageOf = indices.map((form, index) => {
    const dim = Math.max(latest().dim, ...dimsOf(form));
    if (dim > latest().dim) stages.push({ dim, indices: [], adds: [] });
    latest().indices.push(index);
    return stages.length - 1;
  });
  const terms = beyondSteps(data);
  const dims = others.flatMap(beyondSteps).concat(terms);
  const last = Math.max(latest().dim, ...dimsOf({ at: 0, terms: dims }));
  if (last > latest().dim) stages.push({ dim: last, indices: [], adds: [] });
  for (const term of terms) {
    const form = { at: 0, terms: [term] };
    const dims = dimsOf(form);
    const stage = stages.findIndex(
      ({ dim }, k) => dims.every((d) => d <= dim) && indicesOf(form).every((s) => at(stageOf, s) <= k),
    );
    at(stages, stage).adds.push(term);
  }
  return stages.map(({ adds, ...stage }) => ({ ...stage, adds: { at: 0, terms: adds } }));
}
