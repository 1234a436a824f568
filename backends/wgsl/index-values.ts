/**
 * Index values: each resolved under its rule, in order. The first that gives none or an error ends the elements that share it.
 */
import { inputOf } from "../../ir/func.js";
import { intervalOf, termPlaces } from "../../ir/intervals/intervals.js";
import { atomsOf, partsOf, sitesOf, type Linear } from "../../ir/linear.js";
import { indexBytes } from "../../ir/policy.js";
import type { Amount } from "../../ir/text/form-text.js";
import { assertNever, at, InternalError, isSigned } from "../../ir/types.js";
import { belowText, lastText } from "./bounds.js";
import type { WgslContext } from "./context.js";
import { isLarge, type GatherMove, type SiteMove } from "./gather-move.js";
import { sizeName } from "./names.js";
import {
  asSigned,
  asUnsigned,
  emitReportedResolver,
  emitResolver,
  lowWord,
  none,
  splatOf,
} from "./resolve.js";
import { emitInt128Helpers, int128Form, int128Literal, type Int128Words } from "./int128.js";

/** What sites are called, by number. */
export const siteNames = ({ sites }: GatherMove): string[] => sites.map(siteName);

const siteName = ({ int128, rule, site }: SiteMove): string =>
  int128 && rule === undefined ? `i128_${site}` : `at${site}`;

/** A position or an address: below 2^31 in the end, whatever it is made from. */
export const narrowForm = (
  context: WgslContext,
  move: GatherMove,
  form: Linear,
  coords: readonly Amount[],
): string =>
  isLarge(form, move.ranges)
    ? `${int128Form(form, wordsOf(context, move, coords))}.x`
    : context.address(form, coords, siteNames(move));

function wordsOf(context: WgslContext, move: GatherMove, coords: readonly Amount[]): Int128Words {
  const names = siteNames(move);
  return {
    narrow: (form) => context.address(form, coords, names),
    isNarrow(form) {
      const isInside = (own: Linear): boolean => {
        const [least, most] = intervalOf(own, move.ranges);
        return least >= 0 && most < 2 ** 32;
      };
      const isWide = sitesOf(form).some((s) => at(move.sites, s).rule === undefined);
      return !isWide && isInside(form) && atomsOf(form).flatMap(partsOf).every(isInside);
    },
    sites: move.sites.map((own) => ({ name: siteName(own), int128: own.rule === undefined })),
  };
}

/** The functions that index values are resolved by, before main. */
export function emitIndexHelpers(context: WgslContext, move: GatherMove): void {
  const { out, names, plan } = context;
  for (const { site, table, rule, int128, four, ofTerm } of move.sites) {
    if (int128 || table === undefined || rule === undefined) continue;
    const indices = names.buffer(inputOf(plan.func, table).name);
    if (rule.outside !== "report" || mayEnd(move, ofTerm)) emitResolver(out, { site, rule, four }, indices);
    else if (rule.below > 0) emitReportedResolver(out, { site, rule, four }, indices);
  }
  if (usesInt128(move)) emitInt128Helpers(out);
}

const usesInt128 = ({ sites, addresses, ranges }: GatherMove): boolean =>
  sites.some(({ int128 }) => int128) ||
  [...sites.flatMap(({ table, form }) => (table === undefined ? [] : [form])), ...addresses.reads].some(
    (form) => isLarge(form, ranges),
  );

/** Where the index values of an element are read, and its number in the output. */
export interface ElementAt {
  readonly coords: readonly Amount[];
  /** By site. Default: those of the tile. */
  readonly forms?: readonly Linear[];
  /** Default: by the output's address. */
  readonly place?: string;
}

/** Declares every site of an element, but for those of its terms, and `alive` where one may end it. */
export function declareSites(context: WgslContext, move: GatherMove, element: ElementAt): void {
  const { out } = context;
  if (mayEnd(move, false)) out.line("var alive = true;");
  if (move.reports) {
    out.line(`let written = ${element.place ?? context.address(move.addresses.output, element.coords)};`);
  }
  for (const site of reached(sitesOfPart(move, false))) {
    declareSite(context, move, site, element);
    if (site.ends !== undefined) emitLongBag(context, move, site, site.ends);
  }
}

/** Declares the sites of a term, whose coordinates end in r. Gives whether one may end it, and `alive` then says which did not. */
export function declareTermSites(context: WgslContext, move: GatherMove, element: ElementAt): boolean {
  const ends = mayEnd(move, true);
  // That of the element is true where it has terms.
  if (ends) context.out.line("var alive = true;");
  for (const site of sitesOfPart(move, true)) declareSite(context, move, site, element);
  return ends;
}

/** Where r begins and ends for an element; undefined where no element has a term. */
export function termBounds({ out }: WgslContext, move: GatherMove): readonly [string, string] | undefined {
  const { map } = move.stmt;
  const { most, bag } = map.reduced ?? { most: 0 };
  if (termPlaces(map) === 0 || sitesOfPart(move, true).some(({ rule }) => rule?.below === 0))
    return undefined;
  const alive = mayEnd(move, false);
  if (bag === undefined) return ["0u", alive ? `select(0u, ${most}u, alive)` : `${most}u`];
  const [from, to] = [bag.from, bag.to].map((site) => siteName(at(move.sites, site)));
  const first = from ?? "";
  // A bag that is too long is reported.
  const end = `min(${to ?? ""}, ${first} + ${most}u)`;
  out.line(`let end = ${alive ? `select(0u, ${end}, alive)` : end};`);
  return [first, "end"];
}

/** Of the element itself, or of each of its terms. */
const sitesOfPart = ({ sites }: Pick<GatherMove, "sites">, ofTerm: boolean): readonly SiteMove[] =>
  sites.filter((site) => site.ofTerm === ofTerm);

/** A bag may have no more terms than its most. */
function emitLongBag(
  { out }: WgslContext,
  move: GatherMove,
  site: SiteMove,
  { from, most }: NonNullable<SiteMove["ends"]>,
): void {
  const end = `${siteName(at(move.sites, from))} + ${most}u`;
  const alive = mayEnd(move, false) ? "alive && " : "";
  out.line(`bad = min(bad, select(${none}, written, ${alive}${siteName(site)} > ${end}));`);
}

/** The sites up to one that nothing can be an element of: it ends every element. */
function reached(sites: readonly SiteMove[]): readonly SiteMove[] {
  const last = sites.findIndex(({ rule }) => rule?.below === 0);
  return last === -1 ? sites : sites.slice(0, last + 1);
}

const isReported = ({ rule }: SiteMove): boolean => rule?.outside === "report";

/** Declares `bad`, where an index may be reported: the lowest output element that a lane found one at. */
export function declareBad({ out }: WgslContext, move: GatherMove): void {
  if (move.reports) out.line(`var bad = ${none};`);
}

/**
 * Tells the host of it. The host looks for the element itself: an access resolves the indices of a few elements together, and
 * keeps the place of the first.
 */
export function emitReport(
  context: WgslContext,
  move: GatherMove,
  maybeEmpty: readonly Linear[] = move.maybeEmpty,
): void {
  if (!move.reports) return;
  const exists = maybeEmpty.map((size) => ` && 0u < ${context.form(size)}`);
  context.out.line(`if (bad != ${none}${exists.join("")}) { atomicMin(&status[0], bad); }`);
}

function declareSite(context: WgslContext, move: GatherMove, site: SiteMove, element: ElementAt): void {
  const { out } = context;
  const { table, rule, int128, fromEnd } = site;
  const form = element.forms === undefined ? site.form : at(element.forms, site.site);
  const { coords } = element;
  const name = siteName(site);
  if (!int128 && rule !== undefined && !mayEnd(move, site.ofTerm)) {
    const value = `resolve_${site.site}(${narrowForm(context, move, form, coords)})`;
    declareResolved(context, site, { name, value, four: false, place: "written" });
    return;
  }
  out.line(rule === undefined ? `var ${name} = vec4u(0u);` : `var ${name} = 0u;`);
  // No branch: what follows an index value that ended the element reads by an element in range, and its bits are dropped.
  out.block("", () => {
    if (table !== undefined) out.line(`let position = ${narrowForm(context, move, form, coords)};`);
    if (!int128 && rule !== undefined) {
      out.line(`let element = resolve_${site.site}(position);`);
      if (endsOutside(rule) && rule.outside !== "promised")
        emitEnding(context, move, site, `element < ${belowText(rule)}`);
      out.line(`${name} = ${elementInRange(move, site, rule)};`);
      emitLeftOut(context, rule, name);
      return;
    }
    const raw =
      table === undefined ? int128Form(form, wordsOf(context, move, coords)) : rawValue(context, site);
    const count = rule === undefined ? fromEnd : rule.fromEnd;
    out.line(`var value = ${raw};`);
    if (count !== undefined) {
      out.line(`if (is_negative(value)) { value = add_i128(value, ${int128Count(count, site)}); }`);
    }
    if (rule === undefined) out.line(`${name} = value;`);
    else {
      emitResolved(context, move, site, rule, name);
      emitLeftOut(context, rule, name);
    }
  });
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
  { out }: WgslContext,
  { rule }: Pick<SiteMove, "rule">,
  { name, value, four, place }: Resolved,
): void {
  if (rule?.outside !== "report") {
    out.line(`let ${name} = ${value};`);
    return;
  }
  const splat = splatOf(four);
  const [raw, inside] = [`raw_${name}`, `in_${name}`];
  out.line(`let ${raw} = ${value};`);
  out.line(`let ${inside} = min(${raw}, ${asSigned(splat(lastText(rule)), four)});`);
  out.line(
    `bad = min(bad, select(${none}, ${place}, ${four ? `any(${raw} != ${inside})` : `${raw} != ${inside}`}));`,
  );
  out.line(`let ${name} = ${asUnsigned(inside, four)};`);
}

/** What is added to negative values, as a 128-bit number. */
const int128Count = (count: number, { open }: SiteMove): string =>
  open?.fromEnd === undefined ? int128Literal(count) : `vec4u(${sizeName(open.fromEnd)}, 0u, 0u, 0u)`;

/** What `element` of a site is read by. Under `unchecked`, the index is valid only if no earlier index ended this element. */
function elementInRange({ sites }: GatherMove, site: SiteMove, rule: NonNullable<SiteMove["rule"]>): string {
  // Where the element has ended, it has no terms.
  if (rule.outside === "promised")
    return sites.slice(0, site.site).some((own) => own.ofTerm === site.ofTerm && canEnd(own))
      ? "select(0u, element, alive)"
      : "element";
  return endsOutside(rule) && rule.below > 0 ? `min(element, ${lastText(rule)})` : "element";
}

/** Ends the element where a condition does not hold. The lowest output element whose index is out of range is reported. */
function emitEnding({ out }: WgslContext, move: GatherMove, site: SiteMove, inside: string): void {
  const ends = mayEnd(move, site.ofTerm);
  const outside = `${ends ? "alive && " : ""}!(${inside})`;
  if (isReported(site)) out.line(`bad = min(bad, select(${none}, written, ${outside}));`);
  if (ends) out.line(`alive = alive && ${inside};`);
}

/**
 * Whether anything hangs on whether an element, or a term, has ended. Where each that does is reported, nothing does: it is reported
 * once, whatever comes of the index values behind.
 */
const mayEnd = ({ sites, unit }: GatherMove, ofTerm: boolean): boolean =>
  !isByVectors(unit) &&
  sites.some(
    ({ rule, ofTerm: own }, s) =>
      (own === ofTerm && rule?.mayBeNone === true) ||
      (rule?.outside === "promised" &&
        sites.slice(0, s).some((before) => before.ofTerm === ofTerm && canEnd(before))),
  );

/** Whether index values of neighbours are resolved by vectors, which mark those without an element. */
const isByVectors = (unit: GatherMove["unit"]): boolean =>
  unit.how === "groups" || (unit.how === "rows" && unit.fourAlong !== undefined);

/** The index value at `position`, as a 128-bit number. */
function rawValue({ names, plan }: WgslContext, { table, dtype }: SiteMove): string {
  if (table === undefined || dtype === undefined) throw new InternalError("a sum is read nowhere");
  const buffer = names.buffer(inputOf(plan.func, table).name);
  const [bytes, signed] = [indexBytes(dtype), isSigned(dtype)];
  const low = lowWord({ bytes, signed }, buffer);
  const words = bytes === 8 ? [low, `${buffer}[2u * position + 1u]`] : [low];
  const sign = signed ? `select(0u, 0xffffffffu, (${words[words.length - 1] ?? ""} >> 31u) != 0u)` : "0u";
  return `vec4u(${words.join(", ")}, ${words.length === 2 ? `vec2u(${sign})` : `vec3u(${sign})`})`;
}

/** Sets a site from `value` under its rule. */
function emitResolved(
  context: WgslContext,
  move: GatherMove,
  site: SiteMove,
  rule: NonNullable<SiteMove["rule"]>,
  name: string,
): void {
  const { out } = context;
  const { below, outside } = rule;
  const inside = `is_below(value, ${belowText(rule)})`;
  if (endsOutside(rule)) {
    emitEnding(context, move, site, inside);
    if (below > 0) out.line(`${name} = min(value.x, ${lastText(rule)});`);
    return;
  }
  switch (outside) {
    case "nearest": {
      const end = `select(${lastText(rule)}, 0u, is_negative(value))`;
      out.line(`${name} = select(${end}, value.x, ${inside});`);
      return;
    }
    case "remainder":
      out.line(`${name} = wrapped_i128(value, ${belowText(rule)});`);
      return;
    case "report":
    case "promised":
    case "none":
      throw new InternalError(`a value that is ${outside} can end an element`);
    default:
      assertNever(outside);
  }
}

/** Ends what an index value is of where it names the element that is left out. */
function emitLeftOut({ out }: WgslContext, { but }: Rule, name: string): void {
  if (but !== undefined) out.line(`alive = alive && ${name} != ${but}u;`);
}

type Rule = NonNullable<SiteMove["rule"]>;

/** Whether a site's value may end an element. */
const canEnd = ({ rule }: SiteMove): boolean =>
  rule !== undefined && (endsOutside(rule) || rule.but !== undefined);

/** Whether a value out of range does. */
const endsOutside = ({ outside, below }: Rule): boolean =>
  below === 0 || outside === "none" || outside === "report" || outside === "promised";
