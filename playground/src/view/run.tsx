/** The program on every backend, side by side. */
import { useEffect, useState } from "preact/hooks";
import type { RunAnswer, WithInputs } from "../jobs/messages.js";
import { long } from "../workers.js";
import { Diagnostics } from "./diagnostics.js";
import { failure, type Answer } from "./use-answer.js";

interface Props {
  readonly asked: WithInputs;
  readonly legal: boolean;
  readonly onSeed: (seed: number) => void;
}

export function RunView({ asked, legal, onSeed }: Props) {
  const [answer, setAnswer] = useState<Answer<RunAnswer>>();
  const [running, setRunning] = useState<AbortController>();
  // What ran is not what is written any more.
  useEffect(() => {
    setAnswer(undefined);
  }, [asked.text, asked.func, asked.sizes, asked.seed, asked.inputs]);
  const run = async (): Promise<void> => {
    const controller = new AbortController();
    setRunning(controller);
    setAnswer({ state: "waiting" });
    try {
      const found = await long.call("run", asked, {
        signal: controller.signal,
        onProgress: (progress) => {
          setAnswer({ state: "waiting", progress });
        },
      });
      setAnswer({ state: "done", answer: found });
    } catch (thrown) {
      setAnswer(failure(thrown));
    } finally {
      setRunning(undefined);
    }
  };
  return (
    <section class="run" aria-label="run">
      <div class="row">
        <button
          type="button"
          class="main"
          data-testid="run"
          disabled={!legal || running !== undefined}
          onClick={() => void run()}
        >
          Run on every backend
        </button>
        <button
          type="button"
          data-testid="stop"
          disabled={running === undefined}
          onClick={() => {
            running?.abort();
          }}
        >
          Stop
        </button>
        <label class="field short">
          <span>seed</span>
          <input
            type="number"
            data-testid="seed"
            step={1}
            value={asked.seed}
            onInput={(event) => {
              const seed = event.currentTarget.valueAsNumber;
              if (Number.isSafeInteger(seed)) onSeed(seed);
            }}
          />
        </label>
      </div>
      <div aria-live="polite">
        {answer?.state === "waiting" ? <Working progress={answer.progress} /> : null}
        {answer?.state === "refused" ? <Diagnostics list={answer.diagnostics} /> : null}
        {answer?.state === "failed" ? <p data-testid="ended">{answer.message}</p> : null}
        {answer?.state === "done" ? <RunResult {...answer.answer} /> : null}
      </div>
    </section>
  );
}

export const Working = ({
  progress,
}: {
  readonly progress: { done: number; total: number; label: string } | undefined;
}) => (
  <p>
    <progress
      aria-label="progress"
      {...(progress === undefined ? {} : { value: progress.done, max: Math.max(1, progress.total) })}
    />{" "}
    {progress === undefined ? "working" : `${progress.label}: ${progress.done} of ${progress.total}`}
  </p>
);

const ms = (value: number): string =>
  `${value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString("en")} ms`;
const microseconds = (nanoseconds: number): string => `${(nanoseconds / 1000).toFixed(1)} µs`;

function RunResult({ backends, sameBits, inputs, output, times }: RunAnswer) {
  const ran = backends.filter(({ status }) => status !== "absent");
  const names = ran.map(({ backend }) => backend).join(", ");
  return (
    <div data-testid="result" data-same-bits={String(sameBits)} data-backends={names}>
      <p class={sameBits ? "headline good" : "headline bad"}>
        <span aria-hidden="true">{sameBits ? "=" : "≠"}</span>{" "}
        {sameBits ? `The same bits: ${names}` : "The bits differ"}
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">backend</th>
              <th scope="col">call</th>
              <th scope="col">on</th>
            </tr>
          </thead>
          <tbody>
            {backends.map((one) => (
              <tr data-testid={`result-${one.backend}`} data-status={one.status}>
                <th scope="row">{one.backend}</th>
                <td>{one.ms === undefined ? one.status : ms(one.ms)}</td>
                <td>{one.on}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {backends.map(({ backend, diagnostics }) =>
        diagnostics.length === 0 ? null : (
          <>
            <p class="soft">{backend} says:</p>
            <Diagnostics list={diagnostics} />
          </>
        ),
      )}
      {times === undefined ? null : (
        <p>
          A launch takes {microseconds(times.tilec)}, a plain kernel {microseconds(times.plain)}:{" "}
          {(times.plain / Math.max(1, times.tilec)).toFixed(2)} times as long.{" "}
          <span class="soft">Timed {times.clock}.</span>
        </p>
      )}
      <p class="soft">
        {inputs}. Output {output.type}: {output.first.join(", ")}
        {output.more ? ", …" : ""}
      </p>
    </div>
  );
}
