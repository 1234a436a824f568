/** GatherBlockQuantized and gathers with arithmetic around them: random models, as onnxruntime runs them and as tilec folds and runs them. */
import { describe, expect, it } from "vitest";
import { referenceOfMap } from "../../backends/reference/index.js";
import { simulateChecked } from "../../backends/sim/index.js";
import type { HostInputs } from "../../backends/index.js";
import { byteCount, inputsOf, keyOf, outputOf, targets, type AccessFunc, type Func } from "../../ir/index.js";
import { compile, program } from "../../src/index.js";
import { findGathers, labelOf, readModel, type OnnxGather } from "../../src/formats/onnx/index.js";
import type { OnnxRuntime } from "../../bench/onnxruntime.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { fastOutput } from "../support/fast.js";
import {
  bytes,
  info,
  initializer,
  input,
  intAttribute,
  intsAttribute,
  model,
  node,
  number,
  onnxTypes,
  output,
  text,
} from "../support/onnx-bytes.js";
import { requireOnnxRuntime } from "../support/onnxruntime.js";
import { runs } from "../support/runs.js";
import { unlessRefused } from "../support/refusal.js";

const ort = await requireOnnxRuntime();

/** A model of one input, `indices`, and one output, `y`. */
interface RandomModel {
  readonly bytes: Uint8Array;
  readonly indices: BigInt64Array;
  readonly indexShape: readonly number[];
  /** Whether an index is out of range, which onnxruntime rejects. */
  readonly bad: boolean;
}

const microsoft = (version: number): number[] =>
  bytes(8, [...text(1, "com.microsoft"), ...number(2, version)]);

const count = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

/** Little-endian elements of an initializer. */
const stored = (list: ArrayBufferView): number[] =>
  bytes(9, new Uint8Array(list.buffer, list.byteOffset, list.byteLength));

const word = (draw: Draw): number => draw(2 ** 16) * 2 ** 16 + draw(2 ** 16);

/** Finite numbers of every exponent, subnormals and zeros of both signs, and now and then an infinity or NaN. */
function floats(type: "f32" | "f16", length: number, draw: Draw): Uint32Array | Uint16Array {
  const [width, most] = type === "f32" ? [32, 0x7f800000] : [16, 0x7c00];
  const list = Array.from({ length }, () => {
    const sign = draw(2) * 2 ** (width - 1);
    if (draw(30) === 0) return sign + most + draw(3);
    if (draw(20) === 0) return sign;
    if (draw(3) === 0) return sign + (word(draw) % most);
    // Near 1, as scales are.
    const one = type === "f32" ? 0x3f800000 : 0x3c00;
    return sign + one - (word(draw) % (one / 4));
  });
  return type === "f32" ? Uint32Array.from(list) : Uint16Array.from(list);
}

const randomBytes = (length: number, draw: Draw): Uint8Array => Uint8Array.from({ length }, () => draw(256));

function randomIndices(shape: readonly number[], rows: number, draw: Draw) {
  const wrong = draw(12) === 0;
  const list = Array.from({ length: count(shape) }, () => draw(2 * rows) - rows);
  if (wrong && list.length > 0)
    list[draw(list.length)] = draw(2) === 0 ? rows + draw(3) : -rows - 1 - draw(3);
  return { indices: BigInt64Array.from(list, BigInt), bad: wrong && list.length > 0 };
}

function randomShape(rank: number, most: number, draw: Draw): number[] {
  return Array.from({ length: rank }, () => (draw(15) === 0 ? 0 : 1 + draw(most)));
}

function blockQuantized(draw: Draw): RandomModel {
  const kind = (["u8", "u8", "u8", "u4", "i4"] as const)[draw(5)]!;
  const bits = kind === "u8" ? [2, 4, 8][draw(3)]! : 4;
  const each = 8 / bits;
  const block = [16, 32, 64, 128, 256][draw(5)]!;
  const rank = 2 + draw(2);
  const outer = Array.from({ length: rank - 1 }, () => 1 + draw(4));
  // Rows of bytes hold whole ones; rows of 4-bit elements may have any length.
  const shape = [...outer, kind === "u8" ? each * (1 + draw(Math.ceil(300 / each))) : 1 + draw(300)];
  const gatherAxis = kind === "u8" ? 0 : draw(rank);
  let quantizeAxis = kind === "u8" ? rank - 1 : draw(rank);
  if (quantizeAxis === gatherAxis) quantizeAxis = (gatherAxis + 1) % rank;
  const blocks = shape.map((extent, k) => (k === quantizeAxis ? Math.ceil(extent / block) : extent));
  const scaleType = (["f32", "f16"] as const)[draw(2)]!;
  const inRow = (list: readonly number[]): number[] =>
    list.map((extent, k) => (k === rank - 1 && kind === "u8" ? Math.ceil((extent * bits) / 8) : extent));
  const held = (list: readonly number[]): number =>
    kind === "u8" ? count(inRow(list)) : Math.ceil(count(list) / 2);
  const points = draw(3) > 0;
  const indexShape = randomShape(draw(3), 4, draw);
  const type = onnxTypes[kind];
  return {
    ...randomIndices(indexShape, shape[gatherAxis]!, draw),
    indexShape,
    bytes: Uint8Array.from([
      ...model(
        [
          ...node(
            "GatherBlockQuantized",
            ["q", "indices", "s", ...(points ? ["z"] : [])],
            ["y"],
            [
              ...text(7, "com.microsoft"),
              ...intAttribute("bits", bits),
              ...intAttribute("block_size", block),
              ...intAttribute("gather_axis", draw(2) === 0 ? gatherAxis : gatherAxis - rank),
              ...intAttribute("quantize_axis", quantizeAxis),
            ],
          ),
          ...text(2, "g"),
          ...initializer(type, inRow(shape), stored(randomBytes(held(shape), draw)), "q"),
          ...initializer(scaleType, blocks, stored(floats(scaleType, count(blocks), draw)), "s"),
          ...(points ? initializer(type, inRow(blocks), stored(randomBytes(held(blocks), draw)), "z") : []),
          ...input("indices", onnxTypes.i64, indexShape),
          ...bytes(12, info("y", onnxTypes[scaleType])),
        ],
        21,
        10,
      ),
      ...microsoft(1),
    ]),
  };
}

const float8 = ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"] as const;
type Held = "f32" | "i32" | "u8" | "i8" | (typeof float8)[number];
const isFloat8 = (type: Held): boolean => float8.some((other) => other === type);

/** Elements of a constant. */
function elements(type: Held, length: number, draw: Draw): number[] {
  if (type === "f32") return stored(floats("f32", length, draw));
  return stored(randomBytes(length * (type === "i32" ? 4 : 1), draw));
}

/** A table, dequantized or not, gathered, and up to four nodes behind. */
function chain(draw: Draw): RandomModel {
  const [rows, columns] = [1 + draw(6), 1 + draw(9)];
  const indexShape = randomShape(1 + draw(2), 4, draw);
  const parts: number[] = [];
  const real = draw(4) === 0 ? float8[draw(4)] : undefined;
  let [type, last, made]: [Held, string, number] = [
    real ?? (["f32", "i32", "u8", "i8"] as const)[draw(4)]!,
    "table",
    0,
  ];
  const constant = (of: Held, shape: readonly number[]): string => {
    const name = `c${made++}`;
    parts.push(...initializer(of, shape, elements(of, count(shape), draw), name));
    return name;
  };
  const zero = (of: Held, shape: readonly number[]): string => {
    const name = `c${made++}`;
    parts.push(...initializer(of, shape, stored(new Uint8Array(count(shape))), name));
    return name;
  };
  const push = (op: string, inputs: readonly string[], rest: readonly number[] = []): string => {
    const name = `n${made++}`;
    parts.push(...node(op, inputs, [name], rest));
    return name;
  };
  parts.push(...initializer(type, [rows, columns], elements(type, rows * columns, draw), "table"));
  /** Of a scale and a zero point: one, or one for each column. */
  const dequantized = (from: string, axis: number): string => {
    const shape = draw(2) === 0 ? [] : [columns];
    const scale = constant("f32", shape);
    const zeros =
      draw(3) === 0 || type === "i32" ? [] : [isFloat8(type) ? zero(type, shape) : constant(type, shape)];
    type = "f32";
    return push("DequantizeLinear", [from, scale, ...zeros], intAttribute("axis", axis));
  };
  // A gather of ONNX takes no 8-bit real numbers.
  if (isFloat8(type) || (type !== "f32" && draw(3) === 0)) last = dequantized(last, 1);
  last = push("Gather", [last, "indices"], intAttribute("axis", 0));
  const rank = indexShape.length;
  for (let steps = 1 + draw(4); steps > 0; steps--) {
    const way = draw(4);
    if (way === 0 && type !== "f32") last = dequantized(last, rank);
    else if (type === "u8" || type === "i8" || way === 1) {
      const to = (["f32", "i32"] as const)[draw(2)]!;
      if (to === type || (type === "f32" && to === "i32")) continue;
      last = push("Cast", [last], intAttribute("to", onnxTypes[to]));
      type = to;
    } else {
      const op = ["Add", "Sub", "Mul", "Min", "Max"][draw(5)]!;
      const shape = [[], [1], [columns], [1, columns]][draw(4)]!;
      const other =
        draw(3) > 0
          ? constant(type, shape)
          : push(
              "Gather",
              [constant(type, [rows, draw(2) === 0 ? 1 : columns]), "indices"],
              intAttribute("axis", 0),
            );
      last = push(op, draw(2) === 0 ? [last, other] : [other, last]);
    }
  }
  return {
    ...randomIndices(indexShape, rows, draw),
    indexShape,
    bytes: model(
      [
        ...parts,
        ...node("Identity", [last], ["y"]),
        ...text(2, "g"),
        ...input("indices", onnxTypes.i64, indexShape),
        ...output("y", onnxTypes[type], [...indexShape, columns]),
      ],
      real === undefined ? 17 : 19,
    ),
  };
}

/** A table of 4- or 2-bit elements in rows of any length, dequantized with any scales, and gathered. */
function packedTable(draw: Draw): RandomModel {
  const type = (["u4", "i4", "u2", "i2"] as const)[draw(4)]!;
  const width = Number(type[1]);
  const shape = [1 + draw(6), 1 + draw(17)];
  const axis = draw(2);
  const block = draw(2) === 0 ? 1 + draw(5) : 0;
  const scales =
    block > 0
      ? shape.map((extent, k) => (k === axis ? Math.ceil(extent / block) : extent))
      : [[], [shape[axis]!]][draw(2)]!;
  const packed = (own: readonly number[], name: string): number[] =>
    initializer(type, own, stored(randomBytes(Math.ceil((count(own) * width) / 8), draw)), name);
  const zeros = draw(3) > 0;
  const indexShape = randomShape(1 + draw(2), 4, draw);
  return {
    ...randomIndices(indexShape, shape[0]!, draw),
    indexShape,
    bytes: model(
      [
        ...packed(shape, "q"),
        ...initializer("f32", scales, stored(floats("f32", count(scales), draw)), "s"),
        ...(zeros ? packed(scales, "z") : []),
        ...node(
          "DequantizeLinear",
          ["q", "s", ...(zeros ? ["z"] : [])],
          ["table"],
          [...intAttribute("axis", axis), ...intAttribute("block_size", block)],
        ),
        ...node("Gather", ["table", "indices"], ["g"], intAttribute("axis", 0)),
        ...node("Identity", ["g"], ["y"]),
        ...text(2, "g"),
        ...input("indices", onnxTypes.i64, indexShape),
        ...output("y", onnxTypes.f32, [...indexShape, shape[1]!]),
      ],
      25,
      13,
    ),
  };
}

/**
 * Odd numbers, whose products and sums are exact in any order, and any finite ones where nothing is summed. None is 0: onnxruntime
 * gives -0 for a sum of -0s, and `fold` begins at +0. Integers stay in range: beyond it onnxruntime gives -2^31 where sums wrap here.
 */
function elementsToReduce(type: Held, length: number, exact: boolean, draw: Draw): number[] {
  const odd = (): number => 2 * draw(2 ** 8) - 2 ** 8 + 1;
  const numbers = Array.from({ length }, odd);
  if (exact) return stored(type === "f32" ? Float32Array.from(numbers) : Int32Array.from(numbers));
  if (type !== "f32") return elements(type, length, draw);
  return stored(Uint32Array.from({ length }, () => draw(2) * 2 ** 31 + 1 + (word(draw) % 0x7f7fffff)));
}

/** Rows of a table, weighted or not, reduced along one dim, and nodes before and behind. */
function reduction(draw: Draw): RandomModel {
  const op = ["ReduceSum", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"][draw(5)]!;
  const sums = op === "ReduceSum" || op === "ReduceMean";
  const type =
    op === "ReduceMean"
      ? "f32"
      : (["f32", "f32", "i32", sums ? "i32" : "u8", sums ? "f32" : "i8"] as const)[draw(5)]!;
  const [rows, columns] = [1 + draw(6), 1 + draw(9)];
  const indexShape = Array.from({ length: 1 + draw(2) }, () => 1 + draw(5));
  const rank = indexShape.length + 1;
  const parts = [
    ...initializer(type, [rows, columns], elementsToReduce(type, rows * columns, sums, draw), "table"),
  ];
  const constant = (name: string, shape: readonly number[]): string => {
    parts.push(...initializer(type, shape, elementsToReduce(type, count(shape), sums, draw), name));
    return name;
  };
  const push = (
    of: string,
    inputs: readonly string[],
    into: string,
    rest: readonly number[] = [],
  ): string => {
    parts.push(...node(of, inputs, [into], rest));
    return into;
  };
  let last = push("Gather", ["table", "indices"], "g", intAttribute("axis", 0));
  if (type === "f32" || type === "i32") {
    // Products of small numbers are zeros of both signs, of which onnxruntime takes any for the least.
    if (draw(3) === 0 && (sums || type === "i32"))
      last = push("Mul", [last, push("Gather", [constant("w", [rows, 1]), "indices"], "f")], "weighted");
    if (draw(3) === 0) last = push(draw(2) === 0 ? "Add" : "Max", [constant("b", [columns]), last], "moved");
  }
  const axis = draw(rank);
  const kept = draw(2);
  // The axes of a sum are an input since opset 13, those of the others since 18.
  const version = draw(2) === 0 ? 17 : 18;
  const axes = draw(2) === 0 ? axis : axis - rank;
  const byInput = version === 18 || op === "ReduceSum";
  if (byInput) parts.push(...initializer("i64", [1], stored(BigInt64Array.of(BigInt(axes))), "axes"));
  last = push(op, [last, ...(byInput ? ["axes"] : [])], "reduced", [
    ...intAttribute("keepdims", kept),
    ...(byInput ? [] : intsAttribute("axes", [axes])),
  ]);
  const shape = [...indexShape, columns].flatMap((extent, k) =>
    k === axis ? (kept === 1 ? [1] : []) : [extent],
  );
  if (draw(3) === 0 && (type === "f32" || type === "i32"))
    last = push(["Add", "Mul", "Min"][draw(3)]!, [last, constant("c", draw(2) === 0 ? [] : [1])], "behind");
  if (draw(3) === 0) {
    last = push("Transpose", [last], "turned");
    shape.reverse();
  }
  return {
    ...randomIndices(indexShape, rows, draw),
    indexShape,
    bytes: model(
      [
        ...parts,
        ...node("Identity", [last], ["y"]),
        ...text(2, "g"),
        ...input("indices", onnxTypes.i64, indexShape),
        ...output("y", onnxTypes[type], shape),
      ],
      version,
    ),
  };
}

/**
 * Weights that indices name by their sum, as a mixture of experts normalizes them: the sum is of what Div reads, and both may be cast.
 * One operator or another may stand between. Sums are exact in any order.
 */
function normalized(draw: Draw): RandomModel {
  const type = (["f32", "f16"] as const)[draw(2)]!;
  const ofElements = draw(2) === 0;
  const [rows, columns] = [1 + draw(6), 1 + draw(9)];
  const indexShape = ofElements
    ? [1 + draw(rows), 1 + draw(5)]
    : Array.from({ length: 1 + draw(2) }, () => 1 + draw(5));
  const elementAxis = draw(2);
  if (ofElements && elementAxis === 0) indexShape[1] = 1 + draw(columns);
  if (ofElements && elementAxis === 0) indexShape[0] = 1 + draw(5);
  const shape = ofElements ? indexShape : [...indexShape, columns];
  const rank = shape.length;
  const odd = Float32Array.from({ length: rows * columns }, () => 2 * draw(2 ** 5) - 2 ** 5 + 1);
  const parts: number[] = [];
  let made = 0;
  const push = (of: string, inputs: readonly string[], rest: readonly number[] = []): string => {
    const into = `${of}${made++}`;
    parts.push(...node(of, inputs, [into], rest));
    return into;
  };
  const constant = (of: "f32" | "i64", dims: readonly number[], list: ArrayBufferView): string => {
    const into = `c${made++}`;
    parts.push(...initializer(of, dims, stored(list), into));
    return into;
  };
  const cast = (of: string, to: "f32" | "f16"): string =>
    push("Cast", [of], intAttribute("to", onnxTypes[to]));
  // Odd numbers below 32 are numbers of f16: five digits of them, behind one that is not stored.
  const halves = Uint16Array.from(odd, (value) => {
    const exponent = Math.floor(Math.log2(Math.abs(value)));
    const fraction = (Math.abs(value) / 2 ** exponent - 1) * 2 ** 10;
    return (value < 0 ? 0x8000 : 0) + ((exponent + 15) << 10) + fraction;
  });
  parts.push(...initializer(type, [rows, columns], stored(type === "f32" ? odd : halves), "table"));
  let gathered = ofElements
    ? push(
        "GatherElements",
        ["table", "indices"],
        intAttribute("axis", elementAxis - (draw(2) === 0 ? 2 : 0)),
      )
    : push("Gather", ["table", "indices"], intAttribute("axis", 0));
  // onnxruntime's CPU sums f16 by f32 alone, so a cast stands in front of the sum or of both.
  const early = type === "f16" && draw(2) === 0;
  if (early) gathered = cast(gathered, "f32");
  const summand = type === "f16" && !early ? cast(gathered, "f32") : gathered;
  const axis = draw(rank);
  const named = draw(2) === 0 ? axis : axis - rank;
  const version = [11, 13, 17, 18][draw(4)]!;
  const kept = draw(4) > 0;
  const axes = BigInt64Array.of(BigInt(named));
  let sum = push(
    "ReduceSum",
    [summand, ...(version < 13 ? [] : [constant("i64", [1], axes)])],
    [...intAttribute("keepdims", kept ? 1 : 0), ...(version < 13 ? intsAttribute("axes", [named]) : [])],
  );
  if (!kept)
    sum =
      version < 13
        ? push("Unsqueeze", [sum], intsAttribute("axes", [axis]))
        : push("Unsqueeze", [sum, constant("i64", [1], BigInt64Array.of(BigInt(axis)))]);
  if (draw(3) === 0) sum = push("Add", [sum, constant("f32", [], Float32Array.of(0.5))]);
  let over = type === "f16" && !early && draw(2) === 0 ? gathered : summand;
  if (over !== summand) sum = cast(sum, "f16");
  const half = over !== summand;
  over = push("Div", draw(6) === 0 ? [sum, over] : [over, sum]);
  if (!half && draw(3) === 0) over = push("Mul", [over, constant("f32", [1], Float32Array.of(2.5))]);
  // Behind a quotient of f16 onnxruntime leaves out its rounding where a cast to f32 follows.
  const narrowed = !half && draw(4) === 0;
  if (narrowed) over = cast(over, "f16");
  return {
    ...randomIndices(indexShape, ofElements && elementAxis === 1 ? columns : rows, draw),
    indexShape,
    bytes: model(
      [
        ...parts,
        ...node("Identity", [over], ["y"]),
        ...text(2, "g"),
        ...input("indices", onnxTypes.i64, indexShape),
        ...output("y", onnxTypes[half || narrowed ? "f16" : "f32"], shape),
      ],
      version,
    ),
  };
}

/** Bits, every NaN as one; undefined where the run is rejected. */
async function throughOnnxRuntime(
  found: OnnxRuntime,
  { bytes: file, indices, indexShape }: RandomModel,
): Promise<string | undefined> {
  const session = await found.InferenceSession.create(file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 4,
  });
  try {
    const { y } = await session.run({ indices: new found.Tensor("int64", indices, indexShape) });
    if (y === undefined || !ArrayBuffer.isView(y.data)) throw new Error("no output");
    const { data } = y;
    return shown(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), data.constructor.name);
  } catch (thrown) {
    if (/out of|indices/i.test(String(thrown))) return undefined;
    throw thrown;
  } finally {
    await session.release();
  }
}

/** `kind`: the array that holds the elements; onnxruntime gives f16 as a Uint16Array or a Float16Array. */
function shown(list: Uint8Array, kind: string): string {
  const own = list.slice().buffer;
  const canonical = (words: Uint32Array | Uint16Array, infinity: number, mask: number): string =>
    [...words].map((bits) => ((bits & mask) > infinity ? "NaN" : bits.toString(16))).join(" ");
  if (kind === "Float32Array") return canonical(new Uint32Array(own), 0x7f800000, 0x7fffffff);
  if (kind === "Uint16Array" || kind === "Float16Array")
    return canonical(new Uint16Array(own), 0x7c00, 0x7fff);
  if (kind === "Uint8Array" || kind === "Int8Array") return [...list].join(" ");
  return [...new Uint32Array(own)].map((bits) => bits.toString(16)).join(" ");
}

const kinds: Readonly<Record<string, string>> = {
  u8: "Uint8Array",
  i8: "Int8Array",
  f32: "Float32Array",
  f16: "Uint16Array",
  i32: "Int32Array",
};

/** The bits of a program on the reference and both executors, which are one. */
function throughTilec(func: Func, inputs: HostInputs): string | undefined {
  const outcome = (run: () => Uint8Array): string | undefined =>
    unlessRefused(() => shown(run(), kinds[outputOf(func).type.dtype] ?? ""));
  const kernel = compile(func, { target: targets.cpu });
  const access = kernel.access as AccessFunc;
  const wanted = outcome(() => referenceOfMap(access.map, access.operands, inputs));
  expect(outcome(() => simulateChecked(kernel.tile, inputs, kernel.target).output)).toEqual(wanted);
  expect(outcome(() => fastOutput(kernel, inputs))).toEqual(wanted);
  return wanted;
}

const indicesOf = ({ indices }: RandomModel): Uint8Array => new Uint8Array(indices.buffer);

describe("onnxruntime", () => {
  it("has the bits of GatherBlockQuantized for random models of 2, 4 and 8 bits, and rejects the same indices", async (context) => {
    if (ort === undefined) return context.skip();
    const seen = { equal: 0, rejected: 0, empty: 0 };
    for (let seed = 0; seed < runs(1000); seed++) {
      const random = blockQuantized(drawer(seed));
      const [gather] = findGathers(readModel(random.bytes, `model ${seed}`)) as [OnnxGather];
      if (!gather.ok) throw new Error(gather.diagnostic.message);
      const func = program(gather.program);
      const tensors = { data: gather.data, ...gather.others };
      const inputs = Object.fromEntries(
        inputsOf(func).map((operand) => {
          const { type } = operand;
          const fixed = tensors[keyOf(operand) as "data"];
          return [keyOf(operand), { type, bytes: fixed?.bytes ?? indicesOf(random) }];
        }),
      );
      const [wanted, found] = [await throughOnnxRuntime(ort, random), throughTilec(func, inputs)];
      expect(found, `seed ${seed}`).toEqual(wanted);
      expect(wanted === undefined, `seed ${seed}`).toBe(random.bad);
      seen[wanted === undefined ? "rejected" : byteCount(outputOf(func).type) === 0 ? "empty" : "equal"]++;
    }
    expect(seen.equal).toBeGreaterThan(runs(700));
    expect(seen.rejected).toBeGreaterThan(runs(30));
    expect(seen.empty).toBeGreaterThan(runs(30));
  });

  it.for([
    ["arithmetic around them", chain, 1000, 800],
    ["dequantized tables of 4 and 2 bits, in rows of any length, in front of them", packedTable, 400, 380],
    ["what they make by its own sum behind them", normalized, 500, 480],
    ["sums of exact terms, means, maxima and minima behind them", reduction, 500, 450],
  ] as const)(
    "has the bits of gathers with %s, folded into one program",
    async ([, draws, tried, least], context) => {
      if (ort === undefined) return context.skip();
      const seen = { folded: 0, rejected: 0 };
      for (let seed = 0; seed < runs(tried); seed++) {
        const random = draws(drawer(seed));
        const gathers = findGathers(readModel(random.bytes, `model ${seed}`));
        const wanted = await throughOnnxRuntime(ort, random);
        const [whole] = gathers
          .flatMap((own) => (own.ok && own.folded !== undefined ? [own.folded] : []))
          .slice(-1);
        if (whole === undefined) continue;
        const { func, reads, inputs: fixed } = whole;
        // Of several gathers, the one that the others are folded into ends with the model's output.
        if (!whole.nodes.some(({ op }) => op === "Identity")) continue;
        const inputs = Object.fromEntries(
          inputsOf(func).map((operand) => {
            const given =
              reads[keyOf(operand)] === "indices" ? indicesOf(random) : fixed[operand.name]?.bytes;
            if (given === undefined) throw new Error(`seed ${seed}: ${operand.name} is not fixed`);
            return [keyOf(operand), { type: operand.type, bytes: given }];
          }),
        );
        expect(throughTilec(func, inputs), `seed ${seed}: ${whole.nodes.map(labelOf).join(", ")}`).toEqual(
          wanted,
        );
        seen.folded++;
        if (wanted === undefined) seen.rejected++;
      }
      expect(seen.folded).toBeGreaterThan(runs(least));
      expect(seen.rejected).toBeGreaterThan(runs(15));
    },
  );
});
