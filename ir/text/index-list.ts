/** The index operands of a map as its text is read: what a bare read means is known once all its uses are. */
import { isRead, type AccessMap, type OutOfBounds } from "../access.js";
import { canonicalMap } from "../canonical-map.js";
import { index, indicesOf, type Linear } from "../linear.js";
import type { SymbolicMap, SymbolicIndex } from "../symbols/symbols.js";
import { at } from "../types.js";

/**
 * Index operand while the text of an access map is parsed. `outOfRange` is absent if the text has no policy
 * for the operand.
 */
export type Draft = Omit<SymbolicIndex, "outOfRange"> & { readonly outOfRange?: OutOfBounds };

/**
 * List of the index operands of an access map whose text is being parsed. `close` gives a policy to operands
 * without a policy, after all uses are parsed.
 */
export class IndexList {
  private readonly drafts: Draft[] = [];

  push(draft: Draft): Linear {
    this.drafts.push(draft);
    return index(this.drafts.length - 1);
  }

  /** True if the text gives an index operand a policy and a bound. */
  isBounded(s: number): boolean {
    const { outOfRange, extent } = at(this.drafts, s);
    return outOfRange !== undefined && extent !== undefined;
  }

  /**
   * Returns the map in its one form. A bare read takes the policy of the operation where a coordinate is made
   * from it, and none inside another policy, which then bounds the sum.
   */
  close(body: Omit<AccessMap, "indices">, outOfRange: OutOfBounds): SymbolicMap {
    const map = canonicalMap({ ...body, indices: this.drafts });
    const named = new Set(coordinates(map).flatMap(indicesOf));
    const within = new Set(map.indices.flatMap(({ value }) => (isRead(value) ? [] : indicesOf(value))));
    const indices = map.indices.map((draft, s): SymbolicIndex => {
      if (draft.outOfRange !== undefined) return { ...draft, outOfRange: draft.outOfRange };
      return within.has(s) && !named.has(s) ? { ...draft, outOfRange: "any" } : { ...draft, outOfRange };
    });
    return { ...map, indices };
  }
}

type Drafted = Omit<SymbolicMap, "indices"> & { readonly indices: readonly Draft[] };

/** Returns the coordinates of written elements and of read elements, those of index operands included. */
const coordinates = ({ indices, reads, write }: Omit<Drafted, "value">): readonly Linear[] => [
  ...write.at,
  ...reads.flatMap((read) => read.at),
  ...indices.flatMap(({ value }) => (isRead(value) ? value.at : [])),
];
