/**
 * Code that runs tasks: it instantiates the kernel in a memory, and is all that a thread executes. A thread
 * loads this module and no other module of tilec.
 */

/**
 * Function by which the executor starts a thread: a `new Worker` that calls `serveThread` with the received
 * `message`.
 */
export type SpawnThread = (message: ThreadMessage) => {
  /** Ends the thread. */
  terminate(): unknown;
};

/**
 * Message with which a thread of the fast executor starts. A {@link SpawnThread} hands the message unchanged
 * to `serveThread` in the worker.
 */
export interface ThreadMessage {
  /** A WebAssembly.Module. */
  readonly module: object;
  /** A WebAssembly.Memory, shared. */
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Byte address of this thread's unified buffer. */
  readonly ub: number;
  readonly tasks: number;
  /** Tasks it takes at once. */
  readonly chunk: number;
  /** Runtime parameters of the code, which follow from the sizes of the program's symbols. */
  readonly params: readonly number[];
}

/**
 * Function that executes tasks [from, to) with the unified buffer (UB) at byte `ub`. Returns the row-major
 * position of the first output element with an index out of range, or -1. `params`: values of the runtime
 * parameters.
 */
export type RunTasks = (from: number, to: number, ub: number, ...params: readonly number[]) => number;

/** Size, in bytes, of the control block that all threads share, at the start of the memory. */
export const controlBytes = 64;

/** Positions of the fields in the control block at the start of the memory, in 32-bit words. */
export const word = { generation: 0, nextTask: 1, doneTasks: 2, ready: 3, failed: 4, bad: 5 } as const;

/** Instantiates a module on a memory and returns the module's function `run`. */
export function instantiate({ module, memory }: Pick<ThreadMessage, "module" | "memory">): RunTasks {
  const imports = { env: { memory: memory as WebAssembly.Memory } };
  return new WebAssembly.Instance(module, imports).exports["run"] as RunTasks;
}

/**
 * Takes and executes tasks, `chunk` consecutive tasks at a time, until none is left or `milliseconds` have
 * passed. The control block receives the number of finished tasks and the lowest output element with an index
 * out of range.
 */
export function takeTasks(
  run: RunTasks,
  control: Int32Array,
  { ub, tasks, chunk, params }: Pick<ThreadMessage, "ub" | "tasks" | "chunk" | "params">,
  milliseconds: number,
): void {
  const until = performance.now() + milliseconds;
  for (;;) {
    const from = Atomics.add(control, word.nextTask, chunk) >>> 0;
    if (from >= tasks) return;
    const to = Math.min(tasks, from + chunk);
    const bad = run(from, to, ub, ...params) >>> 0;
    for (let current = Atomics.load(control, word.bad); bad < current >>> 0;) {
      current = Atomics.compareExchange(control, word.bad, current, bad | 0);
    }
    Atomics.add(control, word.doneTasks, to - from);
    if (milliseconds !== Infinity && performance.now() >= until) return;
  }
}

/**
 * Serves tasks in a worker thread and never returns. An error sets the word `failed` of the control block and
 * is thrown.
 */
export function serveThread(message: ThreadMessage): never {
  const control = new Int32Array(message.memory.buffer, 0, controlBytes / 4);
  try {
    const run = instantiate(message);
    let generation = Atomics.load(control, word.generation);
    Atomics.add(control, word.ready, 1);
    for (;;) {
      Atomics.wait(control, word.generation, generation);
      generation = Atomics.load(control, word.generation);
      takeTasks(run, control, message, Infinity);
      Atomics.notify(control, word.doneTasks);
    }
  } catch (thrown) {
    Atomics.store(control, word.failed, 1);
    throw thrown;
  }
}
