/** numpy's broadcasting of shapes, which torch and jax share. */
import { constant, dim, type Linear } from "../linear.js";
import { at, type Shape } from "../types.js";

/**
 * Returns the shape to which right-aligned shapes broadcast. Undefined if two extents other than 1 differ in
 * a dim.
 */
export function broadcastShapes(shapes: readonly Shape[]): Shape | undefined {
  const rank = Math.max(0, ...shapes.map(({ length }) => length));
  const result: number[] = [];
  for (let k = 0; k < rank; k++) {
    const extents = shapes.flatMap((shape) => shape[k - rank + shape.length] ?? []);
    const [extent = 1, ...others] = new Set(extents.filter((entry) => entry !== 1));
    if (others.length > 0) return undefined;
    result.push(extent);
  }
  return result;
}

/**
 * Returns the coordinates at which a tensor of `shape` is read, one for each dim of `shape`, if the tensor is
 * broadcast to consecutive output dims. `over`: extents of these output dims. `first`: position of the first
 * of these output dims.
 */
export const broadcastCoords = (shape: Shape, over: Shape, first = 0): Linear[] =>
  shape.map((extent, k) => {
    const place = k + over.length - shape.length;
    return extent === 1 && at(over, place) !== 1 ? constant(0) : dim(first + place);
  });
