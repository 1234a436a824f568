/**
 * Subscripts of numpy's arrays, `x[i0, :, i1]`, which jax has too: integers, slices, "...", newaxis and index
 * arrays.
 */
import { defined } from "../defined.js";
import type { IndexOperand } from "../access.js";
import { indexOperand, type IndexPolicy } from "../index-operand.js";
import { add, constant, dim, index, scale, type Linear } from "../linear.js";
import { at, formatShape, type Shape } from "../types.js";
import { broadcastCoords, broadcastShapes } from "./broadcast.js";
import { breakRule, wordAttr, type AttrSpec, type OpInputs } from "./op-def.js";

/** Definition of the attribute `subscript`: the text in the brackets of `x[i0, :, i1]`; default `i0`. */
export const subscriptSpec = {
  key: "subscript",
  kind: "text",
  default: "i0",
  help: 'what stands in the brackets, such as "i0, :, i1": the arrays are i0, i1, … in order',
} as const satisfies AttrSpec;

/**
 * Item of a subscript `x[…]`: an index array, an integer, a slice, an ellipsis or a new axis. `table`:
 * position of the index array among the operator's inputs, from 0.
 */
export type SubscriptItem =
  | { readonly kind: "array"; readonly table: number }
  | { readonly kind: "integer"; readonly value: number }
  | { readonly kind: "slice"; readonly start?: number; readonly stop?: number; readonly step: number }
  | { readonly kind: "ellipsis" }
  | { readonly kind: "newaxis" };

const slicePattern = /^(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(-?\d+)?)?$/;

/**
 * Operator whose attribute `subscript` is a NumPy index expression, such as `i0, :, i1`. Input 0 is the
 * indexed tensor; the next `arrays` inputs are the index arrays i0, i1, … of the expression. `who`: name of
 * the operator in messages.
 */
export interface Subscripted {
  readonly inputs: OpInputs;
  readonly arrays: number;
  readonly who: string;
}

const arrayName = (table: number): string => `i${table - 1}`;
const arraysOf = ({ inputs, arrays }: Subscripted) => inputs.inputs.slice(1, 1 + arrays);

/** Parses one item of a subscript. Throws a RuleError (TC105) for an invalid text, or a slice with step 0. */
export function parseItem(subscripted: Subscripted, text: string): SubscriptItem {
  const { inputs } = subscripted;
  if (text === "...") return { kind: "ellipsis" };
  if (text === "newaxis" || text === "None") return { kind: "newaxis" };
  if (/^-?\d+$/.test(text)) return { kind: "integer", value: Number(text) };
  const names = arraysOf(subscripted).map((_, k) => arrayName(k + 1));
  const table = names.indexOf(text) + 1;
  if (table > 0) return { kind: "array", table };
  const slice = slicePattern.exec(text);
  if (slice === null) {
    breakRule(
      "TC105",
      inputs,
      `subscript has ${JSON.stringify(text)}, which is not an index`,
      `write integers, slices such as 1:8:2, "...", newaxis or the arrays ${names.join(", ")}`,
    );
  }
  const [start, stop, step] = slice
    .slice(1)
    .map((bound) => (bound === undefined ? undefined : Number(bound)));
  if (step === 0) breakRule("TC105", inputs, "the step of a slice must not be 0");
  return {
    kind: "slice",
    step: step ?? 1,
    ...defined({ start, stop }),
  };
}

/**
 * Returns the number of dims of x that an item of a subscript indexes: 1, or the rank for a boolean mask, or
 * 0 for newaxis and an ellipsis.
 */
export function dimsTaken({ inputs }: OpInputs, item: SubscriptItem): number {
  if (item.kind === "newaxis" || item.kind === "ellipsis") return 0;
  const type = item.kind === "array" ? inputs[item.table] : undefined;
  return type?.dtype === "bool" ? type.shape.length : 1;
}

/**
 * Returns the items of the attribute `subscript`. If the attribute has no ellipsis, one is added at the end.
 * Throws a RuleError (TC102) if the items index more dims than the data has. Throws a RuleError (TC105) for
 * an invalid item, a repeated ellipsis, or an unused index array.
 */
export function itemsOf(subscripted: Subscripted): readonly SubscriptItem[] {
  const { inputs, who } = subscripted;
  const text = wordAttr(inputs.attrs, "subscript");
  const items = text.split(",").map((item) => parseItem(subscripted, item.trim()));
  const rank = inputs.data.shape.length;
  const dimsUsed = items.reduce((sum, item) => sum + dimsTaken(inputs, item), 0);
  if (dimsUsed > rank) breakRule("TC102", inputs, `${who} has ${dimsUsed} indices for the ${rank} dims of x`);
  const ellipses = items.filter(({ kind }) => kind === "ellipsis").length;
  if (ellipses > 1) breakRule("TC105", inputs, `a subscript has one "..." at most, not ${ellipses}`);
  arraysOf(subscripted).forEach((_, k) => {
    const used = items.some((item) => item.kind === "array" && item.table === k + 1);
    if (!used) breakRule("TC105", inputs, `subscript ${JSON.stringify(text)} has no ${arrayName(k + 1)}`);
  });
  return ellipses === 1 ? items : [...items, { kind: "ellipsis" }];
}

/**
 * Returns the first index of a slice and the number of selected elements, as Python's `slice.indices`.
 * `extent`: extent of the sliced dim, in elements.
 */
function sliceRange(
  { start, stop, step }: Extract<SubscriptItem, { kind: "slice" }>,
  extent: number,
): readonly [start: number, count: number] {
  const [lowest, highest] = step > 0 ? [0, extent] : [-1, extent - 1];
  const clipped = (bound: number): number =>
    Math.min(highest, Math.max(lowest, bound < 0 ? bound + extent : bound));
  const from = start === undefined ? (step > 0 ? lowest : highest) : clipped(start);
  const to = stop === undefined ? (step > 0 ? highest : lowest) : clipped(stop);
  return [from, Math.max(0, Math.ceil((to - from) / step))];
}

/**
 * Elements of the data that a subscript selects: the shape of the selection, the index operands, and the data
 * coordinates of a selected element.
 */
export interface NamedElements {
  readonly shape: Shape;
  readonly indices: readonly IndexOperand[];
  readonly coords: readonly Linear[];
}

/**
 * Returns the elements that a subscript selects. Throws a RuleError for index arrays that do not broadcast
 * (TC103), or for an integer out of range (TC105).
 */
export function namedElements(
  subscripted: Subscripted,
  items: readonly SubscriptItem[],
  policy: IndexPolicy,
): NamedElements {
  const { inputs } = subscripted;
  const data = inputs.data.shape;
  const shapes = arraysOf(subscripted).map(({ shape }) => shape);
  const shared = broadcastShapes(shapes);
  if (shared === undefined)
    breakRule(
      "TC103",
      inputs,
      `index arrays ${shapes.map(formatShape).join(", ")} do not broadcast together`,
    );
  const advanced = items.flatMap(({ kind }, k) => (kind === "array" || kind === "integer" ? [k] : []));
  const [first = 0, last = 0] = [advanced[0], advanced[advanced.length - 1]];
  const together = last - first + 1 === advanced.length;
  const output: number[] = together ? [] : [...shared];
  let sharedFrom = 0;
  const indices: IndexOperand[] = [];
  // Coordinates of arrays wait for the place of the shared dims.
  const coords: ((from: number) => Linear)[] = [];
  const follow = (start: number, step: number, count: number): void => {
    const form = add(constant(start), scale(dim(output.length), step));
    coords.push(() => form);
    output.push(count);
  };
  items.forEach((item, k) => {
    if (together && k === first) {
      sharedFrom = output.length;
      output.push(...shared);
    }
    const extent = data[coords.length] ?? 0;
    switch (item.kind) {
      case "array":
        coords.push((from) => {
          const coords = broadcastCoords(at(shapes, item.table - 1), shared, from);
          indices.push(indexOperand(policy, item.table, coords, extent));
          return index(indices.length - 1);
        });
        break;
      case "integer": {
        const place = item.value < 0 ? item.value + extent : item.value;
        if (place < 0 || place >= extent)
          breakRule(
            "TC105",
            inputs,
            `index ${item.value} is outside dim ${coords.length} of x, which has ${extent}`,
          );
        coords.push(() => constant(place));
        break;
      }
      case "slice": {
        const [start, count] = sliceRange(item, extent);
        follow(start, item.step, count);
        break;
      }
      case "ellipsis": {
        const after = items.slice(k + 1).filter(({ kind }) => kind !== "newaxis").length;
        while (coords.length < data.length - after) follow(0, 1, at(data, coords.length));
        break;
      }
      case "newaxis":
        output.push(1);
        break;
    }
  });
  const named = coords.map((coord) => coord(sharedFrom));
  return { shape: output, indices, coords: named };
}
