/**
 * Rule 4: the tile fits the unified buffer. Source: hicann/pypto docs/zh/api/operation/pypto-gather.md rule 5 and decision
 * D6. Under the budget rule `spec` the written sum and the plan with its padding must both fit.
 */
import type { Rule, Verdict } from "./rule.js";

export const ubBudget: Rule = {
  id: "ub-budget",
  code: "TC401",
  judge({ footprint, target }) {
    const { parts, bytes, planned, budget, rule } = footprint;
    const source = (): string => `target ${target.name}: ${target.sources.ubBytes.source}`;
    const compared = (sum: number): string => `${sum} B ${sum <= budget ? "<=" : ">"} ${budget} B`;
    const sum: Verdict = {
      rule: "ub-budget",
      pass: bytes <= budget,
      get detail() {
        return `${parts.map((p) => p.counted).join(" + ") || "0"} = ${compared(bytes)}`;
      },
      get source() {
        return source();
      },
    };
    if (rule === "full") return [sum];
    const plan: Verdict = {
      rule: "ub-plan",
      pass: planned <= budget,
      get detail() {
        return `with padding and second buffers ${compared(planned)}`;
      },
      get source() {
        return source();
      },
    };
    return [sum, plan];
  },
};
