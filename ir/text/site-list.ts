/** The sites of a map as its text is read: what a bare read means is known once all its uses are. */
import { coordsOf, isRead, type OutOfBounds } from "../access.js";
import { site, sitesOf, soleAtom, substitute, type Linear } from "../linear.js";
import type { SymbolicMap, SymbolicSite } from "../symbols/symbols.js";
import { at } from "../types.js";

/** Without `keep`: a bare read, or one that counts from the end. */
export type Draft = Omit<SymbolicSite, "keep"> & { readonly keep?: OutOfBounds };

export class SiteList {
  private readonly drafts: Draft[] = [];

  push(draft: Draft): Linear {
    this.drafts.push(draft);
    return site(this.drafts.length - 1);
  }

  /**
   * The map. A bare read takes the policy of the operation where a coordinate is made from it, and none inside another
   * policy, which then bounds the sum.
   */
  close(head: Pick<SymbolicMap, "outRank" | "results" | "fill">, keep: OutOfBounds): SymbolicMap {
    const map = merged({ sites: this.drafts, results: head.results });
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
  readonly sites: readonly Draft[];
  readonly results: readonly Linear[];
}

/** Coordinates of the data and of what is read. */
const coordinates = ({ sites, results }: Drafted): readonly Linear[] => [
  ...results,
  ...sites.flatMap(({ value }) => (isRead(value) ? value.at : [])),
];

/** Without bare reads that are no more than the value of another site: that one reads. */
function merged({ sites, results }: Drafted): Drafted {
  const uses = sites.map(() => 0);
  for (const form of [...results, ...sites.flatMap(coordsOf)]) {
    for (const s of new Set(sitesOf(form))) uses[s] = at(uses, s) + 1;
  }
  /** Sites that are all of another's value, by their number. */
  const wholeOf = new Map<number, number>();
  const noteWhole = ({ value }: Draft, s: number): void => {
    const only = isRead(value) ? undefined : soleAtom(value);
    if (only?.kind === "site") wholeOf.set(only.site, s);
  };
  sites.forEach(noteWhole);
  const left: (Draft | undefined)[] = [...sites];
  for (let inner = sites.length - 1; inner >= 0; inner--) {
    const outer = wholeOf.get(inner);
    const [own, other] = [left[inner], outer === undefined ? undefined : left[outer]];
    if (own === undefined || outer === undefined || other === undefined) continue;
    if (own.keep !== undefined || at(uses, inner) > 1) continue;
    const { value: _, ...policy } = other;
    if (own.fromEnd !== undefined && policy.fromEnd !== undefined) continue;
    left[inner] = undefined;
    left[outer] = { ...own, ...policy };
    noteWhole(own, outer);
  }
  let kept = 0;
  const numbers = left.map((draft) => (draft === undefined ? undefined : kept++));
  const renumber = (form: Linear): Linear =>
    substitute(form, (of) => {
      const number = of.kind === "site" ? numbers[of.site] : undefined;
      return number === undefined ? undefined : site(number);
    });
  return {
    sites: left.flatMap((draft): Draft[] => {
      if (draft === undefined) return [];
      const { value } = draft;
      const renumbered = isRead(value) ? { ...value, at: value.at.map(renumber) } : renumber(value);
      return [{ ...draft, value: renumbered }];
    }),
    results: results.map(renumber),
  };
}
