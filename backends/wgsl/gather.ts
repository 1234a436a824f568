/**
 * gather: each lane moves units of the tile, by index values that are resolved outside the dims that share
 * them.
 */
import { outputBytes } from "../../ir/func.js";
import { constant, isConstant, mod } from "../../ir/linear.js";
import type { Amount } from "../../ir/text/form-text.js";
import { assertNever, at, invariant } from "../../ir/types.js";
import { inAccesses, lowBits, type WgslContext } from "./context.js";
import { zero } from "./forms.js";
import { accessAt, fillWords, mayFill, orFill, outputName, readsNothing } from "./elements.js";
import { isLarge, type AccessWords, type GatherMove, type PageRun, type Unit } from "./gather-move.js";
import { emitAcross } from "./gather-across.js";
import {
  declareFourRows,
  declareGroup,
  emitFourRows,
  emitGroup,
  emitGroupHelpers,
} from "./gather-vectors.js";
import {
  declareBad,
  declareIndices,
  emitIndexHelpers,
  emitReport,
  narrowForm,
  indexNames,
} from "./index-values.js";
import { axesOf, groupsOf } from "./lanes.js";
import { emitPackedGather, emitPackedHelpers } from "./packed.js";
import { emitValueHelpers } from "./value-helpers.js";
import { valueHelpers } from "./value-steps.js";
import { declareValue } from "./values.js";
import { emitPages, emitRun, emitTileLoops } from "./tile-loops.js";

/** Emits the WGSL functions that the code of a gather calls, before `main`. */
export function emitGatherHelpers(context: WgslContext, move: GatherMove): void {
  emitIndexHelpers(context, move);
  const { unit } = move;
  if (unit.how === "packed") emitPackedHelpers(context, move, unit);
  if (unit.how === "groups") emitGroupHelpers(context, move);
  if (move.values !== undefined) emitValueHelpers(context.out, valueHelpers(move.values));
}

/** Emits the WGSL code of a gather, in which each lane moves groups of elements of the tile. */
export function emitGather(context: WgslContext, move: GatherMove): void {
  const { unit } = move;
  if (unit.how === "packed") emitPackedGather(context, move, unit);
  else emitUnits(context, move, unit);
}

/** Units of whole words. */
type WordUnit = Exclude<Unit, { readonly how: "packed" }>;

/**
 * Emits a gather whose element groups are whole 32-bit words, including the report of indices out of range.
 */
function emitUnits(context: WgslContext, move: GatherMove, unit: WordUnit): void {
  const { out } = context;
  const { sizes, tile } = move;
  out.block("", () => {
    declareBad(context, move);
    if (context.plan.branchesOnFullTiles) {
      const isFull = sizes.flatMap((size, d) =>
        isConstant(size) ? [] : [`${context.form(size)} == ${at(tile, d)}u`],
      );
      out.block(`if (${isFull.join(" && ")})`, () => {
        emitTile(context, { ...move, sizes: tile.map(constant) }, unit);
      });
      out.block("else", () => {
        emitTile(context, move, unit);
      });
    } else emitTile(context, move, unit);
    emitReport(context, move);
  });
}

/**
 * Emits the loops in which the lanes move the element groups of a tile. `move`: plan with the tile's sizes.
 */
function emitTile(context: WgslContext, move: GatherMove, unit: WordUnit): void {
  const { sizes, tile, resolved, sharing, page } = move;
  const loops = { tile, sizes, groups: groupsOf(move), axes: axesOf(tile) };
  if (unit.how === "across") {
    const dims = [...resolved.filter((d) => d !== unit.along), tile.length - 1];
    const body = (coords: Amount[]): void => {
      emitAcross(context, move, unit, coords);
    };
    emitTileLoops(
      context,
      { ...loops, dims, body },
      tile.map(() => zero),
    );
    return;
  }
  const inRuns = unit.how === "rows" && unit.fourAlong === undefined;
  const around = inRuns ? sharing.filter((d) => d < tile.length - 1) : sharing;
  // An index is resolved outside the dims that share it.
  const take = (coords: Amount[], rows: number | string = 1): void => {
    declare(context, move, coords);
    const body = (inner: readonly Amount[]): void => {
      emitUnit(context, move, unit, inner, rows);
    };
    emitTileLoops(context, { ...loops, dims: around, body }, coords);
  };
  const body = (coords: Amount[]): void => {
    if (page === undefined) take(coords);
    else emitByPages(context, move, page, coords, take);
  };
  const dims = resolved.filter((d) => d !== page?.dim);
  emitTileLoops(
    context,
    { ...loops, dims, body },
    tile.map(() => zero),
  );
}

/** Declares the index values at a coordinate. */
function declare(context: WgslContext, move: GatherMove, coords: readonly Amount[]): void {
  const { unit } = move;
  if (unit.how === "groups") declareGroup(context, move, coords);
  else if (unit.how === "rows" && unit.fourAlong !== undefined) declareFourRows(context, move, coords);
  else declareIndices(context, move, { coords });
}

/**
 * Emits the code that moves one group of elements at the coordinates `coords`. `rows`: number of contiguous
 * rows in the group, as a number or WGSL text.
 */
function emitUnit(
  context: WgslContext,
  move: GatherMove,
  unit: Exclude<WordUnit, { readonly how: "across" }>,
  coords: readonly Amount[],
  rows: number | string,
): void {
  switch (unit.how) {
    case "groups":
      emitGroup(context, move, coords);
      break;
    case "rows":
      if (unit.fourAlong === undefined) emitRows(context, move, unit, coords, rows);
      else emitFourRows(context, move, unit.fourAlong, coords);
      break;
    case "words":
      emitWords(context, move, unit, coords);
      break;
    case "computed":
      emitValues(context, move, unit, coords);
      break;
    default:
      assertNever(unit);
  }
}

/**
 * Emits the loop over the pages of an output dim. `take`: emits the body, given the coordinates of the first
 * row and the number of rows that a lane takes.
 */
function emitByPages(
  context: WgslContext,
  { sizes }: GatherMove,
  { dim, form, by, aligned }: PageRun,
  coords: readonly Amount[],
  take: (coords: Amount[], rows: number | string) => void,
): void {
  const along = (coordinate: Amount): Amount[] => coords.map((coord, d) => (d === dim ? coordinate : coord));
  const size = at(sizes, dim);
  const paged = {
    name: `d${dim}`,
    end: isConstant(size) ? size.at : context.form(size),
    by,
    outside: coords,
    aligned,
    into: (coordinate: Amount) => context.address(mod(form, by), along(coordinate)),
  };
  emitPages(context, paged, (start, rows) => {
    take(along(start), rows);
  });
}

/** Returns the data's access of so many elements at a coordinate. */
const sourceAt = (
  context: WgslContext,
  move: GatherMove,
  elements: number,
  coords: readonly Amount[],
): string =>
  isLarge(move.addresses.data, move.ranges)
    ? inAccesses(narrowForm(context, move, move.addresses.data, coords), elements)
    : context.access(move.addresses.data, elements, coords, indexNames(move));

/** Emits the copy of one row, or of `rows` contiguous rows, that one index value selects. */
function emitRows(
  context: WgslContext,
  move: GatherMove,
  { width }: Extract<Unit, { readonly how: "rows" }>,
  coords: readonly Amount[],
  rows: number | string,
): void {
  const { out } = context;
  const { addresses, sizes } = move;
  const elements = context.elementsOf(width);
  const size = at(sizes, sizes.length - 1);
  const row = isConstant(size) ? size.at / elements : `(${inAccesses(context.form(size), elements)})`;
  const end = lengthOf(context, row, rows);
  const target = outputName(context);
  // What fills repeats within an access, or is the same in all of them.
  const filling = (): void => {
    emitRun(context, end, (shift) => {
      out.line(`${target}[to${shift}] = ${fillWords(move, 0, width)};`);
    });
  };
  const copying = (): void => {
    out.line(`let source = ${sourceAt(context, move, elements, coords)};`);
    emitRun(context, end, (shift) => {
      out.line(`${target}[to${shift}] = ${accessAt(context, move, width, `source${shift}`)};`);
    });
  };
  out.line(`let to = ${context.access(addresses.output, elements, coords)};`);
  if (readsNothing(context, move)) filling();
  else if (!mayFill(move)) copying();
  else {
    out.block("if (alive)", copying);
    out.block("else", filling);
  }
}

/** Accesses of rows end to end. */
function lengthOf({ out }: WgslContext, row: number | string, rows: number | string): number | string {
  if (rows === 1) return row;
  if (typeof row === "number" && typeof rows === "number") return row * rows;
  out.line(`let end = ${rows} * ${typeof row === "number" ? `${row}u` : row};`);
  return "end";
}

/** Emits the WGSL code for one output element that consists of whole 32-bit words. */
function emitWords(
  context: WgslContext,
  move: GatherMove,
  { width }: Extract<Unit, { readonly how: "words" }>,
  coords: readonly Amount[],
): void {
  const { out, plan } = context;
  const output = outputName(context);
  const elements = context.elementsOf(width);
  const accesses = plan.element.size / (4 * width);
  const each = (emit: (shift: string, access: number) => string): void => {
    for (let k = 0; k < accesses; k++) {
      const shift = k === 0 ? "" : ` + ${k}u`;
      out.line(`${output}[to${shift}] = ${emit(shift, k)};`);
    }
  };
  const filled = (access: number): string => fillWords(move, access * width, width);
  if (move.values !== undefined) {
    const bits = readsNothing(context, move)
      ? filled(0)
      : declareValue(context, move, move.values, { coords })(0);
    out.line(
      `${output}[${context.address(move.addresses.output, coords)}] = ${orFill(move, filled(0), bits)};`,
    );
    return;
  }
  out.line(`let to = ${context.access(move.addresses.output, elements, coords)};`);
  if (readsNothing(context, move)) {
    each((_, access) => filled(access));
    return;
  }
  out.line(`let source = ${sourceAt(context, move, elements, coords)};`);
  each((shift, access) => orFill(move, filled(access), accessAt(context, move, width, `source${shift}`)));
}

/**
 * Emits the computation of a group of neighbouring output elements, and the stores by accesses of whole
 * 32-bit words.
 */
function emitValues(
  context: WgslContext,
  move: GatherMove,
  unit: Extract<Unit, { readonly how: "computed" }>,
  coords: readonly Amount[],
): void {
  const { out, plan } = context;
  const { group, width } = unit;
  const size = outputBytes(plan.func);
  const words = (group * size) / 4;
  const { values } = move;
  invariant(values !== undefined, "a unit of values has steps");
  const named = readsNothing(context, move)
    ? undefined
    : declareValue(context, move, values, { coords, unit });
  out.line(`let to = ${context.access(move.addresses.output, (4 * width) / size, coords)};`);
  for (let first = 0; first < words; first += width) {
    const filled = fillWords(move, first, width);
    const text = named === undefined ? filled : orFill(move, filled, accessOf(named, first, width, size));
    out.line(`${outputName(context)}[to${first === 0 ? "" : ` + ${first / width}u`}] = ${text};`);
  }
}

/**
 * Returns the WGSL text of an access of `width` 32-bit words, packed from computed elements of `size` bytes.
 * `first`: index of the first word. `named(e)`: WGSL name of the bits of element `e`.
 */
function accessOf(
  named: (element: number) => string,
  first: number,
  width: AccessWords,
  size: number,
): string {
  const words = Array.from({ length: width }, (_, w) => wordOf(named, first + w, size));
  const [word = ""] = words;
  return width === 1 ? word : `vec${width}u(${words.join(", ")})`;
}

/**
 * Returns the WGSL text of a 32-bit word, packed from computed elements of `size` bytes. `word`: index of the
 * word. `named(e)`: WGSL name of the bits of element `e`.
 */
function wordOf(named: (element: number) => string, word: number, size: number): string {
  const [perWord, bits] = [4 / size, 8 * size];
  if (perWord === 1) return named(word);
  return Array.from({ length: perWord }, (_, e) => {
    const name = named(word * perWord + e);
    return e === perWord - 1
      ? `(${name} << ${e * bits}u)`
      : shiftedInto(`(${name} & ${lowBits(bits)})`, e * bits);
  }).join(" | ");
}

const shiftedInto = (bits: string, place: number): string => (place === 0 ? bits : `(${bits} << ${place}u)`);
