/** The arrays that a gather's elements move between, and the bits of an element that has none. */
import { gatheredTable } from "../../ir/access.js";
import { inputOf, outputOf } from "../../ir/func.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, elementCount } from "../../ir/types.js";
import type { WgslContext } from "./context.js";
import type { GatherMove, AccessWords } from "./gather-move.js";

/**
 * Returns the name of the array from which a gather reads elements: the workgroup buffer if the data is
 * loaded there first, else the tensor.
 */
export const sourceName = ({ names }: WgslContext, { stmt, staged }: GatherMove): string =>
  names.buffer(staged?.buffer.name ?? stmt.from[gatheredTable]?.buffer ?? "");

/**
 * Returns the WGSL text that reads a 32-bit word of the array from which a gather reads. `place`: 0-based
 * index of the word.
 */
export function wordAt(context: WgslContext, move: GatherMove, place: string | Amount): string {
  const name = sourceName(context, move);
  const { text = "", isTight }: Amount = typeof place === "string" ? { by: 1, text: place } : place;
  if (move.staged?.stagedWidth !== 4) return `${name}[${text}]`;
  const index = isTight === true ? text : `(${text})`;
  return `${name}[${index} >> 2u][${index} & 3u]`;
}

/**
 * Returns the WGSL text that accesses `width` 32-bit words of the array from which a gather reads. `place`:
 * 0-based index of the access, counted in accesses of `width` words.
 */
export const accessAt = (
  context: WgslContext,
  move: GatherMove,
  width: AccessWords,
  place: string,
): string => (width === 1 ? wordAt(context, move, place) : `${sourceName(context, move)}[${place}]`);

/** Returns the name of the output's array in the WGSL text of a kernel. */
export const outputName = ({ names, plan }: WgslContext): string => names.buffer(outputOf(plan.func).name);

/**
 * True if a gather reads no element of the data, because an index operand has extent 0 or the data is empty.
 */
export const readsNothing = ({ plan }: WgslContext, { indices, stmt }: GatherMove): boolean =>
  indices.some(({ rule, inReduction }) => !inReduction && rule?.extent === 0) ||
  (stmt.map.reduced === undefined && elementCount(inputOf(plan.func, gatheredTable).type.shape) === 0);

/**
 * True if an output element may get the fill value because an index selects no source element. Index operands
 * of reduction elements do not count.
 */
export const mayFill = ({ indices }: GatherMove): boolean =>
  indices.some(({ rule, inReduction }) => !inReduction && rule?.mayBeNone === true);

/**
 * Returns the WGSL text of an output element: `filled` if an index value selects no element (variable `alive`
 * is false), else `element`.
 */
export const orFill = (move: GatherMove, filled: string, element: string): string =>
  mayFill(move) ? `select(${filled}, ${element}, alive)` : element;

/**
 * Returns the WGSL text of `width` 32-bit words of the fill element. `first`: index in the element of the
 * first word. Fill values narrower than a word are repeated.
 */
export function fillWords({ fill }: GatherMove, first: number, width: AccessWords): string {
  const words = Array.from({ length: width }, (_, w) => {
    const bytes = [3, 2, 1, 0].map((byte) => at([...fill], (4 * (first + w) + byte) % fill.length));
    return `${bytes.reduce((bits, byte) => bits * 256 + byte, 0)}u`;
  });
  const [word = "0u"] = words;
  if (width === 1) return word;
  return `vec${width}u(${words.every((other) => other === word) ? word : words.join(", ")})`;
}
