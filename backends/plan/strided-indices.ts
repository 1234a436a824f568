/**
 * The index operands whose values alone decide where the data is read: its address is a sum of strides times
 * their values. Several elements or rows can look such values up together.
 */
import { stepAlong } from "../../ir/linear.js";
import type { IndexRule } from "../../ir/policy.js";
import { at } from "../../ir/types.js";
import type { GatherPlan } from "./gather.js";
import { beyondSteps } from "./stages.js";

/**
 * Index operand whose address depends on no index value, with the stride that converts index values to data
 * addresses.
 */
export interface StridedIndex {
  readonly index: number;
  /** Number of the input that holds the index value. */
  readonly table: number;
  readonly rule: IndexRule;
  /** Elements of the data between neighbouring index values. */
  readonly stride: number;
}

/**
 * Returns the index operands that the last stage of a gather reads, with strides, in map order. Undefined if
 * the stage adds anything else to the data's address, or if an index operand is not read from an input under
 * a policy.
 */
export function stridedIndices({
  indexSteps,
  stages,
}: Pick<GatherPlan, "indexSteps" | "stages">): readonly StridedIndex[] | undefined {
  const { adds, indices: inner } = at(stages, stages.length - 1);
  const alone = adds.terms.every(({ of }) => of.kind === "index" && inner.includes(of.index));
  if (!alone || inner.length === 0) return undefined;
  const strided = inner.flatMap((index): StridedIndex[] => {
    const { form, rule, table } = at(indexSteps, index);
    // A value that is left out is in range, and names none.
    if (rule === undefined || rule.excluded !== undefined || table === undefined) return [];
    if (beyondSteps(form).length > 0) return [];
    return [{ index, table, rule, stride: stepAlong(adds, "index", index) }];
  });
  return strided.length === inner.length ? strided : undefined;
}
