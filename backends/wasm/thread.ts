/** What runs tasks: the code in a memory, and a thread's whole life. A thread loads this module and nothing else of tilec. */

/** How the executor starts a thread: `new Worker`, told to call `serveThread` with the message it is posted. */
export type SpawnThread = (message: ThreadMessage) => {
  /** Ends the thread. */
  terminate(): unknown;
};

/** Posted as it is. Its declaration does without the namespace `WebAssembly`, which the DOM library alone declares. */
export interface ThreadMessage {
  /** A WebAssembly.Module. */
  readonly module: object;
  /** A WebAssembly.Memory, shared. */
  readonly memory: { readonly buffer: ArrayBuffer };
  /** Byte of this thread's unified buffer. */
  readonly ub: number;
  readonly tasks: number;
  /** Tasks it takes at once. */
  readonly chunk: number;
  /** What the sizes of the program's symbols tell its code. */
  readonly params: readonly number[];
}

/** Runs tasks [from, to) in the unified buffer at byte `ub`: the first bad output element, 0xffffffff without one. */
export type RunTasks = (from: number, to: number, ub: number, ...params: readonly number[]) => number;

/** Bytes at the start of memory that threads share. */
export const controlBytes = 64;

/** Words of the control block at the start of the memory. */
export const word = { generation: 0, nextTask: 1, doneTasks: 2, ready: 3, failed: 4, bad: 5 } as const;

/** The code in a memory. */
export function instantiate({ module, memory }: Pick<ThreadMessage, "module" | "memory">): RunTasks {
  const imports = { env: { memory: memory as WebAssembly.Memory } };
  return new WebAssembly.Instance(module, imports).exports["run"] as RunTasks;
}

/** Takes tasks until none is left or the time is up. */
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

/** A thread's whole life: runs tasks whenever a run begins, until it is terminated. */
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
