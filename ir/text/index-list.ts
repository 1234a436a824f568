/** The index operands of a map as its text is read: what a bare read means is known once all its uses are. */
import { indicesNeeded, isRead, type AccessMap, type OutOfBounds } from "../access.js";
import { canonicalMap } from "../canonical-map.js";
import { index, indicesOf, isConstant, type Linear } from "../linear.js";
import type { SymbolicMap, SymbolicIndex } from "../symbols/symbols.js";
import { at } from "../types.js";

/**
 * Index operand while the text of an access map is parsed. `outOfRange` is absent if the text has no policy
 * for the operand.
 */
export type Draft = Omit<SymbolicIndex, "outOfRange"> & { readonly outOfRange?: OutOfBounds };

/**
 * Mentions in a part of a text: index operands that begin in it, and definitions by name, whether or not
 * they are left in a linear expression.
 */
export interface Mentions {
  readonly operands: number[];
  readonly definitions: Set<Mentions>;
}

/**
 * List of the index operands of an access map whose text is being parsed. `close` gives a policy to operands
 * without a policy, after all uses are parsed.
 */
export class IndexList {
  private readonly drafts: Draft[] = [];
  /** Mentions in the part of the text that is being parsed. */
  private mentions: Mentions = { operands: [], definitions: new Set() };

  push(draft: Draft): Linear {
    this.drafts.push(draft);
    this.mentions.operands.push(this.drafts.length - 1);
    return index(this.drafts.length - 1);
  }

  /** Notes that the text mentions a definition by its name. */
  mention(definition: Mentions): void {
    this.mentions.definitions.add(definition);
  }

  /** Returns the result of `parse`, and the mentions in the text that it parses. */
  mentionedIn<T>(parse: () => T): readonly [result: T, mentions: Mentions] {
    const before = this.mentions;
    const mentions: Mentions = { operands: [], definitions: new Set() };
    this.mentions = mentions;
    const result = parse();
    this.mentions = before;
    return [result, mentions];
  }

  /**
   * Returns the last index operand that the text of coordinates mentions, and on which the coordinates do not
   * depend: s in `0 * s`. Undefined if there is none.
   */
  lostFrom(coords: readonly Linear[], mentions: Mentions): number | undefined {
    const needed = indicesNeeded({ indices: this.drafts }, coords);
    let last: number | undefined;
    const reached = new Set([mentions]);
    // A set takes in what is added to it on the way.
    for (const { operands, definitions } of reached) {
      for (const s of operands) if (!needed.has(s) && s > (last ?? -1)) last = s;
      for (const definition of definitions) reached.add(definition);
    }
    return last;
  }

  /** Returns the extent that the text gives an index operand; undefined for none, and for one of symbols. */
  extentOf(s: number): number | undefined {
    const { extent } = at(this.drafts, s);
    return extent !== undefined && isConstant(extent) ? extent.at : undefined;
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
