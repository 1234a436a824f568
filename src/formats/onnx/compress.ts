/**
 * Compress with a condition that the model fixes, as the gather by positions that it is. Source: onnx/onnx
 * docs/Operators.md.
 */
import { elementCount } from "../../../ir/index.js";
import { dataType } from "./data-type.js";
import type { Visited } from "./infer.js";
import type { OnnxAttribute } from "./model.js";
import { coordinateBytes, coordinateRows, maxBytes, permuted, positionsIn } from "./positions.js";
import { axisOf, int } from "./rule.js";
import type { TensorValue } from "../tensor.js";
import { isStatic, type TrackedValue } from "./value.js";

/**
 * Converts a Compress node with a constant condition to a Gather or GatherND that selects the same elements.
 * The indices are the positions at which the condition is true. Any other node is returned unchanged.
 */
export function asGather<V extends Visited>(visited: V): V {
  const { node, inputs } = visited;
  const [data, condition] = inputs;
  if (node.domain !== "" || node.op !== "Compress") return visited;
  if (condition?.dataType !== dataType.bool || condition.dims?.length !== 1) return visited;
  const positions = positionsIn(condition);
  if (positions === undefined) return visited;
  const dims = data?.dims;
  const flat = int(node, "axis") === undefined && dims?.length !== 1;
  const axis = axisOf(node, 0, dims?.length ?? 1) ?? int(node, "axis") ?? 0;
  const extents = flat ? dims : dims?.slice(axis, axis + 1);
  const indices: TrackedValue =
    extents === undefined || !isStatic(extents)
      ? { dataType: dataType.i64 }
      : positioned(positions, extents, flat);
  const attributes: ReadonlyMap<string, OnnxAttribute> = flat
    ? new Map()
    : new Map([["axis", { kind: "int", value: BigInt(axis) }]]);
  // Positions are in range, and every type has moved since opset 13.
  const opset = visited.opset === undefined ? {} : { opset: Math.max(visited.opset, 13) };
  return {
    ...visited,
    ...opset,
    node: { ...node, op: flat ? "GatherND" : "Gather", attributes },
    inputs: [data, indices],
  };
}

/**
 * Returns an i64 index tensor for row-major positions in a tensor; positions beyond the tensor's end are
 * dropped. The shape is [n], or [n, rank] if `tuples` is true. Dims and elements are unknown if the index
 * tensor would exceed `maxBytes` bytes.
 */
function positioned(positions: Float64Array, extents: readonly number[], tuples: boolean): TrackedValue {
  const count = elementCount(extents);
  const inside = positions.filter((position) => position < count);
  if (coordinateBytes(inside, extents) > maxBytes) return { dataType: dataType.i64 };
  const rows = coordinateRows(inside, extents);
  const tensor: TensorValue = tuples
    ? permuted(rows, [1, 0])
    : { ...rows, type: { ...rows.type, shape: [inside.length] } };
  return { dataType: dataType.i64, dims: tensor.type.shape, positions: { tensor, copies: 0 } };
}
