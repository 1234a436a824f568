/** gather by the sites of a map, element by element: the first site that gives none or an error ends the element. */
import { gatheredTable } from "../../ir/access.js";
import { atomsOf, isConstant, type Linear } from "../../ir/linear.js";
import { inputOf } from "../../ir/func.js";
import { assertNever, at, elementCount, InternalError, isSigned, type Shape } from "../../ir/types.js";
import { lowBits, type Context } from "./context.js";
import { outputName } from "./elements.js";
import { scaled, sum } from "./forms.js";
import { indexBytes } from "../../ir/policy.js";
import { emitResolver, lowWord, none } from "./resolve.js";
import type { SiteMove, SitesMove } from "./sites-move.js";
import { emitWideHelpers, wideForm, wideLiteral, type WideWords } from "./wide.js";

export function emitSiteHelpers(context: Context, move: SitesMove): void {
  const { out, names, plan } = context;
  move.sites.forEach(({ read, rule, wide }, axis) => {
    if (wide || read === undefined || rule === undefined) return;
    const { table } = read;
    const buffer = names.buffer(inputOf(plan.func, table).name);
    emitResolver(out, { axis, table, rule, address: at(move.addresses.sites, axis), four: false }, buffer);
  });
  if (usesWide(move)) emitWideHelpers(out);
}

const usesWide = (move: SitesMove): boolean =>
  move.sites.some(({ wide }) => wide) || forms(move).some((form) => isLarge(form, move));

const forms = ({ sites, addresses }: SitesMove): readonly Linear[] => [
  ...sites.flatMap(({ read, form }) => (read === undefined ? [] : [form])),
  addresses.data,
];

/** Whether a div or a mod is of what may leave u32: no dim, index or loop variable reaches 2^31. */
const isLarge = (form: Linear, { sites, tile }: SitesMove): boolean =>
  atomsOf(form).some(
    (of) => (of.kind === "div" || of.kind === "mod") && reach(of.of, sites, tile) >= 2 ** 32,
  );

function reach(form: Linear, sites: readonly SiteMove[], tile: readonly number[]): number {
  return form.terms.reduce((most, { by, of }) => {
    const factor = Math.abs(by);
    switch (of.kind) {
      case "dim":
        return most + factor * at(tile, of.dim);
      case "site":
        return most + factor * (at(sites, of.site).rule?.below ?? Infinity);
      case "div":
      case "mod":
        return most + factor * reach(of.of, sites, tile);
      case "iv":
      case "min":
        // Below every extent, and never alone: it is where the tile of a dim starts.
        return most + factor * 2 ** 20;
      case "symbol":
        throw new InternalError(`symbol ${of.name} is not bound`);
      default:
        return assertNever(of);
    }
  }, Math.abs(form.at));
}

export function emitSites(context: Context, move: SitesMove): void {
  const { out } = context;
  const { stmt, tile, addresses, sites } = move;
  lanesOver(context, elementCount(tile), () => {
    const coords = decoded(context, "slot", tile);
    const guards = tile.flatMap((extent, d) => guard(context, at(coords, d), at(stmt.to.sizes, d), extent));
    context.guarded(guards, () => {
      out.line(`let place = ${context.address(addresses.output, coords)};`);
      out.line("var alive = true;");
      sites.forEach((site, s) => {
        emitSite(context, move, site, s, coords);
      });
      emitElement(context, move, coords);
    });
  });
}

/** One slot a lane, again and again until all are taken. */
function lanesOver({ out, lanes }: Context, slots: number, body: () => void): void {
  out.block(`for (var slot = ${lanes.along("all")}; slot < ${slots}u; slot += ${lanes.count("all")}u)`, body);
}

/** Declares `d0`, `d1`, …: the coordinates of a row-major position in a constant shape. */
function decoded({ out }: Context, position: string, shape: Shape): string[] {
  return shape.map((extent, d) => {
    if (extent <= 1) return "0u";
    const inner = elementCount(shape.slice(d + 1));
    out.line(`let d${d} = ${inner === 1 ? position : `(${position} / ${inner}u)`} % ${extent}u;`);
    return `d${d}`;
  });
}

/** The condition that a coordinate exists, where an edge tile may be smaller than the tile. */
const guard = (context: Context, name: string, size: Linear, extent: number): string[] =>
  isConstant(size) && size.at >= extent ? [] : [`${name} < ${context.form(size)}`];

const siteName = ({ wide, rule }: SiteMove, s: number): string =>
  wide && rule === undefined ? `wide${s}` : `at${s}`;

function wordsOf(context: Context, { sites }: SitesMove, coords: readonly string[]): WideWords {
  return {
    narrow: (form) => context.address(form, coords, sites.map(siteName)),
    sites: sites.map((site, s) => ({ name: siteName(site, s), wide: site.rule === undefined })),
  };
}

/** A position or an address: below 2^31 in the end, whatever it is made from. */
const narrowForm = (context: Context, move: SitesMove, form: Linear, coords: readonly string[]): string =>
  isLarge(form, move)
    ? `${wideForm(form, wordsOf(context, move, coords))}.x`
    : context.address(form, coords, move.sites.map(siteName));

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
  out.line(rule === undefined ? `var ${name} = vec4u(0u);` : `var ${name} = 0u;`);
  out.block("if (alive)", () => {
    if (read !== undefined) out.line(`let position = ${narrowForm(context, move, form, coords)};`);
    if (!wide && rule !== undefined) {
      out.line(`${name} = resolve_${s}(position);`);
      if (rule.outside === "report") {
        out.line(`alive = ${name} < ${rule.below}u;`);
        emitReport(context);
      } else if (rule.mayBeNone) out.line(`alive = ${name} != ${none};`);
      return;
    }
    const raw = read === undefined ? wideForm(form, wordsOf(context, move, coords)) : rawValue(context, read);
    const count = rule === undefined ? fromEnd : rule.fromEnd;
    out.line(`var value = ${raw};`);
    if (count !== undefined) {
      out.line(`if (is_negative(value)) { value = add_wide(value, ${wideLiteral(count)}); }`);
    }
    if (rule === undefined) out.line(`${name} = value;`);
    else emitResolved(context, rule, name);
  });
}

/** The lowest output element whose index is out of range is kept: the report does not depend on timing. */
const emitReport = ({ out }: Context): void => {
  out.line("if (!alive) { atomicMin(&status[0], place); }");
};

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
  { below, outside }: NonNullable<SiteMove["rule"]>,
  name: string,
): void {
  const { out } = context;
  const inside = `is_below(value, ${below}u)`;
  if (below === 0 || outside === "none" || outside === "report" || outside === "promised") {
    out.line(`alive = ${inside};`);
    out.line(`${name} = value.x;`);
    if (outside === "report") emitReport(context);
    return;
  }
  if (outside === "nearest") {
    const end = `select(${below - 1}u, 0u, is_negative(value))`;
    out.line(`${name} = select(${end}, value.x, ${inside});`);
  } else out.line(`${name} = wrapped_wide(value, ${below}u);`);
}

function emitElement(context: Context, move: SitesMove, coords: readonly string[]): void {
  const { out, plan } = context;
  const { perWord, wordsPer } = plan.element;
  const output = outputName(context);
  const source = context.names.buffer(inputOf(plan.func, gatheredTable).name);
  const empty = elementCount(inputOf(plan.func, gatheredTable).type.shape) === 0;
  const copied = (then: (from: string) => void): void => {
    if (empty) return;
    out.block("if (alive)", () => {
      out.line(`let source = ${narrowForm(context, move, move.addresses.data, coords)};`);
      then("source");
    });
  };
  if (perWord > 1) {
    const bits = 32 / perWord;
    out.line(`var e = ${at(move.fill, 0)}u;`);
    copied((from) => {
      out.line(`e = ${context.unpack((word) => `${source}[${word}]`, from)};`);
    });
    // Neighbours in a word may be another lane's.
    out.line(`let shift = place % ${perWord}u * ${bits}u;`);
    out.line(`atomicAnd(&${output}[place / ${perWord}u], ~(${lowBits(bits)} << shift));`);
    out.line(`atomicOr(&${output}[place / ${perWord}u], e << shift);`);
    return;
  }
  const words = Array.from({ length: wordsPer }, (_, w) => (w === 0 ? "" : ` + ${w}u`));
  out.line(`let to = ${sum(scaled("place", wordsPer))};`);
  words.forEach((word, w) => {
    out.line(`${output}[to${word}] = ${at(move.fill, w)}u;`);
  });
  copied((from) => {
    out.line(`let first = ${sum(scaled(from, wordsPer))};`);
    for (const word of words) out.line(`${output}[to${word}] = ${source}[first${word}];`);
  });
}
