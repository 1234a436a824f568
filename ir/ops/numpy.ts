/**
 * numpy's take, take_along_axis and advanced indexing, `x[i, :, j]`.
 *
 * Source: numpy.org/doc/stable, "numpy.take", "numpy.take_along_axis" and "Indexing on ndarrays". Negative indices count from the
 * end and one out of range is an error, but under take's modes `wrap` and `clip`, which count none from the end. A boolean mask
 * stands for the indices that `numpy.nonzero` makes of it: whoever knows its values puts those in its place (`expandMasks`).
 */
import { defined } from "../defined.js";
import { gatherOver, readData, type OutOfBounds, type IndexOperand } from "../access.js";
import { add, constant, dim, scale, index, type Linear } from "../linear.js";
import { outputShape, readAs, type Operator } from "../operator.js";
import { at, formatShape, type DType } from "../types.js";
import { axis, oobOf, oobSpec } from "./attributes.js";
import { broadcastCoords, broadcastShapes } from "./broadcast.js";
import {
  axisInRange,
  checkDType,
  checkRank,
  defineOperator,
  breakRule,
  inputName,
  intAttr,
  type OpInputs,
  unlessEmpty,
  withoutScalars,
  wordAttr,
  type ExpandedInput,
  type ExpandedMasks,
} from "./op-def.js";
import { indexOperand, takeAlongOperator, takeOperator } from "./take.js";

const modes = { raise: "error", wrap: "wrap", clip: "clamp" } as const satisfies Readonly<
  Record<string, OutOfBounds>
>;

/** NumPy's own scalar types, bfloat16 not among them. */
const dataTypes: readonly DType[] = [
  ...(["bool", "i8", "u8", "i16", "u16", "f16", "i32", "u32"] as const),
  ...(["f32", "string", "i64", "u64", "f64", "c64", "c128"] as const),
];

function checkTypes(inputs: OpInputs, who: string): void {
  checkDType(inputs, "data", dataTypes, who);
  checkRank(inputs, "data", 1, 8, who);
}

export const numpyTake = defineOperator({
  name: "numpy.take",
  kind: "gather",
  inputs: ["a", "indices"],
  // Cast to intp by the rule same_kind, which takes bool too.
  boolIndices: true,
  attrs: {
    axis: {
      key: "axis",
      kind: "int",
      help: "axis or dim that the indices choose along; absent, the array counts as flat",
    },
    mode: {
      key: "mode",
      kind: "word",
      words: ["raise", "wrap", "clip"],
      default: "raise",
      help: "what an index out of range means, in the framework's word",
    },
  },
  resolve(given) {
    // A scalar has one axis here, of one element.
    const inputs = { ...withoutScalars(given), indices: given.indices };
    checkTypes(inputs, "numpy.take");
    const axis = intAttr(inputs.attrs, "axis");
    const along = axis === undefined ? undefined : axisInRange(inputs, axis, inputs.data.shape.length);
    const mode = modes[wordAttr(inputs.attrs, "mode") as keyof typeof modes];
    const negative = mode === "error" ? "from-end" : "illegal";
    // It goes through the indices once for each place in front of the axis.
    const oob = unlessEmpty(inputs.data.shape.slice(0, along ?? 0), mode);
    const taken = takeOperator(inputs, along, { negative, oob });
    const isBool = inputs.indices.dtype === "bool";
    const operator = isBool ? readAs(taken, negative, oob, [inputs.data.dtype, "u8"]) : taken;
    return { operator, output: outputShape(operator), negative, oob };
  },
});

export const numpyTakeAlongAxis = defineOperator({
  name: "numpy.take_along_axis",
  kind: "gather_elements",
  inputs: ["arr", "indices"],
  attrs: { axis: { ...axis, default: -1 }, oob: oobSpec("error") },
  resolve(inputs) {
    checkTypes(inputs, "numpy.take_along_axis");
    const along = axisInRange(inputs, intAttr(inputs.attrs, "axis") ?? -1, inputs.data.shape.length);
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    const operator = takeAlongOperator(inputs, along, policy, "numpy.take_along_axis");
    return { operator, output: outputShape(operator), ...policy };
  },
});

type Item =
  | { readonly kind: "array"; readonly table: number }
  | { readonly kind: "integer"; readonly value: number }
  | { readonly kind: "slice"; readonly start?: number; readonly stop?: number; readonly step: number }
  | { readonly kind: "ellipsis" }
  | { readonly kind: "newaxis" };

const who = "numpy.index";
const arrays = { inputs: ["x", "i0"], variadic: true } as const;
const slicePattern = /^(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(-?\d+)?)?$/;

function parseItem(inputs: OpInputs, text: string): Item {
  if (text === "...") return { kind: "ellipsis" };
  if (text === "newaxis" || text === "None") return { kind: "newaxis" };
  if (/^-?\d+$/.test(text)) return { kind: "integer", value: Number(text) };
  const table = inputs.inputs.findIndex((_, k) => k > 0 && inputName(arrays, k) === text);
  if (table > 0) return { kind: "array", table };
  const slice = slicePattern.exec(text);
  if (slice === null) {
    const names = inputs.inputs.slice(1).map((_, k) => inputName(arrays, k + 1));
    breakRule(
      "TC105",
      inputs,
      `${JSON.stringify(text)} in subscript is no index`,
      `a subscript has integers, slices such as 1:8:2, "...", newaxis and the arrays ${names.join(", ")}`,
    );
  }
  const [start, stop, step] = slice
    .slice(1)
    .map((bound) => (bound === undefined ? undefined : Number(bound)));
  if (step === 0) breakRule("TC105", inputs, "a slice's step is not 0");
  return {
    kind: "slice",
    step: step ?? 1,
    ...defined({ start, stop }),
  };
}

/** Returns how many dims of x an item is for: a mask is for as many as it has. */
function dimsTaken({ inputs }: OpInputs, item: Item): number {
  if (item.kind === "newaxis" || item.kind === "ellipsis") return 0;
  const type = item.kind === "array" ? inputs[item.table] : undefined;
  return type?.dtype === "bool" ? type.shape.length : 1;
}

/** Whole dims stand for the ellipsis, and behind the subscript where it has none. */
function itemsOf(inputs: OpInputs): readonly Item[] {
  const text = wordAttr(inputs.attrs, "subscript");
  const items = text.split(",").map((item) => parseItem(inputs, item.trim()));
  const rank = inputs.data.shape.length;
  const dimsUsed = items.reduce((sum, item) => sum + dimsTaken(inputs, item), 0);
  if (dimsUsed > rank) breakRule("TC102", inputs, `${who} has ${dimsUsed} indices for the ${rank} dims of x`);
  const ellipses = items.filter(({ kind }) => kind === "ellipsis").length;
  if (ellipses > 1) breakRule("TC105", inputs, `a subscript has one "..." at most, not ${ellipses}`);
  inputs.inputs.forEach((_, k) => {
    const used = k === 0 || items.some((item) => item.kind === "array" && item.table === k);
    if (!used) breakRule("TC105", inputs, `subscript ${JSON.stringify(text)} has no ${inputName(arrays, k)}`);
  });
  return ellipses === 1 ? items : [...items, { kind: "ellipsis" }];
}

/** Start and number of elements, as Python's `slice.indices` gives them. */
function sliceRange(
  { start, stop, step }: Extract<Item, { kind: "slice" }>,
  extent: number,
): readonly [start: number, count: number] {
  const [lowest, highest] = step > 0 ? [0, extent] : [-1, extent - 1];
  const clipped = (bound: number): number =>
    Math.min(highest, Math.max(lowest, bound < 0 ? bound + extent : bound));
  const from = start === undefined ? (step > 0 ? lowest : highest) : clipped(start);
  const to = stop === undefined ? (step > 0 ? highest : lowest) : clipped(stop);
  return [from, Math.max(0, Math.ceil((to - from) / step))];
}

/** Where the dims that the arrays share stand: in their place where they are side by side, else in front. */
function indexOperator(inputs: OpInputs, items: readonly Item[], oob: OutOfBounds): Operator {
  const data = inputs.data.shape;
  const shapes = inputs.inputs.slice(1).map(({ shape }) => shape);
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
          indices.push(indexOperand({ negative: "from-end", oob }, item.table, coords, extent));
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
  const read = readData(coords.map((coord) => coord(sharedFrom)));
  const map = gatherOver(output, inputs.inputs.length, { indices, ...read });
  return { op: "mapped", map, inputs: inputs.inputs.map(({ shape }) => shape) };
}

/** Refuses (TC102, TC103) a mask whose extents are not those of the dims of x that it stands for. */
function checkMasks(inputs: OpInputs, items: readonly Item[]): void {
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
        const message = `mask ${name} ${formatShape(type.shape)} stands for dim ${place + d} of x with ${extent} elements, and the dim has ${length}`;
        breakRule("TC103", inputs, message, "a mask has the extents of the dims that it chooses from");
      });
    }
    place += taken;
  }
}

/** Puts in the place of each mask an array of indices for each of its dims, and numbers the arrays anew. */
function expandMasks(inputs: OpInputs): ExpandedMasks {
  checkMasks(inputs, itemsOf(inputs));
  const expanded = inputs.inputs.map(({ dtype, shape }, input): readonly ExpandedInput[] =>
    input > 0 && dtype === "bool" ? shape.map((_, maskDim) => ({ input, maskDim })) : [{ input }],
  );
  const flat = expanded.flat();
  const items = wordAttr(inputs.attrs, "subscript")
    .split(",")
    .map((text) => {
      const item = parseItem(inputs, text.trim());
      if (item.kind !== "array") return text.trim();
      const first = flat.findIndex(({ input }) => input === item.table);
      return at(expanded, item.table).map((_, k) => inputName(arrays, first + k));
    });
  return { attrs: { subscript: items.flat().join(", ") }, inputs: flat };
}

export const numpyIndex = defineOperator({
  name: who,
  ...arrays,
  attrs: {
    subscript: {
      key: "subscript",
      kind: "text",
      default: "i0",
      help: 'what stands in the brackets, such as "i0, :, i1": the arrays are i0, i1, … in order',
    },
    oob: oobSpec("error"),
  },
  expandMasks,
  resolve(inputs) {
    checkTypes(inputs, who);
    const items = itemsOf(inputs);
    const oob = oobOf(inputs);
    const operator = indexOperator(inputs, items, oob);
    return { operator, output: outputShape(operator), negative: "from-end", oob };
  },
});
