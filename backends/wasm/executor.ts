/**
 * sim, the fast executor: the same tile program, compiled to WebAssembly for its element size, index type and
 * policy, on one thread or several over shared memory. The bits, the report and the error of an index out of
 * range are those of the checked executor; it traps nothing else.
 */
import { defined } from "../../ir/defined.js";
import { CompileError, error, throwIfErrors } from "../../ir/diagnostic.js";
import { ofEach, inputsOf, keyOf, inoutOf, type TileFunc } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { computationIn } from "../../ir/tile.js";
import { at, byteCount, invariant } from "../../ir/types.js";
import { checkTile } from "../check-kernel.js";
import { callable, checkFields, type Field, type Fields } from "../fields.js";
import { emptyOutputSteps } from "../empty-output.js";
import { drained, inSlices, pause, sliceMs, type LongRunOptions } from "../long-run.js";
import { coordinates, inputTensor, type HostInputs } from "../memory.js";
import { checkScatter } from "../check-points.js";
import { badIndexAt, indexOutOfRange, type MappedInputs } from "../resolved-indices.js";
import { scatterMapOf } from "../scatter-map.js";
import { checkTensors, fromHost, type TensorData } from "../values.js";
import { bytesAtOnce, copyInputs } from "./copies.js";
import { pageBytes } from "./instructions.js";
import type { WasmLayout } from "./layout.js";
import { maxThreads } from "./max-threads.js";
import { allocateMemory, grown } from "./memory.js";
import { sizedCode, type SizedCode } from "./module-cache.js";
import { instantiate, type SpawnThread } from "./thread.js";
import { Threads } from "./threads.js";

/** Options of the fast executor: the number of threads, and the function that starts a thread. */
export interface FastOptions {
  /** Threads that run tasks, this one included; more than one needs `spawn`. Default 1. */
  readonly threads?: number;
  readonly spawn?: SpawnThread;
}

/**
 * Option of a new executor. `before`: earlier executor for the same tensors, which cannot run again. The new
 * executor takes over the memory of the earlier executor, with the contents of the inputs.
 */
export interface TakeOver {
  /**
   * Executor for the same tensors and the same kind of memory. The new executor takes over the memory with
   * the contents of the inputs; this executor then refuses to run. If it has threads, close it first and wait
   * until the threads have ended.
   */
  readonly before?: FastExecutor;
}

/**
 * Result of one execution. `output`: the output's bytes. `copied`: the number of input bytes copied to the
 * executor's memory, and the milliseconds of the copies.
 */
export interface FastRun {
  /** The output in the executor's own memory: the next run overwrites it. */
  readonly output: Uint8Array;
  /** Bytes of inputs that were copied to the executor's memory, and the milliseconds of the copies. */
  readonly copied: { readonly bytes: number; readonly milliseconds: number };
}

/** Tasks a thread takes at once: enough turns for an even finish. */
const chunksPerThread = 32;

/** State of an executor. An executor has one memory, so it does one run at a time. */
type State = "idle" | "running" | "closing" | "closed" | "taken over";

/**
 * Executor that runs a tile program as WebAssembly, on one or several threads.
 * `FastExecutor.open(kernel.tile, { threads, spawn })` resolves to an executor on several threads.
 */
export class FastExecutor {
  /** Input arrays in the executor's memory; inputs that are written here need no copy. */
  readonly inputs: HostInputs;
  readonly output: Uint8Array;
  /** Number of runs begun, plus one once another executor has taken over the memory. */
  runs = 0;
  /** Size of the executor's memory in bytes. */
  readonly memoryBytes: number;
  /** Bytes of `memoryBytes` to which nothing was written: the machine gives them no pages. */
  untouchedBytes = 0;
  private readonly layout: WasmLayout;
  private readonly tasks: number;
  private readonly running: Threads;
  private state: State = "idle";

  private constructor(
    private readonly func: TileFunc,
    private readonly code: SizedCode,
    private readonly memory: WebAssembly.Memory,
    threads: number,
  ) {
    const { plan, module, layout, tasks, params } = code;
    this.memoryBytes = memory.buffer.byteLength;
    this.layout = layout;
    this.tasks = tasks;
    const evenly = Math.ceil(tasks / (threads * chunksPerThread));
    const chunk = Math.max(1, Math.min(evenly, plan.tasksPerSlice));
    const message = { memory, ub: layout.buffers, tasks, chunk, params };
    this.running = new Threads(instantiate({ module, memory }), message);
    const views = func.operands.map(
      ({ type }, k) => new Uint8Array(memory.buffer, at(this.layout.operands, k), byteCount(type)),
    );
    const { inputs, output } = ofEach(func, views);
    this.inputs = Object.fromEntries(
      inputsOf(func).map((operand, k) => [keyOf(operand), { type: operand.type, bytes: at(inputs, k) }]),
    );
    this.output = output;
  }

  /**
   * Creates an executor that runs on the calling thread alone. Throws a CompileError: TC502 for tensors
   * beyond 4 GiB, TC702 for a value that is no program and for a `before` that is in use.
   */
  static create(func: TileFunc, options: TakeOver = {}): FastExecutor {
    throwIfErrors(checkFields("FastExecutor.create", options, takeOverFields));
    return FastExecutor.prepare(func, 1, options);
  }

  /** Returns the same in the memory of one that nobody will run again, if there is one. */
  static reusing(func: TileFunc, spare: FastExecutor | undefined): FastExecutor {
    return FastExecutor.prepare(func, 1, { spare });
  }

  /** Starts the threads and waits for them. Throws a CompileError (TC502, TC702). */
  static async open(func: TileFunc, options: FastOptions & TakeOver): Promise<FastExecutor> {
    throwIfErrors(checkFields("FastExecutor.open", options, executorFields));
    const threads = options.threads ?? 1;
    const executor = FastExecutor.prepare(func, threads, options);
    if (threads === 1) return executor;
    const { spawn } = options;
    if (spawn === undefined) {
      throw new CompileError([
        error("TC702", `${threads} threads need spawn`, { hint: "in Node, spawnThread of tilec/node" }),
      ]);
    }
    try {
      const buffers = Array.from({ length: threads - 1 }, (_, k) => executor.ubOf(k + 1));
      await executor.running.start(spawn, executor.code.module, buffers);
    } catch (thrown) {
      await executor.close();
      throw thrown;
    }
    return executor;
  }

  private static prepare(
    func: TileFunc,
    threads: number,
    {
      before,
      spare,
    }: {
      readonly before?: FastExecutor | undefined;
      readonly spare?: FastExecutor | undefined;
    },
  ): FastExecutor {
    checkTile(func);
    const code = sizedCode(func, threads);
    const memory =
      before?.handOver(code) ?? spare?.givenUp(code.pages) ?? allocateMemory(func, code.pages, code.shared);
    return new FastExecutor(func, code, memory, threads);
  }

  /**
   * Hands over the memory of the executor, grown for another program. Throws a CompileError: TC702 for a
   * program of other tensors, another kind of memory or running threads; TC502 if the memory cannot grow.
   */
  private handOver({ layout, pages, shared }: SizedCode): WebAssembly.Memory {
    if (this.running.count > 0) {
      throw new CompileError([
        error("TC702", "`before` has threads that run", { hint: "`await before.close()` first" }),
      ]);
    }
    this.checkIdle(["closed"]);
    const { memory, code } = this;
    const tensors = ({ operands, buffers }: WasmLayout): string => String([...operands, buffers]);
    const same = tensors(layout) === tensors(code.layout);
    if (!same || shared !== code.shared) {
      const hint = "leave out `before`, and copy the inputs";
      throw new CompileError([
        error("TC702", "`before` is an executor of other tensors or threads", { hint }),
      ]);
    }
    const missing = grown(memory, pages);
    if (missing === 0) {
      this.state = "taken over";
      return memory;
    }
    const bytes = missing * pageBytes;
    throw new CompileError([
      error("TC502", `the fast executor cannot allocate ${bytes} B more of WebAssembly memory`, {
        data: { bytes },
      }),
    ]);
  }

  /**
   * Gives up the memory to a program of other tensors. Undefined if the memory cannot grow to `pages` pages.
   * Its contents belong to no run from then on.
   */
  private givenUp(pages: number): WebAssembly.Memory | undefined {
    this.runs++;
    return grown(this.memory, pages) === 0 ? this.memory : undefined;
  }

  /**
   * Returns an input or the output by its key, as a typed array in the executor's memory; strings are u32
   * handles. Throws a CompileError (TC702) for another key.
   */
  array(key: string): Exclude<TensorData, readonly string[]> {
    const { operands } = this.func;
    const operand = operands.find((other) => keyOf(other) === key);
    if (operand === undefined) {
      const hint = `one of ${operands.map(keyOf).join(", ")}`;
      throw new CompileError([error("TC702", `the executor has no tensor ${key}`, { hint })]);
    }
    const { dtype, shape } = operand.type;
    const bytes = operand.role === "output" ? this.output : inputTensor(this.inputs, operand).bytes;
    return fromHost({ dtype: dtype === "string" ? "u32" : dtype, shape }, bytes) as Exclude<
      TensorData,
      readonly string[]
    >;
  }

  private ubOf(thread: number): number {
    return this.layout.buffers + thread * this.layout.bufferBytes;
  }

  /**
   * Runs to the end. Throws a RunError: TC601 for the index out of range of the first output element that has
   * one, TC603 for a hand-written program that leaves its tensors so far that it leaves memory; a
   * CompileError (TC702) for inputs of other sizes, and while another run is under way or after `close`.
   */
  run(inputs: HostInputs = this.inputs): FastRun {
    this.enter(inputs);
    try {
      const copied = drained(this.begin(inputs));
      this.running.take(Infinity);
      this.running.wait();
      return this.end(copied, inputs);
    } finally {
      this.leave();
    }
  }

  /**
   * Returns the same, in slices that let other work run. Rejects with the signal's reason when it is aborted.
   */
  async runLong(inputs: HostInputs = this.inputs, options: LongRunOptions = {}): Promise<FastRun> {
    const { signal, onProgress } = options;
    this.enter(inputs);
    try {
      const copied = await inSlices(this.begin(inputs), () => 0, 0, defined({ signal }));
      const tasks = taskOfTile(this.func).nest.tasks;
      try {
        for (;;) {
          this.checkOpen();
          this.running.take(sliceMs);
          this.running.check();
          const done = this.running.doneTasks();
          // Of a task that was cut, the part that is done.
          if (this.tasks > 0) onProgress?.((done * tasks) / this.tasks, tasks);
          if (done >= this.tasks) return this.end(copied, inputs);
          await pause(0);
          signal?.throwIfAborted();
        }
      } finally {
        await this.running.stopTaking();
      }
    } finally {
      this.leave();
    }
  }

  /**
   * Ends the threads, and has ended them when it resolves. It refuses to run from the call on; a run under
   * way rejects. The arrays live on.
   */
  async close(): Promise<void> {
    const { running } = this;
    if (running.count === 0) {
      if (this.state === "idle" || this.state === "running") this.state = "closed";
      return;
    }
    this.state = "closing";
    await running.close();
    this.state = "closed";
  }

  /**
   * Begins a run. Throws a CompileError (TC702) for inputs of other sizes, and where another run has the
   * memory.
   */
  private enter(inputs: HostInputs): void {
    this.checkIdle();
    this.running.check();
    checkTensors(this.func, inputs);
    this.state = "running";
  }

  private leave(): void {
    if (this.state === "running") this.state = "idle";
  }

  private checkIdle(others: readonly State[] = []): void {
    const { state } = this;
    if (state === "idle" || others.includes(state)) return;
    throw new CompileError([error("TC702", `the executor is ${state}`, { hint: remedy[state] })]);
  }

  private checkOpen(): void {
    if (this.state !== "running") this.checkIdle();
  }

  /** Copies inputs that lie elsewhere, so many bytes at once; the time counts what this thread did. */
  private *begin(inputs: HostInputs): Generator<number, FastRun["copied"]> {
    this.runs++;
    let [bytes, milliseconds, pending] = [0, 0, 0];
    let begun = performance.now();
    for (const copied of copyInputs(this.func, inputs, this.inputs)) {
      bytes += copied;
      pending += copied;
      if (pending < bytesAtOnce) continue;
      pending = 0;
      milliseconds += performance.now() - begun;
      yield 0;
      begun = performance.now();
    }
    if (bytes > 0) milliseconds += performance.now() - begun;
    yield* emptyOutputSteps(this.func, this.inputs);
    if (this.code.plan.scatter?.isChecked === true) yield* checkScatter(this.mapped());
    this.running.begin();
    return { bytes, milliseconds };
  }

  /** Returns the scatter of the program, with its tensors in the executor's memory. */
  private mapped(): MappedInputs {
    return { map: scatterMapOf(this.func), operands: this.func.operands, inputs: this.inputs };
  }

  private end(copied: FastRun["copied"], given: HostInputs): FastRun {
    const bad = this.running.bad();
    if (bad !== undefined) {
      const { func: tile, inputs } = this;
      const stmt = computationIn(tile.body);
      invariant(stmt !== undefined, "a program that found a bad index has a gather or a scatter");
      if (stmt.op === "scatter") throw badIndexAt(this.mapped(), coordinates(bad, stmt.map.domain));
      throw indexOutOfRange({ map: stmt.map, operands: tile.operands, tile, inputs }, bad);
    }
    const inPlace = inoutOf(this.func);
    if (inPlace !== undefined) {
      const { bytes } = inputTensor(given, inPlace);
      if (bytes.buffer !== this.output.buffer) bytes.set(this.output);
    }
    return { output: this.output, copied };
  }
}

const remedy = {
  running: "wait for the run before, or make another executor",
  closing: "make another executor, `before` when `close` has resolved",
  closed: "make another executor; `before` hands it this one's memory",
  "taken over": "run the executor that it was `before`",
} as const satisfies Readonly<Record<Exclude<State, "idle">, string>>;

const takeOverFields: Fields<TakeOver> = {
  before: {
    code: "TC702",
    takes: "a FastExecutor",
    holds: (value) => value instanceof FastExecutor,
  },
};

/** Validation rule for the number of threads of an executor: an integer from 1 to 64. */
export const threadsField: Field = {
  code: "TC702",
  takes: `a whole number, 1 to ${maxThreads}`,
  holds: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxThreads,
};

const executorFields: Fields<FastOptions & TakeOver> = {
  ...takeOverFields,
  threads: threadsField,
  spawn: callable,
};
