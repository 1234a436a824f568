/** The sites of a map as its text is read: what a bare read means is known once all its uses are. */
import { coordsOf, formsOf, isRead, mapForms, termDim, type OutOfBounds } from "../access.js";
import { dimsOf, site, sitesOf, soleAtom, substitute, type Linear } from "../linear.js";
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

  /** Whether the text gives a site a policy and a bound. */
  isBounded(s: number): boolean {
    const { keep, below } = at(this.drafts, s);
    return keep !== undefined && below !== undefined;
  }

  /**
   * The map, with the sites of an element before those of its terms, as they are evaluated. A bare read takes the policy of the operation where a coordinate is made from it, and none inside another
   * policy, which then bounds the sum.
   */
  close(head: Omit<SymbolicMap, "sites">, keep: OutOfBounds): SymbolicMap {
    const map = termsLast(merged({ ...head, sites: this.drafts }));
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

/** Without bare reads that are no more than the value of another site: that one reads. */
function merged(map: Drafted): Drafted {
  const { sites, reads } = map;
  const uses = sites.map(() => 0);
  for (const form of formsOf({ sites, reads })) {
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
  const order = left.flatMap((draft, s) => (draft === undefined ? [] : [s]));
  return inOrder({ ...map, sites: left.map((draft, s) => draft ?? at(sites, s)) }, order);
}

/** The sites that depend on r behind all others. */
function termsLast(map: Drafted): Drafted {
  if (map.reduced === undefined) return map;
  const ofTerms = new Set<number>();
  map.sites.forEach((draft, s) => {
    const depends = (form: Linear): boolean =>
      dimsOf(form).includes(termDim(map)) || sitesOf(form).some((inner) => ofTerms.has(inner));
    if (coordsOf(draft).some(depends)) ofTerms.add(s);
  });
  const numbers = map.sites.map((_, s) => s);
  return inOrder(map, [...numbers.filter((s) => !ofTerms.has(s)), ...ofTerms]);
}

/** The sites of these numbers alone, in this order. */
function inOrder(map: Drafted, order: readonly number[]): Drafted {
  const numbers = new Map(order.map((s, k) => [s, k]));
  const numberOf = (s: number): number => numbers.get(s) ?? s;
  const renumber = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "site" ? site(numberOf(of.site)) : undefined));
  const placed = mapForms({ ...map, sites: order.map((s) => at(map.sites, s)) }, renumber);
  const { reduced } = placed;
  if (reduced?.bag === undefined) return placed;
  const { from, to } = reduced.bag;
  return { ...placed, reduced: { ...reduced, bag: { from: numberOf(from), to: numberOf(to) } } };
}
