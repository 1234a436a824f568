/**
 * The one form of a map, whether an operator, a model or a text made it: its text says nothing else, and parses to an equal map. Reads are
 * in the order in which the value names them, each once; a site that is no more than the value of another is one site with it; sites of
 * terms stand behind those of the element.
 */
import {
  coordsOf,
  formsOf,
  isRead,
  mapForms,
  sameRead,
  termDim,
  type AccessMap,
  type Read,
} from "./access.js";
import { dimsOf, site, sitesOf, soleAtom, substitute, type Linear } from "./linear.js";
import { at } from "./types.js";
import { readsIn, withReads } from "./values/expression.js";

/** A site with what tells whether another may take its place. Without `keep`, or under `any`: no policy bounds it by itself. */
interface CanonicalSite {
  readonly value: Read | Linear;
  readonly keep?: string;
  readonly fromEnd?: unknown;
}

/** Parts of a map that have an order, whatever stands beside the values of its index operands. */
interface Ordered extends Pick<AccessMap, "domain" | "reduced" | "reads" | "value"> {
  readonly sites: readonly CanonicalSite[];
}

/** Returns a map in its one form, which is itself where it has that; what it names must be there (A9). */
export function canonicalMap<M extends Ordered>(map: M): M {
  return termsLast(merged(readsInOrder(map)));
}

function readsInOrder<M extends Pick<AccessMap, "reads" | "value">>(map: M): M {
  const reads: Read[] = [];
  const numbers = readsIn(map.value).map((k): [own: number, other: number] => {
    const read = at(map.reads, k);
    const known = reads.findIndex((other) => sameRead(other, read));
    return [k, known === -1 ? reads.push(read) - 1 : known];
  });
  if (reads.length === map.reads.length && numbers.every(([own, other]) => own === other)) return map;
  const numberOf = new Map(numbers);
  return {
    ...map,
    reads,
    value: withReads(map.value, (k) => ({ kind: "read", read: numberOf.get(k) ?? k })),
  };
}

/** Without bare reads that are no more than the value of another site: that one reads. */
function merged<M extends Ordered>(map: M): M {
  const { sites, reads } = map;
  const uses = sites.map(() => 0);
  for (const form of formsOf({ sites, reads })) {
    for (const s of new Set(sitesOf(form))) uses[s] = at(uses, s) + 1;
  }
  /** Sites that are all of another's value, by their number. */
  const wholeOf = new Map<number, number>();
  const noteWhole = ({ value }: CanonicalSite, s: number): void => {
    const only = isRead(value) ? undefined : soleAtom(value);
    if (only?.kind === "site") wholeOf.set(only.site, s);
  };
  sites.forEach(noteWhole);
  const left: (CanonicalSite | undefined)[] = [...sites];
  for (let inner = sites.length - 1; inner >= 0; inner--) {
    const outer = wholeOf.get(inner);
    const [own, other] = [left[inner], outer === undefined ? undefined : left[outer]];
    if (own === undefined || outer === undefined || other === undefined) continue;
    if ((own.keep ?? "any") !== "any" || at(uses, inner) > 1) continue;
    const { value: _, ...policy } = other;
    if (own.fromEnd !== undefined && policy.fromEnd !== undefined) continue;
    left[inner] = undefined;
    left[outer] = { ...own, ...policy };
    noteWhole(own, outer);
  }
  const order = left.flatMap((draft, s) => (draft === undefined ? [] : [s]));
  return inOrder({ ...map, sites: left.map((draft, s) => draft ?? at(sites, s)) }, order);
}

/** The sites that depend on r behind all others, as they are evaluated. */
function termsLast<M extends Ordered>(map: M): M {
  if (map.reduced === undefined) return map;
  const ofTerms = new Set<number>();
  map.sites.forEach((own, s) => {
    const depends = (form: Linear): boolean =>
      dimsOf(form).includes(termDim(map)) || sitesOf(form).some((inner) => ofTerms.has(inner));
    if (coordsOf(own).some(depends)) ofTerms.add(s);
  });
  const numbers = map.sites.map((_, s) => s);
  return inOrder(map, [...numbers.filter((s) => !ofTerms.has(s)), ...ofTerms]);
}

/** The sites of these numbers alone, in this order. */
function inOrder<M extends Ordered>(map: M, order: readonly number[]): M {
  if (order.length === map.sites.length && order.every((s, k) => s === k)) return map;
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
