/** The program on every backend, side by side. */
import type { RunAnswer, WithInputs } from "../jobs/messages.js";
import { long } from "../workers.js";
import { Diagnostics } from "./diagnostics.js";
import { Outcome, StartStop, useJob } from "./job.js";

interface Props {
  readonly asked: WithInputs;
  /** Reason why the program cannot run; empty if it can. */
  readonly why: string;
  readonly onSeed: (seed: number) => void;
}

/** Renders the button that runs the program on every backend, the field for the seed, and the results. */
export function RunView({ asked, why, onSeed }: Props) {
  const { text, func, sizes, seed, inputs } = asked;
  const job = useJob([text, func, sizes, seed, inputs], (options) => long.call("run", asked, options));
  return (
    <section class="run" aria-label="run">
      <div class="row">
        <StartStop job={job} label="Run on every backend" why={why} ids={["run", "stop"]} />
        <label class="field short">
          <span>seed</span>
          <input
            type="number"
            data-testid="seed"
            step={1}
            value={seed}
            onInput={(event) => {
              const entered = event.currentTarget.valueAsNumber;
              if (Number.isSafeInteger(entered)) onSeed(entered);
            }}
          />
        </label>
        {why === "" ? null : (
          <p class="soft why" data-testid="run-why">
            Cannot run: {why}.
          </p>
        )}
      </div>
      <Outcome answer={job.answer} show={(found) => <RunResult {...found} />} />
    </section>
  );
}

const ms = (value: number): string =>
  `${value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString("en")} ms`;
const microseconds = (nanoseconds: number): string => `${(nanoseconds / 1000).toFixed(1)} µs`;

/** Returns which of the two kernels is faster, and by what factor. */
function launchVerdict({ tilec, plain }: NonNullable<RunAnswer["times"]>): string {
  const [fast, slow, name] = tilec <= plain ? [tilec, plain, "tilec's"] : [plain, tilec, "the plain one"];
  const ratio = (slow / Math.max(1, fast)).toFixed(2);
  return ratio === "1.00" ? "they take as long." : `${name} is ${ratio} times as fast.`;
}

/**
 * Renders the results of a run: whether the outputs are bit-identical, a row for each backend, diagnostics,
 * launch times and the first output elements.
 */
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
          A launch of tilec's kernel takes {microseconds(times.tilec)}, of a plain kernel{" "}
          {microseconds(times.plain)}: {launchVerdict(times)} <span class="soft">Timed {times.clock}.</span>
        </p>
      )}
      <p class="soft">
        {inputs}. Output {output.type}: {output.first.join(", ")}
        {output.more ? ", …" : ""}
      </p>
    </div>
  );
}
