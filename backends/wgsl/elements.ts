/** The elements that coordinates of a tile gather: what their indices resolve to, and the arrays they move between. */
import { gatheredTable } from "../../ir/access.js";
import { outputOf } from "../../ir/func.js";
import { at } from "../../ir/types.js";
import type { Context } from "./context.js";
import type { GatherMove, ResolvedSite } from "./gather-move.js";
import { none } from "./resolve.js";

/** The array that elements are read from. */
export const sourceName = ({ names }: Context, { stmt }: GatherMove): string =>
  names.buffer(at(stmt.from, gatheredTable).buffer);

/** The 32-bit word at a place of it. */
export function wordAt(context: Context, move: GatherMove, place: string): string {
  const name = sourceName(context, move);
  if (move.staged?.stagedWidth !== 4) return `${name}[${place}]`;
  const whole = /^[\w.]+$/.test(place) ? place : `(${place})`;
  return `${name}[${whole} >> 2u][${whole} & 3u]`;
}

export const outputName = ({ names, plan }: Context): string => names.buffer(outputOf(plan.func).name);

/** What `declareElements` calls the sites, by number. */
export const siteNames = ({ sites }: GatherMove): string[] => sites.map(({ axis }) => `at${axis}`);

/** Declares `at<k>` for every site, at a coordinate. */
export function declareElements(context: Context, { sites }: GatherMove, coords: readonly string[]): void {
  for (const { axis, address } of sites) {
    context.out.line(`let at${axis} = resolve_${axis}(${context.address(address, coords)});`);
  }
}

/** Sites whose index may name no element. */
export const mayMiss = ({ sites }: GatherMove): readonly ResolvedSite[] =>
  sites.filter(({ rule }) => rule.mayBeNone);

/** What `declareElements` calls them. */
export const missingSites = (move: GatherMove): string[] => mayMiss(move).map(({ axis }) => `at${axis}`);

/** `then` runs where all of these sites have an element, `otherwise` where one reads as zero. */
export function whereFound(
  { out }: Context,
  sites: readonly string[],
  then: () => void,
  otherwise?: () => void,
): void {
  if (sites.length === 0) {
    then();
    return;
  }
  out.block(`if (${sites.map((name) => `${name} != ${none}`).join(" && ")})`, then);
  if (otherwise !== undefined) out.block("else", otherwise);
}
