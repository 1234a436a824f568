/** The sites of a map as its text is read: what a bare read means is known once all its uses are. */
import { gatherOver, isRead, type MapParts, type OutOfBounds } from "../access.js";
import { canonicalMap } from "../canonical-map.js";
import { site, sitesOf, type Linear } from "../linear.js";
import type { SymbolicMap, SymbolicSite } from "../symbols/symbols.js";
import { at, type Shape } from "../types.js";

/** Without `keep`: a bare read, or one that counts from the end. */
export type Draft = Omit<SymbolicSite, "keep"> & { readonly keep?: OutOfBounds };

export class SiteList {
  private readonly drafts: Draft[] = [];

  push(draft: Draft): Linear {
    this.drafts.push(draft);
    return site(this.drafts.length - 1);
  }

  /** Whether the text gives a site a policy and a bound. */
  isBounded(s: number): boolean {
    const { keep, below } = at(this.drafts, s);
    return keep !== undefined && below !== undefined;
  }

  /**
   * The map in its one form. A bare read takes the policy of the operation where a coordinate is made from it, and none inside another
   * policy, which then bounds the sum.
   */
  close(domain: Shape, inputs: number, parts: Omit<MapParts, "sites">, keep: OutOfBounds): SymbolicMap {
    const map = canonicalMap({ ...gatherOver(domain, inputs, { ...parts, sites: [] }), sites: this.drafts });
    const named = new Set(coordinates(map).flatMap(sitesOf));
    const within = new Set(map.sites.flatMap(({ value }) => (isRead(value) ? [] : sitesOf(value))));
    const sites = map.sites.map((draft, s): SymbolicSite => {
      if (draft.keep !== undefined) return { ...draft, keep: draft.keep };
      return within.has(s) && !named.has(s) ? { ...draft, keep: "any" } : { ...draft, keep };
    });
    return { ...map, sites };
  }
}

type Drafted = Omit<SymbolicMap, "sites"> & { readonly sites: readonly Draft[] };

/** Coordinates of the data and of what is read. */
const coordinates = ({ sites, reads }: Pick<Drafted, "sites" | "reads">): readonly Linear[] => [
  ...reads.flatMap((read) => read.at),
  ...sites.flatMap(({ value }) => (isRead(value) ? value.at : [])),
];
