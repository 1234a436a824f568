/**
 * npm run bench:scatter: writes through an index, on one thread, compiled for one core.
 *
 * `cache`: 512 and 8 rows of 512 f16 written in place into a cache of 262,144 rows, and 8 into one of 1024. `elements`: 1024 x 1024 f32
 * along dim 0, each written once. `add`: 65,536 rows of 128 f32 added to 4096, each of which is named 16
 * times. Subjects: a call on the caller's arrays (`tilec`), the code of WebAssembly in its own memory
 * (`tilec-code`), a loop in JavaScript, one in C where a compiler is there, and onnxruntime-node on one
 * thread where it is installed. Outputs are verified first, but those of `add`, whose sums go on from run to
 * run where a subject adds in place; subjects run in turns, and medians are compared. `--json` prints the
 * rows.
 */
import { FastExecutor, simulate } from "../backends/sim/index.js";
import { parseModule, targets } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import { compile, type Kernel, type TensorData } from "../src/index.js";
import { table } from "../src/report/table.js";
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
import { parseFlags, shared } from "./flags.js";
import { compileC, inputFiles, loopSubjects } from "./loop-process.js";
import { findOnnxRuntime } from "./onnxruntime.js";
import { measure, type Row, type Subject } from "./rows.js";

const { json } = parseFlags("bench:scatter", "writes through an index, on one thread", { json: shared.json });
const rounds = 21;
const next = lcg(1);
const draw = (limit: number): number => Math.floor(next() * limit);

type Numbers = Uint16Array | Float32Array;

/** A scatter of two-dimensional tensors with 64-bit indices. */
interface Scatter {
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
  const indices = BigInt64Array.from({ length: tokens }, () => BigInt(draw(rows)));
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

/** Returns the scatter that adds 65,536 rows of 128 f32 to 4096 rows, 16 additions to each row. */
function sums(): Scatter {
  const [rows, columns, tokens] = [4096, 128, 65_536];
  const indices = BigInt64Array.from(shuffled(tokens), (k) => BigInt(k % rows));
  const updates = Float32Array.from({ length: tokens * columns }, () => next());
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

/** Compiles a benchmark scatter for one CPU core. */
function kernelOf({ dtype, indexShape, inPlace, points, shape, statement }: Scatter): Kernel {
  const type = `tensor<${shape.join("x")}x${dtype}>`;
  const program = `func @scatter(%x: ${inPlace ? "inout " : ""}${type}, %i: tensor<${indexShape}xi64>, %u: tensor<${points.join("x")}x${dtype}>) -> ${type} {
  %y = access.scatter %x, %i, %u (d0 < ${points[0]}, d1 < ${points[1]}) ${statement}
  return %y
}
`;
  const [func] = parseModule(program, "scatter.tir").module.funcs;
  if (func === undefined) throw new Error("the text is no program");
  return compile(func, { target: targets.cpu, cores: 1 });
}

const bytesOf = ({ buffer, byteLength, byteOffset }: Numbers): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Returns a subject whose milliseconds are the mean of some calls. */
const repeated = (subject: string, calls: number, call: () => void, result: () => Numbers): Subject => ({
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
 * Returns the implementations of a scatter to measure ({@link Subject}) that need no npm package. These are
 * tilec's simulator, the compiled WebAssembly called directly, and plain loops in JavaScript and C.
 * `expected` is the expected output as bytes.
 */
function own(scatter: Scatter, expected: Uint8Array): readonly Subject[] {
  const { base, calls, inPlace, indices: i, updates: u } = scatter;
  const kernel = kernelOf(scatter);
  const x = inPlace ? base.slice() : base;
  let latest: TensorData = x;
  const executor = FastExecutor.create(kernel.tile);
  for (const [key, data] of [
    ["x", base],
    ["i", i],
    ["u", u],
  ] as const)
    executor.inputs[key]?.bytes.set(new Uint8Array(data.buffer));
  const out = base.slice();
  return [
    repeated(
      "tilec",
      calls,
      () => {
        latest = simulate(kernel, { x, i, u }, { executor: "fast" }).outputs.output;
      },
      () => latest as Numbers,
    ),
    repeated(
      "tilec-code",
      calls,
      () => {
        executor.run();
      },
      () => executor.array("output") as Numbers,
    ),
    repeated(
      "javascript",
      calls,
      () => {
        if (!inPlace) out.set(base);
        scatter.loop(out);
      },
      () => out,
    ),
    ...inC(scatter, expected),
  ];
}

const binary = compileC("scatter.c");

/**
 * Returns a list with one {@link Subject} (implementation to measure): a C loop that scatters in place.
 * Returns an empty list if no C compiler is available or the scatter has no C loop.
 */
function inC(
  { base, c, indices, points, shape, updates, dtype }: Scatter,
  expected: Uint8Array,
): readonly Subject[] {
  if (binary === undefined || c === undefined) return [];
  const files = inputFiles([base, indices, updates]);
  const rowBytes = points[1] * (dtype === "f16" ? 2 : 4);
  const args = [rowBytes, points[0], shape[0], ...files.paths].map(String);
  const hasOutput = c === "set" && expected.length < 2 ** 26;
  const [subject] = loopSubjects(binary.binary, args, files.out, [
    { subject: "c", threads: 1, what: c, hasOutput },
  ]);
  if (subject === undefined) return [];
  return [
    {
      ...subject,
      close() {
        void subject.close?.();
        files.remove();
      },
    },
  ];
}

/**
 * Resolves to a list with one {@link Subject} (implementation to measure): the scatter on onnxruntime-node
 * with one thread. Resolves to an empty list if the package does not load or the scatter has no ONNX
 * operator.
 */
async function onnxruntime({
  base,
  indices,
  onnx,
  points,
  shape,
  updates,
}: Scatter): Promise<readonly Subject[]> {
  if (onnx === undefined) return [];
  const found = await findOnnxRuntime();
  if (!found.ok) {
    console.error(`onnxruntime-node is left out: ${found.reason}`);
    return [];
  }
  const { InferenceSession, Tensor } = found.ort;
  const bytes = model(
    [
      ...node(onnx.op, ["x", "i", "u"], ["y"], onnx.attributes),
      ...text(2, "scatter"),
      ...input("x", onnxTypes.f32, shape),
      ...input("i", onnxTypes.i64, onnx.indices),
      ...input("u", onnxTypes.f32, points),
      ...output("y", onnxTypes.f32, shape),
    ],
    18,
  );
  const session = await InferenceSession.create(bytes, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: "sequential",
  });
  const feeds = {
    x: new Tensor("float32", base, shape),
    i: new Tensor("int64", indices, onnx.indices),
    u: new Tensor("float32", updates, points),
  };
  let latest: Float32Array = new Float32Array();
  return [
    {
      subject: "onnxruntime",
      threads: 1,
      async run() {
        latest = (await session.run(feeds))["y"]?.data as Float32Array;
        return undefined;
      },
      output: () => Uint8Array.from(bytesOf(latest)),
      close: () => session.release(),
    },
  ];
}

const rows: Row[] = [];
for (const make of [
  () => cacheWrite(512, 262_144),
  () => cacheWrite(8, 262_144),
  () => cacheWrite(8, 1024),
  elements,
  sums,
]) {
  const scatter = make();
  console.error(scatter.name);
  const out = scatter.base.slice();
  scatter.loop(out);
  const expected = bytesOf(out);
  const subjects = [...own(scatter, expected), ...(await onnxruntime(scatter))];
  rows.push(...(await measure(scatter.name, subjects, expected, rounds, 200)));
  for (const subject of subjects) await subject.close?.();
}
binary?.remove();

if (json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else {
  console.log(
    table(
      ["", "subject", "median us", "fastest us", "times tilec"],
      rows.map(({ leastMs, medianMs, subject, workload }) => {
        const tilec =
          rows.find((row) => row.workload === workload && row.subject === "tilec")?.medianMs ?? NaN;
        return [
          workload,
          subject,
          (1e3 * medianMs).toFixed(1),
          (1e3 * leastMs).toFixed(1),
          (medianMs / tilec).toFixed(2),
        ];
      }),
    ),
  );
}
for (const { workload, subject } of rows.filter(({ verified }) => !verified))
  console.error(`WRONG: ${workload}, ${subject}`);
process.exitCode = rows.every(({ verified }) => verified) ? 0 : 1;
