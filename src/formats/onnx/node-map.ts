/** Access maps of nodes that are folded into gathers: of arithmetic, and of views. */
import { gatherOver, readData, type AccessMap } from "../../../ir/access.js";
import { defined, maxRank, type Shape } from "../../../ir/index.js";
import { elementwiseOf, type Operands } from "./elementwise.js";
import type { Visited } from "./infer.js";
import { isReduction, reductionOf } from "./reductions.js";
import { isStatic, type TrackedValue } from "./value.js";
import { viewNamed } from "./views.js";

/** Access map of an arithmetic node, with the input of the node that each table of the map is. */
export interface ArithmeticMap {
  readonly map: AccessMap;
  readonly inputs: readonly number[];
}

/** Returns the shape of a tensor if all its extents are known and a program can have its rank. */
const shapeOf = ({ dims }: TrackedValue): Shape | undefined =>
  dims === undefined || !isStatic(dims) || dims.length > maxRank ? undefined : dims;

/**
 * Returns the access map of an elementwise node or a reduction that makes tensor `y`, or the reason why there
 * is none. `operands`: types of the inputs; undefined if the type of an input is not known.
 */
export function arithmeticMap(
  { node, inputs, opset }: Visited,
  y: TrackedValue,
  operands: Operands,
): ArithmeticMap | string {
  const shape = shapeOf(y);
  const isMissing = inputs.some((value, k) => value !== undefined && operands[k] === undefined);
  if (isMissing || opset === undefined || shape === undefined)
    return "the shape or element type of an operand is not known";
  const computed = isReduction(node.op)
    ? reductionOf({ node, inputs, opset }, operands)
    : elementwiseOf({ node, inputs, opset }, operands, shape);
  if ("why" in computed) return computed.why;
  const { reads, reduced, value } = computed;
  const map = gatherOver(shape, reads.length, {
    ...defined({ reduced }),
    indices: [],
    reads: reads.map(({ at: coords }, table) => ({ table, at: coords })),
    value,
  });
  return { map, inputs: reads.map(({ input }) => input) };
}

/**
 * Returns the access map of a view that makes tensor `y` of a tensor of shape `from`; undefined if the
 * coordinates are not known.
 */
export function viewMap(
  { node, inputs, opset }: Visited,
  y: TrackedValue,
  from: Shape,
): AccessMap | undefined {
  const shape = shapeOf(y);
  if (opset === undefined || shape === undefined) return undefined;
  const coords = viewNamed(node.op)?.({ node, inputs, opset }, from, shape);
  return coords && gatherOver(shape, 1, { indices: [], ...readData(coords) });
}
