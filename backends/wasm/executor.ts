/**
 * sim, the fast executor: the same tile program, compiled to WebAssembly for its element size, index type and policy,
 * on one thread or several over shared memory. The bits, the report and the error of an index out of range are those
 * of the checked executor; it traps nothing else.
 */
import { openFormOf } from "../../ir/symbols/open.js";
import { CompileError, error, RunError, throwIfErrors } from "../../ir/diagnostic.js";
import { inputsOf, keyOf, type TileFunc } from "../../ir/func.js";
import type { Env } from "../../ir/linear.js";
import { nestAt, taskOf } from "../../ir/task/index.js";
import { at, byteCount, invariant } from "../../ir/types.js";
import { checkTile } from "../check-kernel.js";
import { callable, checkFields, type Field, type Fields } from "../fields.js";
import { indexOutOfRange, tensorOf, type HostInputs } from "../memory.js";
import { drained, inSlices, pause, sliceMs, type LongRunOptions } from "../long-run.js";
import { checkTensors, fromHost, type TensorData } from "../values.js";
import { emitFor, pagesOf, type WasmKernel } from "./emit.js";
import { encodeModule } from "./encode.js";
import { copyInPart, partialCopy, type PartialCopy } from "./partial-copy.js";
import { pageBytes } from "./instructions.js";
import { layoutOf, type WasmLayout } from "./layout.js";
import { planWasm, type WasmPlan } from "./plan.js";
import { argumentsOf } from "./sizes.js";
import { controlBytes, instantiate, takeTasks, word, type RunTasks, type SpawnThread } from "./thread.js";

/** How a compiled kernel runs. */
export interface FastOptions {
  /** Threads that run tasks, this one included; more than one needs `spawn`. Default 1. */
  readonly threads?: number;
  readonly spawn?: SpawnThread;
}

export interface TakeOver {
  /**
   * An executor of the same tensors and kind of memory, whose memory is taken over with what its inputs hold. It refuses to run
   * afterwards. One with threads must have been closed, and these have ended.
   */
  readonly before?: FastExecutor;
}

/** Output of one run, and what was copied for it. */
export interface FastRun {
  /** The output in the executor's own memory: the next run overwrites it. */
  readonly output: Uint8Array;
  /** Bytes of inputs that lay elsewhere and were copied in, and what that took. */
  readonly copied: { readonly bytes: number; readonly milliseconds: number };
}

/** Tasks a thread takes at once: enough turns for an even finish. */
const turnsPerThread = 32;
/** Bytes of an input copied between two looks at the clock. */
const bytesAtOnce = 2 ** 22;
/** Milliseconds within which one more thread has started. */
const startMs = 5_000;
const maxThreads = 64;
/** Looks at the last tasks of other threads before this one sleeps. */
const spinsAtMost = 10_000;

/** What an executor does: it has one memory, so one run at a time. */
type State = "idle" | "running" | "closing" | "closed" | "taken over";

/** A kernel on one thread, or on several: `await FastExecutor.open(kernel.tile, { threads, spawn })`. */
export class FastExecutor {
  /** Arrays in the executor's memory: what is written here is run without a copy. */
  readonly inputs: HostInputs;
  readonly output: Uint8Array;
  /** Runs begun, and one more once another program has the memory: what lies in it is of the latest. */
  runs = 0;
  /** What the memory takes of the machine, in bytes. */
  readonly memoryBytes: number;
  private readonly runTasks: RunTasks;
  private readonly control: Int32Array;
  private readonly layout: WasmLayout;
  private readonly tasks: number;
  private readonly told: readonly number[];
  private readonly chunk: number;
  private workers: readonly { terminate(): unknown }[] = [];
  private state: State = "idle";

  private constructor(
    private readonly func: TileFunc,
    private readonly code: SizedCode,
    private readonly memory: WebAssembly.Memory,
    private readonly threads: number,
    private readonly scratch: boolean,
  ) {
    const { plan, module } = code;
    this.memoryBytes = memory.buffer.byteLength;
    this.layout = code.layout;
    this.tasks = code.tasks;
    this.told = code.told;
    const evenly = Math.ceil(code.tasks / (threads * turnsPerThread));
    this.chunk = Math.max(1, Math.min(evenly, plan.tasksPerSlice));
    this.runTasks = instantiate({ module, memory });
    this.control = new Int32Array(memory.buffer, 0, controlBytes / 4).fill(0);
    const views = func.operands.map(
      ({ type }, k) => new Uint8Array(memory.buffer, at(this.layout.operands, k), byteCount(type)),
    );
    this.inputs = Object.fromEntries(
      inputsOf(func).map((operand, k) => [keyOf(operand), { type: operand.type, bytes: at(views, k) }]),
    );
    this.output = at(views, views.length - 1);
  }

  /** On the calling thread alone. Throws a CompileError: TC502 for tensors beyond 4 GiB, TC702 for what is no program and a `before` that is in use. */
  static create(func: TileFunc, options: TakeOver = {}): FastExecutor {
    throwIfErrors(checkFields("FastExecutor.create", options, takeOverFields));
    return FastExecutor.prepare(func, 1, options);
  }

  /**
   * The same for whoever writes nothing into its inputs: a run may copy no more of what it is given than the indices name.
   * `spare`: one that nobody will run again, for its memory.
   */
  static scratch(func: TileFunc, spare?: FastExecutor): FastExecutor {
    return FastExecutor.prepare(func, 1, { scratch: true, spare });
  }

  /** Starts the threads and waits for them. Throws a CompileError (TC502, TC702). */
  static async open(func: TileFunc, options: FastOptions & TakeOver): Promise<FastExecutor> {
    throwIfErrors(checkFields("FastExecutor.open", options, openFields));
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
      await executor.start(spawn);
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
      scratch = false,
      spare,
    }: {
      readonly before?: FastExecutor | undefined;
      readonly scratch?: boolean;
      readonly spare?: FastExecutor | undefined;
    },
  ): FastExecutor {
    checkTile(func);
    const code = sizedCode(func, threads);
    const memory =
      before?.handOver(code) ?? spare?.givenUp(code.pages) ?? allocate(func, code.pages, code.shared);
    return new FastExecutor(func, code, memory, threads, scratch);
  }

  /** Its memory, with room for another program. Throws a CompileError (TC702) for one of other tensors or another kind of memory. */
  private handOver({ layout, pages, shared }: SizedCode): WebAssembly.Memory {
    if (this.workers.length > 0) {
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
      error("TC502", `the fast executor found no room for ${bytes} B more of WebAssembly memory`, {
        data: { bytes },
      }),
    ]);
  }

  /** Its memory for a program of other tensors, unless there is no room for so many pages; what lies in it is no run's any more. */
  private givenUp(pages: number): WebAssembly.Memory | undefined {
    this.runs++;
    return grown(this.memory, pages) === 0 ? this.memory : undefined;
  }

  /**
   * An input or the output by its key, as a typed array in the executor's memory; strings are u32 handles. Throws a CompileError
   * (TC702) for another key.
   */
  array(key: string): Exclude<TensorData, readonly string[]> {
    const { operands } = this.func;
    const operand = operands.find((own) => keyOf(own) === key);
    if (operand === undefined) {
      const hint = `one of ${operands.map(keyOf).join(", ")}`;
      throw new CompileError([error("TC702", `the executor has no tensor ${key}`, { hint })]);
    }
    const { dtype, shape } = operand.type;
    const bytes = operand.role === "output" ? this.output : tensorOf(this.inputs, operand).bytes;
    return fromHost({ dtype: dtype === "string" ? "u32" : dtype, shape }, bytes) as Exclude<
      TensorData,
      readonly string[]
    >;
  }

  private async start(spawn: SpawnThread): Promise<void> {
    const { memory, tasks, chunk, told } = this;
    const { module } = this.code;
    for (let k = 1; k < this.threads; k++) {
      const worker = spawn({ module, memory, tasks, chunk, told, ub: this.ubOf(k) });
      this.workers = [...this.workers, worker];
    }
    let [started, since] = [0, performance.now()];
    for (;;) {
      const ready = Atomics.load(this.control, word.ready);
      if (ready === this.workers.length) return;
      this.checkThreads();
      if (ready > started) [started, since] = [ready, performance.now()];
      else if (performance.now() > since + startMs) {
        const message = `${ready} of ${this.workers.length} threads started, and no other within ${startMs} ms`;
        const hint = "spawn starts a worker that passes its message to serveThread";
        throw new CompileError([error("TC702", message, { hint })]);
      }
      await pause(1);
    }
  }

  private ubOf(thread: number): number {
    return this.layout.buffers + thread * this.layout.bufferBytes;
  }

  /**
   * Runs to the end. Throws a RunError: TC601 for the index out of range of the first output element that has one, TC603 for a hand-written program that
   * leaves its tensors so far that it leaves memory; a CompileError (TC702) for inputs of other sizes, and while another run is under way or after `close`.
   */
  run(inputs: HostInputs = this.inputs): FastRun {
    this.enter(inputs);
    try {
      const copied = drained(this.begin(inputs));
      this.take(Infinity);
      // A thread that wakes late finds no task left: only tasks are waited for, never threads.
      for (let spins = 0; ; spins++) {
        const done = Atomics.load(this.control, word.doneTasks);
        if (done >>> 0 >= this.tasks) return this.end(copied);
        if (spins < spinsAtMost) continue;
        this.checkThreads();
        Atomics.wait(this.control, word.doneTasks, done, 50);
      }
    } finally {
      this.leave();
    }
  }

  /** The same, in slices that let other work run. Rejects with the signal's reason when it is aborted. */
  async runLong(inputs: HostInputs = this.inputs, options: LongRunOptions = {}): Promise<FastRun> {
    const { signal, onProgress } = options;
    this.enter(inputs);
    try {
      const copied = await inSlices(this.begin(inputs), () => 0, 0, signal === undefined ? {} : { signal });
      const tasks = taskOf(this.func).nest.tasks;
      try {
        for (;;) {
          this.checkOpen();
          this.take(sliceMs);
          this.checkThreads();
          const done = this.doneTasks();
          // Of a task that was cut, the part that is done.
          if (this.tasks > 0) onProgress?.((done * tasks) / this.tasks, tasks);
          if (done >= this.tasks) return this.end(copied);
          await pause(0);
          signal?.throwIfAborted();
        }
      } finally {
        await this.stopTaking();
      }
    } finally {
      this.leave();
    }
  }

  /** Ends the threads, and has ended them when it resolves. It refuses to run from the call on; a run under way rejects. The arrays live on. */
  async close(): Promise<void> {
    const { workers } = this;
    if (workers.length === 0) {
      if (this.state === "idle" || this.state === "running") this.state = "closed";
      return;
    }
    this.workers = [];
    this.state = "closing";
    await Promise.all(workers.map((worker) => worker.terminate()));
    this.state = "closed";
  }

  private doneTasks(): number {
    return Atomics.load(this.control, word.doneTasks) >>> 0;
  }

  /** Leaves no task to take, and waits for those that were taken: their threads write into the memory of the next run. */
  private async stopTaking(): Promise<void> {
    const taken = Math.min(this.tasks, Atomics.exchange(this.control, word.nextTask, this.tasks) >>> 0);
    while (this.workers.length > 0 && !this.hasFailed() && this.doneTasks() < taken) await pause(1);
  }

  /** Begins a run. Throws a CompileError (TC702) for inputs of other sizes, and where another run has the memory. */
  private enter(inputs: HostInputs): void {
    this.checkIdle();
    this.checkThreads();
    checkTensors(this.func, inputs);
    this.state = "running";
  }

  private leave(): void {
    if (this.state === "running") this.state = "idle";
  }

  private checkIdle(others: readonly State[] = []): void {
    const { state } = this;
    if (state === "idle" || others.includes(state)) return;
    throw new CompileError([error("TC702", `the executor is ${state}`, { hint: wayOut[state] })]);
  }

  private checkOpen(): void {
    if (this.state !== "running") this.checkIdle();
  }

  /** Copies inputs that lie elsewhere, so many bytes at once; the time counts what this thread did. */
  private *begin(inputs: HostInputs): Generator<number, FastRun["copied"]> {
    this.runs++;
    let [bytes, milliseconds, pending] = [0, 0, 0];
    let begun = performance.now();
    for (const copied of this.copies(inputs)) {
      bytes += copied;
      pending += copied;
      if (pending < bytesAtOnce) continue;
      pending = 0;
      milliseconds += performance.now() - begun;
      yield 0;
      begun = performance.now();
    }
    if (bytes > 0) milliseconds += performance.now() - begun;
    const { control } = this;
    Atomics.store(control, word.doneTasks, 0);
    Atomics.store(control, word.bad, -1);
    // Last: from here on any thread may take a task.
    Atomics.store(control, word.nextTask, 0);
    if (this.workers.length > 0) {
      Atomics.add(control, word.generation, 1);
      Atomics.notify(control, word.generation);
    }
    return { bytes, milliseconds };
  }

  /** Indices first: they may name what is copied of the data. Yields the bytes of each copy. */
  private *copies(inputs: HostInputs): Generator<number, void> {
    const { func } = this;
    const { named } = this.code;
    const operands = [...inputsOf(func)].sort(
      (a, b) => Number(b.role === "indices") - Number(a.role === "indices"),
    );
    for (const operand of operands) {
      const own = tensorOf(this.inputs, operand).bytes;
      const given = tensorOf(inputs, operand).bytes;
      if (given.buffer === own.buffer && given.byteOffset === own.byteOffset) continue;
      if (this.scratch && named !== undefined && operand.role === "data") {
        yield* copyInPart(func, named, inputs, this.inputs);
        continue;
      }
      for (let start = 0; start < given.byteLength; start += bytesAtOnce) {
        const part = given.subarray(start, start + bytesAtOnce);
        own.set(part, start);
        yield part.byteLength;
      }
    }
  }

  /** Takes tasks until none is left or the time is up. */
  private take(milliseconds: number): void {
    try {
      const { tasks, chunk, told } = this;
      takeTasks(this.runTasks, this.control, { ub: this.ubOf(0), tasks, chunk, told }, milliseconds);
    } catch (thrown) {
      // Other threads go on with what they took, which nobody counts any more.
      if (this.workers.length > 0) Atomics.store(this.control, word.failed, 1);
      throw thrown instanceof WebAssembly.RuntimeError ? leftMemory() : thrown;
    }
  }

  private end(copied: FastRun["copied"]): FastRun {
    const bad = Atomics.load(this.control, word.bad) >>> 0;
    if (bad !== noneBad) {
      const tile = this.func;
      const map = taskOf(tile).gather?.stmt.map;
      invariant(map !== undefined, "a program that found a bad index has a gather");
      throw indexOutOfRange({ map, operands: tile.operands, tile, inputs: this.inputs }, bad);
    }
    return { output: this.output, copied };
  }

  private hasFailed(): boolean {
    return Atomics.load(this.control, word.failed) !== 0;
  }

  private checkThreads(): void {
    if (this.hasFailed()) throw leftMemory();
  }
}

const wayOut = {
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

/** How many threads an executor may have. */
export const threadsField: Field = {
  code: "TC702",
  takes: `a whole number, 1 to ${maxThreads}`,
  holds: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxThreads,
};

const openFields: Fields<FastOptions & TakeOver> = {
  ...takeOverFields,
  threads: threadsField,
  spawn: callable,
};

interface WasmCode {
  readonly plan: WasmPlan;
  readonly kernel: WasmKernel;
  readonly module: WebAssembly.Module;
}

/** By the program that is emitted, which never changes, and threads. */
const knownCode = new WeakMap<TileFunc, Map<number, WasmCode>>();

/** The code of a program at its sizes. */
interface SizedCode {
  readonly plan: WasmPlan;
  readonly module: WebAssembly.Module;
  readonly layout: WasmLayout;
  readonly pages: number;
  readonly shared: boolean;
  readonly tasks: number;
  readonly told: readonly number[];
  /** What a call copies of data that it is given, where that is less than all. */
  readonly named?: PartialCopy;
}

/** All sizes of a program share one module; each has its own memory. Throws a CompileError (TC502). */
function sizedCode(func: TileFunc, threads: number): SizedCode {
  const { plan, kernel, module } = codeOf(func, threads);
  const sizes: Env = openFormOf(func)?.values ?? new Map();
  const layout = layoutOf({ ...plan.func, operands: func.operands }, plan.gather?.table);
  const nest = nestAt(plan.nest, sizes);
  const { gather } = plan.source === func ? plan : planWasm(func);
  const named = gather === undefined ? undefined : partialCopy(func, gather);
  return {
    plan,
    module,
    layout,
    pages: pagesOf(func, layout, threads),
    shared: kernel.module.memory.shared,
    tasks: plan.gather === undefined ? 0 : nest.tasks,
    told: argumentsOf(plan.told, sizes, layout, nest),
    ...(named === undefined ? {} : { named }),
  };
}

function codeOf(func: TileFunc, threads: number): WasmCode {
  const [found] = [openFormOf(func)?.program, func].flatMap(
    (program) => (program === undefined ? undefined : knownCode.get(program)?.get(threads)) ?? [],
  );
  if (found !== undefined) return found;
  const { plan, kernel } = emitFor(func, threads);
  const code = { plan, kernel, module: new WebAssembly.Module(encodeModule(kernel.module)) };
  knownCode.set(plan.source, (knownCode.get(plan.source) ?? new Map<number, WasmCode>()).set(threads, code));
  return code;
}

const leftMemory = (): RunError =>
  new RunError([
    error("TC603", "the program reads or writes beyond its memory", {
      hint: "--executor checked names the statement",
    }),
  ]);

const noneBad = 0xffffffff;
const maxPages = 2 ** 32 / pageBytes;

/** Throws a CompileError (TC502) when there is no room for the tensors. */
function allocate(func: TileFunc, pages: number, shared: boolean): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: pages, ...(shared ? { maximum: maxPages, shared } : {}) });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    const bytes = pages * pageBytes;
    throw new CompileError([
      error("TC502", `the fast executor found no room for ${bytes} B of WebAssembly memory`, {
        span: func.span,
        hint: "split the tensors",
        data: { bytes },
      }),
    ]);
  }
}

/** Makes a memory at least so many pages long. The pages that there was no room for. */
function grown(memory: WebAssembly.Memory, pages: number): number {
  const missing = Math.max(0, pages - memory.buffer.byteLength / pageBytes);
  try {
    if (missing > 0) memory.grow(missing);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return missing;
  }
}
