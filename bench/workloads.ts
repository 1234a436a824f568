/** The workloads of the benchmarks, their inputs from a fixed seed, and what they give by a plain loop. */

/** Name of a gather operator that the benchmarks run, as in ONNX. */
export type WorkloadOp = "gather" | "gather_elements" | "gather_nd";

/** Gather that the benchmarks run: operator, element types, axis and shapes. */
export interface Workload {
  readonly name: string;
  readonly op: WorkloadOp;
  readonly dtype: "f32" | "f16" | "i8" | "u8";
  readonly indexType: "i32" | "i64";
  /** Axis of gather and gather_elements. */
  readonly axis: number;
  readonly data: readonly number[];
  readonly indices: readonly number[];
  readonly output: readonly number[];
}

const elements = (
  name: string,
  axis: number,
  shape: readonly number[],
  dtype: Workload["dtype"] = "f32",
  indexType: Workload["indexType"] = "i32",
): Workload => ({
  name,
  op: "gather_elements",
  dtype,
  indexType,
  axis,
  data: shape,
  indices: shape,
  output: shape,
});

const rows = (name: string, axis: number, data: readonly number[], count: number): Workload => ({
  name,
  op: "gather",
  dtype: "f32",
  indexType: "i32",
  axis,
  data,
  indices: [count],
  output: data.map((extent, d) => (d === axis ? count : extent)),
});

/**
 * Returns a workload that gathers elements along the first axis, with fewer rows of indices than the data has
 * rows.
 */
const named = (name: string, data: readonly number[], indices: readonly number[]): Workload => ({
  ...elements(name, 0, data),
  indices,
  output: indices,
});

/** Ten workloads that every benchmark of gathers runs by default. */
export const workloads: readonly Workload[] = [
  rows("W1", 0, [50257, 768], 4096),
  rows("W2", 0, [1_000_000, 4], 1_000_000),
  rows("W3", 1, [4096, 1024], 256),
  elements("W4", 1, [4096, 1024]),
  elements("W5", 0, [1024, 4096]),
  elements("W6", 2, [8, 64, 64, 64]),
  {
    name: "W7",
    op: "gather_nd",
    dtype: "f32",
    indexType: "i32",
    axis: 0,
    data: [256, 256, 64],
    indices: [65536, 2],
    output: [65536, 64],
  },
  elements("W8", 1, [4096, 1024], "f16"),
  elements("W9", 1, [4096, 1024], "i8"),
  elements("W10", 1, [4096, 1024], "f32", "i64"),
];

/**
 * Workloads for which bench:sim measures entire calls of tilec's simulator, from the caller's arrays to a new
 * array.
 */
export const calls: readonly Workload[] = [
  named("W11", [262_144, 1024], [64, 1024]),
  named("W12", [100_000, 1024], [64, 1024]),
  rows("W13", 0, [4_194_304, 64], 4096),
  rows("W14", 0, [4_194_304, 64], 65536),
  rows("W15", 0, [1_000_000, 64], 65536),
  rows("W16", 0, [50257, 768], 4096),
  rows("W17", 0, [512, 64], 160),
];

/** Smaller ones, which a plan or a kernel made for the ten may serve worse. */
const others: readonly Workload[] = [
  rows("W18", 0, [5000, 16], 65536),
  elements("W19", 0, [1024, 1024]),
  elements("W20", 1, [1024, 1024]),
  elements("W21", 1, [1024, 1024], "f32", "i64"),
  rows("W22", 1, [1024, 1024], 1024),
  elements("W23", 1, [1024, 1024], "u8"),
];

/** All workloads that the benchmarks can run by name. */
export const everyWorkload: readonly Workload[] = [...workloads, ...calls, ...others];

/** Returns the benchmark workload with the given name. Throws an Error if no workload has the name. */
export function workloadOf(name: string): Workload {
  const found = everyWorkload.find((workload) => workload.name === name);
  if (found === undefined) throw new Error(`no workload ${name}`);
  return found;
}

const gate: readonly string[] = ["W1", "W7", ...others.map(({ name }) => name)];

/** Groups of workloads, by the group name that `--only` accepts. */
export const groups: Readonly<Record<string, readonly Workload[]>> = {
  ten: workloads,
  calls,
  gate: everyWorkload.filter(({ name }) => gate.includes(name)),
};

/** Size of one element in bytes, by element type. */
export const bytesOf = { f32: 4, f16: 2, i8: 1, u8: 1, i32: 4, i64: 8 } as const;
/** Returns the number of elements of a tensor with this shape. */
export const count = (shape: readonly number[]): number =>
  shape.reduce((product, extent) => product * extent, 1);

/** Formats a workload as text, for example `gather f32 [50257,768] axis 0 by i32 [4096]`. */
export const describe = (w: Workload): string =>
  `${w.op} ${w.dtype} [${w.data.join()}] axis ${w.axis} by ${w.indexType} [${w.indices.join()}]`;

/** Input tensors of a workload as bytes. */
export interface Inputs {
  readonly data: Uint8Array;
  readonly indices: Uint8Array;
}

/**
 * Returns random inputs for a workload, from a fixed seed. Indices are in range, and floats are in [1, 2).
 */
export function inputsOf(workload: Workload): Inputs {
  let state = 0x9e3779b9;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const data = new Uint8Array(count(workload.data) * bytesOf[workload.dtype]);
  const words = new Uint32Array(data.buffer);
  // Floats in [1, 2), so that libraries that look at values meet no NaN: sign and exponent fixed, mantissa
  // random.
  for (let k = 0; k < words.length; k++) {
    const bits = next();
    words[k] = workload.dtype === "f32" ? (bits >>> 9) | 0x3f800000 : (bits & 0x03ff03ff) | 0x3c003c00;
  }
  const indices = new Uint8Array(count(workload.indices) * bytesOf[workload.indexType]);
  const total = count(workload.indices);
  const low = new Int32Array(indices.buffer);
  const step = bytesOf[workload.indexType] / 4;
  for (let k = 0; k < total; k++) {
    const extent = workload.data[workload.op === "gather_nd" ? k % 2 : workload.axis] ?? 1;
    low[k * step] = next() % extent;
  }
  return { data, indices };
}

type Units = Uint8Array | Uint16Array | Uint32Array;

/** Returns a typed array of unsigned integers of `size` bytes (1, 2 or 4) that shares memory with `bytes`. */
export const unitsOf = (bytes: Uint8Array, size: number): Units =>
  size === 4
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
    : size === 2
      ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2)
      : bytes;

/**
 * Runs a gather as a plain loop over typed arrays, and writes the result to `output`. Negative indices count
 * from the end, as in ONNX. Returns false if an index is out of range.
 */
export function plainGather(workload: Workload, inputs: Inputs, output: Uint8Array): boolean {
  const size = bytesOf[workload.dtype];
  const [data, out] = [unitsOf(inputs.data, size), unitsOf(output, size)];
  const index =
    workload.indexType === "i32"
      ? new Int32Array(inputs.indices.buffer, inputs.indices.byteOffset, count(workload.indices))
      : new BigInt64Array(inputs.indices.buffer, inputs.indices.byteOffset, count(workload.indices));
  switch (workload.op) {
    case "gather":
      return plainRows(workload, data, index as Int32Array, out);
    case "gather_elements":
      return index instanceof Int32Array
        ? plainElements(workload, data, index, out)
        : plainElementsWide(workload, data, index, out);
    case "gather_nd":
      return plainTuples(workload, data, index as Int32Array, out);
  }
}

/**
 * Computes the expected output of a workload, as bytes, with a plain loop. Throws an Error if an index is out
 * of range.
 */
export function expectedOf(workload: Workload, inputs: Inputs): Uint8Array {
  const output = new Uint8Array(outputBytes(workload));
  if (!plainGather(workload, inputs, output)) throw new Error(`${workload.name} has an index out of range`);
  return output;
}

/** Returns the size of a workload's output in bytes. */
export const outputBytes = (workload: Workload): number => count(workload.output) * bytesOf[workload.dtype];

const split = (shape: readonly number[], axis: number) => ({
  outer: count(shape.slice(0, axis)),
  extent: shape[axis] ?? 1,
  inner: count(shape.slice(axis + 1)),
});

/**
 * Gathers slices along the workload's axis with a plain loop into `out`. Negative indices count from the end.
 * Returns false if an index is out of range.
 */
function plainRows(w: Workload, data: Units, index: Int32Array, out: Units): boolean {
  const { outer, extent, inner } = split(w.data, w.axis);
  const n = index.length;
  for (let o = 0; o < outer; o++) {
    for (let j = 0; j < n; j++) {
      let i = index[j]!;
      if (i < 0) i += extent;
      if (i < 0 || i >= extent) return false;
      const from = (o * extent + i) * inner;
      const to = (o * n + j) * inner;
      if (inner >= 16) out.set(data.subarray(from, from + inner), to);
      else for (let k = 0; k < inner; k++) out[to + k] = data[from + k]!;
    }
  }
  return true;
}

/**
 * Gathers single elements along the workload's axis with a plain loop into `out`, by 32-bit indices. Negative
 * indices count from the end. Returns false if an index is out of range.
 */
function plainElements(w: Workload, data: Units, index: Int32Array, out: Units): boolean {
  const { outer, extent, inner } = split(w.data, w.axis);
  const n = w.indices[w.axis] ?? 1;
  let to = 0;
  for (let o = 0; o < outer; o++) {
    const base = o * extent * inner;
    for (let j = 0; j < n; j++) {
      for (let k = 0; k < inner; k++, to++) {
        let i = index[to]!;
        if (i < 0) i += extent;
        if (i < 0 || i >= extent) return false;
        out[to] = data[base + i * inner + k]!;
      }
    }
  }
  return true;
}

/**
 * Gathers single elements along the workload's axis with a plain loop into `out`, by 64-bit indices. Negative
 * indices count from the end. Returns false if an index is out of range.
 */
function plainElementsWide(w: Workload, data: Units, index: BigInt64Array, out: Units): boolean {
  const { outer, extent, inner } = split(w.data, w.axis);
  const n = w.indices[w.axis] ?? 1;
  let to = 0;
  for (let o = 0; o < outer; o++) {
    const base = o * extent * inner;
    for (let j = 0; j < n; j++) {
      for (let k = 0; k < inner; k++, to++) {
        let i = Number(index[to]!);
        if (i < 0) i += extent;
        if (i < 0 || i >= extent) return false;
        out[to] = data[base + i * inner + k]!;
      }
    }
  }
  return true;
}

/**
 * Gathers rows with a plain loop into `out`, by pairs of indices into the first two dims. Negative indices
 * count from the end. Returns false if an index is out of range.
 */
function plainTuples(w: Workload, data: Units, index: Int32Array, out: Units): boolean {
  const [rowsOf = 1, columns = 1, inner = 1] = w.data;
  for (let j = 0; j < index.length / 2; j++) {
    let a = index[2 * j]!;
    let b = index[2 * j + 1]!;
    if (a < 0) a += rowsOf;
    if (b < 0) b += columns;
    if (a < 0 || a >= rowsOf || b < 0 || b >= columns) return false;
    const from = (a * columns + b) * inner;
    out.set(data.subarray(from, from + inner), j * inner);
  }
  return true;
}
