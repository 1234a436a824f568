/** What a run that may take long offers its caller. */
export interface LongRunOptions {
  readonly signal?: AbortSignal;
  /** Called between slices of a run: tasks done, tasks in all. */
  readonly onProgress?: (done: number, tasks: number) => void;
}

/** Milliseconds a long run may keep the event loop. */
export const sliceMs = 20;

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
