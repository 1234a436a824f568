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
 * Index operand whose value is stored at an address that depends on no other index value. The data address
 * grows by `stride` elements when the index value grows by 1.
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
 * there are none, or if the stage adds another term to the data's address. Also undefined for sums, for
 * operands without a policy, and for operands stored at an address with index values or quotients.
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
