/** Rules of operators that cut and widen dims: slices, pads, convolutions and pools. Sources: onnx/onnx docs/Operators.md. */
import {
  elementsAt,
  flatOf,
  int,
  ints,
  knownInts,
  normalized,
  typed,
  withDims,
  withElements,
  stringAttribute,
} from "./rule.js";
import type { ShapeRule, RuleInput } from "./rule.js";
import type { Dim } from "./model.js";
import { knownElements, isStatic, type TrackedValue } from "./value.js";

interface Cut {
  readonly start: number;
  readonly step: number;
  readonly length: number;
}

/** Starts, ends, axes and steps: attributes up to opset 9, inputs since. `undefined`: not all are known. */
function sliceOf(input: RuleInput, rank: number) {
  const { node, opset } = input;
  const starts = opset < 10 ? ints(node, "starts") : knownInts(input, 1);
  const ends = opset < 10 ? ints(node, "ends") : knownInts(input, 2);
  const given = opset < 10 ? (ints(node, "axes") ?? []) : knownInts(input, 3);
  const steps = opset < 10 ? [] : knownInts(input, 4);
  if (starts === undefined || ends === undefined || given === undefined || steps === undefined)
    return undefined;
  const axes = normalized(given.length === 0 ? starts.map((_, k) => k) : given, rank);
  return axes === undefined ? undefined : { starts, ends, axes, steps };
}

/** What stands for the end of the dim, whichever way the step goes: the page says INT_MAX, and onnxruntime takes both. */
const toTheEnd: readonly number[] = [2 ** 31 - 1, Number(2n ** 63n - 1n)];

/** Bounds from the end are counted, then clamped to where the step may begin and end. */
function cutOf(extent: number, start: number, end: number, step: number): Cut | undefined {
  if (step === 0) return undefined;
  const bound = (at: number, least: number, most: number): number =>
    Math.min(Math.max(at < 0 ? at + extent : at, least), most);
  const [from, to] =
    step > 0
      ? [bound(start, 0, extent), bound(end, 0, extent)]
      : [bound(start, 0, extent - 1), toTheEnd.includes(end) ? -1 : bound(end, -1, extent - 1)];
  return { start: from, step, length: Math.max(0, Math.ceil((to - from) / step)) };
}

/** What each dim of a Slice's input keeps, undefined for an open one; undefined where its numbers are not known. */
export function cutsOf(input: RuleInput, dims: readonly Dim[]): readonly (Cut | undefined)[] | undefined {
  const slice = sliceOf(input, dims.length);
  if (slice === undefined) return undefined;
  const { starts, ends, axes, steps } = slice;
  return dims.map((dim, k): Cut | undefined => {
    const at = axes.lastIndexOf(k);
    if (typeof dim !== "number") return undefined;
    if (at === -1) return whole(dim);
    const [start, end] = [starts[at], ends[at]];
    return start === undefined || end === undefined ? undefined : cutOf(dim, start, end, steps[at] ?? 1);
  });
}

const whole = (length: number): Cut => ({ start: 0, step: 1, length });

/** With explicit pads, `auto_pad` VALID, or SAME, where the extent depends on the stride alone. */
function windowed(
  { node }: RuleInput,
  extents: readonly Dim[],
  kernel: readonly (Dim | undefined)[],
): readonly Dim[] {
  const strides = ints(node, "strides") ?? [];
  const dilations = ints(node, "dilations") ?? [];
  const pads = ints(node, "pads") ?? [];
  const auto = stringAttribute(node, "auto_pad") ?? "NOTSET";
  return extents.map((extent, k): Dim => {
    const size = kernel[k];
    const stride = strides[k] ?? 1;
    if (typeof extent !== "number" || typeof size !== "number" || stride < 1) return "";
    if (auto.startsWith("SAME")) return Math.ceil(extent / stride);
    const padding = auto === "VALID" ? 0 : (pads[k] ?? 0) + (pads[k + extents.length] ?? 0);
    const room = extent + padding - (dilations[k] ?? 1) * (size - 1) - 1;
    return room < 0 ? "" : Math.floor(room / stride) + 1;
  });
}

/** Rounding up lets windows begin in the padding, on which runtimes differ: the extents stay open. */
const pool: ShapeRule = (input) => {
  const { node, inputs } = input;
  const [x] = inputs;
  const kernel = ints(node, "kernel_shape");
  if (x?.dims === undefined || kernel === undefined) return typed(x?.dataType);
  const [batch = "", channels = "", ...extents] = x.dims;
  const sizes = int(node, "ceil_mode") === 1 ? extents.map(() => undefined) : kernel;
  return withDims(x.dataType, [batch, channels, ...windowed(input, extents, sizes)]);
};

export const windowRules: Readonly<Record<string, ShapeRule>> = {
  Slice(input) {
    const [x] = input.inputs;
    if (x?.dims === undefined) return typed(x?.dataType);
    const { dims } = x;
    const slice = sliceOf(input, dims.length);
    const cuts = cutsOf(input, dims);
    if (slice === undefined || cuts === undefined)
      return withDims(
        x.dataType,
        dims.map(() => ""),
      );
    const shape = dims.map((dim, k): Dim => (slice.axes.includes(k) ? (cuts[k]?.length ?? "") : dim));
    const elements = knownElements(x);
    const value = withDims(x.dataType, shape);
    if (elements === undefined) return value;
    const picked = elementsAt(
      shape,
      (position) =>
        elements[
          flatOf(
            dims,
            position.map((at, k) => (cuts[k]?.start ?? 0) + at * (cuts[k]?.step ?? 1)),
          )
        ],
    );
    return withElements(value, picked);
  },

  /** Amounts before and after: an attribute up to opset 10, input 1 since; input 3 names their axes since opset 18. */
  Pad(input) {
    const { node, inputs, opset } = input;
    const [x] = inputs;
    if (x?.dims === undefined) return typed(x?.dataType);
    const open = withDims(
      x.dataType,
      x.dims.map(() => ""),
    );
    const pads = opset < 11 ? (ints(node, "pads") ?? ints(node, "paddings")) : knownInts(input, 1);
    const given = opset < 18 ? [] : knownInts(input, 3);
    if (pads === undefined || given === undefined) return open;
    const axes = normalized(given.length === 0 ? x.dims.map((_, k) => k) : given, x.dims.length);
    if (axes === undefined || pads.length !== 2 * axes.length) return open;
    return withDims(
      x.dataType,
      x.dims.map((dim, k) => {
        const at = axes.indexOf(k);
        if (at === -1 || typeof dim !== "number") return at === -1 ? dim : "";
        return dim + (pads[at] ?? 0) + (pads[at + axes.length] ?? 0);
      }),
    );
  },

  Conv(input) {
    const [x, weight] = input.inputs;
    if (x?.dims === undefined) {
      const rank = weight?.dims?.length;
      return withDims(x?.dataType, rank === undefined ? undefined : Array.from({ length: rank }, () => ""));
    }
    const [batch = "", , ...extents] = x.dims;
    const [features = "", , ...kernel] = weight?.dims ?? [];
    return withDims(x.dataType, [batch, features, ...windowed(input, extents, kernel)]);
  },

  AveragePool: pool,
  MaxPool: pool,
};

/** The value with its dims in another order. */
export function transposed(x: TrackedValue, perm: readonly number[]): TrackedValue {
  const dims = x.dims ?? [];
  const shape = perm.map((k) => dims[k] ?? "");
  const elements = knownElements(x);
  const value = withDims(x.dataType, shape);
  if (elements === undefined || !isStatic(dims)) return value;
  return withElements(
    value,
    elementsAt(
      shape,
      (position) =>
        elements[
          flatOf(
            dims,
            dims.map((_, k) => position[perm.indexOf(k)] ?? 0),
          )
        ],
    ),
  );
}
