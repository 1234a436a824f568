/** gather of whole words: each lane moves groups of elements of the tile. */
import { assertNever, at } from "../../ir/types.js";
import { lowBits, type Context } from "./context.js";
import { declareElements, mayMiss, outputName, siteNames, sourceName, whereFound } from "./elements.js";
import { inOrder, scaled, sum } from "./forms.js";
import type { GatherMove, ResolvedSite, Width } from "./gather-move.js";
import { none, sawWorst } from "./resolve.js";
import { emitTileLoops, type TileLoops } from "./tile-loops.js";

type WordsMove = Extract<GatherMove, { readonly how: "rows" | "groups" | "words" }>;

/** The helpers that `groups` calls, before main. */
export function emitGroupHelpers(context: Context, move: GatherMove): void {
  const { out } = context;
  const { size } = context.plan.element;
  if (size > 4) return;
  const name = sourceName(context, move);
  const parts = ["x", "y", "z", "w"];
  out.line("// the elements at four addresses");
  out.block("fn fetch(source: vec4u) -> vec4u", () => {
    if (size === 4) {
      out.line(`return vec4u(${parts.map((c) => `${name}[source.${c}]`).join(", ")});`);
      return;
    }
    const [shift, mask, bits] = size === 2 ? ["1u", "1u", "4u"] : ["2u", "3u", "3u"];
    out.line(`let words = vec4u(${parts.map((c) => `${name}[source.${c} >> ${shift}]`).join(", ")});`);
    const low = lowBits(size * 8);
    out.line(`return (words >> ((source & vec4u(${mask})) << vec4u(${bits}))) & vec4u(${low});`);
  });
  out.line("");
  if (size === 4) return;
  out.line("// four elements side by side");
  if (size === 2) {
    out.block("fn pack(e: vec4u) -> vec2u", () => {
      out.line("return e.xz | (e.yw << vec2u(16u));");
    });
  } else {
    out.block("fn pack(e: vec4u) -> u32", () => {
      out.line("return e.x | (e.y << 8u) | (e.z << 16u) | (e.w << 24u);");
    });
  }
  out.line("");
}

export function emitGather(context: Context, move: WordsMove): void {
  const { out } = context;
  const { stmt, tile, group, resolved, sharing } = move;
  const rank = tile.length;
  const output = outputName(context);
  const loops = { tile, sizes: stmt.to.sizes, group };
  const start = tile.map(() => "0u");
  const emitMove = (coords: readonly string[]): void => {
    const to = context.address(move.addresses.output, coords);
    out.line(`let to = ${inAccesses(to, at(move.widths, move.widths.length - 1), context)};`);
    switch (move.how) {
      case "groups":
        emitGroup(context, move, coords, `${output}[to]`);
        break;
      case "rows":
        emitRow(context, move, coords, `${output}[to]`);
        break;
      case "words":
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
  const once = (body: () => void): void => {
    if (rank === 0) out.block(`if (${context.lanes.flat()} == 0u)`, body);
    else out.block("", body);
  };
  // An index is resolved outside the dims that share it.
  once(() => {
    emitTileLoops(
      context,
      {
        ...loops,
        dims: resolved,
        body(coords) {
          resolve(coords);
          emitTileLoops(context, { ...loops, dims: sharing, body: emitMove }, coords);
        },
      },
      start.slice(),
    );
  });
  if (move.sites.some(({ rule }) => rule.outside === "report")) {
    emitReports(context, move, { ...loops, dims: resolved }, start);
  }
}

/** 16 bytes of a row that one index serves. */
function emitRow(context: Context, move: GatherMove, coords: readonly string[], write: string): void {
  const { out } = context;
  const address = context.address(move.addresses.data, coords, siteNames(move));
  whereFound(
    context,
    move,
    () => {
      const from = inAccesses(address, at(move.widths, 0), context);
      out.line(`${write} = ${sourceName(context, move)}[${from}];`);
    },
    () => {
      out.line(`${write} = vec4u(0u);`);
    },
  );
}

/** One element, word by word. */
function emitWords(context: Context, move: GatherMove, coords: readonly string[], write: string): void {
  const { out } = context;
  const { wordsPer } = context.plan.element;
  const words = Array.from({ length: wordsPer }, (_, w) => (w === 0 ? "" : ` + ${w}u`));
  const address = context.address(move.addresses.data, coords, siteNames(move));
  whereFound(
    context,
    move,
    () => {
      out.line(`let source = ${sum(scaled(address, wordsPer))};`);
      for (const word of words)
        out.line(`${write}[to${word}] = ${sourceName(context, move)}[source${word}];`);
    },
    () => {
      for (const word of words) out.line(`${write}[to${word}] = 0u;`);
    },
  );
}

/** Looks for the first output element of this workgroup whose index is out of range, once some lane has seen one. */
function emitReports(
  context: Context,
  move: GatherMove,
  loops: Omit<TileLoops, "body">,
  start: readonly string[],
): void {
  const { out } = context;
  const { group, addresses, sites } = move;
  const innermost = start.length - 1;
  const reporting = sites.filter(({ rule }) => rule.outside === "report");
  const seen = reporting.map(sawWorst).join(" || ");
  const exists = move.maybeEmpty.map((size) => `0u < ${context.form(size)}`);
  const test = exists.length === 0 ? seen : [`(${seen})`, ...exists].join(" && ");
  out.line("// report the first index out of range");
  out.block(`for (var again = ${test}; again; again = false)`, () => {
    const report = (coords: readonly string[]): void => {
      const place = context.address(addresses.output, coords);
      for (const { axis, address } of reporting) {
        out.line(`report_${axis}(${context.address(address, coords)}, ${place});`);
      }
    };
    const body = (coords: string[]): void => {
      if (group === 1 || !loops.dims.includes(innermost)) {
        report(coords);
        return;
      }
      out.block(`for (var e = 0u; e < ${group}u; e++)`, () => {
        report(coords.map((name, d) => (d === innermost ? (name === "0u" ? "e" : `${name} + e`) : name)));
      });
    };
    emitTileLoops(context, { ...loops, body }, start.slice());
  });
}

/** A flat element number as a number of accesses of `width` words. */
function inAccesses(flat: string, width: Width, { plan }: Context): string {
  const elements = (width * 4) / plan.element.size;
  if (elements < 1) return sum(scaled(flat, 1 / elements));
  if (elements === 1) return flat;
  return `(${flat}) >> ${Math.log2(elements)}u`;
}

const shiftedBy = (coords: readonly string[], by: number): string[] =>
  coords.map((name, d) =>
    d < coords.length - 1 || by === 0 ? name : name === "0u" ? `${by}u` : `${name} + ${by}u`,
  );

/** Declares `at<k>_<n>` for the elements of a group, and `none<k>_<n>` where an index may have none. */
function declareGroup(context: Context, move: GatherMove, coords: readonly string[]): void {
  const { out } = context;
  const wide = context.plan.element.size > 4;
  for (let n = 0; n < (wide ? move.group : 1); n++) {
    for (const { axis, address, rule, four } of move.sites) {
      const resolved = (shift: number): string =>
        `resolve_${axis}(${context.address(address, shiftedBy(coords, shift))})`;
      const together = four ? resolved(0) : `vec4u(${[0, 1, 2, 3].map(resolved).join(", ")})`;
      out.line(`let at${axis}_${n} = ${wide ? resolved(n) : together};`);
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
      ? elementAt(context, move, shiftedBy(coords, n), n)
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
    if (of.kind === "dim" && of.dim === innermost) return [`vec4u(0u, ${by}u, ${2 * by}u, ${3 * by}u)`];
    if (of.kind !== "site") return [];
    const name = found(at(sites, of.site), 0, "vec4u(0u)");
    return [by === 1 ? name : `${name} * vec4u(${by}u)`];
  });
  return [...(base === "0u" ? [] : [`vec4u(${base})`]), ...vectors].join(" + ");
}
