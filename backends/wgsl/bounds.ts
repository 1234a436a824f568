/** The numbers of an index rule as text: literals, or members of `sizes` where the sizes of symbols tell them. */
import type { IndexRule } from "../../ir/policy.js";
import { sizeName } from "./names.js";

/** The bound. */
export const belowText = ({ below, open }: Pick<IndexRule, "below" | "open">): string =>
  open?.below === undefined ? `${below}u` : sizeName(open.below);

/** The last element below it; one of a bound that sizes tell is at least 1. */
export const lastText = ({ below, open }: Pick<IndexRule, "below" | "open">): string =>
  open?.below === undefined ? `${Math.max(0, below - 1)}u` : `(${sizeName(open.below)} - 1u)`;

/** What is added to negative values, from `fromEnd`. */
export const fromEndText = (fromEnd: number, { open }: Pick<IndexRule, "open">): string =>
  open?.fromEnd === undefined ? `${fromEnd}u` : sizeName(open.fromEnd);
