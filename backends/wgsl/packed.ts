/**
 * gather of 8- and 16-bit elements whose rows share words with their neighbours. Either the lane whose row
 * holds a word's first element writes it whole, so that no two lanes of the grid ever write one word; or each
 * row puts in its own bits.
 */
import { gatheredTable } from "../../ir/access.js";
import { outputPlace, elementsOf, inputOf, outputOf } from "../../ir/func.js";
import { stepAlong } from "../../ir/linear.js";
import { residue } from "../../ir/intervals/range.js";
import { extentsOver } from "../../ir/symbols/symbols.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, elementCount, strides } from "../../ir/types.js";
import { lowBits, type WgslContext } from "./context.js";
import { fillWords, orFill, outputName, readsNothing, wordAt } from "./elements.js";
import { computed, named, sumText, times, zero } from "./forms.js";
import type { GatherMove, SharedWords, Unit } from "./gather-move.js";
import { declareBad, declareIndices, emitReport, narrowForm, indexNames } from "./index-values.js";
import { axesOf } from "./lanes.js";
import { declareValue } from "./values.js";
import { emitTileLoops, emitUnrolled } from "./tile-loops.js";

type Packed = Extract<Unit, { readonly how: "packed" }>;

/**
 * Emits the WGSL code of a gather of 8- or 16-bit elements whose output rows do not begin and end at 32-bit
 * word boundaries.
 */
export function emitPackedGather(context: WgslContext, move: GatherMove, unit: Packed): void {
  const { out } = context;
  const { stmt, tile, maybeEmpty } = move;
  const { shared, group: perWord } = unit;
  const innermost = tile.length - 1;
  const length = tile[innermost] ?? 1;
  const size = stmt.to.sizes[innermost];
  // A row that starts inside a word touches one more.
  const words = Math.ceil((shared.by === "merged" ? length + perWord - 1 : length) / perWord);
  const loops = {
    tile,
    sizes: stmt.to.sizes,
    groups: tile.map(() => 1),
    axes: axesOf(tile),
    dims: tile.map((_, d) => d).slice(0, -1),
  };
  const body = (coords: readonly Amount[]): void => {
    const along = (place: Amount): Amount[] => coords.map((name, d) => (d === innermost ? place : name));
    const row: Row = { size: size === undefined ? "1u" : context.form(size), along };
    const exists = size !== undefined && maybeEmpty.includes(size) ? [`0u < ${row.size}`] : [];
    context.guarded(exists, () => {
      out.line(`let first = ${context.address(move.addresses.output, along(zero))};`);
      if (isRun(move)) declareIndices(context, move, { coords: along(zero) });
      const start = shared.by === "merged" ? "first" : `(first + ${perWord - 1}u)`;
      out.line(`let start = ${start} >> ${Math.log2(perWord)}u;`);
      emitUnrolled(context, { name: "k", end: words, group: 1, axis: "x" }, () => {
        out.line("let word = start + k;");
        out.block(`if (word * ${perWord}u < first + ${row.size})`, () => {
          out.line("var packed = 0u;");
          if (shared.by === "merged") emitPackedElement(context, move, unit, row);
          else emitWord(context, move, unit, shared, row);
        });
      });
    });
  };
  out.block("", () => {
    declareBad(context, move);
    emitTileLoops(
      context,
      { ...loops, body },
      tile.map(() => zero),
    );
    emitReport(context, move, []);
  });
}

/** A row of the tile: its length, and the coordinates of a place in it. */
interface Row {
  readonly size: string;
  readonly along: (place: Amount) => Amount[];
}

/** True if one index serves the row, and the elements of the row are contiguous. */
const isRun = ({ tile, resolved, addresses, values }: GatherMove): boolean =>
  values === undefined &&
  tile.length > 0 &&
  !resolved.includes(tile.length - 1) &&
  stepAlong(addresses.data, "dim", tile.length - 1) === 1;

/**
 * Emits the code by which one lane writes a whole 32-bit output word, including elements of the next rows.
 */
function emitWord(context: WgslContext, move: GatherMove, unit: Packed, shared: Recomputed, row: Row): void {
  const { out } = context;
  const { group: perWord } = unit;
  out.line(`let d = word * ${perWord}u - first;`);
  out.block(`if (d + ${perWord}u <= ${row.size})`, () => {
    if (isRun(move)) {
      const filled = fillWords(move, 0, 1);
      if (readsNothing(context, move)) {
        out.line(`packed = ${filled};`);
        return;
      }
      out.line(`let source = ${narrowForm(context, move, move.addresses.data, row.along(named("d")))};`);
      out.line(`packed = ${orFill(move, filled, "run(source)")};`);
      return;
    }
    const coords = row.along(computed("d + e"));
    out.block(`for (var e = 0u; e < ${perWord}u; e++)`, () => {
      declareIndices(context, move, { coords });
      emitElementBits(context, move, unit, coords);
    });
  });
  // The rest of the word belongs to other rows: straight from global memory.
  out.block("else", () => {
    emitAcrossRows(context, move, unit, shared, row);
  });
  out.line(`${outputName(context)}[word] = packed;`);
}

/** Emits the code that assembles a 32-bit output word with elements of several rows, in row-major order. */
function emitAcrossRows(
  context: WgslContext,
  move: GatherMove,
  unit: Packed,
  shared: Recomputed,
  row: Row,
): void {
  const { out, plan } = context;
  const { group: perWord } = unit;
  const output = outputOf(plan.func);
  const { shape } = output.type;
  const total = elementsOf(plan.func, output);
  const moving = shape.flatMap((extent, d) => (extent > 1 ? [d] : []));
  for (const d of moving) {
    const start = context.amount(at(shared.offsets, d));
    out.line(`var c${d} = ${sumText([start, at(row.along(named("d")), d)])};`);
  }
  const [outermost] = moving;
  const extents = extentsOver(shape, plan.func.symbolic?.outermost[outputPlace(plan.func)] ?? null);
  const fillsWords = outermost === undefined || residue(total, perWord, []) === 0;
  const inside = fillsWords ? "" : ` && c${outermost} < ${context.form(at(extents, outermost))}`;
  out.block(`for (var e = 0u; e < ${Math.min(perWord, elementCount(shape))}u${inside}; e++)`, () => {
    const coords = shape.map((_, d) => (moving.includes(d) ? named(`c${d}`) : zero));
    emitElement(context, move, unit, shared, coords);
    emitNext(context, shape, moving);
  });
}

/**
 * Emits the code that advances the WGSL variables `c<d>` (coordinates of an element) to the next element in
 * row-major order. `moving`: dims with an extent above 1, outermost first.
 */
function emitNext(context: WgslContext, shape: readonly number[], moving: readonly number[]): void {
  const { out } = context;
  const d = moving[moving.length - 1];
  if (d === undefined) return;
  out.line(`c${d} += 1u;`);
  if (moving.length === 1) return;
  out.block(`if (c${d} == ${at(shape, d)}u)`, () => {
    out.line(`c${d} = 0u;`);
    emitNext(context, shape, moving.slice(0, -1));
  });
}

/**
 * Emits the code that assembles the bits of one row in a 32-bit output word and merges the bits atomically
 * into the word.
 */
function emitPackedElement(context: WgslContext, move: GatherMove, unit: Packed, { size, along }: Row): void {
  const { out } = context;
  const { group: perWord } = unit;
  const bits = 32 / perWord;
  out.line("var mask = 0u;");
  out.block(`for (var e = 0u; e < ${perWord}u; e++)`, () => {
    out.line(`let flat = word * ${perWord}u + e;`);
    out.block(`if (first <= flat && flat < first + ${size})`, () => {
      const coords = along(computed("flat - first"));
      if (!isRun(move)) declareIndices(context, move, { coords });
      emitElementBits(context, move, unit, coords);
      out.line(`mask |= ${lowBits(bits)} << (e * ${bits}u);`);
    });
  });
  out.line(`atomicAnd(&${outputName(context)}[word], ~mask);`);
  out.line(`atomicOr(&${outputName(context)}[word], packed);`);
}

/**
 * Emits the code that puts one element of the tile into the WGSL variable `packed` (an output word), at
 * position `e`.
 */
function emitElementBits(
  context: WgslContext,
  move: GatherMove,
  unit: Packed,
  coords: readonly Amount[],
): void {
  const { values } = move;
  if (values !== undefined) {
    emitComputed(context, move, unit, () => declareValue(context, move, values, { coords })(0));
    return;
  }
  const source = narrowForm(context, move, move.addresses.data, coords);
  emitBits(context, move, unit, source, (place) => wordAt(context, move, place));
}

type Recomputed = Extract<SharedWords, { readonly by: "recomputed" }>;

/**
 * Emits the code that reads one output element from global memory and puts the element into the WGSL variable
 * `packed` (an output word).
 */
function emitElement(
  context: WgslContext,
  move: GatherMove,
  unit: Packed,
  shared: Recomputed,
  coords: readonly Amount[],
): void {
  const { plan, names } = context;
  const data = names.buffer(inputOf(plan.func, gatheredTable).name);
  const steps = strides(outputOf(plan.func).type.shape);
  const place = sumText(steps.map((step, d) => times(at(coords, d), step)));
  declareIndices(context, move, { coords, forms: shared.indices, place });
  const { values } = move;
  if (values !== undefined) {
    const { indices: forms, reads } = shared;
    emitComputed(context, move, unit, () => declareValue(context, move, values, { coords, forms, reads })(0));
    return;
  }
  const source = context.address(shared.data, coords, indexNames(move));
  emitBits(context, move, unit, source, (word) => `${data}[${word}]`);
}

/**
 * Emits the code that puts one computed element, or the fill element, at position `e` of the WGSL variable
 * `packed`. `declared`: emits the computation and returns the WGSL name of the result.
 */
function emitComputed(
  context: WgslContext,
  move: GatherMove,
  { group: perWord }: Packed,
  declared: () => string,
): void {
  const bits = 32 / perWord;
  const filled = fillBits(move);
  const element = readsNothing(context, move)
    ? filled
    : orFill(move, filled, `${declared()} & ${lowBits(bits)}`);
  context.out.line(`packed |= (${element}) << (e * ${bits}u);`);
}

/** Returns the bits of an element that has none. */
const fillBits = ({ fill }: GatherMove): string => `${fill.reduceRight((sum, byte) => sum * 256 + byte, 0)}u`;

/**
 * Emits the code that puts the element at address `source`, or the fill element, at position `e` of the WGSL
 * variable `packed`. `word`: returns the WGSL text of the 32-bit word at an address.
 */
function emitBits(
  context: WgslContext,
  move: GatherMove,
  { group: perWord }: Packed,
  source: string,
  word: (place: string) => string,
): void {
  const { out } = context;
  const bits = 32 / perWord;
  const filled = fillBits(move);
  if (readsNothing(context, move)) {
    out.line(`packed |= ${filled} << (e * ${bits}u);`);
    return;
  }
  out.line(`let source = ${source};`);
  out.line(`packed |= ${orFill(move, filled, context.unpack(word, "source"))} << (e * ${bits}u);`);
}

/**
 * Emits the WGSL helper function `run` of a packed gather; emits nothing if the gather does not call `run`.
 */
export function emitPackedHelpers(context: WgslContext, move: GatherMove, unit: Packed): void {
  if (unit.shared.by === "recomputed" && isRun(move) && !readsNothing(context, move))
    emitRun(context, move, unit);
}

/**
 * Emits the WGSL function `run(source)`, which returns a 32-bit word of contiguous elements of the data from
 * element index `source` on.
 */
function emitRun(context: WgslContext, move: GatherMove, { group: perWord }: Packed): void {
  const { out } = context;
  const log = Math.log2(perWord);
  out.block("fn run(source: u32) -> u32", () => {
    out.line(`let low = ${wordAt(context, move, `source >> ${log}u`)};`);
    out.line(`let high = ${wordAt(context, move, `(source + ${perWord - 1}u) >> ${log}u`)};`);
    out.line(`let shift = (source & ${perWord - 1}u) * ${32 / perWord}u;`);
    out.line("return select((low >> shift) | (high << (32u - shift)), low, shift == 0u);");
  });
  out.line("");
}
