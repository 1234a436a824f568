/** The sites of a map as its text is read: what a bare read means is known once all its uses are. */
import { coordsOf, isRead, type OutOfBounds } from "../access.js";
import { site, sitesOf, soleAtom, substitute, type Linear } from "../linear.js";
import type { SymbolicMap, SymbolicSite } from "../symbolic.js";
import { at } from "../types.js";

/** Without `keep`: a bare read, or one that counts from the end. */
export type Draft = Omit<SymbolicSite, "keep"> & { readonly keep?: OutOfBounds };

export class SiteList {
  private drafts: Draft[] = [];

  push(draft: Draft): Linear {
    this.drafts.push(draft);
    return site(this.drafts.length - 1);
  }

  /**
   * The map. A bare read takes the policy of the operation where a coordinate is made from it, and none inside another
   * policy, which then bounds the sum.
   */
  close(head: Pick<SymbolicMap, "outRank" | "results" | "fill">, keep: OutOfBounds): SymbolicMap {
    let map = { sites: this.drafts, results: head.results };
    for (let inner = this.drafts.length - 1; inner >= 0; inner--) map = merged(map, inner);
    const named = new Set(coordinates(map).flatMap(sitesOf));
    const within = new Set(map.sites.flatMap(({ value }) => (isRead(value) ? [] : sitesOf(value))));
    const sites = map.sites.map((draft, s): SymbolicSite => {
      if (draft.keep !== undefined) return { ...draft, keep: draft.keep };
      return within.has(s) && !named.has(s) ? { ...draft, keep: "any" } : { ...draft, keep };
    });
    return { ...head, results: map.results, sites };
  }
}

interface Drafted {
  readonly sites: Draft[];
  readonly results: readonly Linear[];
}

/** Coordinates of the data and of what is read. */
const coordinates = ({ sites, results }: Drafted): readonly Linear[] => [
  ...results,
  ...sites.flatMap(({ value }) => (isRead(value) ? value.at : [])),
];

/** Without a bare read that is no more than the value of another site: that one reads. */
function merged(map: Drafted, inner: number): Drafted {
  const own = at(map.sites, inner);
  const uses = [...map.results, ...map.sites.flatMap(coordsOf)].filter((form) =>
    sitesOf(form).includes(inner),
  );
  const outer = map.sites.findIndex(({ value }) => !isRead(value) && isOnly(value, inner));
  const [only, ...others] = uses;
  if (own.keep !== undefined || outer === -1 || only === undefined || others.length > 0) return map;
  const { value: _, ...policy } = at(map.sites, outer);
  if (own.fromEnd !== undefined && policy.fromEnd !== undefined) return map;
  const sites = map.sites.map((draft, s): Draft => (s === outer ? { ...own, ...policy } : draft));
  const renumber = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "site" && of.site > inner ? site(of.site - 1) : undefined));
  return {
    sites: sites
      .filter((_, s) => s !== inner)
      .map((draft) => ({
        ...draft,
        value: isRead(draft.value)
          ? { table: draft.value.table, at: draft.value.at.map(renumber) }
          : renumber(draft.value),
      })),
    results: map.results.map(renumber),
  };
}

const isOnly = (form: Linear, s: number): boolean => {
  const only = soleAtom(form);
  return only?.kind === "site" && only.site === s;
};
