/**
 * A gather as every machine carries it out: where its elements lie, at which output dim each index value is read, how far what
 * was read there serves, and what an element without an index has. How many bytes move at a time is the machine's to add.
 */
import { fillBytes, gatheredTable, type AccessMap } from "../../ir/access.js";
import type { GatherAddresses } from "../../ir/addressing.js";
import { inputsOf, type TileFunc } from "../../ir/func.js";
import { rangesOf, type Ranges } from "../../ir/intervals/intervals.js";
import { iv, type Linear } from "../../ir/linear.js";
import { boundsOf } from "../../ir/intervals/loop-bounds.js";
import { sizeRanges } from "../../ir/symbols/symbols.js";
import type { ForStmt, GatherStmt } from "../../ir/tile.js";
import { at, type Shape } from "../../ir/types.js";
import { siteSteps, type SiteStep } from "../site-values.js";
import { pageAlong, type Page } from "./page.js";
import { stagesOf, type Stage } from "./stages.js";

export interface GatherPlan {
  readonly stmt: GatherStmt;
  /** Loops around it, outermost first. */
  readonly loops: readonly ForStmt[];
  readonly addresses: GatherAddresses;
  /** What dims, sites and loop variables can be. */
  readonly ranges: Ranges;
  /** How each site comes by its value, in the order of the map. */
  readonly sites: readonly SiteStep[];
  readonly stages: readonly Stage[];
  /** The innermost output dim that a site, or a quotient or remainder in the data's address, follows. -1: none. */
  readonly last: number;
  /** Where elements of `last` are taken by the page. */
  readonly page?: Page;
  /** The bytes of an element that has none. */
  readonly fill: Uint8Array;
  /** Whether an element may have none. */
  readonly mayBeNone: boolean;
  /** Whether the policy reports a value out of range. */
  readonly reports: boolean;
}

/** What surrounds a gather in its program. */
export interface GatherAt {
  readonly stmt: GatherStmt;
  readonly loops: readonly ForStmt[];
}

/** `addresses`: in the memories of a machine. */
export function planGather(
  func: TileFunc,
  { stmt, loops }: GatherAt,
  addresses: GatherAddresses,
): GatherPlan {
  const { map, to } = stmt;
  const inputs = inputsOf(func).map(({ type }) => type);
  const sites = siteSteps(map, addresses.sites, func.operands);
  const stages = stagesOf(addresses.sites, addresses.data);
  const last = at(stages, stages.length - 1).dim;
  const page = pageAlong(last, withinStages(addresses.data, last), addresses.sites);
  return {
    stmt,
    loops,
    addresses,
    ranges: rangesOf(map, inputs, mostOf(to.sizes, loops), {
      loops: (name) => boundsOf(iv(name), loops),
      symbols: sizeRanges(func.symbolic?.symbols ?? []),
    }),
    sites,
    stages,
    last,
    ...(page === undefined ? {} : { page }),
    fill: fillOf(map, func),
    mayBeNone: sites.some(({ rule }) => rule?.mayBeNone === true),
    reports: sites.some(({ rule }) => rule?.outside === "report"),
  };
}

const fillOf = (map: AccessMap, func: TileFunc): Uint8Array =>
  fillBytes(map, at(inputsOf(func), gatheredTable).type.dtype);

/** An address without its steps along the dims of a row. */
const withinStages = (address: Linear, last: number): Linear => ({
  at: address.at,
  terms: address.terms.filter((term) => term.of.kind !== "dim" || term.of.dim <= last),
});

/** The most that sizes can be, in any iteration of the loops around them. */
export const mostOf = (sizes: readonly Linear[], loops: readonly ForStmt[]): Shape =>
  sizes.map((size) => Math.max(0, boundsOf(size, loops)[1]));
