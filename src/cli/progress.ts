/**
 * Progress of long work on stderr: a bar on a terminal, a line now and then elsewhere, nothing for short
 * work.
 */
import { Presets, SingleBar } from "cli-progress";
import { visible } from "./visible.js";

/** Progress display for work that consists of steps. */
export interface Progress {
  /** Counts one more of `total` steps as done. `label`: name of the step. */
  step(label: string, total: number): void;
  stop(): void;
}

/** Progress display for work that consists of tasks. A task that is under way counts as a fraction. */
export interface TaskProgress {
  /** Shows that `done` tasks are done, with a fraction for a task that is under way. */
  readonly reached: (done: number) => void;
  readonly stop: () => void;
}

/** Progress display that shows nothing. */
export const noProgress: TaskProgress = { reached: () => undefined, stop: () => undefined };

const patienceMs = 1500;
const lineEveryMs = 10_000;

/** Returns a progress display on stderr. `what`: plural noun for the steps, for example `cases`. */
export function progressBar(what: string): Progress {
  const show = display(what);
  let done = 0;
  return {
    step(label, total) {
      done++;
      show.update(done, total, visible(label));
    },
    stop: show.stop,
  };
}

/** Returns a progress display on stderr for `total` tasks, where a partly done task counts as a fraction. */
export function taskProgress(total: number): TaskProgress {
  const show = display("tasks");
  // A program of one task, as many scatters are, takes many seconds for a tenth of it.
  const digits = total === 1 ? 3 : 1;
  return {
    reached(done) {
      show.update(Number(done.toFixed(digits)), total, "");
    },
    stop: show.stop,
  };
}

interface Display {
  update(done: number, total: number, label: string): void;
  readonly stop: () => void;
}

/**
 * Returns a progress display on stderr: a bar on a terminal, or one line every 10 seconds without a terminal.
 * `what`: plural noun for the steps.
 */
function display(what: string): Display {
  const started = Date.now();
  if (!process.stderr.isTTY) {
    let next = started + lineEveryMs;
    return {
      update(done, total, label) {
        if (Date.now() < next) return;
        next = Date.now() + lineEveryMs;
        process.stderr.write(`${done}/${total} ${what}${label === "" ? "" : `, now ${label}`}\n`);
      },
      stop() {
        // Plain lines need no end.
      },
    };
  }
  const format = `{bar} {value}/{total} ${what} {eta_formatted} {label}`;
  const bar = new SingleBar(
    { format, stream: process.stderr, clearOnComplete: true },
    Presets.shades_classic,
  );
  let shown = false;
  return {
    update(done, total, label) {
      if (shown) bar.update(done, { label });
      else if (Date.now() - started > patienceMs) {
        bar.start(total, done, { label });
        shown = true;
      }
    },
    stop() {
      if (shown) bar.stop();
    },
  };
}
