/**
 * Rules of convolutions, pools and what else changes the extents of an image. Source: onnx/onnx
 * docs/Operators.md.
 */
import { elementCount } from "../../../ir/index.js";
import type { Dim } from "./model.js";
import {
  int,
  ints,
  constantInts,
  normalized,
  unknownDims,
  stringAttribute,
  times,
  type DimsRule,
  type RuleInput,
} from "./rule.js";
import { constantNumbers } from "./value.js";

/**
 * Returns the spatial output extents of a sliding window (convolution or pool). The padding is given by
 * `pads` or by `auto_pad`. An unknown extent is "".
 */
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
    const span = extent + padding - (dilations[k] ?? 1) * (size - 1) - 1;
    // Rounding up lets windows begin in the padding, on which runtimes differ.
    if (span < 0 || (int(node, "ceil_mode") === 1 && span % stride !== 0)) return "";
    return Math.floor(span / stride) + 1;
  });
}

/**
 * Returns the output shape of a pool: batch, channels, and one extent for each spatial dim. Returns undefined
 * if the input's dims or the kernel shape are unknown.
 */
export const poolDims: DimsRule = (input) => {
  const { node, inputs } = input;
  const [x] = inputs;
  const kernel = ints(node, "kernel_shape");
  if (x?.dims === undefined || kernel === undefined) return undefined;
  const [batch = "", channels = "", ...extents] = x.dims;
  return [batch, channels, ...windowed(input, extents, kernel)];
};

/**
 * Returns the output shape of a global pool: batch, channels, and 1 for each spatial dim. Returns undefined
 * if the input's dims are unknown.
 */
export const globalPoolDims: DimsRule = ({ inputs: [x] }) => x?.dims?.map((dim, k) => (k < 2 ? dim : 1));

/**
 * Returns a rule for the output shape of a convolution of input 0 with the weights in input `w`: batch,
 * output features and spatial extents. An unknown extent is "". The rule returns undefined if the dims of
 * both inputs are unknown.
 */
export const convDims =
  (w = 1): DimsRule =>
  (input) => {
    const [x, weight] = [input.inputs[0], input.inputs[w]];
    if (x?.dims === undefined) return weight?.dims === undefined ? undefined : unknownDims(weight.dims);
    const [batch = "", , ...extents] = x.dims;
    const [features = "", , ...kernel] = weight?.dims ?? [];
    return [batch, features, ...windowed(input, extents, kernel)];
  };

/**
 * Returns the output extent of a transposed window (as in ConvTranspose) along one spatial dim; "" if
 * unknown. `extent` is the input's extent, `size` the window's extent, and `k` the index of the dim among
 * `count` spatial dims.
 */
function unwindowed({ node }: RuleInput, extent: Dim, size: Dim | undefined, k: number, count: number): Dim {
  if (typeof extent !== "number" || typeof size !== "number") return "";
  const stride = ints(node, "strides")?.[k] ?? 1;
  const pads = ints(node, "pads") ?? [];
  const auto = stringAttribute(node, "auto_pad") ?? "NOTSET";
  const added = ints(node, "output_padding")?.[k] ?? 0;
  const padded = stride * (extent - 1) + added + (size - 1) * (ints(node, "dilations")?.[k] ?? 1) + 1;
  // Of a window that does not fill the stride, runtimes make less.
  if (auto.startsWith("SAME")) return padded < extent * stride ? "" : extent * stride;
  return auto === "VALID" ? padded : padded - (pads[k] ?? 0) - (pads[k + count] ?? 0);
}

/**
 * Returns the output shape of ConvTranspose, the inverse of Conv. Returns undefined if the dims of the input
 * and of the weights are unknown.
 */
export const convTransposeDims: DimsRule = (input) => {
  const { node, inputs } = input;
  const [x, weight] = inputs;
  if (x?.dims === undefined) return weight?.dims === undefined ? undefined : unknownDims(weight.dims);
  const [batch = "", , ...extents] = x.dims;
  const [, features = "", ...kernel] = weight?.dims ?? [];
  const given = ints(node, "output_shape");
  const shape = extents.map(
    (extent, k) => given?.at(k - extents.length) ?? unwindowed(input, extent, kernel[k], k, extents.length),
  );
  return [batch, times(features, int(node, "group") ?? 1), ...shape];
};

/**
 * Returns the output shape of MaxUnpool, the inverse of MaxPool. Input 2 gives the shape; without input 2,
 * the shape follows from kernel shape, strides and pads. Returns undefined if the dims of input 0 are
 * unknown.
 */
export const maxUnpoolDims: DimsRule = (input) => {
  const { node, inputs } = input;
  const [x] = inputs;
  if (x?.dims === undefined) return undefined;
  const given = constantInts(input, 2);
  if (given === undefined) return unknownDims(x.dims);
  if (given.length > 0) return given;
  const [batch = "", channels = "", ...extents] = x.dims;
  const kernel = ints(node, "kernel_shape") ?? [];
  return [
    batch,
    channels,
    ...extents.map((extent, k) => unwindowed(input, extent, kernel[k], k, extents.length)),
  ];
};

/**
 * Returns a rule for the output shape of a pool of regions of interest. The dims are the number of regions in
 * input 1, the channels of input 0, and the extents that `size` returns.
 */
export const regionDims =
  (size: (input: RuleInput) => readonly Dim[]): DimsRule =>
  (input) => {
    const [x, regions] = input.inputs;
    return [regions?.dims?.[0] ?? "", x?.dims?.[1] ?? "", ...size(input)];
  };

/**
 * Returns the output shape of GridSample: batch and channels of the image, then the spatial extents of the
 * grid. Returns undefined if a shape is unknown.
 */
export const gridSampleDims: DimsRule = ({ inputs: [x, grid] }) => {
  if (x?.dims === undefined || grid?.dims === undefined) return undefined;
  return [...x.dims.slice(0, 2), ...grid.dims.slice(1, -1)];
};

/**
 * Returns the output shape of AffineGrid: batch and spatial extents of the image, then the number of spatial
 * dims. Returns undefined if the image size (input 1) is not constant or has fewer than four extents.
 */
export const affineGridDims: DimsRule = (input) => {
  const size = constantInts(input, 1);
  if (size === undefined || size.length < 4) return undefined;
  const [batch = 0, , ...spatial] = size;
  return [batch, ...spatial, spatial.length];
};

/**
 * Returns the output shape of Col2Im: batch, channels, and the image extents in input 1. Returns undefined if
 * the image extents are unknown.
 */
export const col2ImDims: DimsRule = (input) => {
  const [x] = input.inputs;
  const [image, block] = [constantInts(input, 1), constantInts(input, 2)];
  if (image === undefined || image.length === 0) return undefined;
  const [batch = "", columns = ""] = x?.dims ?? [];
  const size = block === undefined ? 0 : elementCount(block);
  const isExact = typeof columns === "number" && columns % size === 0;
  return [batch, isExact ? columns / size : "", ...image];
};

/**
 * Returns the scale factor of each dim of an image, from the attribute `scales` if the node has it (Upsample
 * before opset 9), else from an input. Returns undefined if the factors are unknown.
 */
function scalesOf(input: RuleInput): readonly number[] | undefined {
  const { node, inputs, opset } = input;
  const attribute = node.attributes.get("scales");
  if (attribute?.kind === "floats") {
    const view = new DataView(attribute.bytes.buffer, attribute.bytes.byteOffset, attribute.bytes.byteLength);
    return Array.from({ length: view.byteLength / 4 }, (_, k) => view.getFloat32(4 * k, true));
  }
  return constantNumbers(inputs[node.op === "Upsample" || opset < 11 ? 1 : 2]);
}

/**
 * Returns the output shape of Resize and Upsample: the requested sizes, or the input extents times the scale
 * factors, rounded down. An unknown extent is "". Returns undefined if the input's dims are unknown.
 */
export const resizeDims: DimsRule = (input) => {
  const { node, inputs, opset } = input;
  const [x] = inputs;
  if (x?.dims === undefined) return undefined;
  const { dims } = x;
  const axes = normalized(ints(node, "axes") ?? dims.map((_, k) => k), dims.length);
  const policy = stringAttribute(node, "keep_aspect_ratio_policy") ?? "stretch";
  const sizes = node.op === "Upsample" || opset < 11 ? [] : constantInts(input, 3);
  if (axes === undefined || sizes === undefined) return unknownDims(dims);
  const scales = sizes.length > 0 ? undefined : scalesOf(input);
  if (sizes.length > 0 && policy !== "stretch") return unknownDims(dims);
  if (sizes.length === 0 && scales === undefined) return unknownDims(dims);
  return dims.map((dim, k): Dim => {
    const at = axes.indexOf(k);
    if (at === -1) return dim;
    const [size, scale] = [sizes[at], scales?.[at]];
    if (size !== undefined || scale === 1) return size ?? dim;
    return typeof dim !== "number" || scale === undefined ? "" : Math.floor(Math.fround(dim * scale));
  });
};
