/**
 * The workloads of bench:values: gathers that dequantize or sum, their inputs from a fixed seed, and what
 * they give by a plain loop.
 */
import { type Func } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import { moe, onnx, torch } from "../src/index.js";
import {
  bytes,
  info,
  input,
  intAttribute,
  model,
  node,
  number,
  onnxTypes,
  text,
} from "../test/support/onnx-bytes.js";
import { parsed } from "../test/support/parsed.js";

type Elements = Uint8Array | Int8Array | Uint16Array | Int32Array | Float32Array | BigInt64Array;

/** ONNX model of a benchmark workload for onnxruntime, with the type and shape of each input. */
export interface Peer {
  readonly model: Uint8Array;
  /** onnxruntime's type and shape of each input. */
  readonly tensors: Readonly<Record<string, readonly [type: string, shape: readonly number[]]>>;
}

/**
 * Workload of bench:values: a program that does arithmetic on the gathered elements, with the inputs. `loop`
 * is a plain JavaScript loop that writes the expected output.
 */
export interface ValueWorkload {
  readonly name: string;
  readonly func: Func;
  /** Inputs by name. The program and the ONNX model use the same names. */
  readonly inputs: Readonly<Record<string, Elements>>;
  /** ONNX model of the workload; absent if ONNX has no operator for it. */
  readonly onnx?: Peer;
  readonly loop: (output: Uint8Array) => void;
  readonly outputBytes: number;
  /** For the loop in C: rows of the table, columns, rows of the output. */
  readonly sizes: readonly [table: number, columns: number, rows: number];
}

const draw = lcg(1);
/** Returns a whole number of 24 bits. */
const random = (): number => Math.floor(draw() * 2 ** 24);

/** The numbers of all f16. */
const halves = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
});
const words = new Float32Array(1);
const wordBits = new Uint32Array(words.buffer);
/**
 * Returns the 16 bits of the f16 value nearest to a number, with ties to even. The number must be in the
 * range of f16.
 */
function halfOf(value: number): number {
  words[0] = value;
  const [bits = 0] = wordBits;
  const magnitude = bits & 0x7fffffff;
  const sign = (bits >>> 16) & 0x8000;
  if (magnitude < 0x38800000) {
    // A multiple of 2^-24, rounded by a sum whose last digit that is.
    words[0] = Math.abs(value) + 0.5;
    return sign | ((wordBits[0] ?? 0) - 0x3f000000);
  }
  return sign | ((magnitude + 0xfff + ((magnitude >>> 13) & 1) - 0x38000000) >>> 13);
}

/**
 * Returns the workload that gathers and dequantizes 512 rows of a 4-bit table. `type` is the element type of
 * the scales and of the output.
 */
export function embedding(name: string, type: "f16" | "f32", indexType: "i32" | "i64"): ValueWorkload {
  const [rows, columns, block, count] = [151936, 896, 32, 512];
  const [inRow, scales] = [columns / 2, columns / block];
  const data = Uint8Array.from({ length: rows * inRow }, random);
  const halfScales = Uint16Array.from({ length: rows * scales }, () => 0x2000 + (random() & 0x0fff));
  const numbers = Array.from({ length: count }, () => random() % rows);
  const indices = indexType === "i32" ? Int32Array.from(numbers) : BigInt64Array.from(numbers, BigInt);
  const isHalf = type === "f16";
  return {
    name,
    func: onnx.gatherBlockQuantized({
      data: ["u8", [rows, inRow]],
      indices: [indexType, [count]],
      scales: [type, [rows, scales]],
      blockSize: block,
    }),
    inputs: {
      data,
      indices,
      scales: isHalf ? halfScales : Float32Array.from(halfScales, (bits) => halves[bits] ?? 0),
    },
    onnx: {
      tensors: {
        data: ["uint8", [rows, inRow]],
        indices: [indexType === "i32" ? "int32" : "int64", [count]],
        scales: [isHalf ? "float16" : "float32", [rows, scales]],
      },
      model: Uint8Array.from([
        ...model(
          [
            ...node(
              "GatherBlockQuantized",
              ["data", "indices", "scales"],
              ["y"],
              [...text(7, "com.microsoft"), ...intAttribute("bits", 4), ...intAttribute("block_size", block)],
            ),
            ...text(2, "g"),
            ...input("data", onnxTypes.u8, [rows, inRow]),
            ...input("indices", onnxTypes[indexType], [count]),
            ...input("scales", onnxTypes[type], [rows, scales]),
            ...bytes(12, info("y", onnxTypes[type])),
          ],
          21,
        ),
        ...bytes(8, [...text(1, "com.microsoft"), ...number(2, 1)]),
      ]),
    },
    outputBytes: (isHalf ? 2 : 4) * count * columns,
    sizes: [rows, columns, count],
    loop(output) {
      const { buffer, byteOffset } = output;
      const length = count * columns;
      const y = isHalf
        ? new Uint16Array(buffer, byteOffset, length)
        : new Float32Array(buffer, byteOffset, length);
      const stored = isHalf ? halfOf : (value: number): number => value;
      for (let k = 0; k < count; k++) {
        const row = Number(indices[k]);
        for (let c = 0; c < columns; c += 2) {
          const pair = data[row * inRow + c / 2] ?? 0;
          const by = halves[halfScales[row * scales + Math.floor(c / block)] ?? 0] ?? 0;
          y[k * columns + c] = stored(Math.fround(((pair & 15) - 8) * by));
          y[k * columns + c + 1] = stored(Math.fround(((pair >> 4) - 8) * by));
        }
      }
    },
  };
}

/**
 * Returns the workload that gathers 4096 rows of an 8-bit KV cache and multiplies each row by an f32 scale.
 */
export function cacheRows(): ValueWorkload {
  const [rows, columns, count] = [65536, 128, 4096];
  const q = Int8Array.from({ length: rows * columns }, random);
  const s = Float32Array.from({ length: rows }, () => (1 + (random() % 1000)) / 4096);
  const ids = BigInt64Array.from({ length: count }, () => BigInt(random() % rows));
  const func =
    parsed(`func @rows(%q: tensor<${rows}x${columns}xi8>, %s: tensor<${rows}xf32>, %ids: tensor<${count}xi64>) -> tensor<${count}x${columns}xf32> {
  %y = access.gather %q, %s, %ids (d0, d1) let t = error(from_end(%ids[d0]) in ${rows}) yield f32(%q[t, d1]) * %s[t] {oob = error}
  return %y
}
`);
  return {
    name: "K",
    func,
    inputs: { q, s, ids },
    onnx: {
      tensors: { q: ["int8", [rows, columns]], s: ["float32", [rows, 1]], ids: ["int64", [count]] },
      model: model(
        [
          ...node("Gather", ["q", "ids"], ["g"]),
          ...node("Cast", ["g"], ["f"], intAttribute("to", onnxTypes.f32)),
          ...node("Gather", ["s", "ids"], ["b"]),
          ...node("Mul", ["f", "b"], ["y"]),
          ...text(2, "g"),
          ...input("q", onnxTypes.i8, [rows, columns]),
          ...input("s", onnxTypes.f32, [rows, 1]),
          ...input("ids", onnxTypes.i64, [count]),
          ...bytes(12, info("y", onnxTypes.f32)),
        ],
        17,
      ),
    },
    outputBytes: 4 * count * columns,
    sizes: [rows, columns, count],
    loop(output) {
      const y = new Float32Array(output.buffer, output.byteOffset, count * columns);
      for (let k = 0; k < count; k++) {
        const row = Number(ids[k]);
        const by = s[row] ?? 0;
        for (let c = 0; c < columns; c++) y[k * columns + c] = (q[row * columns + c] ?? 0) * by;
      }
    },
  };
}

/**
 * Computes each row of `y` as a weighted sum of rows of `x`. `places` returns the range [from, to) of list
 * positions that a row of `y` sums. At each position, `ids` has the row number in `x`, and `factors` has the
 * weight; without `factors`, each weight is 1.
 */
function weightedRows(
  y: Float32Array,
  x: Float32Array,
  columns: number,
  places: (row: number) => readonly [from: number, to: number],
  ids: BigInt64Array | Int32Array,
  factors?: Float32Array,
): void {
  y.fill(0);
  for (let row = 0; row * columns < y.length; row++) {
    const [from, to] = places(row);
    for (let p = from; p < to; p++) {
      const [first, by] = [Number(ids[p]) * columns, factors?.[p] ?? 1];
      for (let c = 0; c < columns; c++) {
        const sum = row * columns + c;
        y[sum] = Math.fround((y[sum] ?? 0) + Math.fround((x[first + c] ?? 0) * by));
      }
    }
  }
}

const near = (length: number): Float32Array =>
  Float32Array.from({ length }, () => (random() % 2001) / 1000 - 1);

/**
 * Returns the workload that sums embedding rows for each of 2048 segments, as recommender models do. A
 * segment has 0 to 39 rows.
 */
export function embeddingBags(): ValueWorkload {
  const [rows, columns, bags] = [100_000, 64, 2048];
  const offsets = new BigInt64Array(bags);
  let listed = 0;
  for (let bag = 0; bag < bags; bag++) {
    offsets[bag] = BigInt(listed);
    listed += random() % 40;
  }
  const weight = near(rows * columns);
  const list = BigInt64Array.from({ length: listed }, () => BigInt(random() % rows));
  return {
    name: "B",
    func: torch.embeddingBag({
      weight: ["f32", [rows, columns]],
      input: ["i64", [listed]],
      offsets: ["i64", [bags]],
      mode: "sum",
      longestBag: 40,
    }),
    inputs: { weight, input: list, offsets },
    outputBytes: 4 * bags * columns,
    sizes: [rows, columns, bags],
    loop(output) {
      const y = new Float32Array(output.buffer, output.byteOffset, bags * columns);
      weightedRows(
        y,
        weight,
        columns,
        (bag) => [Number(offsets[bag]), Number(offsets[bag + 1] ?? listed)],
        list,
      );
    },
  };
}

/**
 * Returns the workload that combines expert outputs of a mixture-of-experts model: for each of 512 tokens,
 * the weighted sum of 8 rows.
 */
export function combine(): ValueWorkload {
  const [rows, columns, tokens, experts] = [4096, 1024, 512, 8];
  const [x, weights] = [near(rows * columns), near(tokens * experts)];
  const inverse = Int32Array.from({ length: tokens * experts }, () => random() % rows);
  return {
    name: "M",
    func: moe.combine({
      x: ["f32", [rows, columns]],
      inverse: ["i32", [tokens, experts]],
      weights: ["f32", [tokens, experts]],
    }),
    inputs: { x, inverse, weights },
    outputBytes: 4 * tokens * columns,
    sizes: [rows, columns, tokens],
    loop(output) {
      const y = new Float32Array(output.buffer, output.byteOffset, tokens * columns);
      weightedRows(y, x, columns, (token) => [token * experts, (token + 1) * experts], inverse, weights);
    },
  };
}
