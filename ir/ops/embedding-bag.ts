/**
 * torch.nn.functional.embedding_bag: sums, means or maxima of rows of a table.
 *
 * Source: docs.pytorch.org/docs/stable, the page of this name, and aten/src/ATen/native/EmbeddingBag.cpp. A
 * bag without rows is 0,
 * `padding_idx` leaves its row out and out of the count, and the first offset is 0. torch sums f16 and bf16 in f32, as here.
 */
import { defined } from "../defined.js";
import {
  readData,
  type MapBody,
  type OutOfBounds,
  type Read,
  type Reduced,
  type IndexOperand,
} from "../access.js";
import { add, constant, dim, div, mod, scale, index } from "../linear.js";
import { at, formatShape, formatType, type DType, type TensorType } from "../types.js";
import { castTo, maxReductionElements, type Expression, type Reduction } from "../values/expression.js";
import { oobOf, oobSpec } from "./attributes.js";
import { mappedGather } from "./mapped-gather.js";
import {
  checkDType,
  checkTypeOf,
  checkRank,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  resolvedAs,
  wordAttr,
} from "./op-def.js";

const who = "torch.embedding_bag";
const weightTypes: readonly DType[] = ["f32", "f16", "bf16"];
const indexTypes: readonly DType[] = ["i32", "i64"];

const modes = { sum: "fold", mean: "mean", max: "max" } as const satisfies Readonly<
  Record<string, Reduction>
>;
type Mode = keyof typeof modes;
const modeWords = Object.keys(modes) as readonly Mode[];

/** The operator's tensors and attributes. */
interface Segments {
  readonly weight: TensorType;
  readonly input: TensorType;
  /** Positions in the input at which segments begin; present for an input of one dim. */
  readonly offsets?: TensorType;
  readonly weights?: TensorType;
  readonly how: Reduction;
  /** Rows of the output. */
  readonly segments: number;
  /** Terms of a bag at most. */
  readonly max: number;
  /** True if the last offset is the end of the last segment. */
  readonly ended: boolean;
  readonly padding?: number;
  readonly oob: OutOfBounds;
}

/**
 * Returns the checked tensors and attributes of `torch.embedding_bag`. Throws a RuleError for invalid inputs
 * or attributes.
 */
function segmentsOf(inputs: OpInputs): Segments {
  const { attrs } = inputs;
  const [weight, input] = [inputs.data, inputs.indices];
  if (weight.dtype === "f64")
    breakRule(
      "TC104",
      inputs,
      `${who} sums rows of f64 in f64, and values are computed in f32`,
      "cast weight to f32; torch.embedding moves rows of f64 as they are",
    );
  checkDType(inputs, "data", weightTypes, who);
  checkDType(inputs, "indices", indexTypes, who);
  checkRank(inputs, "data", 2, 2, who);
  checkRank(inputs, "indices", 1, 2, who);
  const flat = input.shape.length === 1;
  const [offsets, weights] = flat ? inputs.inputs.slice(2) : [undefined, ...inputs.inputs.slice(2)];
  if (flat && offsets === undefined)
    breakRule(
      "TC102",
      inputs,
      `input ${formatType(input)} has one dim and needs offsets`,
      "pass offsets, the position of the first row of each bag, such as --indices i64[2]",
    );
  if (!flat && inputs.inputs.length > 3)
    breakRule(
      "TC102",
      inputs,
      `input ${formatType(input)} of two dims takes no offsets: a row is a bag`,
      "leave offsets out",
    );
  const how = modes[wordAttr(attrs, "mode") as Mode];
  if (weights !== undefined) checkWeights(inputs, weights, how);
  const padding = intAttr(attrs, "padding_idx");
  const rows = at(weight.shape, 0);
  if (padding !== undefined && (padding < -rows || padding >= rows))
    breakRule(
      "TC105",
      inputs,
      `padding_idx ${padding} is outside [${-rows}, ${rows - 1}], the rows of weight`,
    );
  return {
    weight,
    input,
    ...defined({ weights }),
    ...(offsets === undefined
      ? rowsAsSegments(inputs)
      : segmentsBetween(inputs, offsets, maxReductionElements(how))),
    how,
    ...(padding === undefined ? {} : { padding: padding < 0 ? padding + rows : padding }),
    oob: oobOf(inputs),
  };
}

/**
 * Throws a RuleError if `per_sample_weights` are invalid. The mode must be sum, the type must equal the
 * weight matrix's type, and the shape must equal the input's shape.
 */
function checkWeights(inputs: OpInputs, weights: TensorType, how: Reduction): void {
  const { data: weight, indices: input } = inputs;
  if (how !== "fold")
    breakRule(
      "TC105",
      inputs,
      `per_sample_weights need mode sum, not ${wordAttr(inputs.attrs, "mode")}`,
      "set mode to sum, or leave per_sample_weights out",
    );
  if (weights.dtype !== weight.dtype)
    breakRule(
      "TC104",
      inputs,
      `per_sample_weights have type ${weights.dtype}, and weight has ${weight.dtype}: they must be equal`,
      `cast per_sample_weights to ${weight.dtype}`,
    );
  if (formatShape(weights.shape) !== formatShape(input.shape))
    breakRule(
      "TC103",
      inputs,
      `per_sample_weights are ${formatType(weights)}, and input is ${formatType(input)}: the shapes must be equal`,
    );
}

type Extent = Pick<Segments, "offsets" | "segments" | "max" | "ended">;

/**
 * Returns the number of segments (bags) and the segment length, in elements, for an embedding_bag input of
 * two dims. Each row of the input is a segment. Throws a RuleError for the attributes `include_last_offset`
 * or `longest_bag`, which need offsets (TC105), or for rows of length 0 (TC103).
 */
function rowsAsSegments(inputs: OpInputs): Extent {
  const [segments = 0, length = 0] = inputs.indices.shape;
  const given = ["include_last_offset", "longest_bag"].find(
    (name) => (intAttr(inputs.attrs, name) ?? 0) !== 0,
  );
  if (given !== undefined)
    breakRule(
      "TC105",
      inputs,
      `${given} needs offsets, and an input of two dims has none`,
      `leave ${given} out`,
    );
  if (length === 0)
    breakRule(
      "TC103",
      inputs,
      `input ${formatType(inputs.indices)} has bags of 0 rows; a bag needs 1 or more`,
    );
  return { segments, max: length, ended: false };
}

/**
 * Returns the number of segments (bags) and the maximum segment length, in elements, for an embedding_bag
 * input of one dim. `offsets`: start positions of the segments in the input. `highest`: upper limit of the
 * maximum length. Throws a RuleError for invalid inputs or attributes.
 */
function segmentsBetween(inputs: OpInputs, offsets: TensorType, highest: number): Extent {
  const { shape } = checkTypeOf(inputs, "offsets", offsets, indexTypes, who);
  if (shape.length !== 1)
    breakRule("TC102", inputs, `offsets are ${formatType(offsets)}; they must have one dim`);
  const last = intAttr(inputs.attrs, "include_last_offset") ?? 0;
  if (last !== 0 && last !== 1)
    breakRule("TC105", inputs, `include_last_offset is ${last}; it must be 0 or 1`);
  const count = at(shape, 0);
  if (last === 1 && count === 0)
    breakRule("TC103", inputs, "offsets have 0 elements; include_last_offset = 1 needs 1 or more");
  const listed = at(inputs.indices.shape, 0);
  const max = intAttr(inputs.attrs, "longest_bag") ?? Math.min(Math.max(1, listed), highest);
  if (max < 1 || max > highest)
    breakRule("TC105", inputs, `longest_bag is ${max}; it must be 1 to ${highest} rows`);
  return { offsets, segments: count - last, max, ended: last === 1 };
}

const firstOffset: IndexOperand = { value: { table: 2, at: [constant(0)] }, outOfRange: "error", extent: 1 };

/**
 * Returns the index operands for the segment (bag) of output row d0: the first offset, which must be 0, then
 * the segment's start and end. `listed`: number of listed indices, which is the end of the last segment.
 */
function endsOf({ offsets, ended }: Segments, listed: number): IndexOperand[] {
  const extent = listed + 1;
  const next = add(dim(0), constant(1));
  const from: IndexOperand = { value: { table: 2, at: [dim(0)] }, outOfRange: "error", extent };
  if (ended) return [firstOffset, from, { value: { table: 2, at: [next] }, outOfRange: "error", extent }];
  const count = Math.max(1, at(offsets?.shape ?? [], 0));
  const end: IndexOperand = { value: { table: 2, at: [mod(next, count)] }, outOfRange: "any" };
  const to = add(index(2), scale(div(next, count), listed));
  return [firstOffset, from, end, { value: to, outOfRange: "error", extent }];
}

/**
 * Returns the index operands, reads and value of no bag: the only offset is the last one and the first one.
 * No element has the value; it reads what a bag's does.
 */
function bodyOfNone({ weight, offsets, weights }: Segments): MapBody {
  const indices = offsets?.shape.includes(0) === true ? [] : [firstOffset];
  const element: Read = { table: 0, at: [constant(0), dim(1)] };
  if (weights === undefined) return { indices, ...readData(element.at) };
  const reads = [element, { table: 3, at: [constant(0)] }];
  return { indices, reads, value: castTo(weight.dtype, "f32", weighted(weight)) };
}

/** Returns a read of a bag's rows or weights, computed in f32. */
const asF32 = ({ dtype }: TensorType, read: number): Expression =>
  castTo("f32", dtype, { kind: "read", read });

/** Returns the product of an element of a row, read 0, and the row's weight, read 1, in f32. */
const weighted = (weight: TensorType): Expression => ({
  kind: "op",
  op: "mul",
  of: [asF32(weight, 0), asF32(weight, 1)],
});

/**
 * Returns the access map of embedding_bag, without domain and write. The value is the weighted sum, the mean,
 * or the maximum of the rows that a segment lists, computed in f32.
 */
function bodyOf(segments: Segments): MapBody {
  const { weight, input, offsets, weights, how, max, padding, oob } = segments;
  const term = dim(2);
  const ends = offsets === undefined ? [] : endsOf(segments, at(input.shape, 0));
  const place = offsets === undefined ? [dim(0), term] : [term];
  const row: IndexOperand = {
    value: { table: 1, at: place },
    outOfRange: oob,
    extent: at(weight.shape, 0),
    ...defined({ excluded: padding }),
  };
  const element: Read = { table: 0, at: [index(ends.length), dim(1)] };
  const reads =
    weights === undefined ? [element] : [element, { table: offsets === undefined ? 2 : 3, at: place }];
  const of = weights === undefined ? asF32(weight, 0) : weighted(weight);
  const reduced: Reduced = {
    max,
    ...(ends.length === 0 ? {} : { segment: { from: 1, to: ends.length - 1 } }),
  };
  return {
    reduced,
    indices: [...ends, row],
    reads,
    value: castTo(weight.dtype, "f32", { kind: "reduce", how, of }),
  };
}

/**
 * Operator torch.nn.functional.embedding_bag: computes the sum, mean or maximum of each bag (list) of table
 * rows.
 */
export const torchEmbeddingBag = defineOperator({
  name: "torch.embedding_bag",
  inputs: ["weight", "input", "offsets", "per_sample_weights"],
  optional: ["offsets", "per_sample_weights"],
  namesOf: (inputs) => {
    const flat = inputs[1]?.shape.length === 1 || inputs.length > 3;
    return ["weight", "input", ...(flat ? ["offsets"] : []), "per_sample_weights"].slice(0, inputs.length);
  },
  values: ["per_sample_weights"],
  attrs: {
    mode: {
      key: "mode",
      kind: "word",
      words: modeWords,
      default: "mean",
      help: "what becomes of the rows of a bag",
    },
    padding_idx: {
      key: "paddingIdx",
      kind: "int",
      help: "the row that is left out",
    },
    include_last_offset: {
      key: "includeLastOffset",
      kind: "int",
      default: 0,
      help: "1: the last offset is where the last bag ends",
    },
    longest_bag: {
      key: "longestBag",
      kind: "int",
      help: "rows of a bag at most; absent, those of all bags together",
    },
    oob: oobSpec("error"),
  },
  resolve(inputs) {
    const segments = segmentsOf(inputs);
    const { weight, input, offsets, weights, oob } = segments;
    const output = [segments.segments, at(weight.shape, 1)];
    const tensors = [
      weight,
      input,
      ...(offsets === undefined ? [] : [offsets]),
      ...(weights === undefined ? [] : [weights]),
    ];
    const body = segments.segments === 0 && offsets !== undefined ? bodyOfNone(segments) : bodyOf(segments);
    const shapes = tensors.map(({ shape }) => shape);
    return resolvedAs(mappedGather(shapes, output, body), { negative: "illegal", oob });
  },
});
