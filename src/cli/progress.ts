/** Progress of long work on stderr: a bar on a terminal, a line now and then elsewhere, nothing for short work. */
import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  step(label: string): void;
  stop(): void;
}

const patienceMs = 1500;

export function progressBar(total: number, what: string): Progress {
  const started = Date.now();
  let done = 0;
  if (process.stderr.isTTY) {
    const format = `{bar} {value}/{total} ${what} {eta_formatted} {label}`;
    const bar = new SingleBar(
      { format, stream: process.stderr, clearOnComplete: true },
      Presets.shades_classic,
    );
    let shown = false;
    return {
      step(label) {
        done++;
        if (!shown && Date.now() - started > patienceMs) {
          bar.start(total, done, { label });
          shown = true;
        } else if (shown) bar.update(done, { label });
      },
      stop() {
        if (shown) bar.stop();
      },
    };
  }
  let next = started + 10_000;
  return {
    step(label) {
      done++;
      if (Date.now() < next) return;
      next = Date.now() + 10_000;
      process.stderr.write(`${done}/${total} ${what}, now ${label}\n`);
    },
    stop() {
      // Plain lines need no end.
    },
  };
}
