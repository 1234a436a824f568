/**
 * ONNX's views, as where each coordinate of the input comes from: Identity, Transpose, Slice, Expand, and the reshapes that stay
 * affine. Source: onnx/onnx docs/Operators.md.
 */
import {
  add,
  constant,
  dim,
  elementCount,
  sameShape,
  scale,
  strides,
  type Linear,
  type Shape,
} from "../../../ir/index.js";
import { broadcastCoords, broadcastShapes } from "../../../ir/ops/broadcast.js";
import { ints, type RuleInput } from "./rule.js";
import { cutsOf } from "./window-rules.js";

/** Coordinates of the input, linear in the dims of the output; undefined where they are not, or not known. */
type View = (input: RuleInput, from: Shape, to: Shape) => readonly Linear[] | undefined;

const fitting = (expected: Shape, to: Shape, coords: readonly Linear[]): readonly Linear[] | undefined =>
  sameShape(expected, to) ? coords : undefined;

/**
 * Both shapes are cut into the shortest runs of dims with equally many elements. A run of the input that has one dim beyond 1
 * is the row-major sum of the output's; one with several would need their quotients.
 */
const reshaped: View = (_, from, to) => {
  const count = elementCount(from);
  if (count === 0 || count !== elementCount(to)) return undefined;
  const coords: Linear[] = [];
  for (let place = 0; coords.length < from.length;) {
    const own = [from[coords.length] ?? 1];
    const others: number[] = [];
    while (elementCount(own) !== elementCount(others)) {
      const next = elementCount(own) < elementCount(others) ? from[coords.length + own.length] : undefined;
      if (next !== undefined) own.push(next);
      else others.push(to[place + others.length] ?? 1);
    }
    if (own.filter((extent) => extent > 1).length > 1) return undefined;
    const by = strides(others);
    const sum = others.reduce((form, _, k) => add(form, scale(dim(place + k), by[k] ?? 0)), constant(0));
    coords.push(...own.map((extent) => (extent > 1 ? sum : constant(0))));
    place += others.length;
  }
  return coords;
};

const views: ReadonlyMap<string, View> = new Map<string, View>([
  [
    "Identity",
    (_, from, to) =>
      fitting(
        from,
        to,
        from.map((_, k) => dim(k)),
      ),
  ],
  [
    "Transpose",
    ({ node }, from, to) => {
      const perm = ints(node, "perm") ?? from.map((_, k) => from.length - 1 - k);
      const places = from.map((_, k) => perm.indexOf(k));
      if (perm.length !== from.length || places.includes(-1)) return undefined;
      return fitting(
        perm.map((k) => from[k] ?? 0),
        to,
        places.map(dim),
      );
    },
  ],
  [
    "Slice",
    (input, from, to) => {
      const cuts = cutsOf(input, from)?.flatMap((cut) => cut ?? []);
      if (cuts?.length !== from.length) return undefined;
      const coords = cuts.map(({ start, step }, k) => add(constant(start), scale(dim(k), step)));
      return fitting(
        cuts.map(({ length }) => length),
        to,
        coords,
      );
    },
  ],
  [
    "Expand",
    (_, from, to) => {
      const shape = broadcastShapes([from, to]);
      return shape === undefined ? undefined : fitting(shape, to, broadcastCoords(from, to));
    },
  ],
  ["Reshape", reshaped],
  ["Flatten", reshaped],
  ["Squeeze", reshaped],
  ["Unsqueeze", reshaped],
]);

/** The view that one of ONNX's own operators is; undefined for what computes or picks. */
export const viewNamed = (op: string): View | undefined => views.get(op);
