/** Long work that the user begins and may stop: its buttons, how far it is, and how it ended. */
import { useState } from "preact/hooks";
import type { CallOptions, Progress } from "../jobs/client.js";
import { Diagnostics } from "./diagnostics.js";
import { failedAnswer, type Answer } from "./use-answer.js";

interface Job<T> {
  /** Absent until it began for what is asked now. */
  readonly answer: Answer<T> | undefined;
  readonly running: boolean;
  readonly start: () => void;
  readonly stop: () => void;
}

/**
 * Returns a job that runs `work` when started and can be stopped. `of` lists the values that the work depends
 * on. The answer is hidden once one of these values changes, even if it arrives later.
 */
export function useJob<T>(of: readonly unknown[], work: (options: CallOptions) => Promise<T>): Job<T> {
  const [last, setLast] = useState<{ readonly of: readonly unknown[]; readonly answer: Answer<T> }>();
  const [running, setRunning] = useState<AbortController>();
  const set = (answer: Answer<T>): void => {
    setLast({ of, answer });
  };
  const run = async (): Promise<void> => {
    const controller = new AbortController();
    setRunning(controller);
    set({ state: "waiting" });
    const onProgress = (progress: Progress): void => {
      set({ state: "waiting", progress });
    };
    try {
      set({ state: "done", answer: await work({ signal: controller.signal, onProgress }) });
    } catch (thrown) {
      set(failedAnswer(thrown));
    } finally {
      setRunning(undefined);
    }
  };
  return {
    answer: last?.of.every((one, k) => one === of[k]) === true ? last.answer : undefined,
    running: running !== undefined,
    start: () => void run(),
    stop() {
      running?.abort();
    },
  };
}

interface StartStopProps {
  readonly job: Pick<Job<unknown>, "running" | "start" | "stop">;
  readonly label: string;
  readonly disabled?: boolean;
  /** Test identifiers of the two buttons. */
  readonly ids: readonly [start: string, stop: string];
}

/** Renders the buttons that start and stop a job. */
export const StartStop = ({ job, label, disabled = false, ids: [start, stop] }: StartStopProps) => (
  <>
    <button
      type="button"
      class="main"
      data-testid={start}
      disabled={disabled || job.running}
      onClick={job.start}
    >
      {label}
    </button>
    <button type="button" data-testid={stop} disabled={!job.running} onClick={job.stop}>
      Stop
    </button>
  </>
);

interface OutcomeProps<T> {
  readonly answer: Answer<T> | undefined;
  readonly show: (answer: T) => preact.ComponentChild;
}

/**
 * Renders the state of a job: its progress, its diagnostics, or its result by `show`. Renders an empty area
 * before the job starts.
 */
export function Outcome<T>({ answer, show }: OutcomeProps<T>) {
  return <div aria-live="polite">{answer === undefined ? null : shown(answer, show)}</div>;
}

/**
 * Renders an answer by its state: the progress, the diagnostics, the error message, or the result by `show`.
 */
function shown<T>(answer: Answer<T>, show: OutcomeProps<T>["show"]): preact.ComponentChild {
  switch (answer.state) {
    case "waiting":
      return <Working progress={answer.progress} />;
    case "refused":
      return <Diagnostics list={answer.diagnostics} />;
    case "failed":
      return <p data-testid="ended">{answer.message}</p>;
    case "done":
      return show(answer.answer);
  }
}

const Working = ({ progress }: { readonly progress: Progress | undefined }) => (
  <p>
    <progress
      aria-label="progress"
      {...(progress === undefined ? {} : { value: progress.done, max: Math.max(1, progress.total) })}
    />{" "}
    {progress === undefined ? "working" : `${progress.label}: ${progress.done} of ${progress.total}`}
  </p>
);
