/**
 * Stages at which index values are read. Each value is read once the output dims that it depends on are
 * given. One read then serves everything inside these dims.
 */
import { dimsOf, indicesOf, type Linear, type Term } from "../../ir/linear.js";
import { at } from "../../ir/types.js";

/**
 * Stage of a gather: the body of the loop over one output dim, in which some index operands are read once for
 * all inner loops.
 */
export interface Stage {
  /** Innermost output dim whose loop encloses the reads; -1 if there is none. */
  readonly dim: number;
  /** Numbers of the index operands that are read at this stage, in the order of the map. */
  readonly indices: readonly number[];
  /**
   * The terms of the data's address that are known here and at no stage before: index operands, and quotients
   * and remainders of dims.
   */
  readonly adds: Linear;
}

/** True if a term of a linear expression is a multiple of an output dim. */
export const isStep = ({ of }: Term): boolean => of.kind === "dim";

/** True if a term of a linear expression depends on output dims or index operands. */
export const isOverPoint = (term: Term): boolean => {
  const form = { at: 0, terms: [term] };
  return dimsOf(form).length > 0 || indicesOf(form).length > 0;
};

/**
 * Returns the terms of a linear address that contain an index operand, or a quotient or remainder of output
 * dims. Constant multiples of an output dim are left out.
 */
export const beyondSteps = ({ terms }: Linear): readonly Term[] =>
  terms.filter((term) => !isStep(term) && isOverPoint(term));

/**
 * Returns the loops over output dims in which a gather reads index operands (its stages, {@link Stage}),
 * outermost first. The first stage precedes all loops. `indices`: one linear expression for each index
 * operand: the address of the value if the operand reads a tensor, else the value. `data`: address of the
 * data. `others`: further addresses that the output value needs.
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
