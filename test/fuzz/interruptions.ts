/** Runs that are given up, and devices that go away, in the middle of a run. */
import { setTimeout as wait } from "node:timers/promises";
import type { Backend } from "../../backends/index.js";
import { checkedBackend, fastBackend } from "../../backends/sim/index.js";
import { createRunner, webgpuBackend, type Runner } from "../../backends/webgpu/index.js";
import { RunError, targets, type Target } from "../../ir/index.js";
import { acquireGpu, spawnThread } from "../../src/device/index.js";
import { compile, onnx } from "../../src/index.js";
import { operandOf } from "../support/operands.js";
import type { Draw } from "./mutate.js";

/** Milliseconds after which a run that was given up, or whose device went away, has ended on a loaded machine. */
const boundMs = 3_000;

/** What the work comes to, or the value it was rejected with; throws an Error when it does neither in time. */
async function settled<T>(work: Promise<T>, what: string): Promise<T | { readonly thrown: unknown }> {
  const patience = new AbortController();
  const late = wait(boundMs, undefined, { signal: patience.signal }).then(
    () => {
      throw new Error(`${what} has not ended ${boundMs} ms later`);
    },
    () => ({ thrown: undefined }),
  );
  const end = work.catch((thrown: unknown) => ({ thrown }));
  try {
    return await Promise.race([end, late]);
  } finally {
    patience.abort();
  }
}

const wasThrown = (end: object): end is { readonly thrown: unknown } => "thrown" in end;

/** Rows of data picked by index: long enough that runs are given up in their middle. */
export function longGather(draw: Draw, target: Target) {
  const [rows, columns, picked] = [2 + draw(60), 2 ** (2 + draw(9)), 2 ** (4 + draw(8))];
  const func = onnx.gather({ data: ["u8", [rows, columns]], indices: ["i32", [picked]], axis: 0 });
  const kernel = compile(func, { target, tile: [1 + draw(3), Math.min(columns, 1 + draw(40))] });
  const data = Uint8Array.from({ length: rows * columns }, (_, k) => (k * 31 + (k >> 8)) & 0xff);
  const indices = Int32Array.from({ length: picked }, (_, k) => (k * 7 + 3) % rows);
  const expected = new Uint8Array(picked * columns);
  indices.forEach((row, k) => {
    expected.set(data.subarray(row * columns, (row + 1) * columns), k * columns);
  });
  const inputs = {
    data: { type: operandOf(func, "data").type, bytes: data },
    indices: { type: operandOf(func, "indices").type, bytes: new Uint8Array(indices.buffer) },
  };
  return { kernel, inputs, expected };
}

/** A backend, the target it runs, and the elements it moves in some hundred milliseconds, however small the tiles. */
interface Place {
  readonly name: string;
  readonly target: Target;
  readonly backend: Backend;
  readonly quick: number;
}

function placeOf(draw: Draw, runner: Runner | undefined): Place {
  const target = [targets.cpu, targets.ascendA2, targets.webgpu][draw(3)] ?? targets.cpu;
  switch (draw(runner === undefined ? 3 : 4)) {
    case 0:
      return { name: "checked", target, backend: checkedBackend, quick: 2 ** 13 };
    case 1:
      return { name: "fast", target, backend: fastBackend(), quick: 2 ** 18 };
    case 2: {
      const threads = { threads: 2, spawn: spawnThread };
      return { name: "fast, 2 threads", target, backend: fastBackend(threads), quick: 2 ** 18 };
    }
    default: {
      if (runner === undefined) throw new Error("drawn without a device");
      return { name: "webgpu", target: runner.target, backend: webgpuBackend(runner), quick: 2 ** 20 };
    }
  }
}

/** A run that is aborted ends with the signal's own reason, in time; the kernel stays prepared, and runs again. */
export async function abortRun(draw: Draw, runner: Runner | undefined): Promise<"error" | "right bits"> {
  const { name, target, backend, quick } = placeOf(draw, runner);
  const { kernel, inputs, expected } = longGather(draw, target);
  const prepared = await backend.prepare(kernel);
  try {
    const abort = new AbortController();
    const reason = new Error("enough");
    const run = prepared.run(inputs, { signal: abort.signal });
    // Rejections are looked at below.
    run.catch(() => undefined);
    if (draw(4) > 0) await wait(draw(60));
    abort.abort(reason);
    const end = await settled(run, `${name}, aborted,`);
    const same = (output: Uint8Array): boolean => Buffer.compare(output, expected) === 0;
    if (wasThrown(end) && end.thrown !== reason)
      throw new Error(`${name} ends an aborted run with ${String(end.thrown)}`);
    if (!wasThrown(end) && !same(end.output)) throw new Error(`${name} gives other bits`);
    if (expected.length <= quick && !same((await prepared.run(inputs)).output))
      throw new Error(`${name} gives other bits after a run that was aborted`);
    return wasThrown(end) ? "error" : "right bits";
  } finally {
    prepared.release();
  }
}

/** Dawn crashes the process when a device is collected. */
const devices: GPUDevice[] = [];

/** Runs end right or with TC504, in time, and so does what is asked of the runner later; another device goes on. */
export async function loseDevice(draw: Draw, other: Runner): Promise<"error" | "right bits"> {
  const found = await acquireGpu();
  if (!found.ok) throw new Error(`no second device: ${found.problem.message}`);
  const { device } = found.gpu;
  devices.push(device);
  const runner = await createRunner(device);
  const { kernel, inputs, expected } = longGather(draw, runner.target);
  const runs = Array.from({ length: 1 + draw(4) }, () => runner.runBytes(kernel, inputs));
  for (const run of runs) run.catch(() => undefined);
  if (draw(3) > 0) await wait(draw(40));
  device.destroy();
  let lost = 0;
  for (const run of [...runs, runner.runBytes(kernel, inputs)]) {
    const end = await settled(run, "a run on a lost device");
    if (wasThrown(end)) {
      checkLost(end.thrown);
      lost++;
    } else if (Buffer.compare(end, expected) !== 0)
      throw new Error("a device that goes away gives other bits");
  }
  if (lost === 0) throw new Error("a lost device runs on");
  if (Buffer.compare(await other.runBytes(kernel, inputs), expected) !== 0)
    throw new Error("another device gives other bits");
  return lost > 1 ? "error" : "right bits";
}

function checkLost(thrown: unknown): void {
  const [first] = thrown instanceof RunError ? thrown.diagnostics : [];
  if (first?.code !== "TC504" || first.data?.["lost"] !== true)
    throw new Error("a lost device is told otherwise", { cause: thrown });
}
