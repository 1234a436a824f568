/** The elements that coordinates of a tile gather: what their indices resolve to, and the arrays they move between. */
import { gatheredTable } from "../../ir/access.js";
import { outputOf } from "../../ir/func.js";
import { at } from "../../ir/types.js";
import { lastText } from "./bounds.js";
import type { Context } from "./context.js";
import type { GatherMove, ResolvedSite } from "./gather-move.js";
import { asSigned, asUnsigned, none, splatOf } from "./resolve.js";

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

/** Whether an index out of range is reported. */
export const reports = ({ sites }: GatherMove): boolean =>
  sites.some(({ rule }) => rule.outside === "report");

/** Declares `bad`, where an index may be reported: the lowest output element that a lane found one at. */
export function declareBad({ out }: Context, move: GatherMove): void {
  if (reports(move)) out.line(`var bad = ${none};`);
}

/**
 * Tells the host of it. The host looks for the element itself: an access resolves the indices of a few elements together, and
 * keeps the place of the first.
 */
export function emitReport(context: Context, move: GatherMove): void {
  if (!reports(move)) return;
  const exists = move.maybeEmpty.map((size) => ` && 0u < ${context.form(size)}`);
  context.out.line(`if (bad != ${none}${exists.join("")}) { atomicMin(&status[0], bad); }`);
}

interface Resolved {
  readonly name: string;
  /** What `resolve_k` gives, of four elements or of one. */
  readonly value: string;
  readonly four: boolean;
  /** The first output element that it is for. */
  readonly place: string;
}

/** Declares `name`, the element that an index names, and keeps the place of one out of range that is reported. */
export function declareResolved(
  { out }: Context,
  { rule }: Pick<ResolvedSite, "rule">,
  resolved: Resolved,
): void {
  const { name, value, four, place } = resolved;
  if (rule.outside !== "report") {
    out.line(`let ${name} = ${value};`);
    return;
  }
  const splat = splatOf(four);
  if (rule.below === 0) {
    out.line(`bad = min(bad, ${place});`);
    out.line(`let ${name} = ${splat(none)};`);
    return;
  }
  const [raw, inside] = [`raw_${name}`, `in_${name}`];
  out.line(`let ${raw} = ${value};`);
  out.line(`let ${inside} = min(${raw}, ${asSigned(splat(lastText(rule)), four)});`);
  out.line(
    `bad = min(bad, select(${none}, ${place}, ${four ? `any(${raw} != ${inside})` : `${raw} != ${inside}`}));`,
  );
  out.line(`let ${name} = ${asUnsigned(inside, four)};`);
}

/** What `resolve_k` gives at a coordinate; where it reads four values together, it is called with their access. */
export function resolved(
  context: Context,
  { axis, address, four, rule }: ResolvedSite,
  coords: readonly string[],
): string {
  const position = four ? context.access(address, 16 / rule.bytes, coords) : context.address(address, coords);
  return `resolve_${axis}(${position})`;
}

/** Declares `at<k>` for every site, at a coordinate. */
export function declareElements(context: Context, move: GatherMove, coords: readonly string[]): void {
  const place = context.address(move.addresses.output, coords);
  for (const site of move.sites) {
    const value = resolved(context, site, coords);
    declareResolved(context, site, { name: `at${site.axis}`, value, four: site.four, place });
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
