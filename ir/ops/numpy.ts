/**
 * numpy's take, take_along_axis and advanced indexing, `x[i, :, j]`.
 *
 * Source: numpy.org/doc/stable, "numpy.take", "numpy.take_along_axis" and "Indexing on ndarrays". Negative
 * indices count from the end and one out of range is an error, but under take's modes `wrap` and `clip`,
 * which count none from the end. A boolean mask stands for the indices that `numpy.nonzero` makes of it:
 * whoever knows its values puts those in its place (`expandMasks`).
 */
import { readData, type OutOfBounds } from "../access.js";
import { readAs } from "../operator.js";
import { at, formatShape, type DType } from "../types.js";
import { axis, flatAxis, modeSpec, oobOf, oobSpec } from "./attributes.js";
import { mappedGather } from "./mapped-gather.js";
import {
  axisOf,
  checkDType,
  checkRank,
  defineOperator,
  breakRule,
  inputName,
  intAttr,
  type OpInputs,
  resolvedAs,
  shapesOf,
  unlessEmpty,
  withoutScalars,
  wordAttr,
  type ExpandedInput,
  type ExpandedMasks,
} from "./op-def.js";
import {
  dimsTaken,
  itemsOf,
  namedElements,
  parseItem,
  subscriptSpec,
  type SubscriptItem,
  type Subscripted,
} from "./subscript.js";
import { takeAlongOperator, takeOperator } from "./take.js";

const modes = { raise: "error", wrap: "wrap", clip: "clamp" } as const satisfies Readonly<
  Record<string, OutOfBounds>
>;

/** Element types of NumPy arrays, without bfloat16. */
export const dataTypes: readonly DType[] = [
  ...(["bool", "i8", "u8", "i16", "u16", "f16", "i32", "u32"] as const),
  ...(["f32", "string", "i64", "u64", "f64", "c64", "c128"] as const),
];

/**
 * Throws a RuleError if NumPy has no arrays of the data's element type (TC104), or if the rank is outside 1
 * to 8 (TC102). `who`: the operator's name.
 */
export function checkTypes(inputs: OpInputs, who: string): void {
  checkDType(inputs, "data", dataTypes, who);
  checkRank(inputs, "data", 1, 8, who);
}

/** Operator numpy.take: selects slices along an axis, or elements of the flat array if no axis is given. */
export const numpyTake = defineOperator({
  name: "numpy.take",
  kind: "gather",
  inputs: ["a", "indices"],
  // Cast to intp by the rule same_kind, which takes bool too.
  boolIndices: true,
  attrs: {
    axis: flatAxis,
    mode: modeSpec(["raise", "wrap", "clip"], "raise"),
  },
  resolve(given) {
    // A scalar has one axis here, of one element.
    const inputs = { ...withoutScalars(given), indices: given.indices };
    checkTypes(inputs, "numpy.take");
    const axis = intAttr(inputs.attrs, "axis");
    const along = axis === undefined ? undefined : axisOf(inputs);
    const mode = modes[wordAttr(inputs.attrs, "mode") as keyof typeof modes];
    const negative = mode === "error" ? "from-end" : "illegal";
    // It goes through the indices once for each place in front of the axis.
    const oob = unlessEmpty(inputs.data.shape.slice(0, along ?? 0), mode);
    const taken = takeOperator(inputs, along, { negative, oob });
    const isBool = inputs.indices.dtype === "bool";
    const operator = isBool ? readAs(taken, negative, oob, [inputs.data.dtype, "u8"]) : taken;
    return resolvedAs(operator, { negative, oob });
  },
});

/** Operator numpy.take_along_axis: selects elements along an axis. */
export const numpyTakeAlongAxis = defineOperator({
  name: "numpy.take_along_axis",
  kind: "gather_elements",
  inputs: ["arr", "indices"],
  attrs: { axis: { ...axis, default: -1 }, oob: oobSpec("error") },
  resolve(inputs) {
    checkTypes(inputs, "numpy.take_along_axis");
    const along = axisOf(inputs);
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    const operator = takeAlongOperator(inputs, along, policy, "numpy.take_along_axis");
    return resolvedAs(operator, policy);
  },
});

const who = "numpy.index";
const arrays = { inputs: ["x", "i0"], variadic: true } as const;
const subscriptedOf = (inputs: OpInputs): Subscripted => ({ inputs, arrays: inputs.inputs.length - 1, who });

/**
 * Throws a RuleError for a boolean mask without dims (TC102), or with extents that differ from the masked
 * dims of x (TC103). `items`: the parsed items of the subscript.
 */
function checkMasks(inputs: OpInputs, items: readonly SubscriptItem[]): void {
  const { shape } = inputs.data;
  const after = (k: number): number =>
    items.slice(k + 1).reduce((sum, item) => sum + dimsTaken(inputs, item), 0);
  let place = 0;
  for (const [k, item] of items.entries()) {
    const taken = item.kind === "ellipsis" ? shape.length - place - after(k) : dimsTaken(inputs, item);
    const type = item.kind === "array" ? inputs.inputs[item.table] : undefined;
    if (item.kind === "array" && type?.dtype === "bool") {
      const name = inputName(arrays, item.table);
      if (type.shape.length === 0)
        breakRule("TC102", inputs, `mask ${name} has no dim`, "x[True] is x[newaxis]; write newaxis or 0:0");
      type.shape.forEach((extent, d) => {
        const length = at(shape, place + d);
        if (extent === length) return;
        const message = `dim ${d} of mask ${name} ${formatShape(type.shape)} has ${extent} elements, and dim ${place + d} of x has ${length}`;
        breakRule("TC103", inputs, message, "give the mask the extents of the dims of x that it indexes");
      });
    }
    place += taken;
  }
}

/**
 * Returns the inputs and the subscript of numpy.index with boolean masks replaced by index arrays, one for
 * each dim of a mask. Throws a RuleError for a mask without dims (TC102), or whose extents differ from the
 * masked dims of x (TC103).
 */
function expandMasks(inputs: OpInputs): ExpandedMasks {
  const subscripted = subscriptedOf(inputs);
  checkMasks(inputs, itemsOf(subscripted));
  const expanded = inputs.inputs.map(({ dtype, shape }, input): readonly ExpandedInput[] =>
    input > 0 && dtype === "bool" ? shape.map((_, maskDim) => ({ input, maskDim })) : [{ input }],
  );
  const flat = expanded.flat();
  const items = wordAttr(inputs.attrs, "subscript")
    .split(",")
    .map((text) => {
      const item = parseItem(subscripted, text.trim());
      if (item.kind !== "array") return text.trim();
      const first = flat.findIndex(({ input }) => input === item.table);
      return at(expanded, item.table).map((_, k) => inputName(arrays, first + k));
    });
  return { attrs: { subscript: items.flat().join(", ") }, inputs: flat };
}

/**
 * Operator numpy.index, NumPy's advanced indexing `x[i, :, j]`: selects the elements that a subscript
 * describes.
 */
export const numpyIndex = defineOperator({
  name: who,
  ...arrays,
  attrs: {
    subscript: subscriptSpec,
    oob: oobSpec("error"),
  },
  expandMasks,
  resolve(inputs) {
    checkTypes(inputs, who);
    const subscripted = subscriptedOf(inputs);
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    const { shape, indices, coords } = namedElements(subscripted, itemsOf(subscripted), policy);
    const shapes = shapesOf(inputs);
    const operator = mappedGather(shapes, shape, { indices, ...readData(coords) });
    return resolvedAs(operator, policy);
  },
});
