/** The index values that an access map takes without any policy: what random indices are drawn from. */
import {
  at,
  dimRanges,
  dimsOf,
  intervalOf,
  isRead,
  isSigned,
  outputOf,
  sitesOf,
  soleAtom,
  strides,
  type AccessMap,
  type Interval,
  type Linear,
  type Ranges,
  type Term,
} from "../../ir/index.js";
import type { DefinedMap } from "../../backends/reference/defined-map.js";

/** What an index value may be. */
export interface IndexRange {
  readonly least: number;
  readonly most: number;
  /** Negative values count from this number. */
  readonly fromEnd?: number;
  /** Whether a site under `unchecked` takes the value: one outside has no defined result. */
  readonly promised: boolean;
  /** Whether the index type holds negative values. */
  readonly signed: boolean;
}

/** The range of the value at a row-major position of an input: what every site that reads it takes. */
export function indexRanges(defined: DefinedMap, table: number): (position: number) => IndexRange {
  const { map, operands } = defined;
  const { shape, dtype } = at(operands, table).type;
  const by = strides(shape);
  const everywhere = dimRanges(outputOf({ operands }).type.shape, map);
  const parts = new Set(map.sites.flatMap(({ value }) => (isRead(value) ? [] : sitesOf(value))));
  const summed = new Set(map.sites.flatMap((site) => (isRead(site.value) ? [] : dimsOf(site.value))));
  const signed = isSigned(dtype);
  const reads = map.sites.flatMap(({ value, fromEnd }, s) =>
    isRead(value) && value.table === table
      ? [
          {
            site: s,
            ...(signed && fromEnd !== undefined ? { fromEnd } : {}),
            promised: consumersOf(map, s).some((own) => at(map.sites, own).keep === "unchecked"),
            coords: value.at,
            // The dims that the position tells, where a sum makes the range hang on them.
            told: value.at.map((coord) =>
              parts.has(s) && dimsOf(coord).some((d) => summed.has(d)) ? soleDim(coord) : undefined,
            ),
          },
        ]
      : [],
  );
  const known = new Map<number, Interval>();
  const rangeAt = (position: number): IndexRange => {
    let [least, most] = [-Infinity, Infinity];
    let fromEnd = Infinity;
    let promised = false;
    for (const read of reads) {
      const place = shape.map((extent, k) => Math.floor(position / at(by, k)) % extent);
      if (!read.coords.every((coord, k) => coord.terms.length > 0 || coord.at === place[k])) continue;
      const dims = [...everywhere];
      read.told.forEach((d, k) => {
        if (d !== undefined) dims[d] = [at(place, k), at(place, k)];
      });
      const moves = read.told.some((d) => d !== undefined);
      let own: Interval | undefined = moves ? undefined : known.get(read.site);
      own ??= siteRange(map, read.site, dims);
      if (!moves) known.set(read.site, own);
      least = Math.max(least, own[0]);
      most = Math.min(most, own[1]);
      fromEnd = Math.min(fromEnd, read.fromEnd ?? 0);
      promised ||= read.promised;
    }
    if (least === -Infinity || most < least) [least, most] = [Math.max(least, 0), Math.max(least, 0)];
    return { least, most, ...(fromEnd > 0 && fromEnd < Infinity ? { fromEnd } : {}), promised, signed };
  };
  const moves = reads.some(({ coords, told }) =>
    coords.some((coord, k) => coord.terms.length === 0 || told[k] !== undefined),
  );
  const everyone = rangeAt(0);
  return moves ? rangeAt : () => everyone;
}

/** The output dim that a coordinate is. */
function soleDim(coord: Linear): number | undefined {
  const of = soleAtom(coord);
  return of?.kind === "dim" ? of.dim : undefined;
}

/** A site, and the sums that it is a part of. */
function consumersOf({ sites }: AccessMap, site: number): readonly number[] {
  const found = [site];
  sites.forEach((own, s) => {
    if (!isRead(own.value) && sitesOf(own.value).some((part) => found.includes(part))) found.push(s);
  });
  return found;
}

/** What a site's own bound, and the sums around it, leave for its value. Parts that are read later share with it what a sum leaves. */
function siteRange({ sites }: AccessMap, site: number, dims: Ranges["dims"]): Interval {
  const nothing: Interval = [0, 0];
  const before: Interval[] = sites.map(() => nothing);
  const known = new Map<number, Interval>();
  const leftFor = (s: number): Interval => {
    const found = known.get(s);
    if (found !== undefined) return found;
    const { keep, below } = at(sites, s);
    let own: Interval | undefined = keep === "any" || below === undefined ? undefined : [0, below - 1];
    sites.forEach(({ value }, k) => {
      if (isRead(value) || !sitesOf(value).includes(s)) return;
      const later = sitesOf(value).filter((other) => other > s && at(sites, other).keep === "any");
      const whole = solved(value, s, leftFor(k), { dims, sites: before });
      const share = Math.floor((whole[1] - whole[0]) / (1 + new Set(later).size));
      const narrowed: Interval = [
        Math.max(own?.[0] ?? -Infinity, whole[0]),
        Math.min(own?.[1] ?? Infinity, whole[0] + share),
      ];
      if (own === undefined || narrowed[0] <= narrowed[1]) own = narrowed;
    });
    const range = own ?? nothing;
    known.set(s, range);
    return range;
  };
  for (let s = 0; s < site; s++) before[s] = leftFor(s);
  return leftFor(site);
}

/** The values of a site that keep a form inside an interval: at every point, or at some where none does it at every one. */
function solved(form: Linear, s: number, [least, most]: Interval, ranges: Ranges): Interval {
  const term = form.terms.find(({ of }) => sitesOf({ at: 0, terms: [{ by: 1, of }] }).includes(s));
  if (term === undefined) return [0, 0];
  const [low, high] = intervalOf(without(form, term), ranges);
  const always = divided([least - low, most - high], term.by);
  const own = always[0] <= always[1] ? always : divided([least - high, most - low], term.by);
  const { of } = term;
  if (of.kind === "div") return solved(of.of, s, [own[0] * of.by, own[1] * of.by + of.by - 1], ranges);
  if (of.kind === "mod") return solved(of.of, s, [Math.max(0, own[0]), Math.min(of.by - 1, own[1])], ranges);
  return own;
}

const without = (form: Linear, term: Term): Linear => ({
  at: form.at,
  terms: form.terms.filter((own) => own !== term),
});

/** The whole numbers that times `by` lie in an interval. */
function divided([least, most]: Interval, by: number): Interval {
  const ends = by > 0 ? [least / by, most / by] : [most / by, least / by];
  return [Math.ceil(at(ends, 0)), Math.floor(at(ends, 1))];
}
