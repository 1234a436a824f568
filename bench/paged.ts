/**
 * npm run bench:paged: rows through a table of pages as one gather, beside gathering by a token index that
 * the host makes first.
 *
 * A decode step reads the keys and values of 4096 tokens from a pool of 8192, in order (`decode`) or those
 * that a top-k names (`top-k`), by pages of 16, 64 and 128 tokens of 8 x 128 values. `token-index` counts the
 * loop that makes the index, and the gather of rows by it. Everything lies where it runs; outputs are
 * verified first; subjects run in turns, and the medians are compared.
 * `--webgpu` runs on Dawn in this process, `--json` prints the rows.
 */
import { FastExecutor } from "../backends/sim/index.js";
import { createRunner } from "../backends/webgpu/index.js";
import { targets, type Target } from "../ir/index.js";
import { lcg } from "../src/formats/lcg.js";
import { compile, onnx, type Kernel } from "../src/index.js";
import { table } from "../src/report/table.js";
import { parseFlags, shared } from "./flags.js";
import { download, statusBuffer, storageBuffer, timed } from "./gpu-subjects.js";
import { measure, type Row, type Subject } from "./rows.js";
import { geometricMean } from "./statistics.js";
import { parsed } from "../test/support/parsed.js";
import { openGpu } from "./open-gpu.js";

const flags = parseFlags(
  "bench:paged",
  "rows through a table of pages, beside a token index that the host makes",
  { json: shared.json, webgpu: shared.webgpu },
);
const rounds = 21;
const [tokens, pool, columns] = [4096, 8192, 8 * 128];

interface Paged {
  readonly name: string;
  readonly dtype: "f16" | "f32";
  readonly page: number;
  readonly topK: boolean;
}

const workloads: readonly Paged[] = [false, true].flatMap((topK) =>
  (["f16", "f32"] as const).flatMap((dtype) =>
    [16, 64, 128].map((page) => ({
      name: `${topK ? "top-k" : "decode"} ${dtype} page ${page}`,
      dtype,
      page,
      topK,
    })),
  ),
);

/** Compiles the gather that reads rows of a cache through a page table, for a target. */
function pagedKernel({ dtype, page, topK }: Paged, target: Target): Kernel {
  const token = topK ? "t" : "d0";
  const text = `func @paged(%kv: tensor<${pool / page}x${page}x${columns}x${dtype}>${topK ? `, %topk: tensor<${tokens}xi32>` : ""}, %bt: tensor<${tokens / page}xi32>) -> tensor<${tokens}x${columns}x${dtype}> {
  %y = access.gather %kv${topK ? ", %topk" : ""}, %bt (d0, d1) ${topK ? `let t = error(%topk[d0] in ${tokens}) ` : ""}-> (%bt[${token} div ${page}], ${token} mod ${page}, d1) {oob = error}
  return %y
}
`;
  const func = parsed(text);
  return compile(func, { target });
}

/** Returns the kernel's key of an input. One index tensor is keyed by its role, several by their names. */
const inputKey = ({ topK }: Paged, name: "kv" | "topk" | "bt"): string =>
  topK ? name : { kv: "data", topk: "none", bt: "indices" }[name];

const rowsKernel = ({ dtype }: Paged, target: Target): Kernel =>
  compile(onnx.gather({ data: [dtype, [pool, columns]], indices: ["i32", [tokens]], axis: 0 }), { target });

interface Inputs {
  readonly kv: Uint8Array;
  readonly topk: Int32Array;
  readonly bt: Int32Array;
  readonly expected: Uint8Array;
}

/** Returns random inputs of a workload with a page table, from a fixed seed, and the expected output. */
function inputsOf({ dtype, page, topK }: Paged): Inputs {
  const rowBytes = columns * (dtype === "f16" ? 2 : 4);
  const next = lcg(1);
  const draw = (limit: number): number => Math.floor(next() * limit);
  const kv = Uint8Array.from({ length: pool * rowBytes }, () => draw(256));
  // Pages of the pool in any order, none twice.
  const pages = Array.from({ length: pool / page }, (_, k) => k);
  pages.forEach((_, k) => {
    const other = draw(k + 1);
    [pages[k], pages[other]] = [pages[other] ?? 0, pages[k] ?? 0];
  });
  const bt = Int32Array.from(pages.slice(0, tokens / page));
  const topk = Int32Array.from({ length: tokens }, (_, k) => (topK ? draw(tokens) : k));
  const expected = new Uint8Array(tokens * rowBytes);
  topk.forEach((token, k) => {
    const row = (bt[Math.floor(token / page)] ?? 0) * page + (token % page);
    expected.set(kv.subarray(row * rowBytes, (row + 1) * rowBytes), k * rowBytes);
  });
  return { kv, topk, bt, expected };
}

/** Computes the cache row of each token from the page table, and writes the rows into `index`. */
function tokenIndex(
  { page, topK }: Paged,
  { topk, bt }: Pick<Inputs, "topk" | "bt">,
  index: Int32Array,
): void {
  for (let k = 0; k < tokens; k++) {
    const token = topK ? (topk[k] ?? 0) : k;
    index[k] = (bt[Math.floor(token / page)] ?? 0) * page + (token % page);
  }
}

/**
 * Returns two implementations to measure on the fast executor (WebAssembly); see {@link Subject}. `paged`
 * gathers through the page table, and `token-index` by row indices computed on the host.
 */
function onExecutor(workload: Paged, inputs: Inputs): readonly Subject[] {
  const paged = FastExecutor.create(pagedKernel(workload, targets.cpu).tile);
  paged.inputs[inputKey(workload, "kv")]?.bytes.set(inputs.kv);
  const subject = (name: string, executor: FastExecutor, prepare: () => void): Subject => ({
    subject: name,
    threads: 1,
    run() {
      prepare();
      executor.run();
      return undefined;
    },
    output: () => executor.output,
  });
  const given = (["topk", "bt"] as const).flatMap((key) => {
    const bytes = paged.inputs[inputKey(workload, key)]?.bytes;
    return bytes === undefined
      ? []
      : [
          () => {
            bytes.set(new Uint8Array(inputs[key].buffer));
          },
        ];
  });
  const rows = FastExecutor.create(rowsKernel(workload, targets.cpu).tile);
  rows.inputs["data"]?.bytes.set(inputs.kv);
  const index = rows.array("indices") as Int32Array;
  return [
    subject("paged", paged, () => {
      for (const set of given) set();
    }),
    subject("token-index", rows, () => {
      tokenIndex(workload, inputs, index);
    }),
  ];
}

/**
 * Resolves to two implementations to measure on a GPU; see {@link Subject}. `paged` gathers through the page
 * table, and `token-index` by row indices computed on the host.
 */
async function onDevice(device: GPUDevice, workload: Paged, inputs: Inputs): Promise<readonly Subject[]> {
  const runner = await createRunner(device);
  const kv = storageBuffer(device, inputs.kv.byteLength, inputs.kv);
  const output = storageBuffer(device, inputs.expected.byteLength);
  const status = statusBuffer(device);
  const topk = storageBuffer(device, 4 * tokens);
  const bt = storageBuffer(device, (4 * tokens) / workload.page);
  const indices = storageBuffer(device, 4 * tokens);
  const made = [kv, output, status, topk, bt, indices];
  const index = new Int32Array(tokens);
  const subject = (
    name: string,
    kernel: Kernel,
    buffers: Parameters<typeof runner.encode>[2],
    prepare: () => void,
  ): Subject => ({
    subject: name,
    threads: 1,
    async run() {
      prepare();
      await timed(device, 1, (pass) => {
        runner.encode(pass, kernel, buffers);
      });
      return undefined;
    },
    output: () => download(device, output, inputs.expected.byteLength),
    close() {
      made.splice(0).forEach((own) => {
        own.destroy();
      });
    },
  });
  return [
    subject(
      "paged",
      pagedKernel(workload, runner.target),
      {
        [inputKey(workload, "kv")]: kv,
        [inputKey(workload, "bt")]: bt,
        ...(workload.topK ? { topk } : {}),
        output,
        status,
      },
      () => {
        if (workload.topK) device.queue.writeBuffer(topk, 0, inputs.topk as Int32Array<ArrayBuffer>);
        device.queue.writeBuffer(bt, 0, inputs.bt as Int32Array<ArrayBuffer>);
      },
    ),
    subject("token-index", rowsKernel(workload, runner.target), { data: kv, indices, output, status }, () => {
      tokenIndex(workload, inputs, index);
      device.queue.writeBuffer(indices, 0, index);
    }),
  ];
}

const gpu = flags.webgpu ? await openGpu() : undefined;
console.error(gpu === undefined ? "the fast executor, one thread" : `${gpu.description}, Dawn in Node`);
const rows: Row[] = [];
for (const workload of workloads) {
  console.error(workload.name);
  const inputs = inputsOf(workload);
  const subjects =
    gpu === undefined ? onExecutor(workload, inputs) : await onDevice(gpu.device, workload, inputs);
  rows.push(...(await measure(workload.name, subjects, inputs.expected, rounds)));
}
gpu?.device.destroy();

const ms = (name: string, subject: string): number =>
  rows.find((row) => row.workload === name && row.subject === subject)?.medianMs ?? NaN;
const ratios = workloads.map(({ name }) => ms(name, "token-index") / ms(name, "paged"));
if (flags.json) console.log(JSON.stringify({ schema: 1, rows }, null, 2));
else {
  console.log(
    table(
      ["median ms", "paged", "token-index", "times faster"],
      [
        ...workloads.map(({ name }, k) => [
          name,
          ms(name, "paged").toFixed(3),
          ms(name, "token-index").toFixed(3),
          (ratios[k] ?? NaN).toFixed(2),
        ]),
        ["geometric mean", "", "", geometricMean(ratios).toFixed(2)],
      ],
    ),
  );
}
for (const { workload, subject } of rows.filter(({ verified }) => !verified))
  console.error(`WRONG: ${workload}, ${subject}`);
process.exitCode = rows.every(({ verified }) => verified) ? 0 : 1;
