/** Random nodes of each of ONNX's operators, valid by docs/Operators.md: attributes, and operands of random shapes. */
import fc from "fast-check";
import {
  intAttribute,
  intsAttribute,
  raw,
  stringAttribute,
  tensor,
  tensorAttribute,
} from "../support/onnx-bytes.js";

/** Element types of operands. */
export type TrialType = "f32" | "f64" | "f16" | "i64" | "i32" | "i16" | "u8" | "i8" | "bool" | "string";

/** An operand. With `values` the model fixes it; without, it is an input of zeros. */
export interface Operand {
  readonly dtype: TrialType;
  readonly dims: readonly number[];
  readonly values?: readonly number[];
}

/** A node of one of ONNX's own operators; undefined stands for an operand that is left out. */
export interface Trial {
  readonly operands: readonly (Operand | undefined)[];
  readonly attributes?: readonly number[];
  readonly outputs?: number;
  readonly opset: number;
}

/** Nodes of an operator. `open`: true if its extents may hang on what no model fixes, or on what runtimes differ on. */
export interface Trials {
  readonly trial: fc.Arbitrary<Trial>;
  readonly open?: true;
}

const opsets = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26];

type Fields<T> = { readonly [Key in keyof T]: fc.Arbitrary<T[Key]> };
type Made = Omit<Trial, "opset">;

/** Nodes that are valid from one opset on, made of what is drawn. */
const nodes = <T extends object>(
  first: number,
  fields: Fields<T>,
  make: (drawn: T, opset: number) => Made,
  last = 26,
): Trials => ({
  trial: fc
    .tuple(
      fc.record(fields),
      fc.oneof(
        { weight: 1, arbitrary: fc.constant(first) },
        { weight: 3, arbitrary: fc.constantFrom(...opsets.filter((own) => own >= first && own <= last)) },
      ),
    )
    .map(([drawn, opset]) => ({ ...make(drawn as T, opset), opset })),
});
const open = (own: Trials): Trials => ({ ...own, open: true });
const either = (...all: readonly Trials[]): Trials => ({ trial: fc.oneof(...all.map(({ trial }) => trial)) });

/** Number of elements. */
export const size = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const extent = (least: number, most: number): fc.Arbitrary<number> => fc.integer({ min: least, max: most });
const many = <T>(value: fc.Arbitrary<T>, count: number): fc.Arbitrary<T[]> =>
  fc.array(value, { minLength: count, maxLength: count });
const shape = (least = 1, most = 3): fc.Arbitrary<number[]> =>
  fc.array(extent(1, 4), { minLength: least, maxLength: most });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
/** An axis of so many dims, from the front or from the end. */
const axisAt = (place: number, rank: number): number => (place % (2 * rank)) - rank;
const fromFront = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

const fed = (dims: readonly number[], dtype: TrialType = "f32"): Operand => ({ dtype, dims });
const fixed = (
  values: readonly number[],
  dims: readonly number[] = [values.length],
  dtype: TrialType = "i64",
): Operand => ({ dtype, dims, values });
const scalar = (value: number, dtype: TrialType = "i64"): Operand => fixed([value], [], dtype);

/** A tensor of small integers that the model fixes, 0 among them. */
const small = (least = 1, most = 3): fc.Arbitrary<Operand & { readonly values: readonly number[] }> =>
  shape(least, most).chain((dims) =>
    many(extent(-3, 5), size(dims)).map((values) => ({ dtype: "i64" as const, dims, values })),
  );
/** The same, or a tensor of which no element is known. */
const anything = (least = 1, most = 3): fc.Arbitrary<Operand> =>
  fc.oneof(
    small(least, most),
    shape(least, most).map((dims) => fed(dims)),
  );

/** Shapes that broadcast together. */
const broadcastable = (count: number): fc.Arbitrary<number[][]> =>
  shape(0, 3).chain((dims) =>
    many(fc.tuple(extent(0, dims.length), many(fc.boolean(), 3)), count).map((all) =>
      all.map(([from, ones]) => dims.slice(from).map((dim, k) => (ones[k] === true ? 1 : dim))),
    ),
  );

const none: readonly number[] = [];

const unary = (first: number, dtype: TrialType = "f32", attributes = none): Trials =>
  nodes(first, { dims: shape(0, 4) }, ({ dims }) => ({ operands: [fed(dims, dtype)], attributes }));
const ofRank = (first: number, least: number, most: number, attributes = none): Trials =>
  nodes(first, { dims: shape(least, most) }, ({ dims }) => ({ operands: [fed(dims)], attributes }));
/** Nodes of one operand whose elements may be known. */
const followed = (first: number): Trials => nodes(first, { x: anything(0) }, ({ x }) => ({ operands: [x] }));
const binary = (first: number, dtype: TrialType = "f32", attributes = none): Trials =>
  nodes(first, { dims: broadcastable(2) }, ({ dims }) => ({
    operands: dims.map((own) => fed(own, dtype)),
    attributes,
  }));
const variadic = (first: number): Trials =>
  nodes(first, { dims: extent(1, 3).chain(broadcastable) }, ({ dims }) => ({
    operands: dims.map((own) => fed(own)),
  }));
/** Nodes of small integers that the model fixes: the second operand is a row of the first, or one number, and never 0. */
const counted = (first: number, attributes = none): Trials =>
  nodes(first, { x: small(), single: fc.boolean(), turn: extent(0, 3) }, ({ x, single, turn }) => {
    const count = single ? 1 : (x.dims.at(-1) ?? 1);
    const values = Array.from({ length: count }, (_, k) => x.values[(k + turn) % x.values.length] ?? 1);
    const divisors = values.map((value) => (value === 0 ? 2 : value));
    return { operands: [x, fixed(divisors, single ? [] : [count])], attributes };
  });
const arithmetic = (first: number): Trials => either(counted(first), binary(first, "i64"));
const alongAxis = (first: number): Trials =>
  nodes(first, { dims: shape(1, 4), place: fc.nat() }, ({ dims, place }) => ({
    operands: [fed(dims)],
    attributes: intAttribute("axis", axisAt(place, dims.length)),
  }));
const cumulative = (first: number): Trials =>
  nodes(first, { dims: shape(1, 3), place: fc.nat() }, ({ dims, place }) => ({
    operands: [fed(dims), scalar(axisAt(place, dims.length))],
  }));

/** Axes are an attribute before opset `moved`, and an operand since. */
const reduce = (moved: number): Trials =>
  nodes(
    11,
    {
      x: anything(1, 4),
      keeps: fc.boolean(),
      noop: fc.boolean(),
      negative: fc.boolean(),
      picks: many(fc.boolean(), 4),
    },
    ({ x, keeps, noop, negative, picks }, opset) => {
      const rank = x.dims.length;
      const axes = x.dims.flatMap((_, k) => (picks[k] === true ? [negative ? k - rank : k] : []));
      const isInput = opset >= moved;
      const given = axes.length === 0 ? [] : intsAttribute("axes", axes);
      return {
        operands: [x, ...(isInput && axes.length > 0 ? [fixed(axes)] : [])],
        attributes: [
          ...intAttribute("keepdims", keeps ? 1 : 0),
          ...(isInput ? intAttribute("noop_with_empty_axes", noop ? 1 : 0) : given),
        ],
      };
    },
  );
/** Reductions of floats alone. */
const reduceFloats = (moved: number): Trials => {
  const { trial } = reduce(moved);
  return {
    trial: trial.map(({ operands: [x, ...axes], ...rest }) => ({
      operands: [fed(x?.dims ?? []), ...axes],
      ...rest,
    })),
  };
};
const argument = nodes(
  11,
  { dims: shape(1, 4), place: fc.nat(), keeps: extent(0, 1) },
  ({ dims, place, keeps }) => ({
    operands: [fed(dims)],
    attributes: [...intAttribute("axis", axisAt(place, dims.length)), ...intAttribute("keepdims", keeps)],
  }),
);

/** A batch of images and what a window may be. */
const images = {
  batch: extent(1, 2),
  channels: extent(1, 3),
  features: extent(1, 3),
  extents: fc.array(extent(5, 12), { minLength: 1, maxLength: 2 }),
  kernel: many(extent(1, 3), 2),
  strides: many(extent(1, 3), 2),
  dilations: many(extent(1, 2), 2),
  pads: many(extent(0, 1), 4),
  auto: fc.constantFrom("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"),
  flag: fc.boolean(),
};

const convolved = (first: number, dtype: TrialType = "f32"): Trials =>
  nodes(first, images, ({ batch, channels, features, extents, kernel, strides, dilations, pads, auto }) => {
    const rank = extents.length;
    return {
      operands: [
        fed([batch, channels, ...extents], dtype),
        fed([features, channels, ...kernel.slice(0, rank)], dtype),
      ],
      attributes: [
        ...intsAttribute("strides", strides.slice(0, rank)),
        // onnxruntime takes no dilations with SAME.
        ...(auto.startsWith("SAME") ? [] : intsAttribute("dilations", dilations.slice(0, rank))),
        ...(auto === "NOTSET" ? intsAttribute("pads", pads.slice(0, 2 * rank)) : []),
        ...stringAttribute("auto_pad", auto),
      ],
    };
  });

/** `rounds`: the opset from which extents may be rounded up. */
const pooled = (first: number, { rounds = 99, outputs = 1 } = {}): Trials =>
  nodes(first, images, ({ batch, channels, extents, kernel, strides, pads, auto, flag }, opset) => {
    const rank = extents.length;
    // A pad is smaller than its window.
    const fitting = pads.slice(0, 2 * rank).map((pad, k) => Math.min(pad, (kernel[k % rank] ?? 1) - 1));
    // onnxruntime refuses windows that leave something out between them.
    const steps = extents.map((_, k) => Math.min(strides[k] ?? 1, kernel[k] ?? 1));
    return {
      operands: [fed([batch, channels, ...extents])],
      attributes: [
        ...intsAttribute("kernel_shape", kernel.slice(0, rank)),
        ...intsAttribute("strides", steps),
        ...(auto === "NOTSET" ? intsAttribute("pads", fitting) : []),
        ...stringAttribute("auto_pad", auto),
        ...(flag && opset >= rounds && auto === "NOTSET" ? intAttribute("ceil_mode", 1) : []),
      ],
      outputs,
    };
  });

const recurrent = (op: "LSTM" | "GRU" | "RNN"): Trials =>
  nodes(
    7,
    {
      steps: extent(1, 4),
      batch: extent(1, 3),
      features: extent(1, 3),
      hidden: extent(1, 3),
      both: fc.boolean(),
    },
    ({ steps, batch, features, hidden, both }) => {
      const gates = { LSTM: 4, GRU: 3, RNN: 1 }[op] * hidden;
      const directions = both ? 2 : 1;
      return {
        operands: [
          fed([steps, batch, features]),
          fed([directions, gates, features]),
          fed([directions, gates, hidden]),
        ],
        attributes: [
          ...intAttribute("hidden_size", hidden),
          ...stringAttribute("direction", both ? "bidirectional" : "forward"),
        ],
        outputs: op === "LSTM" ? 3 : 2,
      };
    },
  );

/** Matrices in front of which dims are broadcast, or vectors. */
const matrices = fc
  .record({
    batch: broadcastable(2),
    m: extent(1, 4),
    k: extent(1, 4),
    n: extent(1, 4),
    vector: fc.constantFrom("none", "left", "right", "both"),
  })
  .map(({ batch: [a = [], b = []], m, k, n, vector }) => ({
    left: vector === "left" || vector === "both" ? [k] : [...a, m, k],
    right: vector === "right" || vector === "both" ? [k] : [...b, k, n],
  }));

const normalized = (
  first: number,
  statistics: (dims: readonly number[]) => readonly number[],
  count = 2,
): Trials =>
  nodes(first, { dims: shape(3, 4) }, ({ dims }) => ({
    operands: [fed(dims), ...Array.from({ length: count }, () => fed(statistics(dims)))],
  }));

const typeAttribute = (name: string, code: number | undefined): readonly number[] =>
  code === undefined ? [] : intAttribute(name, code);
/** Codes of TensorProto.DataType: none, FLOAT, DOUBLE. */
const floats = fc.constantFrom(undefined, 1, 11);
const randomLike = (first: number): Trials =>
  nodes(first, { dims: shape(1, 3), to: floats }, ({ dims, to }) => ({
    operands: [fed(dims)],
    attributes: typeAttribute("dtype", to),
  }));
const random = nodes(7, { dims: shape(1, 3), to: floats }, ({ dims, to }) => ({
  operands: [],
  attributes: [...intsAttribute("shape", dims), ...typeAttribute("dtype", to)],
}));
const windowFunction = nodes(17, { length: extent(1, 9), to: floats }, ({ length, to }) => ({
  operands: [scalar(length)],
  attributes: typeAttribute("output_datatype", to),
}));

const scattered = (first: number, last?: number): Trials =>
  nodes(
    first,
    { x: anything(), place: fc.nat(), index: fc.nat() },
    ({ x, place, index }) => {
      const one = x.dims.map(() => 1);
      const axis = axisAt(place, x.dims.length);
      const at = index % (x.dims[fromFront(axis, x.dims.length)] ?? 1);
      return {
        operands: [
          x,
          ...(x.values === undefined ? [fed(one, "i64"), fed(one)] : [fixed([at], one), fixed([9], one)]),
        ],
        attributes: intAttribute("axis", axis),
      };
    },
    last,
  );

/** Axes are an attribute before opset 13, and an operand since. */
const withAxes = (x: Operand, axes: readonly number[] | undefined, opset: number): Made => ({
  operands: [x, ...(opset < 13 || axes === undefined ? [] : [fixed(axes)])],
  attributes: opset < 13 && axes !== undefined ? intsAttribute("axes", axes) : [],
});

const losses = (outputs: number): Trials =>
  nodes(
    13,
    {
      batch: extent(1, 3),
      classes: extent(1, 4),
      rest: shape(0, 2),
      how: fc.constantFrom("none", "sum", "mean"),
    },
    ({ batch, classes, rest, how }) => ({
      operands: [fed([batch, classes, ...rest]), fed([batch, ...rest], "i64")],
      attributes: stringAttribute("reduction", how),
      outputs,
    }),
  );

/** Parts of given sizes, of one size, or of one but for the last, which is smaller and not empty. */
const split = (first: number, ...ways: readonly ("given" | "equal" | "uneven")[]): Trials =>
  nodes(
    first,
    {
      front: shape(0, 2),
      parts: fc.array(extent(2, 3), { minLength: 2, maxLength: 4 }),
      isKnown: fc.boolean(),
      how: fc.constantFrom(...ways),
    },
    ({ front, parts, isKnown, how }, opset) => {
      const [part = 1] = parts;
      const list = how === "given" ? parts : parts.map(() => part);
      const total = list.reduce((a, b) => a + b, 0) - (how === "uneven" ? 1 : 0);
      const dims = [...front, total];
      const counting = Array.from({ length: size(dims) }, (_, k) => k);
      const isGiven = how === "given";
      return {
        operands: [
          isKnown ? fixed(counting, dims) : fed(dims),
          ...(isGiven && opset >= 13 ? [fixed(list)] : []),
        ],
        attributes: [
          ...intAttribute("axis", opset < 11 ? front.length : -1),
          ...(isGiven && opset < 13 ? intsAttribute("split", list) : []),
          ...(!isGiven && opset >= 18 ? intAttribute("num_outputs", list.length) : []),
        ],
        outputs: list.length,
      };
    },
  );

const scaleFactor = fc.constantFrom(0.5, 1, 1.5, 2, 2.6, 0.7);

const younger = "it is younger than this onnxruntime";

/** Nodes of every operator of the table, or why none is compared. */
export const trials: Readonly<Record<string, Trials | string>> = {
  Abs: followed(7),
  Acos: unary(7),
  Acosh: unary(9),
  Add: arithmetic(7),
  AffineGrid: nodes(
    20,
    { batch: extent(1, 2), places: fc.array(extent(1, 4), { minLength: 2, maxLength: 3 }) },
    ({ batch, places }) => ({
      operands: [fed([batch, places.length, places.length + 1]), fixed([batch, 1, ...places])],
    }),
  ),
  And: binary(7, "bool"),
  ArgMax: argument,
  ArgMin: argument,
  Asin: unary(7),
  Asinh: unary(9),
  Atan: unary(7),
  Atanh: unary(9),
  Attention: nodes(
    23,
    {
      batch: extent(1, 2),
      heads: extent(1, 2),
      group: extent(1, 2),
      steps: extent(1, 3),
      keys: extent(1, 4),
      width: extent(1, 3),
      values: extent(1, 3),
      packed: fc.boolean(),
      past: extent(0, 2),
    },
    ({ batch, heads, group, steps, keys, width, values, packed, past }) => {
      const q = heads * group;
      const operands = packed
        ? [
            [batch, steps, q * width],
            [batch, keys, heads * width],
            [batch, keys, heads * values],
          ]
        : [
            [batch, q, steps, width],
            [batch, heads, keys, width],
            [batch, heads, keys, values],
          ];
      const caches = [
        [batch, heads, past, width],
        [batch, heads, past, values],
      ];
      return {
        operands: [
          ...operands.map((dims) => fed(dims)),
          undefined,
          ...caches.map((dims) => (past === 0 ? undefined : fed(dims))),
        ],
        attributes: packed ? [...intAttribute("q_num_heads", q), ...intAttribute("kv_num_heads", heads)] : [],
        outputs: past === 0 ? 1 : 4,
      };
    },
  ),
  AveragePool: open(pooled(7, { rounds: 10 })),
  BatchNormalization: nodes(7, { dims: shape(2, 4), trains: fc.boolean() }, ({ dims, trains }, opset) => ({
    operands: [fed(dims), ...[0, 1, 2, 3].map(() => fed([dims[1] ?? 1]))],
    attributes: trains && opset >= 14 ? intAttribute("training_mode", 1) : [],
    outputs: trains && opset >= 14 ? 3 : 1,
  })),
  Bernoulli: randomLike(15),
  BitCast: nodes(26, { dims: shape(0, 3), to: fc.constantFrom(6, 12) }, ({ dims, to }) => ({
    operands: [fed(dims)],
    attributes: intAttribute("to", to),
  })),
  BitShift: binary(11, "u8", stringAttribute("direction", "LEFT")),
  BitwiseAnd: binary(18, "i64"),
  BitwiseNot: unary(18, "i64"),
  BitwiseOr: binary(18, "i64"),
  BitwiseXor: binary(18, "i64"),
  BlackmanWindow: windowFunction,
  Cast: nodes(7, { x: anything(0), to: fc.constantFrom(1, 2, 6, 7, 9, 10, 11) }, ({ x, to }) => ({
    operands: [x],
    attributes: intAttribute("to", to),
  })),
  CastLike: nodes(
    15,
    { x: anything(0), to: fc.constantFrom<TrialType>("f64", "i32", "i64", "bool", "u8") },
    ({ x, to }) => ({ operands: [x, fed([2], to)] }),
  ),
  CausalConvWithState: younger,
  Ceil: unary(7),
  Celu: unary(12),
  CenterCropPad: nodes(
    18,
    { dims: shape(1, 3), wanted: many(extent(1, 6), 3), some: fc.boolean() },
    ({ dims, wanted, some }) => ({
      operands: [fed(dims), fixed(some ? wanted.slice(0, 1) : wanted.slice(0, dims.length))],
      attributes: some ? intsAttribute("axes", [-1]) : [],
    }),
  ),
  Clip: unary(7),
  Col2Im: nodes(
    18,
    { batch: extent(1, 2), channels: extent(1, 3), image: many(extent(3, 5), 2) },
    ({ batch, channels, image }) => ({
      operands: [fed([batch, channels * 4, size(image.map((dim) => dim - 1))]), fixed(image), fixed([2, 2])],
    }),
  ),
  Compress: nodes(
    11,
    {
      dims: shape(1, 3),
      place: maybe(fc.nat()),
      condition: fc.array(extent(0, 1), { minLength: 1, maxLength: 90 }),
    },
    ({ dims, place, condition }) => ({
      operands: [fed(dims), fixed(condition, [condition.length], "bool")],
      attributes: place === undefined ? [] : intAttribute("axis", axisAt(place, dims.length)),
    }),
  ),
  Concat: either(
    nodes(11, { dims: shape(1, 3), place: fc.nat(), sizes: shape(1, 3) }, ({ dims, place, sizes }) => {
      const axis = axisAt(place, dims.length);
      const along = fromFront(axis, dims.length);
      return {
        operands: sizes.map((own) => fed(dims.map((dim, k) => (k === along ? own : dim)))),
        attributes: intAttribute("axis", axis),
      };
    }),
    nodes(7, { parts: fc.array(small(1, 1), { minLength: 1, maxLength: 3 }) }, ({ parts }) => ({
      operands: parts,
      attributes: intAttribute("axis", 0),
    })),
  ),
  ConstantOfShape: nodes(9, { dims: shape(0, 3), filled: fc.boolean() }, ({ dims, filled }) => ({
    operands: [fixed(dims)],
    attributes: filled ? tensorAttribute("value", tensor("i64", [1], raw([3]), "value")) : [],
  })),
  Conv: convolved(7),
  ConvInteger: convolved(10, "u8"),
  ConvTranspose: open(
    nodes(
      11,
      images,
      ({ batch, channels, features, extents, kernel, strides, dilations, pads, auto, flag }) => {
        const rank = extents.length;
        const isGiven = auto === "NOTSET" && flag;
        return {
          operands: [fed([batch, channels, ...extents]), fed([channels, features, ...kernel.slice(0, rank)])],
          attributes: [
            ...intsAttribute("strides", strides.slice(0, rank)),
            ...intsAttribute("dilations", dilations.slice(0, rank)),
            ...(isGiven
              ? intsAttribute(
                  "output_shape",
                  extents.map((dim, k) => dim * (strides[k] ?? 1)),
                )
              : []),
            ...(auto === "NOTSET" && !isGiven ? intsAttribute("pads", pads.slice(0, 2 * rank)) : []),
            ...stringAttribute("auto_pad", auto),
          ],
        };
      },
    ),
  ),
  Cos: unary(7),
  Cosh: unary(9),
  CumProd: cumulative(26),
  CumSum: cumulative(11),
  DFT: nodes(
    17,
    {
      dims: shape(1, 2),
      parts: fc.constantFrom(1, 2),
      length: maybe(extent(1, 6)),
      half: fc.boolean(),
      place: fc.nat(),
    },
    ({ dims, parts, length, half, place }, opset) => {
      const whole = [1, ...dims, parts];
      const axis = 1 + (place % dims.length);
      const count = length === undefined ? undefined : scalar(length);
      return {
        operands: opset < 20 ? [fed(whole), count] : [fed(whole), count, scalar(axis - whole.length)],
        attributes: [
          ...(opset < 20 ? intAttribute("axis", axis) : []),
          ...intAttribute("onesided", half && parts === 1 ? 1 : 0),
        ],
      };
    },
  ),
  DeformConv: nodes(
    19,
    { extents: many(extent(4, 6), 2), features: extent(1, 3) },
    ({ extents, features }) => ({
      operands: [
        fed([1, 2, ...extents]),
        fed([features, 2, 2, 2]),
        fed([1, 8, ...extents.map((dim) => dim - 1)]),
      ],
      attributes: [...intsAttribute("kernel_shape", [2, 2]), ...intsAttribute("pads", [0, 0, 0, 0])],
    }),
  ),
  DepthToSpace: nodes(7, { dims: shape(4, 4), block: extent(1, 3) }, ({ dims, block }) => ({
    operands: [fed(dims.map((dim, k) => (k === 1 ? dim * block ** 2 : dim)))],
    attributes: intAttribute("blocksize", block),
  })),
  DequantizeLinear: nodes(
    10,
    { dims: shape(1, 3), dtype: fc.constantFrom<TrialType>("u8", "i8", "i32"), half: fc.boolean() },
    ({ dims, dtype, half }, opset) => ({
      operands: [fed(dims, dtype), fed([], half && opset >= 19 ? "f16" : "f32")],
    }),
  ),
  Det: nodes(11, { dims: shape(0, 2), n: extent(1, 3) }, ({ dims, n }) => ({
    operands: [fed([...dims, n, n])],
  })),
  Div: counted(7),
  Dropout: nodes(10, { dims: shape(0, 3), outputs: extent(1, 2) }, ({ dims, outputs }) => ({
    operands: [fed(dims)],
    outputs,
  })),
  DynamicQuantizeLinear: nodes(11, { dims: shape(1, 3) }, ({ dims }) => ({
    operands: [fed(dims)],
    outputs: 3,
  })),
  Einsum: nodes(
    12,
    {
      equation: fc.constantFrom(
        ...["ij,jk->ik", "ij,jk", "bij,bjk->bik", "...ij,...jk->...ik", "...ij,...jk", "ij->ji", "ii->i"],
        ...["i,j->ij", "ij->", "b...d,d->b...", "Ba,ca->Bc", "bhid,bhjd->bhij", "i j , j k -> i k", "zb,ba"],
      ),
      extents: many(extent(1, 4), 58),
      rest: shape(0, 2),
    },
    ({ equation, extents, rest }) => ({
      operands: (equation.replaceAll(" ", "").split("->")[0] ?? "").split(",").map((term) => {
        const letters = term.match(/\.\.\.|[A-Za-z]/g) ?? [];
        return fed(letters.flatMap((of) => (of === "..." ? rest : (extents[of.charCodeAt(0) - 65] ?? 1))));
      }),
      attributes: stringAttribute("equation", equation),
    }),
  ),
  Elu: unary(7),
  Equal: arithmetic(11),
  Erf: unary(9),
  Exp: unary(7),
  Expand: either(
    nodes(8, { dims: broadcastable(2) }, ({ dims: [x = [], wanted = []] }) => ({
      operands: [fed(x), fixed(wanted)],
    })),
    nodes(8, { x: small(0, 2), front: shape(0, 1) }, ({ x, front }) => ({
      operands: [x, fixed([...front, ...x.dims])],
    })),
  ),
  EyeLike: nodes(9, { dims: shape(2, 2), to: fc.constantFrom(undefined, 7, 11) }, ({ dims, to }) => ({
    operands: [fed(dims)],
    attributes: typeAttribute("dtype", to),
  })),
  Flatten: nodes(11, { x: anything(1, 4), place: fc.nat() }, ({ x, place }) => ({
    operands: [x],
    attributes: intAttribute("axis", (place % (2 * x.dims.length + 1)) - x.dims.length),
  })),
  Floor: unary(7),
  GRU: recurrent("GRU"),
  Gather: either(
    nodes(11, { dims: shape(1, 3), indices: shape(0, 2), place: fc.nat() }, ({ dims, indices, place }) => ({
      operands: [fed(dims), fed(indices, "i64")],
      attributes: intAttribute("axis", axisAt(place, dims.length)),
    })),
    nodes(11, { x: small(), picks: many(fc.nat(), 3), place: fc.nat() }, ({ x, picks, place }) => {
      const axis = place % x.dims.length;
      return {
        operands: [x, fixed(picks.map((pick) => axisAt(pick, x.dims[axis] ?? 1)))],
        attributes: intAttribute("axis", axis),
      };
    }),
  ),
  GatherElements: nodes(
    11,
    { dims: shape(1, 3), place: fc.nat(), count: extent(1, 4) },
    ({ dims, place, count }) => {
      const axis = axisAt(place, dims.length);
      const along = fromFront(axis, dims.length);
      return {
        operands: [
          fed(dims),
          fed(
            dims.map((dim, k) => (k === along ? count : dim)),
            "i64",
          ),
        ],
        attributes: intAttribute("axis", axis),
      };
    },
  ),
  GatherND: nodes(
    11,
    { dims: shape(2, 4), outer: shape(0, 2), batches: extent(0, 1), tuple: fc.nat() },
    ({ dims, outer, batches, tuple }, opset) => {
      const batch = opset < 12 ? 0 : batches;
      const length = 1 + (tuple % (dims.length - batch));
      return {
        operands: [fed(dims), fed([...dims.slice(0, batch), ...outer, length], "i64")],
        attributes: opset < 12 ? [] : intAttribute("batch_dims", batch),
      };
    },
  ),
  Gelu: unary(20),
  Gemm: nodes(
    11,
    { m: extent(1, 4), k: extent(1, 4), n: extent(1, 4), a: extent(0, 1), b: extent(0, 1) },
    ({ m, k, n, a, b }) => ({
      operands: [fed(a === 1 ? [k, m] : [m, k]), fed(b === 1 ? [n, k] : [k, n])],
      attributes: [...intAttribute("transA", a), ...intAttribute("transB", b)],
    }),
  ),
  GlobalAveragePool: ofRank(7, 3, 4),
  GlobalLpPool: ofRank(7, 3, 4),
  GlobalMaxPool: ofRank(7, 3, 4),
  Greater: arithmetic(9),
  GreaterOrEqual: arithmetic(12),
  GridSample: nodes(16, { x: shape(4, 4), places: shape(2, 2) }, ({ x, places }) => ({
    operands: [fed(x), fed([x[0] ?? 1, ...places, 2])],
  })),
  GroupNormalization: nodes(18, { dims: shape(3, 4) }, ({ dims }, opset) => {
    const scale = fed([opset < 21 ? 1 : (dims[1] ?? 1)]);
    return { operands: [fed(dims), scale, scale], attributes: intAttribute("num_groups", 1) };
  }),
  HammingWindow: windowFunction,
  HannWindow: windowFunction,
  HardSigmoid: unary(7),
  HardSwish: unary(14),
  Hardmax: alongAxis(13),
  Identity: followed(7),
  ImageDecoder: "onnxruntime has no kernel",
  InstanceNormalization: normalized(7, (dims) => [dims[1] ?? 1]),
  IsInf: unary(10),
  IsNaN: unary(9),
  LRN: ofRank(7, 4, 4, intAttribute("size", 3)),
  LSTM: recurrent("LSTM"),
  LayerNormalization: nodes(
    17,
    { dims: shape(2, 4), place: fc.nat(), outputs: extent(1, 3) },
    ({ dims, place, outputs }) => {
      const axis = axisAt(place, dims.length);
      const scale = fed(dims.slice(fromFront(axis, dims.length)));
      return { operands: [fed(dims), scale, scale], attributes: intAttribute("axis", axis), outputs };
    },
  ),
  LeakyRelu: unary(7),
  Less: arithmetic(9),
  LessOrEqual: arithmetic(12),
  LinearAttention: younger,
  Log: unary(7),
  LogSoftmax: alongAxis(11),
  LpNormalization: alongAxis(7),
  LpPool: pooled(7),
  MatMul: nodes(9, { both: matrices }, ({ both: { left, right } }) => ({
    operands: [fed(left), fed(right)],
  })),
  MatMulInteger: nodes(10, { both: matrices }, ({ both: { left, right } }) => ({
    operands: [fed(left, "u8"), fed(right, "u8")],
  })),
  Max: either(variadic(8), counted(12)),
  MaxPool: open(either(pooled(8, { rounds: 10 }), pooled(8, { outputs: 2 }))),
  MaxRoiPool: nodes(7, { regions: extent(1, 3), channels: extent(1, 3) }, ({ regions, channels }) => ({
    operands: [fed([1, channels, 6, 6]), fed([regions, 5])],
    attributes: intsAttribute("pooled_shape", [2, 3]),
  })),
  MaxUnpool: nodes(11, { dims: shape(4, 4), given: fc.boolean() }, ({ dims, given }) => ({
    operands: [
      fed(dims),
      fed(dims, "i64"),
      ...(given ? [fixed(dims.map((dim, k) => (k < 2 ? dim : 2 * dim + 1)))] : []),
    ],
    attributes: [...intsAttribute("kernel_shape", [2, 2]), ...intsAttribute("strides", [2, 2])],
  })),
  Mean: variadic(8),
  MeanVarianceNormalization: ofRank(9, 4, 4),
  MelWeightMatrix: nodes(17, { bins: extent(1, 4), length: extent(8, 17) }, ({ bins, length }) => ({
    operands: [scalar(bins), scalar(length), scalar(8000), scalar(0, "f32"), scalar(2000, "f32")],
  })),
  Min: either(variadic(8), counted(12)),
  Mish: unary(18),
  Mod: either(counted(10), counted(10, intAttribute("fmod", 1))),
  Mul: arithmetic(7),
  Multinomial: nodes(
    7,
    { dims: shape(2, 2), count: extent(1, 4), to: fc.constantFrom(undefined, 6, 7) },
    ({ dims, count, to }) => ({
      operands: [fed(dims)],
      attributes: [...intAttribute("sample_size", count), ...typeAttribute("dtype", to)],
    }),
  ),
  Neg: followed(7),
  NegativeLogLikelihoodLoss: losses(1),
  NonMaxSuppression: open(
    nodes(10, { boxes: extent(1, 4) }, ({ boxes }) => ({
      operands: [fed([1, boxes, 4]), fed([1, 1, boxes])],
    })),
  ),
  NonZero: either(
    nodes(9, { x: small() }, ({ x }) => ({ operands: [x] })),
    nodes(9, { values: many(extent(0, 1), 90) }, ({ values }) => ({
      operands: [fixed(values, [3, 30], "bool")],
    })),
  ),
  Not: unary(7, "bool"),
  OneHot: nodes(9, { dims: shape(1, 3), place: fc.nat(), depth: extent(1, 5) }, ({ dims, place, depth }) => ({
    operands: [fed(dims, "i64"), scalar(depth), fed([2])],
    attributes: intAttribute("axis", axisAt(place, dims.length + 1)),
  })),
  OptionalHasElement: unary(18),
  Or: binary(7, "bool"),
  PRelu: nodes(7, { dims: shape(2, 3) }, ({ dims }) => ({ operands: [fed(dims), fed(dims.slice(1))] })),
  Pad: nodes(
    7,
    { dims: shape(1, 3), amounts: many(extent(0, 3), 6), some: fc.boolean() },
    ({ dims, amounts, some }, opset) => {
      const pads = amounts.slice(0, 2 * (some && opset >= 18 ? 1 : dims.length));
      if (opset < 11) return { operands: [fed(dims)], attributes: intsAttribute("pads", pads) };
      return { operands: [fed(dims), fixed(pads), ...(some && opset >= 18 ? [undefined, fixed([-1])] : [])] };
    },
  ),
  Pow: binary(12),
  QLinearConv: nodes(10, images, ({ batch, channels, features, extents, kernel, strides }) => {
    const rank = extents.length;
    const [scale, zero] = [scalar(1, "f32"), scalar(0, "u8")];
    const weights = fed([features, channels, ...kernel.slice(0, rank)], "u8");
    return {
      operands: [fed([batch, channels, ...extents], "u8"), scale, zero, weights, scale, zero, scale, zero],
      attributes: intsAttribute("strides", strides.slice(0, rank)),
    };
  }),
  QLinearMatMul: nodes(10, { both: matrices }, ({ both: { left, right } }) => {
    const [scale, zero] = [scalar(1, "f32"), scalar(0, "u8")];
    return { operands: [fed(left, "u8"), scale, zero, fed(right, "u8"), scale, zero, scale, zero] };
  }),
  QuantizeLinear: nodes(
    10,
    { dims: shape(1, 3), zero: fc.constantFrom<TrialType | undefined>(undefined, "u8", "i8") },
    ({ dims, zero }) => ({
      operands: [fed(dims), scalar(1, "f32"), ...(zero === undefined ? [] : [scalar(0, zero)])],
    }),
  ),
  RMSNormalization: normalized(23, (dims) => dims.slice(-1), 1),
  RNN: recurrent("RNN"),
  RandomNormal: random,
  RandomNormalLike: randomLike(7),
  RandomUniform: random,
  RandomUniformLike: randomLike(7),
  Range: nodes(
    11,
    {
      dtype: fc.constantFrom<TrialType>("i64", "i32", "i16", "f32", "f32", "f64"),
      // Of the first, as tenths of f32, a rounded distance has another count.
      ends: fc.oneof(fc.constantFrom([-50, -16], [-50, -7]), fc.tuple(extent(-50, 50), extent(-50, 90))),
      delta: fc.constantFrom(1, 1, 2, 3, -1, -2),
    },
    ({ dtype, ends: [start = 0, limit = 0], delta }) => {
      const by = dtype.startsWith("f") ? 10 : 1;
      return { operands: [start, limit, delta].map((end) => scalar(end / by, dtype)) };
    },
  ),
  Reciprocal: unary(7),
  ReduceL1: reduceFloats(18),
  ReduceL2: reduceFloats(18),
  ReduceLogSum: reduceFloats(18),
  ReduceLogSumExp: reduceFloats(18),
  ReduceMax: reduce(18),
  ReduceMean: reduceFloats(18),
  ReduceMin: reduce(18),
  ReduceProd: reduce(18),
  ReduceSum: reduce(13),
  ReduceSumSquare: reduceFloats(18),
  RegexFullMatch: unary(20, "string", stringAttribute("pattern", "a*")),
  Relu: unary(7),
  Reshape: nodes(
    7,
    {
      x: anything(1, 4),
      rest: maybe(fc.nat()),
      zeros: many(fc.boolean(), 4),
      how: fc.constantFrom("same", "flat", "longer"),
    },
    ({ x, rest, zeros, how }) => {
      const place = rest === undefined ? -1 : rest % x.dims.length;
      const kept = x.dims.map((dim, k) => (k === place ? -1 : zeros[k] === true ? 0 : dim));
      return { operands: [x, fixed(how === "flat" ? [-1] : how === "longer" ? [...kept, 1] : kept)] };
    },
  ),
  Resize: nodes(
    10,
    {
      extents: many(extent(2, 6), 2),
      scales: many(scaleFactor, 2),
      sizes: many(extent(1, 9), 2),
      bySize: fc.boolean(),
      some: fc.boolean(),
    },
    ({ extents, scales, sizes, bySize, some }, opset) => {
      const whole = opset < 18 || !some;
      const ones = whole ? [1, 1] : [];
      const scale = fixed([...ones, ...scales], [ones.length + 2], "f32");
      const x = fed([1, 1, ...extents]);
      if (opset < 11) return { operands: [x, scale] };
      const nothing = opset < 13 ? fixed([], [0], "f32") : undefined;
      return {
        operands: [x, nothing, ...(bySize ? [nothing, fixed([...ones, ...sizes])] : [scale])],
        attributes: whole ? [] : intsAttribute("axes", [2, 3]),
      };
    },
  ),
  ReverseSequence: nodes(10, { dims: shape(2, 4) }, ({ dims }) => ({
    operands: [fed(dims), fixed(Array.from({ length: dims[1] ?? 1 }, () => 1))],
  })),
  RoiAlign: nodes(
    10,
    { regions: extent(1, 3), channels: extent(1, 3), sized: fc.boolean() },
    ({ regions, channels, sized }) => ({
      operands: [fed([1, channels, 6, 6]), fed([regions, 4]), fed([regions], "i64")],
      attributes: sized ? [...intAttribute("output_height", 2), ...intAttribute("output_width", 3)] : [],
    }),
  ),
  RotaryEmbedding: nodes(
    23,
    { dims: shape(3, 3), half: extent(1, 3) },
    ({ dims: [batch = 1, heads = 1, steps = 1], half }) => ({
      operands: [fed([batch, heads, steps, 2 * half]), fed([batch, steps, half]), fed([batch, steps, half])],
    }),
  ),
  Round: unary(11),
  STFT: nodes(
    17,
    {
      length: extent(8, 20),
      bins: extent(2, 8),
      step: extent(1, 4),
      half: extent(0, 1),
      byWindow: fc.boolean(),
    },
    ({ length, bins, step, half, byWindow }) => ({
      operands: [
        fed([1, length, 1]),
        scalar(step),
        ...(byWindow ? [fed([bins])] : [undefined, scalar(bins)]),
      ],
      attributes: intAttribute("onesided", half),
    }),
  ),
  Scatter: scattered(9, 10),
  ScatterElements: scattered(11),
  ScatterND: nodes(
    11,
    { x: anything(), count: extent(1, 3), index: extent(-1, 0) },
    ({ x, count, index }) => {
      const updates = [count, ...x.dims.slice(1)];
      const values = Array.from({ length: size(updates) }, () => 9);
      const one = Array.from({ length: count }, () => index);
      return {
        operands:
          x.values === undefined
            ? [x, fed([count, 1], "i64"), fed(updates)]
            : [x, fixed(one, [count, 1]), fixed(values, updates)],
      };
    },
  ),
  Selu: unary(7),
  SequenceLength: "its input is no tensor",
  Shape: nodes(
    7,
    { dims: shape(0, 4), start: extent(-4, 4), end: extent(-4, 4) },
    ({ dims, start, end }, opset) => ({
      operands: [fed(dims)],
      attributes: opset < 15 ? [] : [...intAttribute("start", start), ...intAttribute("end", end)],
    }),
  ),
  Shrink: unary(9),
  Sigmoid: unary(7),
  Sign: followed(9),
  Sin: unary(7),
  Sinh: unary(9),
  Size: unary(7),
  Slice: nodes(
    7,
    {
      x: anything(),
      starts: many(extent(-6, 6), 3),
      ends: many(fc.oneof(extent(-6, 6), fc.constantFrom(2 ** 31 - 1, 2 ** 40, -(2 ** 40))), 3),
      steps: many(fc.constantFrom(1, 2, 3, -1, -2), 3),
      picks: many(fc.boolean(), 3),
      fromEnd: fc.boolean(),
    },
    ({ x, starts, ends, steps, picks, fromEnd }, opset) => {
      const rank = x.dims.length;
      const places = x.dims.flatMap((_, k) => (picks[k] === true ? [k] : []));
      const axes = places.length === 0 ? [0] : places;
      const [from, to, by] = [starts, ends, steps].map((list) => list.slice(0, axes.length));
      const given = axes.map((axis) => (fromEnd && opset >= 10 ? axis - rank : axis));
      if (opset >= 10) return { operands: [x, ...[from, to, given, by].map((list = []) => fixed(list))] };
      return {
        operands: [x],
        attributes: [
          ...intsAttribute("starts", from ?? []),
          ...intsAttribute("ends", to ?? []),
          ...intsAttribute("axes", given),
        ],
      };
    },
  ),
  Softmax: alongAxis(11),
  SoftmaxCrossEntropyLoss: losses(2),
  Softplus: unary(7),
  Softsign: unary(7),
  SpaceToDepth: nodes(7, { dims: shape(4, 4), block: extent(1, 3) }, ({ dims, block }) => ({
    operands: [fed(dims.map((dim, k) => (k > 1 ? dim * block : dim)))],
    attributes: intAttribute("blocksize", block),
  })),
  Split: either(split(7, "given", "equal"), split(18, "uneven")),
  Sqrt: unary(7),
  Squeeze: nodes(
    11,
    { x: anything(), all: fc.boolean(), picks: many(fc.boolean(), 3), negative: fc.boolean() },
    ({ x, all, picks, negative }, opset) => {
      const dims = x.dims.map((dim, k) => (picks[k] === true ? 1 : dim));
      const axes = x.dims.flatMap((_, k) => (picks[k] === true ? [negative ? k - dims.length : k] : []));
      const operand = x.values === undefined ? fed(dims) : fixed(x.values.slice(0, size(dims)), dims);
      return withAxes(operand, all || axes.length === 0 ? undefined : axes, opset);
    },
  ),
  StringConcat: binary(20, "string"),
  StringNormalizer: open(
    nodes(10, { count: extent(1, 4) }, ({ count }) => ({ operands: [fed([count], "string")] })),
  ),
  StringSplit: open(
    nodes(20, { dims: shape(1, 2) }, ({ dims }) => ({ operands: [fed(dims, "string")], outputs: 2 })),
  ),
  Sub: arithmetic(7),
  Sum: variadic(8),
  SwiGLU: younger,
  Swish: unary(24),
  Tan: unary(7),
  Tanh: unary(7),
  TensorScatter: nodes(24, { dims: shape(3, 4), steps: extent(1, 2) }, ({ dims, steps }) => ({
    operands: [fed(dims), fed(dims.map((dim, k) => (k === dims.length - 2 ? Math.min(steps, dim) : dim)))],
  })),
  TfIdfVectorizer: nodes(9, { dims: shape(1, 2) }, ({ dims }) => ({
    operands: [fed(dims, "i64")],
    attributes: [
      ...stringAttribute("mode", "TF"),
      ...["min_gram_length", "max_gram_length"].flatMap((name) => intAttribute(name, 1)),
      ...intAttribute("max_skip_count", 0),
      ...intsAttribute("ngram_counts", [0]),
      ...intsAttribute("ngram_indexes", [0, 4, 2]),
      ...intsAttribute("pool_int64s", [5, 6, 7]),
    ],
  })),
  ThresholdedRelu: unary(10),
  Tile: nodes(7, { x: anything(), counts: many(extent(1, 3), 3) }, ({ x, counts }) => ({
    operands: [x, fixed(counts.slice(0, x.dims.length))],
  })),
  TopK: nodes(7, { dims: shape(1, 3), place: fc.nat(), pick: fc.nat() }, ({ dims, place, pick }, opset) => {
    const given = axisAt(place, dims.length);
    const along = fromFront(given, dims.length);
    const k = 1 + (pick % (dims[along] ?? 1));
    return {
      operands: [fed(dims), ...(opset < 10 ? [] : [fixed([k])])],
      attributes: [
        ...intAttribute("axis", opset < 11 ? along : given),
        ...(opset < 10 ? intAttribute("k", k) : []),
      ],
      outputs: 2,
    };
  }),
  Transpose: nodes(
    7,
    { x: anything(1, 4), order: many(fc.nat(), 4), reverse: fc.boolean() },
    ({ x, order, reverse }) => {
      const perm = [...x.dims.keys()].sort((a, b) => (order[a] ?? 0) - (order[b] ?? 0));
      return { operands: [x], attributes: reverse ? [] : intsAttribute("perm", perm) };
    },
  ),
  Trilu: nodes(14, { dims: shape(2, 3), upper: extent(0, 1) }, ({ dims, upper }) => ({
    operands: [fed(dims)],
    attributes: intAttribute("upper", upper),
  })),
  Unique: open(
    nodes(11, { dims: shape(1, 3), place: maybe(fc.nat()) }, ({ dims, place }) => ({
      operands: [fed(dims)],
      attributes: place === undefined ? [] : intAttribute("axis", axisAt(place, dims.length)),
      outputs: 4,
    })),
  ),
  Unsqueeze: nodes(
    11,
    {
      x: anything(),
      places: fc.uniqueArray(extent(0, 4), { minLength: 1, maxLength: 2 }),
      negative: fc.boolean(),
    },
    ({ x, places, negative }, opset) => {
      const rank = x.dims.length + places.length;
      const axes = [...new Set(places.map((place) => place % rank))];
      const whole = x.dims.length + axes.length;
      return withAxes(
        x,
        axes.map((axis) => (axis % whole) - (negative ? whole : 0)),
        opset,
      );
    },
  ),
  Upsample: nodes(
    9,
    { extents: many(extent(2, 6), 2), scales: many(scaleFactor, 2) },
    ({ extents, scales }) => ({
      operands: [fed([1, 1, ...extents]), fixed([1, 1, ...scales.map((by) => Math.max(1, by))], [4], "f32")],
    }),
    9,
  ),
  Where: either(
    nodes(9, { dims: broadcastable(3) }, ({ dims: [c = [], x = [], y = []] }) => ({
      operands: [fed(c, "bool"), fed(x), fed(y)],
    })),
    nodes(9, { x: small() }, ({ x }) => ({
      operands: [
        fixed(
          x.values.map((value) => (value > 0 ? 1 : 0)),
          x.dims,
          "bool",
        ),
        x,
        scalar(7),
      ],
    })),
  ),
  Xor: binary(7, "bool"),
};
