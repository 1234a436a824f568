/**
 * numpy's put_along_axis. It returns the array that numpy would leave.
 *
 * Source: numpy.org/doc/stable, "numpy.put_along_axis", and `_make_along_axis_idx` of
 * numpy/lib/_shape_base_impl.py: off the axis, array and indices are broadcast against each other, and values
 * against both. Indices count from the end; the last of duplicates stays.
 */
import { indexOperand } from "../index-operand.js";
import { constant, dim, index, type Linear } from "../linear.js";
import { at, elementCount, formatShape, type Shape } from "../types.js";
import { flatAxis, oobOf } from "./attributes.js";
import { broadcastCoords, broadcastShapes } from "./broadcast.js";
import { checkTypes } from "./numpy.js";
import {
  axisOf,
  breakRule,
  checkRank,
  checkSameRank,
  defineOperator,
  intAttr,
  resolvedAs,
  shapesOf,
} from "./op-def.js";
import { checkBroadcast, scatterOperator, writtenOobSpec } from "./scatter.js";
import { coordsOfFlat } from "./take.js";

/**
 * Operator numpy.put_along_axis: writes values to elements along an axis in a copy of the array. Without an
 * axis, elements of the flat array are written.
 */
export const numpyPutAlongAxis = defineOperator({
  name: "numpy.put_along_axis",
  inputs: ["arr", "indices", "values"],
  values: ["values"],
  writes: "copy",
  attrs: {
    axis: flatAxis,
    oob: writtenOobSpec("error"),
  },
  resolve(inputs) {
    const who = "numpy.put_along_axis";
    checkTypes(inputs, who);
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const stated = intAttr(inputs.attrs, "axis");
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    if (stated === undefined) checkRank(inputs, "indices", 1, 1, who);
    else checkSameRank(inputs, who);
    const along = stated === undefined ? 0 : axisOf(inputs);
    const source: Shape = stated === undefined ? [elementCount(data)] : data;
    const offAxis = (shape: Shape): Shape => shape.map((extent, k) => (k === along ? 1 : extent));
    const off = broadcastShapes([offAxis(source), offAxis(indices)]);
    if (off === undefined)
      breakRule(
        "TC103",
        inputs,
        `${who} broadcasts arr and indices off axis ${along}, and ${formatShape(data)} and ${formatShape(indices)} differ there`,
      );
    const domain = off.map((extent, k) => (k === along ? at(indices, along) : extent));
    checkBroadcast(inputs, 2, domain, "values", who);
    const place = source.map((extent, k): Linear =>
      k === along ? index(0) : extent === 1 && at(domain, k) !== 1 ? constant(0) : dim(k),
    );
    const scatter = {
      domain,
      indices: [indexOperand(policy, 1, broadcastCoords(indices, domain), at(source, along))],
      to: stated === undefined ? coordsOfFlat(data, index(0)) : place,
      from: { table: 2, at: broadcastCoords(at(inputs.inputs, 2).shape, domain) },
      combine: "set",
    } as const;
    const operator = scatterOperator(scatter, shapesOf(inputs));
    return resolvedAs(operator, policy);
  },
});
