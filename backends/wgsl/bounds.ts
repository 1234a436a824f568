/** The numbers of an index rule as text: literals, or members of `sizes` where the sizes of symbols tell them. */
import type { IndexRule } from "../../ir/policy.js";
import { sizeName } from "./names.js";

/** The bound. */
export const extentText = ({ extent, dynamic }: Pick<IndexRule, "extent" | "dynamic">): string =>
  dynamic?.extent === undefined ? `${extent}u` : sizeName(dynamic.extent);

/** The last element below it; one of a bound that sizes tell is at least 1. */
export const lastText = ({ extent, dynamic }: Pick<IndexRule, "extent" | "dynamic">): string =>
  dynamic?.extent === undefined ? `${Math.max(0, extent - 1)}u` : `(${sizeName(dynamic.extent)} - 1u)`;

/** Returns the text of the number that is added to negative values. */
export const wrapText = (wrapNegativeBy: number, { dynamic }: Pick<IndexRule, "dynamic">): string =>
  dynamic?.wrapNegativeBy === undefined ? `${wrapNegativeBy}u` : sizeName(dynamic.wrapNegativeBy);
