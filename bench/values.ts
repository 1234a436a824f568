/**
 * npm run bench:values: gathers that dequantize, on the fast executor, beside onnxruntime-node and a loop in JavaScript, in one run.
 *
 * E is the embedding of a 4-bit language model: 512 rows of [151936, 896], a scale of f16 for each 32 elements. K is rows of an 8-bit KV
 * cache, [65536, 128], with a scale of f32 a row. Outputs are verified against the loop; then the subjects run in turns. `--json` prints the
 * rows, `--runs 5` gives the median of five runs.
 */
import { parseArgs } from "node:util";
import { FastExecutor, simulate } from "../backends/sim/index.js";
import { parseModule, type Func } from "../ir/index.js";
import { compile, onnx, targets } from "../src/index.js";
import { spawnThread } from "../src/device/index.js";
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
import { runsOf } from "./arguments.js";
import { findOnnxRuntime, type OnnxRuntime } from "./onnxruntime.js";
import { requirePeers } from "./peers.js";
import { report } from "./print-rows.js";
import { measure, type Row, type Subject } from "./rows.js";
import { rowsOfRuns } from "./runs.js";

type Elements = Uint8Array | Int8Array | Uint16Array | Float32Array | BigInt64Array;

interface Workload {
  readonly name: string;
  readonly func: Func;
  /** By the names of the program's inputs, which are the model's too. */
  readonly inputs: Readonly<Record<string, Elements>>;
  readonly model: Uint8Array;
  /** onnxruntime's type and shape of each. */
  readonly tensors: Readonly<Record<string, readonly [type: string, shape: readonly number[]]>>;
  readonly loop: (output: Uint8Array) => void;
  readonly outputBytes: number;
}

let state = 1;
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state >>> 8;
};

/** The numbers of all f16. */
const halves = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
});
/** The nearest f16, ties to even, by the bits of an f32; of numbers in the normal range. */
const words = new Float32Array(1);
const wordBits = new Uint32Array(words.buffer);
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

function embedding(): Workload {
  const [rows, columns, block, count] = [151936, 896, 32, 512];
  const [inRow, scales] = [columns / 2, columns / block];
  const data = Uint8Array.from({ length: rows * inRow }, random);
  const scale = Uint16Array.from({ length: rows * scales }, () => 0x2000 + (random() & 0x0fff));
  const ids = BigInt64Array.from({ length: count }, () => BigInt(random() % rows));
  return {
    name: "E",
    func: onnx.gatherBlockQuantized({
      data: ["u8", [rows, inRow]],
      indices: ["i64", [count]],
      scales: ["f16", [rows, scales]],
      blockSize: block,
    }),
    inputs: { data, indices: ids, scales: scale },
    tensors: {
      data: ["uint8", [rows, inRow]],
      indices: ["int64", [count]],
      scales: ["float16", [rows, scales]],
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
          ...input("indices", onnxTypes.i64, [count]),
          ...input("scales", onnxTypes.f16, [rows, scales]),
          ...bytes(12, info("y", onnxTypes.f16)),
        ],
        21,
      ),
      ...bytes(8, [...text(1, "com.microsoft"), ...number(2, 1)]),
    ]),
    outputBytes: 2 * count * columns,
    loop(output) {
      const y = new Uint16Array(output.buffer, output.byteOffset, count * columns);
      for (let k = 0; k < count; k++) {
        const row = Number(ids[k]);
        for (let c = 0; c < columns; c += 2) {
          const pair = data[row * inRow + c / 2] ?? 0;
          const by = halves[scale[row * scales + Math.floor(c / block)] ?? 0] ?? 0;
          y[k * columns + c] = halfOf(Math.fround(((pair & 15) - 8) * by));
          y[k * columns + c + 1] = halfOf(Math.fround(((pair >> 4) - 8) * by));
        }
      }
    },
  };
}

function cacheRows(): Workload {
  const [rows, columns, count] = [65536, 128, 4096];
  const q = Int8Array.from({ length: rows * columns }, random);
  const s = Float32Array.from({ length: rows }, () => (1 + (random() % 1000)) / 4096);
  const ids = BigInt64Array.from({ length: count }, () => BigInt(random() % rows));
  const { module } = parseModule(
    `func @rows(%q: tensor<${rows}x${columns}xi8>, %s: tensor<${rows}xf32>, %ids: tensor<${count}xi64>) -> tensor<${count}x${columns}xf32> {
  %y = access.gather %q, %s, %ids (d0, d1) let t = error(from_end(%ids[d0]) in ${rows}) yield f32(%q[t, d1]) * %s[t] {oob = error}
  return %y
}
`,
    "rows.tir",
  );
  const [func] = module.funcs;
  if (func === undefined) throw new Error("the text is a program");
  return {
    name: "K",
    func,
    inputs: { q, s, ids },
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
    outputBytes: 4 * count * columns,
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

async function tilec({ func, inputs }: Workload, threads: number): Promise<Subject> {
  const { tile } = compile(func, { target: targets.cpu });
  const executor = await FastExecutor.open(tile, { threads, spawn: spawnThread });
  for (const [name, list] of Object.entries(inputs))
    executor.inputs[name]?.bytes.set(new Uint8Array(list.buffer, list.byteOffset, list.byteLength));
  return {
    subject: "tilec",
    threads,
    run() {
      executor.run();
      return undefined;
    },
    output: () => executor.output,
    async close() {
      await executor.close();
    },
  };
}

function tilecCall({ func, inputs }: Workload): Subject {
  const kernel = compile(func, { target: targets.cpu });
  let latest: ReturnType<typeof simulate> | undefined;
  return {
    subject: "tilec-call",
    threads: 1,
    run() {
      latest = simulate(kernel, inputs, { executor: "fast" });
      return undefined;
    },
    output() {
      const output = latest?.outputs.output;
      if (!ArrayBuffer.isView(output)) throw new Error("the call gave no array");
      return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
    },
  };
}

function plainJs({ loop, outputBytes }: Workload): Subject {
  const output = new Uint8Array(outputBytes);
  return {
    subject: "plain-js",
    threads: 1,
    run() {
      loop(output);
      return undefined;
    },
    output: () => output,
  };
}

async function onnxRuntime(
  ort: OnnxRuntime,
  { model: file, inputs, tensors }: Workload,
  threads: number,
): Promise<Subject> {
  const session = await ort.InferenceSession.create(file, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: "sequential",
  });
  const feeds = Object.fromEntries(
    Object.entries(tensors).flatMap(([name, [type, shape]]) => {
      const list = inputs[name];
      return list === undefined ? [] : [[name, new ort.Tensor(type, list, shape)] as const];
    }),
  );
  let latest: ArrayBufferView | undefined;
  return {
    subject: "onnxruntime-node",
    threads,
    async run() {
      const { y } = await session.run(feeds);
      if (!ArrayBuffer.isView(y?.data)) throw new Error("onnxruntime gave no output");
      latest = y.data;
      return undefined;
    },
    output: () =>
      new Uint8Array(latest?.buffer ?? new ArrayBuffer(0), latest?.byteOffset, latest?.byteLength),
    close: () => session.release(),
  };
}

async function once(): Promise<Row[]> {
  requirePeers(["onnxruntime-node"]);
  const found = await findOnnxRuntime();
  if (!found.ok) console.error(`onnxruntime-node is left out: ${found.reason}`);
  const rows: Row[] = [];
  for (const workload of [embedding(), cacheRows()]) {
    const expected = new Uint8Array(workload.outputBytes);
    workload.loop(expected);
    const subjects = [
      await tilec(workload, 1),
      await tilec(workload, 2),
      tilecCall(workload),
      ...(found.ok
        ? [await onnxRuntime(found.ort, workload, 1), await onnxRuntime(found.ort, workload, 2)]
        : []),
      plainJs(workload),
    ];
    rows.push(...(await measure(workload.name, subjects, expected, 21)));
    for (const subject of subjects) await subject.close?.();
  }
  return rows;
}

const { values: flags } = parseArgs({
  options: { json: { type: "boolean", default: false }, runs: { type: "string" } },
});
const runs = runsOf(flags.runs, undefined);
report(runs > 1 ? rowsOfRuns(runs) : await once(), flags.json);
