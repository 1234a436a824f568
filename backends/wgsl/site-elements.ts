/** The elements behind the index values of a general map: rows, elements of whole words, or bits of shared words. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf } from "../../ir/func.js";
import { isConstant, type Linear } from "../../ir/linear.js";
import { at, elementCount } from "../../ir/types.js";
import { inAccesses, lowBits, type Context } from "./context.js";
import { outputName } from "./elements.js";
import type { Width } from "./gather-move.js";
import { narrowForm, siteNames } from "./site-forms.js";
import { isLarge, type SitesMove, type Unit } from "./sites-move.js";
import { emitRun } from "./tile-loops.js";

/** What a lane does at a coordinate: of rows, at the start of one, or of so many that lie end to end. */
export function emitElements(
  context: Context,
  move: SitesMove,
  coords: readonly string[],
  rows: number | string = 1,
): void {
  const { unit, inRows } = move;
  if (unit === undefined) emitPacked(context, move, coords);
  else if (inRows) emitRows(context, move, unit, coords, rows);
  else emitUnit(context, move, unit, coords);
}

/** Whether no element is read: an index value has none to name, or the data have none. */
const readsNothing = ({ plan }: Context, move: SitesMove): boolean =>
  move.sites.some(({ rule }) => rule?.below === 0) ||
  elementCount(inputOf(plan.func, gatheredTable).type.shape) === 0;

/** Whether an element may have none; one that is reported may have any bits. */
const mayFill = ({ sites }: SitesMove): boolean => sites.some(({ rule }) => rule?.mayBeNone === true);

const dataName = ({ names, plan }: Context): string => names.buffer(inputOf(plan.func, gatheredTable).name);

/** Accesses of `width` words from where rows start, which is found once. */
function emitRows(
  context: Context,
  move: SitesMove,
  { width }: Unit,
  coords: readonly string[],
  rows: number | string,
): void {
  const { out } = context;
  const { addresses, fill, sizes } = move;
  const elements = context.elementsOf(width);
  const size = at(sizes, sizes.length - 1);
  const row = isConstant(size) ? size.at / elements : `(${inAccesses(context.form(size), elements)})`;
  const end = lengthOf(context, row, rows);
  const target = outputName(context);
  // What fills repeats within an access, or is the same in all of them.
  const filling = (): void => {
    emitRun(context, end, (shift) => {
      out.line(`${target}[to${shift}] = ${fillWords(fill, 0, width)};`);
    });
  };
  out.line(`let to = ${context.access(addresses.output, elements, coords)};`);
  if (readsNothing(context, move)) {
    filling();
    return;
  }
  const copying = (): void => {
    out.line(`let source = ${placeOf(context, move, addresses.data, width, coords)};`);
    emitRun(context, end, (shift) => {
      out.line(`${target}[to${shift}] = ${dataName(context)}[source${shift}];`);
    });
  };
  if (!mayFill(move)) {
    copying();
    return;
  }
  out.block("if (alive)", copying);
  out.block("else", filling);
}

/** Accesses of rows end to end. */
function lengthOf({ out }: Context, row: number | string, rows: number | string): number | string {
  if (rows === 1) return row;
  if (typeof row === "number" && typeof rows === "number") return row * rows;
  out.line(`let end = ${rows} * ${typeof row === "number" ? `${row}u` : row};`);
  return "end";
}

/** The access of `width` words at an address. */
function placeOf(
  context: Context,
  move: SitesMove,
  form: Linear,
  width: Width,
  coords: readonly string[],
): string {
  const elements = context.elementsOf(width);
  return isLarge(form, move)
    ? inAccesses(narrowForm(context, move, form, coords), elements)
    : context.access(form, elements, coords, siteNames(move));
}

/** One element of whole words. */
function emitUnit(
  context: Context,
  move: SitesMove,
  { group, width }: Unit,
  coords: readonly string[],
): void {
  const { out, plan } = context;
  const output = outputName(context);
  const source = dataName(context);
  const accesses = (group * plan.element.size) / (4 * width);
  const each = (emit: (shift: string, access: number) => void): void => {
    for (let k = 0; k < accesses; k++) emit(k === 0 ? "" : ` + ${k}u`, k);
  };
  out.line(`let to = ${placeOf(context, move, move.addresses.output, width, coords)};`);
  const filled = (k: number): string => fillWords(move.fill, k * width, width);
  if (readsNothing(context, move)) {
    each((shift, k) => {
      out.line(`${output}[to${shift}] = ${filled(k)};`);
    });
    return;
  }
  out.line(`let source = ${placeOf(context, move, move.addresses.data, width, coords)};`);
  each((shift, k) => {
    const found = `${source}[source${shift}]`;
    out.line(`${output}[to${shift}] = ${mayFill(move) ? `select(${filled(k)}, ${found}, alive)` : found};`);
  });
}

/** Words of elements that have none, from a word of the first one on. */
function fillWords(fill: Uint8Array, first: number, width: Width): string {
  const words = Array.from({ length: width }, (_, w) => {
    const bytes = [3, 2, 1, 0].map((byte) => at([...fill], (4 * (first + w) + byte) % fill.length));
    return `${bytes.reduce((bits, byte) => bits * 256 + byte, 0)}u`;
  });
  const [word = "0u"] = words;
  if (width === 1) return word;
  return `vec${width}u(${words.every((other) => other === word) ? word : words.join(", ")})`;
}

/** One element of a word that it shares with those of other lanes. */
function emitPacked(context: Context, move: SitesMove, coords: readonly string[]): void {
  const { out, plan } = context;
  const { perWord } = plan.element;
  const source = dataName(context);
  const output = outputName(context);
  const bits = 32 / perWord;
  out.line(`let place = ${context.address(move.addresses.output, coords)};`);
  const filled = `${move.fill.reduceRight((sum, byte) => sum * 256 + byte, 0)}u`;
  if (readsNothing(context, move)) out.line(`let e = ${filled};`);
  else {
    out.line(`let source = ${narrowForm(context, move, move.addresses.data, coords)};`);
    const found = context.unpack((word) => `${source}[${word}]`, "source");
    out.line(`let e = ${mayFill(move) ? `select(${filled}, ${found}, alive)` : found};`);
  }
  out.line(`let shift = place % ${perWord}u * ${bits}u;`);
  out.line(`atomicAnd(&${output}[place / ${perWord}u], ~(${lowBits(bits)} << shift));`);
  out.line(`atomicOr(&${output}[place / ${perWord}u], e << shift);`);
}
