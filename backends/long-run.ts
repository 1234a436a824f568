import "./platform.js";

/**
 * Options of a long execution: a signal that aborts the execution, and a callback that receives the progress.
 */
export interface LongRunOptions {
  readonly signal?: AbortSignal;
  /**
   * Called between time slices with the number of finished tasks (fractional within a long task) and of all
   * tasks.
   */
  readonly onProgress?: (done: number, tasks: number) => void;
}

/** Time in milliseconds that a long execution may block the event loop. */
export const sliceMs = 20;

/** Returns a promise that resolves after a number of milliseconds. */
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/**
 * Executes a generator to the end without a break and returns the generator's result. Yielded values
 * (progress) are ignored.
 */
export function drained<T>(steps: Generator<number, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Executes a generator in time slices of {@link sliceMs}, and resolves with its result. Rejects with the
 * signal's reason if aborted. `tasks`: number of all tasks, for the progress. `tasksDone`: converts a yielded
 * value to the number of finished tasks.
 */
export async function inSlices<T>(
  steps: Generator<number, T>,
  tasksDone: (yielded: number) => number,
  tasks: number,
  { signal, onProgress }: LongRunOptions,
): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const until = performance.now() + sliceMs;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value;
      if (performance.now() < until) continue;
      onProgress?.(Math.min(tasksDone(step.value), tasks), tasks);
      break;
    }
    await pause(0);
  }
}

/**
 * Returns the result of `work`. Rejects with the signal's reason as soon as the signal is aborted. Work that
 * cannot be stopped then continues, without effect on the promise.
 */
export function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work();
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true });
    void work()
      .then(resolve, reject)
      .finally(() => {
        signal.removeEventListener("abort", stop);
      });
  });
}
