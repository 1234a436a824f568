import "./platform.js";

/** What a run that may take long offers its caller. */
export interface LongRunOptions {
  readonly signal?: AbortSignal;
  /** Called between slices of a run: tasks done, the done part of a long one included, and tasks in all. */
  readonly onProgress?: (done: number, tasks: number) => void;
}

/** Milliseconds a long run may keep the event loop. */
export const sliceMs = 20;

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Work that yields how far it is, to its end. */
export function drained<T>(steps: Generator<number, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same, in slices that let other work run. Rejects with the signal's reason when it is aborted. */
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

/** What `work` comes to, or the signal's reason as soon as it is aborted: work that nothing stops then ends unheard. */
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
