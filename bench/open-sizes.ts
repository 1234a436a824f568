/**
 * npm run bench:sizes: what a new size of a program over symbols costs, beside one that has run and beside
 * compiling for it.
 *
 * Rows of 64 floats by N indices, N from 200 on. `new size` binds a kernel that has run at others, and calls
 * it; `again` calls it once more; `compiled` compiles the program for the size, and calls that. Calls are
 * from the caller's arrays. Outputs are compared; the medians of 41 sizes are printed, in milliseconds.
 * `--webgpu` runs on Dawn in this process too, `--json` prints the rows.
 */
import { simulate } from "../backends/sim/index.js";
import { createRunner } from "../backends/webgpu/index.js";
import { targets, type Target } from "../ir/index.js";
import { compile, type Kernel } from "../src/index.js";
import { table } from "../src/report/table.js";
import { median } from "../src/tune/median.js";
import { parseFlags, shared } from "./flags.js";
import { parsed } from "../test/support/parsed.js";
import { openGpu } from "./open-gpu.js";

const flags = parseFlags("bench:sizes", "what a new size of a program over symbols costs, in milliseconds", {
  json: shared.json,
  webgpu: shared.webgpu,
});

const text = `dim V <= 4000
dim N <= 4096
func @rows(%e: tensor<Vx64xf32>, %i: tensor<Nxi32>) -> tensor<Nx64xf32> {
  %y = access.gather %e, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`;
const [rows, warmUp, sizes] = [500, 20, 41];

interface Subject {
  readonly name: string;
  readonly target: Target;
  readonly call: (kernel: Kernel, inputs: Inputs) => Promise<Float32Array>;
}

type Inputs = Readonly<Record<"data" | "indices", Float32Array | Int32Array>>;

const fast: Subject = {
  name: "fast executor",
  target: targets.cpu,
  call: (kernel, inputs) =>
    Promise.resolve(simulate(kernel, inputs, { executor: "fast" }).outputs.output as Float32Array),
};

/**
 * Resolves to a WebGPU device in Node, to be measured: name, target, and a function that runs a kernel.
 * Rejects if no device is available.
 */
async function device(): Promise<Subject> {
  const gpu = await openGpu();
  const runner = await createRunner(gpu.device);
  return {
    name: gpu.description,
    target: runner.target,
    call: async (kernel, inputs) => (await runner.run(kernel, inputs)).outputs.output as Float32Array,
  };
}

async function timed<T>(action: () => T | Promise<T>): Promise<readonly [value: T, milliseconds: number]> {
  const start = performance.now();
  const value = await action();
  return [value, performance.now() - start];
}

interface Measured {
  readonly subject: string;
  readonly newSize: number;
  readonly again: number;
  readonly compiled: number;
  readonly verified: boolean;
}

/**
 * Measures a program with the dynamic size N at 41 values of N. Resolves to median times in milliseconds.
 * `verified` is true if the outputs with dynamic and static N are equal.
 */
async function measure({ name, target, call }: Subject): Promise<Measured> {
  const func = parsed(text);
  const data = Float32Array.from({ length: 64 * rows }, (_, k) => k);
  const kernel = compile(func, { target });
  const times: Readonly<Record<"newSize" | "again" | "compiled", number[]>> = {
    newSize: [],
    again: [],
    compiled: [],
  };
  let verified = true;
  for (let n = 0; n < warmUp + sizes; n++) {
    const bind = { V: rows, N: 200 + n };
    const inputs = { data, indices: Int32Array.from({ length: bind.N }, (_, k) => (k * 7) % rows) };
    const [first, newSize] = await timed(() => call(kernel.bind(bind), inputs));
    const [, again] = await timed(() => call(kernel.bind(bind), inputs));
    const [own, compiled] = await timed(() => call(compile(func, { target, bind }), inputs));
    verified &&= first.length === own.length && first.every((value, k) => value === own[k]);
    if (n < warmUp) continue;
    times.newSize.push(newSize);
    times.again.push(again);
    times.compiled.push(compiled);
  }
  return {
    subject: name,
    newSize: median(times.newSize),
    again: median(times.again),
    compiled: median(times.compiled),
    verified,
  };
}

const subjects = [fast, ...(flags.webgpu ? [await device()] : [])];
const measured: Measured[] = [];
for (const subject of subjects) measured.push(await measure(subject));
if (flags.json) console.log(JSON.stringify({ schema: 1, rows: measured }, null, 2));
else {
  console.log(
    table(
      ["median ms", "new size", "again", "compiled", ""],
      measured.map(({ subject, newSize, again, compiled, verified }) => [
        subject,
        ...[newSize, again, compiled].map((ms) => ms.toFixed(2)),
        verified ? "" : "WRONG",
      ]),
    ),
  );
}
process.exitCode = measured.every(({ verified }) => verified) ? 0 : 1;
