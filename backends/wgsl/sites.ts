/** gather by the sites of a map: the first that gives none or an error ends the elements that share it. */
import { isConstant, mod, type Linear } from "../../ir/linear.js";
import { inputOf } from "../../ir/func.js";
import { at, isSigned } from "../../ir/types.js";
import type { Context } from "./context.js";
import { belowText, lastText } from "./bounds.js";
import { sizeName } from "./names.js";
import { indexBytes } from "../../ir/policy.js";
import { emitReportedResolver, emitResolver, lowWord, none } from "./resolve.js";
import { axesOf } from "./lanes.js";
import { declareResolved } from "./elements.js";
import { emitElements } from "./site-elements.js";
import { narrowForm, siteName, wordsOf } from "./site-forms.js";
import { isLarge, type PageRun, type SiteMove, type SitesMove } from "./sites-move.js";
import { emitPages, emitTileLoops } from "./tile-loops.js";
import { emitWideHelpers, wideForm, wideLiteral } from "./wide.js";

export function emitSiteHelpers(context: Context, move: SitesMove): void {
  const { out, names, plan } = context;
  move.sites.forEach(({ read, rule, wide }, axis) => {
    if (wide || read === undefined || rule === undefined) return;
    const { table } = read;
    const buffer = names.buffer(inputOf(plan.func, table).name);
    const resolved = { axis, table, rule, address: at(move.addresses.sites, axis), four: false };
    if (rule.outside !== "report" || mayEnd(move)) emitResolver(out, resolved, buffer);
    else if (rule.below > 0) emitReportedResolver(out, resolved, buffer);
  });
  if (usesWide(move)) emitWideHelpers(out);
}

const usesWide = (move: SitesMove): boolean =>
  move.sites.some(({ wide }) => wide) || forms(move).some((form) => isLarge(form, move));

const forms = ({ sites, addresses }: SitesMove): readonly Linear[] => [
  ...sites.flatMap(({ read, form }) => (read === undefined ? [] : [form])),
  addresses.data,
];

export function emitSites(context: Context, move: SitesMove): void {
  const { out } = context;
  const { tile, sizes, addresses, sites, resolved, sharing, unit, inRows, page } = move;
  const loops = {
    tile,
    sizes,
    groups: tile.map((_, d) => (d === tile.length - 1 ? (unit?.group ?? 1) : 1)),
    axes: axesOf(tile),
  };
  const reports = sites.some(isReported);
  const around = inRows ? sharing.filter((d) => d < tile.length - 1) : sharing;
  // Sites are taken outside the dims that share them.
  const take = (coords: string[], rows?: number | string): void => {
    if (mayEnd(move)) out.line("var alive = true;");
    if (reports) out.line(`let first = ${context.address(addresses.output, coords)};`);
    for (const [s, site] of reached(move).entries()) emitSite(context, move, site, s, coords);
    const body = (inner: string[]): void => {
      emitElements(context, move, inner, rows);
    };
    emitTileLoops(context, { ...loops, dims: around, body }, coords);
  };
  const body = (coords: string[]): void => {
    if (page === undefined) take(coords);
    else emitByPages(context, move, page, coords, take);
  };
  out.block("", () => {
    if (reports) out.line(`var bad = ${none};`);
    const dims = resolved.filter((d) => d !== page?.dim);
    emitTileLoops(
      context,
      { ...loops, dims, body },
      tile.map(() => "0u"),
    );
    if (reports) out.line(`if (bad != ${none}) { atomicMin(&status[0], bad); }`);
  });
}

/** The dim of the pages: `take` is given the coordinates at which rows of one page begin, and their number. */
function emitByPages(
  context: Context,
  { sizes }: SitesMove,
  { dim, form, by, aligned }: PageRun,
  coords: readonly string[],
  take: (coords: string[], rows: number | string) => void,
): void {
  const along = (coordinate: string): string[] => coords.map((own, d) => (d === dim ? coordinate : own));
  const size = at(sizes, dim);
  const paged = {
    name: `d${dim}`,
    end: isConstant(size) ? size.at : context.form(size),
    by,
    outside: coords,
    aligned,
    into: (coordinate: string) => context.address(mod(form, by), along(coordinate)),
  };
  emitPages(context, paged, (start, rows) => {
    take(along(start), rows);
  });
}

/** The sites up to one that nothing can be an element of: it ends every element. */
function reached({ sites }: SitesMove): readonly SiteMove[] {
  const last = sites.findIndex(({ rule }) => rule?.below === 0);
  return last === -1 ? sites : sites.slice(0, last + 1);
}

const isReported = ({ rule }: SiteMove): boolean => rule?.outside === "report";

function emitSite(
  context: Context,
  move: SitesMove,
  site: SiteMove,
  s: number,
  coords: readonly string[],
): void {
  const { out } = context;
  const { read, rule, form, wide, fromEnd } = site;
  const name = siteName(site, s);
  if (!wide && rule !== undefined && !mayEnd(move)) {
    const value = `resolve_${s}(${narrowForm(context, move, form, coords)})`;
    declareResolved(context, { rule }, { name, value, four: false, place: "first" });
    return;
  }
  out.line(rule === undefined ? `var ${name} = vec4u(0u);` : `var ${name} = 0u;`);
  // No branch: what follows an index value that ended the element reads by an element in range, and its bits are dropped.
  out.block("", () => {
    if (read !== undefined) out.line(`let position = ${narrowForm(context, move, form, coords)};`);
    if (!wide && rule !== undefined) {
      out.line(`let element = resolve_${s}(position);`);
      if (canEnd(site) && rule.outside !== "promised")
        emitEnding(context, move, site, `element < ${belowText(rule)}`);
      out.line(`${name} = ${elementInRange(move, site, rule, s)};`);
      return;
    }
    const raw = read === undefined ? wideForm(form, wordsOf(context, move, coords)) : rawValue(context, read);
    const count = rule === undefined ? fromEnd : rule.fromEnd;
    out.line(`var value = ${raw};`);
    if (count !== undefined) {
      out.line(`if (is_negative(value)) { value = add_wide(value, ${wideCount(count, site)}); }`);
    }
    if (rule === undefined) out.line(`${name} = value;`);
    else emitResolved(context, move, site, rule, name);
  });
}

/** What is added to negative values, as a wide number. */
const wideCount = (count: number, { open }: SiteMove): string =>
  open?.fromEnd === undefined ? wideLiteral(count) : `vec4u(${sizeName(open.fromEnd)}, 0u, 0u, 0u)`;

/** What `element` of a site is read by. What is promised holds where the element did not end before. */
function elementInRange(
  { sites }: SitesMove,
  site: SiteMove,
  rule: NonNullable<SiteMove["rule"]>,
  s: number,
): string {
  if (rule.outside === "promised")
    return sites.slice(0, s).some(canEnd) ? "select(0u, element, alive)" : "element";
  return canEnd(site) && rule.below > 0 ? `min(element, ${lastText(rule)})` : "element";
}

/** Ends the element where a condition does not hold. The lowest output element whose index is out of range is reported. */
function emitEnding({ out }: Context, move: SitesMove, site: SiteMove, inside: string): void {
  const outside = `${mayEnd(move) ? "alive && " : ""}!(${inside})`;
  if (isReported(site)) out.line(`bad = min(bad, select(${none}, first, ${outside}));`);
  if (mayEnd(move)) out.line(`alive = alive && ${inside};`);
}

/**
 * Whether anything hangs on whether an element has ended. Where each that does is reported, nothing does: it is reported once, whatever
 * comes of the index values behind.
 */
const mayEnd = ({ sites }: SitesMove): boolean =>
  sites.some(
    ({ rule }, s) =>
      rule?.mayBeNone === true || (rule?.outside === "promised" && sites.slice(0, s).some(canEnd)),
  );

/** The index value at `position`, as a wide number. */
function rawValue({ names, plan }: Context, { table, dtype }: NonNullable<SiteMove["read"]>): string {
  const buffer = names.buffer(inputOf(plan.func, table).name);
  const [bytes, signed] = [indexBytes(dtype), isSigned(dtype)];
  const low = lowWord({ bytes, signed }, buffer);
  const words = bytes === 8 ? [low, `${buffer}[2u * position + 1u]`] : [low];
  const sign = signed ? `select(0u, 0xffffffffu, (${words[words.length - 1] ?? ""} >> 31u) != 0u)` : "0u";
  return `vec4u(${words.join(", ")}, ${words.length === 2 ? `vec2u(${sign})` : `vec3u(${sign})`})`;
}

/** Sets a site from `value` under its rule. */
function emitResolved(
  context: Context,
  move: SitesMove,
  site: SiteMove,
  rule: NonNullable<SiteMove["rule"]>,
  name: string,
): void {
  const { out } = context;
  const { below, outside } = rule;
  const inside = `is_below(value, ${belowText(rule)})`;
  if (canEnd(site)) {
    emitEnding(context, move, site, inside);
    if (below > 0) out.line(`${name} = min(value.x, ${lastText(rule)});`);
    return;
  }
  if (outside === "nearest") {
    const end = `select(${lastText(rule)}, 0u, is_negative(value))`;
    out.line(`${name} = select(${end}, value.x, ${inside});`);
  } else out.line(`${name} = wrapped_wide(value, ${belowText(rule)});`);
}

/** Whether a site's value may end an element. */
const canEnd = ({ rule }: SiteMove): boolean =>
  rule !== undefined && (rule.mayBeNone || rule.outside === "report" || rule.outside === "promised");
