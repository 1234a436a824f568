/**
 * com.microsoft.GatherBlockQuantized: rows of a table that is quantized by blocks, dequantized as they are
 * gathered.
 *
 * Source: microsoft/onnxruntime docs/ContribOperators.md, and the code of its CPU
 * (contrib_ops/cpu/quantization/ gather_block_quantized.cc): blocks that the last one of a row cuts short,
 * zero points packed by rows, and a missing zero point of 2^(bits-1) for bytes and 0 for 4-bit types. Its
 * release 1.30 rejects an index out of range.
 */
import type { MapBody, OutOfBounds, Read } from "../access.js";
import { coordsAlong, dimsFrom, indexOperand } from "../index-operand.js";
import { div } from "../linear.js";
import { outputShape } from "../operator.js";
import {
  at,
  elementsInByte,
  formatShape,
  formatType,
  type DType,
  type Shape,
  type TensorType,
} from "../types.js";
import { castTo, type Expression } from "../values/expression.js";
import { oobOf, oobSpec } from "./attributes.js";
import { mappedGather } from "./mapped-gather.js";
import {
  axisOf,
  checkTypeOf,
  defineOperator,
  breakRule,
  intAttr,
  resolvedAs,
  type OpInputs,
} from "./op-def.js";

const who = "onnx.gather_block_quantized";

/** Element types that bytes hold, by `bits`. */
const inBytes: ReadonlyMap<number, DType> = new Map([
  [2, "u2"],
  [4, "u4"],
  [8, "u8"],
]);
const scaleTypes: readonly DType[] = ["f32", "f16"];

/** The operator's tensors with their elements one by one, and its attributes. */
interface Blocks {
  readonly data: TensorType;
  readonly indices: TensorType;
  readonly scales: TensorType;
  readonly zeroPoints?: TensorType;
  readonly gatherAxis: number;
  readonly quantizeAxis: number;
  readonly block: number;
  readonly oob: OutOfBounds;
  /** Zero point where there is no tensor of zero points. */
  readonly zero: number;
}

/** Returns a tensor of bytes as the elements packed in its rows. */
const unpacked = ({ shape }: TensorType, dtype: DType): TensorType => ({
  dtype,
  shape: shape.map((extent, k) => (k === shape.length - 1 ? extent * elementsInByte(dtype) : extent)),
});

/**
 * Returns the checked tensor types and attributes of `onnx.gather_block_quantized`. Throws a RuleError if the
 * inputs break a rule of the operator.
 */
function blocksOf(inputs: OpInputs): Blocks {
  const [data, indices, scales, zeroPoints] = inputs.inputs;
  const type = (name: string, given: TensorType | undefined, allowed: readonly DType[]): TensorType =>
    checkTypeOf(inputs, name, given, allowed, who);
  const stored = type("data", data, ["u8", "u4", "i4"]);
  const bits = intAttr(inputs.attrs, "bits") ?? 4;
  const element = stored.dtype === "u8" ? inBytes.get(bits) : stored.dtype;
  if (element === undefined || (stored.dtype !== "u8" && bits !== 4))
    breakRule(
      "TC105",
      inputs,
      `bits is ${bits} for data of ${stored.dtype}`,
      "u8 data takes bits 2, 4 or 8; u4 and i4 data takes bits 4",
    );
  const block = intAttr(inputs.attrs, "block_size") ?? 128;
  if (block < 16 || (block & (block - 1)) !== 0)
    breakRule("TC105", inputs, `block_size is ${block}; it must be a power of two, 16 or more`);
  const rank = stored.shape.length;
  if (rank === 0) breakRule("TC102", inputs, `${who} takes data of rank 1 or more`);
  const gatherAxis = axisOf(inputs, "gather_axis");
  const quantizeAxis = axisOf(inputs, "quantize_axis");
  if (stored.dtype === "u8" && (gatherAxis !== 0 || quantizeAxis !== rank - 1))
    breakRule(
      "TC105",
      inputs,
      `data of u8 takes gather_axis 0 and quantize_axis ${rank - 1}, not ${gatherAxis} and ${quantizeAxis}`,
    );
  const logical = stored.dtype === "u8" ? unpacked(stored, element) : stored;
  const scale = type("scales", scales, scaleTypes);
  const blocks = logical.shape.map((extent, k) => (k === quantizeAxis ? Math.ceil(extent / block) : extent));
  const same = (name: string, given: TensorType, expected: Shape): void => {
    if (given.shape.length === rank && expected.every((extent, k) => extent === given.shape[k])) return;
    breakRule(
      "TC103",
      inputs,
      `${name} is ${formatType(given)}; data ${formatType(logical)} in blocks of ${block} needs shape ${formatShape(expected)}`,
    );
  };
  same("scales", scale, blocks);
  const head = {
    data: logical,
    indices: type("indices", indices, ["i32", "i64"]),
    scales: scale,
    gatherAxis,
    quantizeAxis,
    block,
    oob: oobOf(inputs),
    zero: stored.dtype === "u8" ? 2 ** (bits - 1) : 0,
  };
  if (zeroPoints === undefined) return head;
  const points = type("zero_points", zeroPoints, [stored.dtype]);
  const each = stored.dtype === "u8" ? elementsInByte(element) : 1;
  same(
    "zero_points",
    points,
    blocks.map((extent, k) => (k === rank - 1 ? Math.ceil(extent / each) : extent)),
  );
  return { ...head, zeroPoints: stored.dtype === "u8" ? unpacked(points, element) : points };
}

/**
 * Returns the access map of the dequantizing gather, without domain and write. The value is T(f32(i32(q) -
 * i32(z)) * f32(s)) for element q, zero point z, scale s and scale type T.
 */
function bodyOf({
  data,
  indices,
  scales,
  zeroPoints,
  gatherAxis,
  quantizeAxis,
  block,
  oob,
  zero,
}: Blocks): MapBody {
  const rank = indices.shape.length;
  const extent = at(data.shape, gatherAxis);
  const coords = coordsAlong(data.shape, gatherAxis, rank);
  const ofBlock = coords.map((coord, k) => (k === quantizeAxis ? div(coord, block) : coord));
  const reads: Read[] = [
    { table: 0, at: coords },
    { table: 2, at: ofBlock },
    ...(zeroPoints === undefined ? [] : [{ table: 3, at: ofBlock }]),
  ];
  const read = (entry: number): Expression => ({ kind: "read", read: entry });
  const zeros: Expression | undefined =
    zeroPoints !== undefined
      ? castTo("i32", zeroPoints.dtype, read(2))
      : zero === 0
        ? undefined
        : { kind: "number", type: "i32", bits: zero };
  const scaled: Expression =
    zeros === undefined
      ? read(0)
      : { kind: "op", op: "sub", of: [castTo("i32", data.dtype, read(0)), zeros] };
  const product: Expression = {
    kind: "op",
    op: "mul",
    of: [{ kind: "cast", to: "f32", of: scaled }, castTo("f32", scales.dtype, read(1))],
  };
  return {
    indices: [indexOperand({ negative: "from-end", oob }, 1, dimsFrom(gatherAxis, rank), extent)],
    reads,
    value: castTo(scales.dtype, "f32", product),
  };
}

/** Operator com.microsoft.GatherBlockQuantized: a dequantizing gather from a block-quantized tensor. */
export const onnxGatherBlockQuantized = defineOperator({
  name: "onnx.gather_block_quantized",
  inputs: ["data", "indices", "scales", "zero_points"],
  optional: ["zero_points"],
  values: ["scales", "zero_points"],
  attrs: {
    bits: { key: "bits", kind: "int", default: 4, help: "bits of an element: 2, 4 or 8" },
    block_size: {
      key: "blockSize",
      kind: "int",
      default: 128,
      help: "elements that share a scale: a power of two from 16 on",
    },
    gather_axis: { key: "gatherAxis", kind: "int", default: 0, help: "axis that the indices choose along" },
    quantize_axis: { key: "quantizeAxis", kind: "int", default: 1, help: "axis that blocks divide" },
    oob: oobSpec("error"),
  },
  resolve(inputs) {
    const blocks = blocksOf(inputs);
    const { data, indices, scales, zeroPoints, gatherAxis, oob } = blocks;
    const tensors = [data, indices, scales, ...(zeroPoints === undefined ? [] : [zeroPoints])];
    const output = outputShape({ op: "gather", axis: gatherAxis, data: data.shape, indices: indices.shape });
    const shapes = tensors.map(({ shape }) => shape);
    const gather = mappedGather(shapes, output, bodyOf(blocks));
    const operator = { ...gather, types: tensors.map(({ dtype }) => dtype) };
    return { ...resolvedAs(operator, { negative: "from-end", oob }), dtype: scales.dtype };
  },
});
