/** Long work that the user begins and may stop: its buttons, how far it is, and how it ended. */
import { useState } from "preact/hooks";
import type { CallOptions, Progress } from "../jobs/client.js";
import { Action } from "./action.js";
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
 * Returns a job that runs `work` when started and can be stopped. `of` lists the values on which the work
 * depends. When a value in `of` changes, the answer of the job is dropped.
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
  /** Reason why the job cannot start; empty if it can. */
  readonly why?: string;
  /** Test identifiers of the two buttons. */
  readonly ids: readonly [start: string, stop: string];
}

/** Renders a button that starts a job, and a button that stops the running job. */
export const StartStop = ({ job, label, why = "", ids: [start, stop] }: StartStopProps) => (
  <>
    <Action id={start} class="main" why={job.running ? "it runs: stop it first" : why} onAction={job.start}>
      {label}
    </Action>
    {job.running ? (
      <Action id={stop} onAction={job.stop}>
        Stop
      </Action>
    ) : null}
  </>
);

interface OutcomeProps<T> {
  readonly answer: Answer<T> | undefined;
  readonly show: (answer: T) => preact.ComponentChild;
}

/**
 * Renders the state of a job: progress, diagnostics, error message, or the result rendered by `show`. Renders
 * an empty area before the job starts.
 */
export function Outcome<T>({ answer, show }: OutcomeProps<T>) {
  return <div aria-live="polite">{answer === undefined ? null : shown(answer, show)}</div>;
}

/**
 * Renders the progress, the diagnostics, the error message or the result of a worker request. `show` renders
 * the result.
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
