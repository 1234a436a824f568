/** Rule 2: the data may stay in global memory where the machine can fetch what an index names (decision D15). */
import type { AccessFunc } from "../../func.js";
import type { Target } from "../../target.js";
import type { Rule } from "./rule.js";

/** Whether the target's cores, or the operator, can read the data from global memory row by row. */
export const gmAllowed = (gather: AccessFunc, target: Target): boolean =>
  target.gmGather === "any" || gather.paired.length === 0;

export const residency: Rule = {
  id: "residency",
  code: "TC403",
  judge({ gather, schedule, target }) {
    if (schedule.residency === "ub") return [];
    const pass = gmAllowed(gather, target);
    return [
      {
        rule: "residency",
        pass,
        detail: pass
          ? "rows are fetched from global memory"
          : "residency gm fetches whole rows, and this gather follows the output along its gather dim",
        source: "hicann/pypto docs/zh/api/operation/pypto-index_select.md rules 3 and 5",
      },
    ];
  },
};
