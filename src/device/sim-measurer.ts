/** The fast executor in a thread of its own, which is ended when a candidate takes too long. */
import { once } from "node:events";
import { cpus } from "node:os";
import { Worker } from "node:worker_threads";
import { counted, throwIfErrors, type TileFunc } from "../../ir/index.js";
import { checkFields } from "../../backends/index.js";
import { threadsField } from "../../backends/wasm/executor.js";
import type { MeasuredTask, Measurer, OpenMeasurer } from "../tune/measurer.js";
import type { MeasureOptions, Measurement } from "../tune/search-ms.js";
import { packageFile } from "./package-files.js";
import type { MeasureReply, MeasureRequest, ThreadTask } from "./measure-thread.js";

/**
 * Returns a measurer for `tune` that times each candidate on the local CPU, with `threads` threads of the
 * simulator's fast executor. Throws a CompileError (TC702) for an unsupported number of threads.
 */
export function simMeasurer(threads = 1): OpenMeasurer {
  throwIfErrors(checkFields("simMeasurer", { threads }, { threads: threadsField }));
  return (task) => new ThreadMeasurer(task, threads);
}

interface Thread {
  readonly worker: Worker;
  /** Pending for good where the thread is ended before. */
  readonly ready: Promise<unknown>;
}

class ThreadMeasurer implements Measurer {
  readonly device: string;
  private readonly data: ThreadTask;
  private readonly programs = new Map<TileFunc, number>();
  /** Programs that the thread has. */
  private sent = new Set<number>();
  private thread: Thread | undefined;

  constructor({ inputs, expected }: MeasuredTask, threads: number) {
    const { model = "unknown processor" } = cpus()[0] ?? {};
    this.device = `${model.trim()}, ${counted(threads, "thread")}`;
    // Shared with every thread that is started, so that none is given a copy.
    this.data = {
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([name, { type, bytes }]) => [name, { type, bytes: shared(bytes) }]),
      ),
      expected: shared(expected),
      threads,
    };
  }

  async measure(tile: TileFunc, options: MeasureOptions): Promise<Measurement> {
    const { worker, ready } = (this.thread ??= this.start());
    await ready;
    const program = this.programs.get(tile) ?? this.programs.size;
    this.programs.set(tile, program);
    const request: MeasureRequest = { program, options, ...(this.sent.has(program) ? {} : { tile }) };
    this.sent.add(program);
    worker.postMessage(request);
    const reply = await withLimit(answer(worker), options.limitMs);
    if (reply !== undefined) return reply;
    await this.close();
    const reason = `its thread was ended after ${Math.round(options.limitMs)} ms`;
    return { status: "timeout", code: "TC506", reason };
  }

  async close(): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    this.sent = new Set();
    await thread?.worker.terminate();
  }

  private start(): Thread {
    const worker = new Worker(packageFile("dist/src/device/measure-thread.js"), { workerData: this.data });
    return { worker, ready: once(worker, "message") };
  }
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

/** Returns the thread's next answer. Rejects with what the thread died of. */
async function answer(worker: Worker): Promise<Measurement> {
  const [reply] = (await once(worker, "message")) as [MeasureReply];
  return "measurement" in reply ? reply.measurement : answer(worker);
}

/**
 * Resolves to the result of `work`, or to undefined if `work` takes longer than `limitMs` milliseconds.
 * Rejects if `work` rejects within the limit.
 */
async function withLimit<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // What comes after the end is nobody's.
    work.catch(() => undefined);
  }
}
