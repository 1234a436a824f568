/** Maps that PTO-ISA's instructions carry out as they are: what lowerings ask for, and nobody else. */
import {
  countsFromBound,
  dataCoords,
  gatheredTable,
  isMove,
  isRead,
  type AccessMap,
  type OutOfBounds,
  type Read,
  type Site,
} from "../access.js";
import { dimsOf, isConstant, soleAtom } from "../linear.js";

/**
 * Whether a map has the form that PTO-ISA gathers by: data and one tensor of indices, which is read at output dims, each value of it
 * alone in a coordinate of the data. `inputs`: of the gather.
 */
export const hasPtoForm = (map: AccessMap, inputs: number): boolean => inputs === 2 && isPlain(map);

/** A site that reads an index input at dims and constants, under a bound that negative values count from. */
export interface PlainSite extends Site {
  readonly value: Read;
  readonly keep: OutOfBounds;
  readonly below: number;
}

const isPlainSite = (site: Site): site is PlainSite =>
  isRead(site.value) &&
  site.keep !== "any" &&
  site.below !== undefined &&
  site.but === undefined &&
  countsFromBound(site) &&
  site.value.at.every((coord) => isConstant(coord) || soleAtom(coord)?.kind === "dim");

// Asked for each tile that is weighed.
const known = new WeakMap<AccessMap, boolean>();

/** Whether a map is one of the three operators' kind. */
export function isPlain(map: AccessMap): boolean {
  const found = known.get(map) ?? plain(map);
  known.set(map, found);
  return found;
}

/**
 * Whether a coordinate is one output dim or one site that stands nowhere else, and every site is plain, reads the same dims of its
 * table as the others, and leaves zero bits where there is no element, all under one policy.
 */
function plain(map: AccessMap): boolean {
  const { sites, fill } = map;
  const coords = dataCoords(map);
  const atoms = coords.map(soleAtom);
  const direct = atoms.flatMap((of) => (of?.kind === "dim" ? [of.dim] : []));
  const picked = atoms.flatMap((of) => (of?.kind === "site" ? [of.site] : []));
  const patterns = new Map<number, string>();
  return (
    isMove(map) &&
    direct.length + picked.length === coords.length &&
    new Set(direct).size === direct.length &&
    picked.length === sites.length &&
    new Set(picked).size === sites.length &&
    sites.length > 0 &&
    fill === undefined &&
    sites.every((site) => {
      if (!isPlainSite(site) || site.value.table === gatheredTable || site.keep !== sites[0]?.keep)
        return false;
      const { table } = site.value;
      const pattern = site.value.at.map((coord) => dimsOf(coord).join()).join(";");
      const known = patterns.get(table) ?? pattern;
      patterns.set(table, known);
      return known === pattern;
    })
  );
}

/** The sites of a plain map. */
export const plainSites = (map: AccessMap): readonly PlainSite[] => map.sites.filter(isPlainSite);
