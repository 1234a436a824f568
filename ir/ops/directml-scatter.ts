/**
 * DML_SCATTER and DML_SCATTER_ND operator descriptors.
 *
 * Source: MicrosoftDocs/sdk-api, content/directml. Tensors share one DimensionCount and are right-aligned, as
 * those of the gathers are. The pages say nothing of an index out of range that is written: here it is
 * skipped. Of duplicates the last stays.
 */
import { at } from "../types.js";
import { oobOf } from "./attributes.js";
import {
  axisField,
  checkAxis,
  checkSupport,
  featureLevel,
  gatherElementsSupport,
  gatherSupport,
  ndCounts,
  ndShapes,
  padded,
} from "./directml.js";
import { breakRule, checkElements, checkTuple, defineOperator, resolvedAs, shapesOf } from "./op-def.js";
import {
  checkUpdates,
  elementsScatter,
  scatterOperator,
  tuplesScatter,
  tupleUpdates,
  writtenOobSpec,
} from "./scatter.js";

const inputs = ["input", "indices", "updates"] as const;
const oob = writtenOobSpec("skip");

/** Operator DML_SCATTER: writes updates to elements along an axis. */
export const directmlScatter = defineOperator({
  name: "directml.scatter",
  inputs,
  values: ["updates"],
  writes: "copy",
  attrs: { axis: axisField, feature_level: featureLevel, oob },
  resolve(given) {
    const who = "directml.scatter";
    const negative = checkSupport(given, who, gatherSupport);
    const axis = checkAxis(given);
    checkElements(given, axis, true, who);
    const [data, indices] = [given.data.shape, given.indices.shape];
    checkUpdates(given, 2, indices, "updates", who);
    const policy = { negative, oob: oobOf(given) };
    const scatter = elementsScatter(data, indices, axis, policy, "set");
    return resolvedAs(scatterOperator(scatter, shapesOf(given)), policy);
  },
});

/** Operator DML_SCATTER_ND: writes updates to elements or slices that index tuples select. */
export const directmlScatterNd = defineOperator({
  name: "directml.scatter_nd",
  inputs,
  values: ["updates"],
  writes: "copy",
  attrs: { ...ndCounts, feature_level: featureLevel, oob },
  resolve(given) {
    const who = "directml.scatter_nd";
    const negative = checkSupport(given, who, gatherElementsSupport);
    const { data, indices } = ndShapes(given);
    checkTuple(given, data, indices, 0);
    const updates = tupleUpdates(data, indices);
    const count = given.data.shape.length;
    if (updates.length > count)
      breakRule("TC102", given, `updates of rank ${updates.length} do not fit DimensionCount ${count}`);
    checkUpdates(given, 2, padded(updates, count), "updates", who);
    const policy = { negative, oob: oobOf(given) };
    const scatter = tuplesScatter(data, indices, policy, "set");
    const operator = scatterOperator(scatter, [data, indices, updates]);
    return { operator, output: at(given.inputs, 0).shape, ...policy };
  },
});
