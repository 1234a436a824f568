/**
 * Shape inference: for each operator, what its outputs are by what is known of its inputs. Source: onnx/onnx
 * docs/Operators.md and docs/Changelog.md. What a rule does not know it leaves open; it never guesses.
 */
import { castTo, elementwise, modulo, truth, where } from "./element-rules.js";
import {
  constantOfShape,
  dftDims,
  melDims,
  range,
  shapeOf,
  sizeOf,
  stftDims,
  windowDims,
} from "./generator-rules.js";
import {
  compress,
  gather,
  gatherBlockQuantized,
  gatherNdDims,
  nonZero,
  oneHot,
  dynamicLikeFirst,
  scatterElements,
  scatterNd,
  unique,
} from "./index-rules.js";
import {
  centerCropPad,
  concat,
  depthToSpace,
  expand,
  flatten,
  pad,
  reshape,
  slice,
  spaceToDepth,
  split,
  squeeze,
  tile,
  transpose,
  unsqueeze,
} from "./layout-rules.js";
import type { Dim } from "./model.js";
import { attention, einsumDims, gemmDims, linearAttentionDims, productDims } from "./product-rules.js";
import { recurrent } from "./recurrent-rules.js";
import { argument, reduction, topK } from "./reduce-rules.js";
import {
  always,
  dimsOf,
  int,
  ints,
  like,
  outputs,
  stringAttribute,
  sum,
  tensor,
  typed,
  typeNamed,
  typeOf,
  unknown,
  withDims,
  type RuleInput,
  type ShapeRule,
} from "./rule.js";
import { maxFollowed, type TrackedValue } from "./value.js";
import {
  affineGridDims,
  col2ImDims,
  convDims,
  convTransposeDims,
  globalPoolDims,
  gridSampleDims,
  maxUnpoolDims,
  poolDims,
  regionDims,
  resizeDims,
} from "./window-rules.js";

const bool = always("bool");
const f32 = always("f32");
const i32 = always("i32");
const i64 = always("i64");
const u8 = always("u8");
const string = always("string");

/** Elements in the order of the input: its shape and type. */
const same = like();

const smaller = (a: bigint, b: bigint): bigint => (b < a ? b : a);
const larger = (a: bigint, b: bigint): bigint => (b > a ? b : a);

const compare = (holds: (a: bigint, b: bigint) => boolean): ShapeRule =>
  elementwise((a, b = 0n) => truth(holds(a, b)), bool);

/**
 * Returns the shape of a loss: a scalar, or the shape of the target if the attribute `reduction` is `none`.
 * Undefined if that shape is unknown.
 */
const lossDims = ({ node, inputs: [, target] }: RuleInput): readonly Dim[] | undefined =>
  stringAttribute(node, "reduction") === "none" ? target?.dims : [];

/**
 * Returns a rule for the extents that an attribute lists; the rule returns undefined if the attribute is
 * absent.
 */
const listed =
  (name: string) =>
  ({ node }: RuleInput): readonly Dim[] | undefined =>
    ints(node, name);

/**
 * Returns the element type of the mask of a Dropout: the type of the data before opset 10, and bool since.
 * Undefined if the type is unknown.
 */
const maskType = (input: RuleInput): number | undefined => (input.opset < 10 ? typeOf(0) : bool)(input);

/**
 * Returns the extents of the statistics of a layer: 1 from the first normalized dim on. Undefined if the
 * input's dims are unknown.
 */
const layerDims = ({ node, inputs: [x] }: RuleInput): readonly Dim[] | undefined => {
  const axis = int(node, "axis") ?? -1;
  const { dims } = x ?? {};
  return dims?.map((dim, k) => (k < (axis < 0 ? axis + dims.length : axis) ? dim : 1));
};

/** Shape rules by operator name. A name outside ONNX's default domain begins with the domain. */
export const shapeRules: Readonly<Record<string, ShapeRule>> = {
  Abs: elementwise((a) => (a < 0n ? -a : a)),
  Acos: same,
  Acosh: same,
  Add: elementwise((a, b = 0n) => a + b),
  AffineGrid: tensor(typeOf(0), affineGridDims),
  And: elementwise((a, b = 0n) => a & b, bool),
  ArgMax: argument,
  ArgMin: argument,
  Asin: same,
  Asinh: same,
  Atan: same,
  Atanh: same,
  Attention: attention,
  AveragePool: tensor(typeOf(0), poolDims),
  BatchNormalization: outputs(same, like(3), like(4), like(3), like(4)),
  Bernoulli: like(0, typeNamed("dtype", typeOf(0))),
  BitCast: like(0, typeNamed("to")),
  BitShift: elementwise(),
  BitwiseAnd: elementwise(),
  BitwiseNot: same,
  BitwiseOr: elementwise(),
  BitwiseXor: elementwise(),
  BlackmanWindow: tensor(typeNamed("output_datatype", f32), windowDims),
  Cast: castTo(typeNamed("to")),
  CastLike: castTo(typeOf(1)),
  CausalConvWithState: outputs(
    same,
    tensor(typeOf(0), ({ inputs: [x, weights] }) => [
      x?.dims?.[0] ?? "",
      x?.dims?.[1] ?? "",
      sum([weights?.dims?.[2] ?? "", -1]),
    ]),
  ),
  Ceil: same,
  Celu: same,
  CenterCropPad: centerCropPad,
  Clip: same,
  Col2Im: tensor(typeOf(0), col2ImDims),
  Compress: compress,
  Concat: concat,
  ConstantOfShape: constantOfShape,
  Conv: tensor(typeOf(0), convDims()),
  ConvInteger: tensor(i32, convDims()),
  ConvTranspose: tensor(typeOf(0), convTransposeDims),
  Cos: same,
  Cosh: same,
  CumProd: same,
  CumSum: same,
  DFT: tensor(typeOf(0), dftDims),
  DeformConv: tensor(typeOf(0), convDims()),
  DepthToSpace: depthToSpace,
  DequantizeLinear: like(0, typeNamed("output_dtype", typeOf(1))),
  Det: tensor(typeOf(0), ({ inputs: [x] }) => x?.dims?.slice(0, -2)),
  /** Division of integers, truncating; undefined for a divisor of 0. */
  Div: elementwise((a, b = 0n) => (b === 0n ? undefined : a / b)),
  Dropout: outputs(same, like(0, maskType)),
  DynamicQuantizeLinear: outputs(
    like(0, u8),
    tensor(f32, () => []),
    tensor(u8, () => []),
  ),
  Einsum: tensor(typeOf(0), einsumDims),
  Elu: same,
  Equal: compare((a, b) => a === b),
  Erf: same,
  Exp: same,
  Expand: expand,
  EyeLike: like(0, typeNamed("dtype", typeOf(0))),
  Flatten: flatten,
  Floor: same,
  GRU: recurrent,
  Gather: gather,
  GatherElements: tensor(typeOf(0), dimsOf(1)),
  GatherND: tensor(typeOf(0), gatherNdDims),
  Gelu: same,
  Gemm: tensor(typeOf(0), gemmDims),
  GlobalAveragePool: tensor(typeOf(0), globalPoolDims),
  GlobalLpPool: tensor(typeOf(0), globalPoolDims),
  GlobalMaxPool: tensor(typeOf(0), globalPoolDims),
  Greater: compare((a, b) => a > b),
  GreaterOrEqual: compare((a, b) => a >= b),
  GridSample: tensor(typeOf(0), gridSampleDims),
  GroupNormalization: same,
  HammingWindow: tensor(typeNamed("output_datatype", f32), windowDims),
  HannWindow: tensor(typeNamed("output_datatype", f32), windowDims),
  HardSigmoid: same,
  HardSwish: same,
  Hardmax: same,
  Identity: ({ inputs: [x] }) => x ?? unknown,
  ImageDecoder: tensor(u8, ({ node }) => [
    "",
    "",
    stringAttribute(node, "pixel_format") === "Grayscale" ? 1 : 3,
  ]),
  InstanceNormalization: same,
  IsInf: like(0, bool),
  IsNaN: like(0, bool),
  LRN: same,
  LSTM: recurrent,
  LayerNormalization: outputs(
    same,
    tensor(typeNamed("stash_type", f32), layerDims),
    tensor(typeNamed("stash_type", f32), layerDims),
  ),
  LeakyRelu: same,
  Less: compare((a, b) => a < b),
  LessOrEqual: compare((a, b) => a <= b),
  LinearAttention: tensor(typeOf(0), linearAttentionDims),
  Log: same,
  LogSoftmax: same,
  LpNormalization: same,
  LpPool: tensor(typeOf(0), poolDims),
  MatMul: tensor(typeOf(0), productDims()),
  MatMulInteger: tensor(i32, productDims()),
  Max: elementwise((...all) => all.reduce(larger)),
  MaxPool: outputs(tensor(typeOf(0), poolDims), tensor(i64, poolDims)),
  MaxRoiPool: tensor(
    typeOf(0),
    regionDims(({ node }) => ints(node, "pooled_shape") ?? ["", ""]),
  ),
  MaxUnpool: tensor(typeOf(0), maxUnpoolDims),
  Mean: elementwise(),
  MeanVarianceNormalization: same,
  MelWeightMatrix: tensor(typeNamed("output_datatype", f32), melDims),
  Min: elementwise((...all) => all.reduce(smaller)),
  Mish: same,
  Mod: modulo,
  Mul: elementwise((a, b = 0n) => a * b),
  Multinomial: tensor(typeNamed("dtype", i32), ({ node, inputs: [x] }) => [
    x?.dims?.[0] ?? "",
    int(node, "sample_size") ?? 1,
  ]),
  Neg: elementwise((a) => -a),
  NegativeLogLikelihoodLoss: tensor(typeOf(0), lossDims),
  NonMaxSuppression: tensor(i64, () => ["", 3]),
  NonZero: nonZero,
  Not: elementwise((a) => truth(a === 0n), bool),
  OneHot: oneHot,
  OptionalHasElement: tensor(bool, () => []),
  Or: elementwise((a, b = 0n) => a | b, bool),
  PRelu: same,
  Pad: pad,
  /** Its output has the type of the base. */
  Pow: elementwise(),
  QLinearConv: tensor(typeOf(7), convDims(3)),
  QLinearMatMul: tensor(typeOf(7), productDims(0, 3)),
  QuantizeLinear: like(0, (input) => typeNamed("output_dtype", typeOf(2))(input) ?? u8(input)),
  RMSNormalization: like(0, typeOf(1)),
  RNN: recurrent,
  RandomNormal: tensor(typeNamed("dtype", f32), listed("shape")),
  RandomNormalLike: like(0, typeNamed("dtype", typeOf(0))),
  RandomUniform: tensor(typeNamed("dtype", f32), listed("shape")),
  RandomUniformLike: like(0, typeNamed("dtype", typeOf(0))),
  Range: range,
  Reciprocal: same,
  ReduceL1: reduction(18),
  ReduceL2: reduction(18),
  ReduceLogSum: reduction(18),
  ReduceLogSumExp: reduction(18),
  ReduceMax: reduction(18, larger),
  ReduceMean: reduction(18),
  ReduceMin: reduction(18, smaller),
  ReduceProd: reduction(18, (a, b) => a * b),
  ReduceSum: reduction(13, (a, b) => a + b),
  ReduceSumSquare: reduction(18),
  RegexFullMatch: like(0, bool),
  Relu: same,
  Reshape: reshape,
  Resize: tensor(typeOf(0), resizeDims),
  ReverseSequence: same,
  RoiAlign: tensor(
    typeOf(0),
    regionDims(({ node }) => [int(node, "output_height") ?? 1, int(node, "output_width") ?? 1]),
  ),
  RotaryEmbedding: same,
  Round: same,
  STFT: tensor(typeOf(0), stftDims),
  Scatter: scatterElements,
  ScatterElements: scatterElements,
  ScatterND: scatterNd,
  Selu: same,
  SequenceLength: tensor(i64, () => []),
  Shape: shapeOf,
  Shrink: same,
  Sigmoid: same,
  Sign: elementwise((a) => (a > 0n ? 1n : a < 0n ? -1n : 0n)),
  Sin: same,
  Sinh: same,
  Size: sizeOf,
  Slice: slice,
  Softmax: same,
  SoftmaxCrossEntropyLoss: outputs(tensor(typeOf(0), lossDims), same),
  Softplus: same,
  Softsign: same,
  SpaceToDepth: spaceToDepth,
  Split: split,
  Sqrt: same,
  Squeeze: squeeze,
  StringConcat: elementwise(),
  StringNormalizer: tensor(string, dynamicLikeFirst),
  StringSplit: outputs(
    tensor(string, ({ inputs: [x] }) => (x?.dims === undefined ? undefined : [...x.dims, ""])),
    like(0, i64),
  ),
  Sub: elementwise((a, b = 0n) => a - b),
  Sum: elementwise(),
  SwiGLU: same,
  Swish: same,
  Tan: same,
  Tanh: same,
  TensorScatter: same,
  TfIdfVectorizer: tensor(f32, ({ node, inputs: [x] }) => {
    const length = Math.max(...(ints(node, "ngram_indexes") ?? [])) + 1;
    return x?.dims?.map((dim, k, all) => (k === all.length - 1 ? length : dim));
  }),
  ThresholdedRelu: same,
  Tile: tile,
  TopK: topK,
  Transpose: transpose,
  Trilu: same,
  Unique: unique,
  Unsqueeze: unsqueeze,
  Upsample: tensor(typeOf(0), resizeDims),
  Where: where,
  Xor: elementwise((a, b = 0n) => a ^ b, bool),
  "com.microsoft.GatherBlockQuantized": gatherBlockQuantized,
};

const table: ReadonlyMap<string, ShapeRule> = new Map(Object.entries(shapeRules));

/**
 * Infers the tracked values (data type, shape, known elements) of a node's outputs. The outputs of an
 * operator without a shape rule are unknown. Returns an empty list if an attribute refers to a function
 * parameter.
 */
export function inferOutputs(input: RuleInput): readonly TrackedValue[] {
  // Within a function, an attribute may be what the caller gives: nothing follows from it.
  for (const { kind } of input.node.attributes.values()) if (kind === "reference") return [];
  const { op, domain } = input.node;
  const rule = table.get(domain === "" ? op : `${domain}.${op}`);
  return [rule?.(input) ?? unknown].flat().map(sane);
}

/**
 * Returns a tracked value (inferred facts about a tensor) without impossible facts. An invalid extent becomes
 * unknown, and a shape of more than `maxFollowed` dims is dropped.
 */
function sane(value: TrackedValue): TrackedValue {
  const { dims, dataType } = value;
  if (dims === undefined) return value;
  if (dims.length > maxFollowed) return typed(dataType);
  const legal = (dim: Dim): boolean => typeof dim === "string" || (Number.isSafeInteger(dim) && dim >= 0);
  if (dims.every(legal)) return value;
  return withDims(
    dataType,
    dims.map((dim) => (legal(dim) ? dim : "")),
  );
}
