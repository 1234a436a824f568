/** gather of whole words: each lane moves groups of elements of the tile. */
import { isConstant, soleAtom } from "../../ir/linear.js";
import { assertNever, at } from "../../ir/types.js";
import type { Context } from "./context.js";
import {
  declareBad,
  declareElements,
  declareResolved,
  emitReport,
  mayMiss,
  missingSites,
  outputName,
  resolved,
  siteNames,
  sourceName,
  whereFound,
  wordAt,
} from "./elements.js";
import { inOrder, scaled, sum } from "./forms.js";
import type { GatherMove, ResolvedSite } from "./gather-move.js";
import { axesOf } from "./lanes.js";
import { fourOf, none } from "./resolve.js";
import { emitRun, emitTileLoops } from "./tile-loops.js";

type WordsMove = Extract<GatherMove, { readonly how: "rows" | "groups" | "words" }>;

/** The helpers that `groups` calls, before main. */
export function emitGroupHelpers(context: Context, move: GatherMove): void {
  const { out } = context;
  const { size } = context.plan.element;
  if (size > 4) return;
  const parts = ["x", "y", "z", "w"];
  // Adapters in software shift vectors one number at a time; they multiply and choose them as a whole.
  out.line(`// the elements at four addresses${size === 4 ? "" : ", each in the high bits"}`);
  out.block("fn fetch(source: vec4u) -> vec4u", () => {
    if (size === 4) {
      out.line(`return vec4u(${parts.map((c) => wordAt(context, move, `source.${c}`)).join(", ")});`);
      return;
    }
    const shift = Math.log2(4 / size);
    const words = parts.map((c) => wordAt(context, move, `source.${c} >> ${shift}u`));
    out.line(`let words = vec4u(${words.join(", ")});`);
    const raised = (name: string, bit: number): string => {
      const by = 2 ** (8 * size * bit);
      return `select(${name} * vec4u(${by}u), ${name}, (source & vec4u(${bit}u)) != vec4u(0u))`;
    };
    if (size === 2) {
      out.line(`return ${raised("words", 1)};`);
      return;
    }
    out.line(`let half = ${raised("words", 2)};`);
    out.line(`return ${raised("half", 1)};`);
  });
  out.line("");
  if (size === 4) return;
  out.line("// four elements side by side");
  if (size === 2) {
    out.block("fn pack(e: vec4u) -> vec2u", () => {
      out.line("return (e.xz >> vec2u(16u)) | (e.yw & vec2u(0xffff0000u));");
    });
  } else {
    out.block("fn pack(e: vec4u) -> u32", () => {
      out.line("let high = e & vec4u(0xff000000u);");
      out.line("return (high.x >> 24u) | (high.y >> 16u) | (high.z >> 8u) | high.w;");
    });
  }
  out.line("");
}

export function emitGather(context: Context, move: WordsMove): void {
  const { out } = context;
  const { sizes, tile, resolved, sharing } = move;
  const output = outputName(context);
  const loops = { tile, sizes, groups: groupsOf(move), axes: axesOf(tile) };
  const emitMove = (coords: readonly string[]): void => {
    switch (move.how) {
      case "groups":
        out.line(`let to = ${placeOf(context, move, coords)};`);
        emitGroup(context, move, coords, `${output}[to]`);
        break;
      case "rows":
        if (move.fourAlong === undefined) emitRow(context, move, coords, output);
        else emitFourRows(context, move, move.fourAlong, coords);
        break;
      case "words":
        out.line(`let to = ${placeOf(context, move, coords)};`);
        emitWords(context, move, coords, output);
        break;
      default:
        assertNever(move.how);
    }
  };
  const resolve = (coords: readonly string[]): void => {
    if (move.how === "groups") declareGroup(context, move, coords);
    else declareElements(context, move, coords);
  };
  const whole = move.how === "rows" && move.fourAlong === undefined;
  const around = whole ? sharing.filter((d) => d < tile.length - 1) : sharing;
  // An index is resolved outside the dims that share it.
  out.block("", () => {
    declareBad(context, move);
    emitTileLoops(
      context,
      {
        ...loops,
        dims: resolved,
        body(coords) {
          resolve(coords);
          emitTileLoops(context, { ...loops, dims: around, body: emitMove }, coords);
        },
      },
      tile.map(() => "0u"),
    );
    emitReport(context, move);
  });
}

/** Coordinates that a lane takes at a time along each dim. */
const groupsOf = ({ tile, group, fourAlong }: GatherMove): number[] =>
  tile.map((_, d) => (d === tile.length - 1 ? group : d === fourAlong ? 4 : 1));

/** The output's access at a coordinate. */
const placeOf = (context: Context, { addresses, widths }: GatherMove, coords: readonly string[]): string =>
  context.access(addresses.output, context.elementsOf(at(widths, widths.length - 1)), coords);

/** The data's access at a coordinate. */
const sourceOf = (
  context: Context,
  { addresses, staged, widths }: GatherMove,
  coords: readonly string[],
  sites: readonly string[],
): string =>
  context.access(addresses.data, context.elementsOf(staged?.stagedWidth ?? at(widths, 0)), coords, sites);

/** A row that one index serves, 16 bytes at a time: where it starts is found once. */
function emitRow(context: Context, move: GatherMove, coords: readonly string[], output: string): void {
  const { out } = context;
  const innermost = coords.length - 1;
  const size = at(move.sizes, innermost);
  const end = isConstant(size)
    ? size.at / move.group
    : `((${context.form(size)}) >> ${Math.log2(move.group)}u)`;
  out.line(`let to = ${placeOf(context, move, coords)};`);
  whereFound(
    context,
    missingSites(move),
    () => {
      out.line(`let source = ${sourceOf(context, move, coords, siteNames(move))};`);
      emitRun(context, end, (unit) => {
        out.line(`${output}[to${unit}] = ${sourceName(context, move)}[source${unit}];`);
      });
    },
    () => {
      emitRun(context, end, (unit) => {
        out.line(`${output}[to${unit}] = vec4u(0u);`);
      });
    },
  );
}

/** 16 bytes of each of four rows. */
function emitFourRows(context: Context, move: GatherMove, along: number, coords: readonly string[]): void {
  const { out } = context;
  ["x", "y", "z", "w"].forEach((part, n) => {
    const row = shiftedBy(coords, along, n);
    const to = `${outputName(context)}[${placeOf(context, move, row)}]`;
    const sites = siteNames(move).map((name) => `${name}.${part}`);
    const missing = missingSites(move).map((name) => `${name}.${part}`);
    whereFound(
      context,
      missing,
      () => {
        out.line(`${to} = ${sourceName(context, move)}[${sourceOf(context, move, row, sites)}];`);
      },
      () => {
        out.line(`${to} = vec4u(0u);`);
      },
    );
  });
}

/** One element, word by word. */
function emitWords(context: Context, move: GatherMove, coords: readonly string[], write: string): void {
  const { out } = context;
  const { wordsPer } = context.plan.element;
  const words = Array.from({ length: wordsPer }, (_, w) => (w === 0 ? "" : ` + ${w}u`));
  const address = context.address(move.addresses.data, coords, siteNames(move));
  whereFound(
    context,
    missingSites(move),
    () => {
      out.line(`let source = ${sum(scaled(address, wordsPer))};`);
      for (const word of words) out.line(`${write}[to${word}] = ${wordAt(context, move, `source${word}`)};`);
    },
    () => {
      for (const word of words) out.line(`${write}[to${word}] = 0u;`);
    },
  );
}

const shiftedBy = (coords: readonly string[], along: number, by: number): string[] =>
  coords.map((name, d) => (d !== along || by === 0 ? name : name === "0u" ? `${by}u` : `${name} + ${by}u`));

/** Declares `at<k>_<n>` for the elements of a group, and `none<k>_<n>` where an index may have none. */
function declareGroup(context: Context, move: GatherMove, coords: readonly string[]): void {
  const { out } = context;
  const wide = context.plan.element.size > 4;
  for (let n = 0; n < (wide ? move.group : 1); n++) {
    const place = context.address(move.addresses.output, shiftedBy(coords, coords.length - 1, n));
    for (const site of move.sites) {
      const { axis, rule } = site;
      const neighbour = (shift: number): string =>
        resolved(context, site, shiftedBy(coords, coords.length - 1, shift));
      const value =
        wide || site.four ? neighbour(n) : `${fourOf(rule)}(${[0, 1, 2, 3].map(neighbour).join(", ")})`;
      declareResolved(context, site, { name: `at${axis}_${n}`, value, four: !wide, place });
      if (!rule.mayBeNone) continue;
      out.line(`let none${axis}_${n} = at${axis}_${n} == ${wide ? none : `vec4u(${none})`};`);
    }
  }
}

/** The output of a group from the elements it gathers. */
function emitGroup(context: Context, move: GatherMove, coords: readonly string[], write: string): void {
  const { out } = context;
  const { size } = context.plan.element;
  const wide = size > 4;
  const values = Array.from({ length: wide ? move.group : 1 }, (_, n) => {
    const value = wide
      ? elementAt(context, move, shiftedBy(coords, coords.length - 1, n), n)
      : `fetch(${quadAddress(context, move, coords)})`;
    const missing = mayMiss(move)
      .map(({ axis }) => `none${axis}_${n}`)
      .join(wide ? " || " : " | ");
    const zero = `vec${size === 8 ? 2 : 4}u(0u)`;
    return missing === "" ? value : `select(${value}, ${zero}, ${missing})`;
  });
  const [first = ""] = values;
  const whole = values.length === 1 ? first : `vec4u(${values.join(", ")})`;
  out.line(`${write} = ${size < 4 ? `pack(${first})` : whole};`);
}

/** One element wider than a word. */
function elementAt(context: Context, move: GatherMove, coords: readonly string[], n: number): string {
  const sites = move.sites.map((site) => found(site, n, "0u"));
  return `${sourceName(context, move)}[${context.address(move.addresses.data, coords, sites)}]`;
}

/** An index without an element reads element 0, and its bits are dropped. */
const found = ({ axis, rule }: ResolvedSite, n: number, zero: string): string =>
  rule.mayBeNone ? `select(at${axis}_${n}, ${zero}, none${axis}_${n})` : `at${axis}_${n}`;

/** The addresses of four elements from a coordinate on. */
function quadAddress(context: Context, { addresses, sites }: GatherMove, coords: readonly string[]): string {
  const innermost = coords.length - 1;
  const { at: constantPart, terms } = addresses.data;
  const scalar = { at: constantPart, terms: terms.filter(({ of }) => of.kind !== "site") };
  const base = context.address(scalar, coords);
  const vectors = inOrder(terms).flatMap(({ by, of }) => {
    // Four neighbours are of one row: a remainder moves as the place itself, and a quotient stands still.
    const inRow = of.kind === "mod" ? soleAtom(of.of) : of;
    if (inRow?.kind === "dim" && inRow.dim === innermost)
      return [`vec4u(0u, ${by}u, ${2 * by}u, ${3 * by}u)`];
    if (of.kind !== "site") return [];
    const name = found(at(sites, of.site), 0, "vec4u(0u)");
    return [by === 1 ? name : `${name} * vec4u(${by}u)`];
  });
  return [...(base === "0u" ? [] : [`vec4u(${base})`]), ...vectors].join(" + ");
}
