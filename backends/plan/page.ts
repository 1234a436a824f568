/**
 * Output dims that a map follows by the page: through the quotient and the remainder of one form by one
 * number.
 */
import { dimsOf, equalLinear, type Linear, type Term } from "../../ir/linear.js";

/**
 * Partition of an output dim into pages of `by` elements. Within one page, index operands are constant, and
 * the data's address advances by a constant step.
 */
export interface PagedDims {
  /**
   * Linear expression that grows by 1 from element to element of the dim; its quotient by `by` is the page.
   */
  readonly form: Linear;
  /** Number of elements of the dim in a whole page. */
  readonly by: number;
  /** Distance, in elements of the data's memory, between neighbours within a page. */
  readonly step: number;
}

/** A divisor beyond this is no page: counts are 32-bit. */
const longestPage = 2 ** 30;

/**
 * Returns the pages of output dim `d`, derived from the addresses of the data and of the index operands.
 * Undefined if the addresses cannot be expressed by pages.
 */
export function pageAlong(d: number, data: Linear, indices: readonly Linear[]): PagedDims | undefined {
  const isAlong = ({ of }: Term): boolean => dimsOf({ at: 0, terms: [{ by: 1, of }] }).includes(d);
  const inData = data.terms.filter(isAlong);
  const divided = inData.filter(({ of }) => of.kind !== "dim");
  const inIndices = indices.flatMap((form) => form.terms.filter(isAlong));
  const first = [...divided, ...inIndices][0]?.of;
  if (first?.kind !== "div" && first?.kind !== "mod") return undefined;
  const { of: form, by } = first;
  const isOf = ({ of }: Term, kind: "div" | "mod"): boolean =>
    of.kind === kind && of.by === by && equalLinear(of.of, form);
  const even =
    divided.every((term) => isOf(term, "div") || isOf(term, "mod")) &&
    inIndices.every((term) => isOf(term, "div")) &&
    form.terms.every((term) => !isAlong(term) || (term.of.kind === "dim" && term.by === 1));
  if (!even || by > longestPage) return undefined;
  const stepping = inData.filter(({ of }) => of.kind !== "div");
  return { form, by, step: stepping.reduce((sum, term) => sum + term.by, 0) };
}
