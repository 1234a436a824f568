/** Scatters that bench:scatter measures, on the CPU and in a page. */
import { type Func } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import {
  input,
  intAttribute,
  model,
  node,
  onnxTypes,
  output,
  stringAttribute,
  text,
} from "../test/support/onnx-bytes.js";
import { parsed } from "../test/support/parsed.js";
import { type Subject } from "./rows.js";

const next = lcg(1);
const draw = (limit: number): number => Math.floor(next() * limit);

/** Elements of a tensor; f16 as bits. */
export type Numbers = Uint16Array | Float32Array;

/** A scatter of two-dimensional tensors with 64-bit indices. */
export interface Scatter {
  readonly name: string;
  readonly dtype: "f16" | "f32";
  readonly base: Numbers;
  readonly shape: readonly [rows: number, columns: number];
  readonly updates: Numbers;
  readonly indices: BigInt64Array;
  readonly points: readonly [rows: number, columns: number];
  /** The written coordinates and the value, as the text of a program has them. */
  readonly statement: string;
  readonly indexShape: string;
  readonly inPlace: boolean;
  /** Calls that one measurement is the mean of. */
  readonly calls: number;
  /** The loop that a JavaScript program would have. */
  loop(out: Numbers): void;
  /** The loop in C, by its word. */
  readonly c?: "set" | "add";
  /** The node of an ONNX model. */
  readonly onnx?: {
    readonly op: string;
    readonly attributes: readonly number[];
    readonly indices: readonly number[];
  };
}

const shuffled = (count: number): number[] => {
  const list = Array.from({ length: count }, (_, k) => k);
  for (let k = count - 1; k > 0; k--) {
    const other = draw(k + 1);
    [list[k], list[other]] = [list[other] ?? 0, list[k] ?? 0];
  }
  return list;
};

/**
 * Returns the scatter that writes `tokens` rows of 512 f16 in place into a cache of `rows` rows, at random
 * row indices.
 */
function cacheWrite(tokens: number, rows: number): Scatter {
  const columns = 512;
  // No row twice: libraries leave open which one stays.
  const drawn = new Set<number>();
  while (drawn.size < tokens) drawn.add(draw(rows));
  const indices = BigInt64Array.from([...drawn], BigInt);
  const updates = Uint16Array.from({ length: tokens * columns }, () => draw(2 ** 15));
  return {
    name: `cache ${rows}: ${tokens} rows`,
    dtype: "f16",
    base: new Uint16Array(rows * columns),
    shape: [rows, columns],
    updates,
    indices,
    points: [tokens, columns],
    statement: `let t = skip(%i[d0] in ${rows}) -> (t, d1) yield %u[d0, d1] {oob = error, duplicates = last}`,
    indexShape: `${tokens}`,
    inPlace: true,
    calls: tokens > 8 ? 20 : 400,
    c: "set",
    loop(out) {
      for (let k = 0; k < tokens; k++) {
        const at = Number(indices[k]);
        if (at >= 0 && at < rows) out.set(updates.subarray(k * columns, (k + 1) * columns), at * columns);
      }
    },
  };
}

/** Returns the scatter of 1024 x 1024 f32 elements along dim 0. Each output element is written once. */
function elements(): Scatter {
  const size = 1024;
  const rows = Array.from({ length: size }, () => shuffled(size));
  const indices = BigInt64Array.from({ length: size * size }, (_, k) =>
    BigInt(rows[k % size]?.[Math.floor(k / size)] ?? 0),
  );
  const updates = Float32Array.from({ length: size * size }, () => next());
  return {
    name: "elements 1024 x 1024",
    dtype: "f32",
    base: Float32Array.from({ length: size * size }, () => next()),
    shape: [size, size],
    updates,
    indices,
    points: [size, size],
    statement: "-> (%i[d0, d1], d1) yield %u[d0, d1] {oob = error, duplicates = last}",
    indexShape: `${size}x${size}`,
    inPlace: false,
    calls: 1,
    loop(out) {
      for (let r = 0; r < size; r++)
        for (let c = 0; c < size; c++) {
          const at = Number(indices[r * size + c]);
          if (at < 0 || at >= size) throw new RangeError("an index is out of range");
          out[at * size + c] = updates[r * size + c] ?? 0;
        }
    },
    onnx: { op: "ScatterElements", attributes: intAttribute("axis", 0), indices: [size, size] },
  };
}

/**
 * Returns the scatter that adds 65,536 rows of 128 f32 to 4096 rows, 16 additions to each row. The
 * updates are multiples of 2^-12, so that their sums are exact in any order.
 */
function sums(): Scatter {
  const [rows, columns, tokens] = [4096, 128, 65_536];
  const indices = BigInt64Array.from(shuffled(tokens), (k) => BigInt(k % rows));
  const updates = Float32Array.from({ length: tokens * columns }, () => draw(2 ** 12) / 2 ** 12);
  return {
    name: "add 65536 rows to 4096",
    dtype: "f32",
    base: new Float32Array(rows * columns),
    shape: [rows, columns],
    updates,
    indices,
    points: [tokens, columns],
    statement: "-> (%i[d0], d1) yield %u[d0, d1] {oob = error, combine = add}",
    indexShape: `${tokens}`,
    inPlace: false,
    calls: 1,
    c: "add",
    loop(out) {
      for (let k = 0; k < tokens; k++) {
        const at = Number(indices[k]);
        if (at < 0 || at >= rows) throw new RangeError("an index is out of range");
        for (let c = 0; c < columns; c++)
          out[at * columns + c] = (out[at * columns + c] ?? 0) + (updates[k * columns + c] ?? 0);
      }
    },
    onnx: { op: "ScatterND", attributes: stringAttribute("reduction", "add"), indices: [tokens, 1] },
  };
}

/** Functions that make the scatters, in the order of the rows. */
export const scatters: readonly (() => Scatter)[] = [
  () => cacheWrite(512, 262_144),
  () => cacheWrite(8, 262_144),
  () => cacheWrite(8, 1024),
  elements,
  sums,
];

/** Returns a scatter as a program. */
export function programOf({ dtype, indexShape, inPlace, points, shape, statement }: Scatter): Func {
  const type = `tensor<${shape.join("x")}x${dtype}>`;
  const program = `func @scatter(%x: ${inPlace ? "inout " : ""}${type}, %i: tensor<${indexShape}xi64>, %u: tensor<${points.join("x")}x${dtype}>) -> ${type} {
  %y = access.scatter %x, %i, %u (d0 < ${points[0]}, d1 < ${points[1]}) ${statement}
  return %y
}
`;
  return parsed(program);
}

/**
 * Returns the ONNX model of one node that scatters `updates`, by `indices`, into `base`. `type`: ONNX's
 * number of the element type.
 */
export const scatterModel = (
  { op, attributes, indices }: NonNullable<Scatter["onnx"]>,
  type: number,
  base: readonly number[],
  updates: readonly number[],
): Uint8Array =>
  model(
    [
      ...node(op, ["x", "i", "u"], ["y"], attributes),
      ...text(2, "scatter"),
      ...input("x", type, base),
      ...input("i", onnxTypes.i64, indices),
      ...input("u", type, updates),
      ...output("y", type, base),
    ],
    18,
  );

/** Returns the bytes of a list, without a copy. */
export const bytesOf = ({ buffer, byteLength, byteOffset }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Returns a subject whose milliseconds are the mean of some calls. */
export const repeated = (
  subject: string,
  calls: number,
  call: () => void,
  result: () => Numbers,
): Subject => ({
  subject,
  threads: 1,
  run() {
    const start = performance.now();
    for (let k = 0; k < calls; k++) call();
    return (performance.now() - start) / calls;
  },
  output: () => Uint8Array.from(bytesOf(result())),
});

/**
 * Returns a {@link Subject} (implementation to measure): the loop of a scatter in JavaScript, which writes
 * `out`.
 */
export const javascript = (scatter: Scatter, out: Numbers): Subject =>
  repeated(
    "javascript",
    scatter.calls,
    () => {
      if (!scatter.inPlace) out.set(scatter.base);
      scatter.loop(out);
    },
    () => out,
  );
