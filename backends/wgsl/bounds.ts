/**
 * The numbers of an index rule as text: literals, or members of `sizes` where the sizes of symbols tell them.
 */
import type { IndexRule } from "../../ir/policy.js";
import { sizeName } from "./names.js";

/**
 * Returns the WGSL text of an index rule's extent: a literal, or a member of the uniform buffer `sizes` if
 * the extent is dynamic.
 */
export const extentText = ({ extent, dynamic }: Pick<IndexRule, "extent" | "dynamic">): string =>
  dynamic?.extent === undefined ? `${extent}u` : sizeName(dynamic.extent);

/**
 * Returns the WGSL text of the largest index value that is in range for an index rule: the rule's extent less
 * 1, or 0 for extent 0. A dynamic extent is at least 1.
 */
export const lastText = ({ extent, dynamic }: Pick<IndexRule, "extent" | "dynamic">): string =>
  dynamic?.extent === undefined ? `${Math.max(0, extent - 1)}u` : `(${sizeName(dynamic.extent)} - 1u)`;

/**
 * Returns the WGSL text of the number that is added to negative index values: a literal, or a member of the
 * uniform buffer `sizes`.
 */
export const wrapText = (wrapNegativeBy: number, { dynamic }: Pick<IndexRule, "dynamic">): string =>
  dynamic?.wrapNegativeBy === undefined ? `${wrapNegativeBy}u` : sizeName(dynamic.wrapNegativeBy);
