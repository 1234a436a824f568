/**
 * The threads of an executor, and the control block by which they share the tasks of a run with the thread
 * that begins it.
 */
import { CompileError, error } from "../../ir/diagnostic.js";
import { pause } from "../long-run.js";
import { leftMemory } from "./memory.js";
import {
  controlBytes,
  takeTasks,
  word,
  type RunTasks,
  type SpawnThread,
  type ThreadMessage,
} from "./thread.js";

/** Milliseconds within which one more thread has started. */
const startMs = 5_000;
/** Looks at the last tasks of other threads before this one sleeps. */
const maxSpins = 10_000;

/**
 * Worker threads of an executor, and the control block with which all threads divide the tasks of an
 * execution.
 */
export class Threads {
  private readonly control: Int32Array;
  private workers: readonly { terminate(): unknown }[] = [];

  /** `shared`: code and tasks of the thread that starts the executions. */
  constructor(
    private readonly runTasks: RunTasks,
    private readonly shared: Omit<ThreadMessage, "module">,
  ) {
    this.control = new Int32Array(shared.memory.buffer, 0, controlBytes / 4).fill(0);
  }

  get count(): number {
    return this.workers.length;
  }

  /**
   * Starts one thread for each unified buffer, by its byte, and waits for them. Throws a CompileError (TC702)
   * where one does not start.
   */
  async start(spawn: SpawnThread, module: object, buffers: readonly number[]): Promise<void> {
    for (const ub of buffers) this.workers = [...this.workers, spawn({ ...this.shared, module, ub })];
    let [started, since] = [0, performance.now()];
    for (;;) {
      const ready = Atomics.load(this.control, word.ready);
      if (ready === this.workers.length) return;
      this.check();
      if (ready > started) [started, since] = [ready, performance.now()];
      else if (performance.now() > since + startMs) {
        const message = `${ready} of ${this.workers.length} threads started, and no other within ${startMs} ms`;
        const hint = "spawn starts a worker that passes its message to serveThread";
        throw new CompileError([error("TC702", message, { hint })]);
      }
      await pause(1);
    }
  }

  /** Begins a run: from here on any thread may take a task. */
  begin(): void {
    const { control } = this;
    Atomics.store(control, word.doneTasks, 0);
    Atomics.store(control, word.bad, -1);
    Atomics.store(control, word.nextTask, 0);
    if (this.workers.length === 0) return;
    Atomics.add(control, word.generation, 1);
    Atomics.notify(control, word.generation);
  }

  /** Takes tasks on this thread until none is left or the time is up. */
  take(milliseconds: number): void {
    try {
      takeTasks(this.runTasks, this.control, this.shared, milliseconds);
    } catch (thrown) {
      // Other threads go on with what they took, which nobody counts any more.
      if (this.workers.length > 0) Atomics.store(this.control, word.failed, 1);
      throw thrown instanceof WebAssembly.RuntimeError ? leftMemory() : thrown;
    }
  }

  /**
   * Blocks until every task is done. A thread that wakes late finds none left: only tasks are waited for,
   * never threads.
   */
  wait(): void {
    for (let spins = 0; ; spins++) {
      const done = Atomics.load(this.control, word.doneTasks);
      if (done >>> 0 >= this.shared.tasks) return;
      if (spins < maxSpins) continue;
      this.check();
      Atomics.wait(this.control, word.doneTasks, done, 50);
    }
  }

  doneTasks(): number {
    return Atomics.load(this.control, word.doneTasks) >>> 0;
  }

  /** Returns the number of the first output element whose index is out of range; undefined without one. */
  bad(): number | undefined {
    const bad = Atomics.load(this.control, word.bad) >>> 0;
    return bad === noneBad ? undefined : bad;
  }

  /**
   * Leaves no task to take, and waits for those that were taken: their threads write into the memory of the
   * next run.
   */
  async stopTaking(): Promise<void> {
    const taken = Math.min(
      this.shared.tasks,
      Atomics.exchange(this.control, word.nextTask, this.shared.tasks) >>> 0,
    );
    while (this.workers.length > 0 && !this.hasFailed() && this.doneTasks() < taken) await pause(1);
  }

  /** Throws a RunError (TC603) once a thread has left the memory. */
  check(): void {
    if (this.hasFailed()) throw leftMemory();
  }

  /** Ends the threads, and has ended them when it resolves. */
  async close(): Promise<void> {
    const { workers } = this;
    this.workers = [];
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private hasFailed(): boolean {
    return Atomics.load(this.control, word.failed) !== 0;
  }
}

const noneBad = 0xffffffff;
