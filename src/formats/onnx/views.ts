/**
 * The input coordinates of ONNX's view operators, as linear forms over output dims: Identity, Transpose,
 * Slice, Expand and the reshapes. Source: onnx/onnx docs/Operators.md.
 */
import {
  add,
  at,
  constant,
  dim,
  div,
  elementCount,
  mod,
  sameShape,
  scale,
  strides,
  sumOf,
  type Linear,
  type Shape,
} from "../../../ir/index.js";
import { broadcastCoords, broadcastShapes } from "../../../ir/ops/broadcast.js";
import { ints, type RuleInput } from "./rule.js";
import { cutsOf } from "./layout-rules.js";

/** Coordinates of the input over the dims of the output; undefined where they are not known. */
type View = (input: RuleInput, from: Shape, to: Shape) => readonly Linear[] | undefined;

const fitting = (expected: Shape, to: Shape, coords: readonly Linear[]): readonly Linear[] | undefined =>
  sameShape(expected, to) ? coords : undefined;

/**
 * Returns the coordinates of the input of a reshape. It divides both shapes into the shortest groups of dims
 * with equally many elements. In a group, the dims of the output add up to a row-major position. The
 * coordinates of the input are its quotients and remainders.
 */
const reshaped: View = (_, from, to) => {
  const count = elementCount(from);
  if (count === 0 || count !== elementCount(to)) return undefined;
  const coords: Linear[] = [];
  for (let place = 0; coords.length < from.length;) {
    const factors = [from[coords.length] ?? 1];
    const others: number[] = [];
    while (elementCount(factors) !== elementCount(others)) {
      const next =
        elementCount(factors) < elementCount(others) ? from[coords.length + factors.length] : undefined;
      if (next !== undefined) factors.push(next);
      else others.push(to[place + others.length] ?? 1);
    }
    const by = strides(others);
    const position = sumOf(others.map((_, k) => scale(dim(place + k), at(by, k))));
    const inner = strides(factors);
    coords.push(
      ...factors.map((extent, k) => {
        if (extent === 1) return constant(0);
        const quotient = div(position, at(inner, k));
        return elementCount(factors.slice(0, k)) === 1 ? quotient : mod(quotient, extent);
      }),
    );
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
      const positions = from.map((_, k) => perm.indexOf(k));
      if (perm.length !== from.length || positions.includes(-1)) return undefined;
      return fitting(
        perm.map((k) => from[k] ?? 0),
        to,
        positions.map(dim),
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

/**
 * Returns the function that maps output coordinates of a view operator (Transpose, Slice, reshapes, ...) to
 * input coordinates. Returns undefined if the operator is not a view of ONNX's default domain.
 */
export const viewNamed = (op: string): View | undefined => views.get(op);

/**
 * True if an operator needs a kernel to produce the output. False for Identity and reshapes, whose output has
 * the memory layout of the input.
 */
export const copiesElements = (op: string): boolean => op !== "Identity" && views.get(op) !== reshaped;
