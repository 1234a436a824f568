/**
 * The bound of an index value that the text leaves open: the largest that keeps every coordinate it is in inside its extent.
 * For a window that is StableHLO's clamp: its start is held so that the whole window lies inside.
 */
import { isRead, type AccessMap, type Forms, type Site } from "../access.js";
import { partsOf, sitesOf, soleAtom, type Linear } from "../linear.js";
import { at, elementCount, maxElements, type Shape, type TensorType } from "../types.js";
import { largestThat, rangesOf, staysBelow, type Ranges } from "./intervals.js";

/** A site whose bound may be open: `below` is absent, and what counts from the end may count from it. */
export interface OpenSite extends Omit<Site, "fromEnd"> {
  readonly fromEnd?: number | "below";
}

/** A map as text gives it: bare reads have no bound yet. */
export interface OpenMap extends Omit<AccessMap, "sites"> {
  readonly sites: readonly OpenSite[];
}

/** A coordinate with the dim of its input. */
export interface PlacedCoord {
  readonly coord: Linear;
  /** Elements of the dim that it names one of. */
  readonly extent: number;
  readonly table: number;
  readonly dim: number;
}

/** Every coordinate of a map; those beyond an input's rank are for the verifier. */
export function coordinatesOf(map: Forms, inputs: readonly TensorType[]): readonly PlacedCoord[] {
  const reads = map.sites.flatMap(({ value }) => (isRead(value) ? [value] : []));
  return [...reads, ...map.reads].flatMap(({ table, at: coords }) =>
    coords.flatMap((coord, dim) => {
      const extent = inputs[table]?.shape[dim];
      return extent === undefined ? [] : [{ coord, extent, table, dim }];
    }),
  );
}

/**
 * The map with its open bounds derived. If even index 0 would be out of range, the bound stays open and the verifier refuses the map; if
 * nothing is read, the bound is 0. A site under `wrap` in a sum stays open too, because its modulus has to be stated. A site that stands alone in a coordinate has its extent; one that no coordinate depends on has every index.
 * Without a result, the coordinates are those inside the regions of a tile: sums prove nothing there, and their bounds are stated.
 */
export function withBounds(map: OpenMap, inputs: readonly TensorType[], result?: Shape): AccessMap {
  const named = namedBy(coordinatesOf(map, inputs));
  // An output of another rank is for the verifier to refuse.
  const output = result?.length === map.domain.length ? result : undefined;
  const readsNone = output !== undefined && elementCount(output) === 0;
  const sites = [...map.sites];
  let ranges: Ranges | undefined;
  const mostOf = (s: number): number | undefined =>
    largest(s, named.get(s) ?? [], () => {
      if (output !== undefined) ranges ??= rangesOf({ ...map, sites }, inputs, output);
      return ranges;
    });
  const close = (s: number, below: number): void => {
    sites[s] = { ...at(sites, s), below };
    ranges = undefined;
  };
  // A sum of several open ones may hold only once the others are bounded.
  let waiting: readonly number[] = [];
  const retry = (): void => {
    for (const s of waiting) {
      const below = mostOf(s);
      if (below === undefined) continue;
      close(s, below);
      waiting = waiting.filter((other) => other !== s);
      retry();
      return;
    }
  };
  for (const [s, site] of map.sites.entries()) {
    if (!isOpen(site) || (site.keep === "wrap" && isInSum(s, named.get(s) ?? []))) continue;
    const below = mostOf(s);
    if (below === undefined) waiting = [...waiting, s];
    else {
      close(s, below);
      retry();
    }
  }
  for (let [first] = waiting; readsNone && first !== undefined; [first] = waiting) {
    close(first, 0);
    waiting = waiting.slice(1);
    retry();
  }
  return { ...map, sites: sites.map(fromBound) };
}

/** The coordinates that each site is in. */
function namedBy(placed: readonly PlacedCoord[]): ReadonlyMap<number, readonly PlacedCoord[]> {
  const named = new Map<number, PlacedCoord[]>();
  for (const one of placed) {
    for (const s of new Set(sitesOf(one.coord))) {
      const known = named.get(s);
      if (known === undefined) named.set(s, [one]);
      else known.push(one);
    }
  }
  return named;
}

const isOpen = ({ keep, below }: OpenSite): boolean => keep !== "any" && below === undefined;

function fromBound({ fromEnd, ...site }: OpenSite): Site {
  if (fromEnd === undefined) return site;
  return { ...site, fromEnd: fromEnd === "below" ? (site.below ?? 0) : fromEnd };
}

/** By the coordinates that it is in: undefined where not even 0 suits; 0 where there is nothing to name. */
function largest(
  s: number,
  own: readonly PlacedCoord[],
  rangesOfOthers: () => Ranges | undefined,
): number | undefined {
  const alone = own.filter(({ coord }) => isAlone(coord, s)).map(({ extent }) => extent);
  const sums = own.filter(({ coord }) => !isAlone(coord, s));
  if (own.some(({ extent }) => extent === 0)) return 0;
  const most = Math.min(maxElements, ...alone);
  if (sums.length === 0) return most;
  const ranges = rangesOfOthers();
  if (ranges === undefined) return 0;
  const fits = (below: number): boolean => {
    const sites = ranges.sites.map((range, k) => (k === s ? ([0, below - 1] as const) : range));
    return sums.every(({ coord, extent }) => staysBelow(coord, extent, { ...ranges, sites }));
  };
  return largestThat(1, most, fits);
}

/** Whether something is added to a site in a coordinate. */
const isInSum = (s: number, own: readonly PlacedCoord[]): boolean => {
  const added = (form: Linear): boolean =>
    sitesOf(form).includes(s) &&
    (form.at !== 0 || form.terms.length > 1 || form.terms.some(({ of }) => partsOf(of).some(added)));
  return own.some(({ coord }) => added(coord));
};

const isAlone = (coord: Linear, s: number): boolean => {
  const only = soleAtom(coord);
  return only?.kind === "site" && only.site === s;
};
