/** Words of a scatter's points, which the scalar unit moves, or combines as integers. */
import type { Combine } from "../../ir/access.js";
import { outputOf } from "../../ir/func.js";
import { add, constant, scale } from "../../ir/linear.js";
import { assertNever } from "../../ir/types.js";
import type { PtoContext } from "./context.js";
import type { Coordinate } from "./forms.js";
import { readerOf } from "./gather-rows.js";
import type { PtoScatter } from "./scatter-plan.js";
import { integerName, type Word } from "./words.js";

/** Function that emits the write of one row or element, given the names of its dims and index values. */
export type PointWriter = (dims: readonly Coordinate[], indices: readonly string[]) => void;

/**
 * Returns a function for the C++ expression of word `k` of the value that a point writes: a word of an
 * element that is read, or of a constant. `word`: words of the output.
 */
export function valueWords(
  context: PtoContext,
  { value }: PtoScatter,
  word: Word,
): (k: number, dims: readonly Coordinate[], indices: readonly string[]) => string {
  if (value.kind === "constant") return (k) => wordText(value.bits >> BigInt(8 * word.bytes * k), word);
  const read = readerOf(context, value.region);
  return (k, dims, indices) =>
    read(context.form(add(scale(value.address, word.each), constant(k)), dims, indices));
}

/** Word of a tile: the C++ name of the tile, and the place of the word in it. */
interface TileWord {
  readonly tile: string;
  readonly place: string;
  readonly word: Word;
}

/**
 * Emits the code by which the scalar unit writes the word `taken` to a tile. A combination is one of the
 * integers that the words are.
 */
export function emitWord(
  { plan, out }: PtoContext,
  combine: Combine,
  { tile, place, word }: TileWord,
  taken: string,
): void {
  if (combine === "set") {
    out.line(`${tile}.SetValue(${place}, ${taken});`);
    return;
  }
  const { dtype } = outputOf(plan.func).type;
  const type = integerName(dtype);
  out.line(`const uint32_t place = ${place};`);
  out.line(`const ${type} element = (${type})${tile}.GetValue(place);`);
  out.line(`const ${type} value = (${type})${taken};`);
  out.line(`${tile}.SetValue(place, (${word.name})(${combinedText(combine)}));`);
}

/** Returns the C++ expression that combines the integers `element` and `value`; sums and products wrap. */
function combinedText(combine: Exclude<Combine, "set">): string {
  switch (combine) {
    case "add":
      return "(uint32_t)element + (uint32_t)value";
    case "mul":
      return "(uint32_t)element * (uint32_t)value";
    case "min":
      return "value < element ? value : element";
    case "max":
      return "value > element ? value : element";
    default:
      return assertNever(combine);
  }
}

/** Returns bits as a C++ literal of a word. */
const wordText = (bits: bigint, { name, bytes }: Word): string =>
  `(${name})${String(BigInt.asIntN(8 * bytes, bits)).replace("-2147483648", "(-2147483647 - 1)")}`;
