/**
 * gather of 8- and 16-bit elements whose rows share words with their neighbours. Either the lane whose row holds a word's
 * first element writes it whole, so that no two lanes of the grid ever write one word; or each row puts in its own bits.
 */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, outputOf } from "../../ir/func.js";
import { at, elementCount } from "../../ir/types.js";
import { lowBits, type Context } from "./context.js";
import { declareElements, outputName, siteNames, sourceName, whereFound } from "./elements.js";
import type { GatherMove, ResolvedSite, SharedWords } from "./gather-move.js";
import { none, sawWorst } from "./resolve.js";

type PackedMove = Extract<GatherMove, { readonly how: "packed" }>;

export function emitPackedGather(context: Context, move: PackedMove): void {
  const { out } = context;
  const { stmt, tile, shared, group: perWord } = move;
  const rank = tile.length;
  const rows = tile.slice(0, -1);
  const length = tile[rank - 1] ?? 1;
  // A row that starts inside a word touches one more.
  const words = Math.ceil((shared.by === "merged" ? length + perWord - 1 : length) / perWord);
  context.lanesOver(elementCount(rows) * words, () => {
    const names = context.decode("slot", [...rows, words]);
    const along = (innermost: string): string[] => (rank === 0 ? [] : [...names.slice(0, -1), innermost]);
    const guards = rows.flatMap((extent, d) => context.guard(at(names, d), at(stmt.to.sizes, d), extent));
    context.guarded(guards, () => {
      const size = rank === 0 ? "1u" : context.form(at(stmt.to.sizes, rank - 1));
      const row: Row = { end: `first + ${size}`, coords: along("(flat - first)") };
      const place = at(names, names.length - 1);
      out.line(`let first = ${context.address(move.addresses.output, along("0u"))};`);
      const start = shared.by === "merged" ? "first" : `(first + ${perWord - 1}u)`;
      out.line(`let word = ${start} / ${perWord}u + ${place};`);
      out.block(`if (word * ${perWord}u < ${row.end})`, () => {
        if (shared.by === "merged") emitOwnBits(context, move, row);
        else emitWholeWord(context, move, row);
      });
    });
  });
}

/** A row of the tile: the output element behind it, and the coordinates of its element `flat`. */
interface Row {
  readonly end: string;
  readonly coords: readonly string[];
}

function emitWholeWord(context: Context, move: PackedMove, { end, coords }: Row): void {
  const { out } = context;
  const { group: perWord } = move;
  const total = elementCount(outputOf(context.plan.func).type.shape);
  out.line("var packed = 0u;");
  out.block(`for (var e = 0u; e < ${perWord}u; e++)`, () => {
    out.line(`let flat = word * ${perWord}u + e;`);
    const beyond = (): void => {
      // The rest of the word belongs to other rows: straight from global memory.
      const inside = total % perWord === 0 ? "" : `if (flat < ${total}u) `;
      out.line(`${inside}{ packed |= element(flat) << (e * ${32 / perWord}u); }`);
    };
    if (move.staged === undefined) {
      beyond();
      return;
    }
    out.block(`if (flat < ${end})`, () => {
      emitOwn(context, move, coords);
    });
    out.block("else", beyond);
  });
  out.line(`${outputName(context)}[word] = packed;`);
}

function emitOwnBits(context: Context, move: PackedMove, { end, coords }: Row): void {
  const { out } = context;
  const { group: perWord } = move;
  const bits = 32 / perWord;
  out.line("var packed = 0u;");
  out.line("var mask = 0u;");
  out.block(`for (var e = 0u; e < ${perWord}u; e++)`, () => {
    out.line(`let flat = word * ${perWord}u + e;`);
    out.block(`if (first <= flat && flat < ${end})`, () => {
      emitOwn(context, move, coords);
      out.line(`mask |= ${lowBits(bits)} << (e * ${bits}u);`);
    });
  });
  out.line(`atomicAnd(&${outputName(context)}[word], ~mask);`);
  out.line(`atomicOr(&${outputName(context)}[word], packed);`);
}

/** An element of the tile itself, to its place in `packed`. */
function emitOwn(context: Context, move: PackedMove, coords: readonly string[]): void {
  const { out } = context;
  declareElements(context, move, coords);
  for (const site of move.sites) emitReport(context, site, context.address(site.address, coords));
  whereFound(context, move, () => {
    out.line(`let source = ${context.address(move.addresses.data, coords, siteNames(move))};`);
    const bits = context.unpack(sourceName(context, move), "source");
    out.line(`packed |= ${bits} << (e * ${32 / move.group}u);`);
  });
}

/** fn element(flat) -> the bits of one output element, from global memory: packed elements that tiles share. */
export function emitElement(
  context: Context,
  { sites }: PackedMove,
  shared: Extract<SharedWords, { readonly by: "recomputed" }>,
): void {
  const { out, plan, names } = context;
  const data = inputOf(plan.func, gatheredTable);
  out.block("fn element(flat: u32) -> u32", () => {
    const coords = context.decode("flat", outputOf(plan.func).type.shape);
    sites.forEach((site, s) => {
      const position = context.address(at(shared.sites, s), coords);
      out.line(`let at${site.axis} = resolve_${site.axis}(${position});`);
      emitReport(context, site, position);
      if (site.rule.mayBeNone) out.line(`if (at${site.axis} == ${none}) { return 0u; }`);
    });
    if (elementCount(data.type.shape) === 0) {
      out.line("return 0u;");
      return;
    }
    const sources = sites.map(({ axis }) => `at${axis}`);
    out.line(`let source = ${context.address(shared.data, coords, sources)};`);
    out.line(`return ${context.unpack(names.buffer(data.name), "source")};`);
  });
  out.line("");
}

/** A word may hold another row's elements, which nobody else looks at: an index out of range is reported where it is read. */
function emitReport({ out }: Context, site: ResolvedSite, position: string): void {
  if (site.rule.outside !== "report") return;
  out.block(`for (var again = ${sawWorst(site)}; again; again = false)`, () => {
    out.line(`report_${site.axis}(${position}, flat);`);
  });
}
