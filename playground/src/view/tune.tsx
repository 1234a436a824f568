/** A search for the best schedule, with progress and an end at any time. */
import { useEffect, useState } from "preact/hooks";
import type { Objective } from "../../../src/tune/result.js";
import type { Tuned, WithInputs } from "../jobs/messages.js";
import { long } from "../workers.js";
import { Charts } from "./charts.js";
import { Diagnostics } from "./diagnostics.js";
import { Choice } from "./field.js";
import { Working } from "./run.js";
import { failure, type Answer } from "./use-answer.js";

interface Found extends Tuned {
  readonly charts: string;
}

interface Props {
  readonly asked: WithInputs;
  /** Flags that lead to a schedule, and the target that it is for. */
  readonly onUse: (flags: string, target: string) => void;
}

const objectives: readonly (readonly [Objective, string])[] = [
  ["cycles", "cycles of the clock"],
  ["bytes", "bytes of global memory"],
  ["ms", "milliseconds on this machine's GPU"],
];

export function TuneView({ asked, onUse }: Props) {
  const [objective, setObjective] = useState<Objective>("cycles");
  const [budget, setBudget] = useState(50);
  const [answer, setAnswer] = useState<Answer<Found>>();
  const [running, setRunning] = useState<AbortController>();
  useEffect(() => {
    setAnswer(undefined);
  }, [asked.text, asked.func]);
  const start = async (): Promise<void> => {
    const controller = new AbortController();
    setRunning(controller);
    setAnswer({ state: "waiting" });
    try {
      const ask = { ...asked, objective, budget };
      const tuned = await long.call("tune", ask, {
        signal: controller.signal,
        onProgress: (progress) => {
          setAnswer({ state: "waiting", progress });
        },
      });
      const { scatterMarkup, spaceMap } = await import("./pictures.js");
      setAnswer({
        state: "done",
        answer: {
          ...tuned,
          charts: [spaceMap(tuned.result)?.markup ?? "", scatterMarkup(tuned.result)]
            .map((chart) => `<figure>${chart}</figure>`)
            .join(""),
        },
      });
    } catch (thrown) {
      setAnswer(failure(thrown));
    } finally {
      setRunning(undefined);
    }
  };
  return (
    <div class="tune">
      <div class="row">
        <Choice
          id="objective"
          label="least"
          value={objective}
          options={objectives}
          onChoice={(word) => {
            const known = objectives.find(([name]) => name === word);
            if (known !== undefined) setObjective(known[0]);
          }}
        />
        <label class="field short">
          <span>candidates</span>
          <input
            type="number"
            data-testid="budget"
            min={1}
            max={5000}
            value={budget}
            onInput={(event) => {
              const count = event.currentTarget.valueAsNumber;
              if (Number.isSafeInteger(count) && count > 0) setBudget(count);
            }}
          />
        </label>
        <button
          type="button"
          class="main"
          data-testid="tune-start"
          disabled={running !== undefined}
          onClick={() => void start()}
        >
          Search
        </button>
        <button
          type="button"
          data-testid="tune-stop"
          disabled={running === undefined}
          onClick={() => {
            running?.abort();
          }}
        >
          Stop
        </button>
      </div>
      <div aria-live="polite">
        {answer?.state === "waiting" ? <Working progress={answer.progress} /> : null}
        {answer?.state === "refused" ? <Diagnostics list={answer.diagnostics} /> : null}
        {answer?.state === "failed" ? <p>{answer.message}</p> : null}
        {answer?.state === "done" ? <TuneAnswer {...answer.answer} onUse={onUse} /> : null}
      </div>
    </div>
  );
}

function TuneAnswer({ result, schedule, flags, charts, onUse }: Found & Pick<Props, "onUse">) {
  const { verdict, complete, target } = result;
  return (
    <div data-testid="tuned">
      <p>
        {verdict}.{complete ? "" : " The search was stopped before its end."}
      </p>
      <p>
        <code>{schedule}</code>
      </p>
      <button
        type="button"
        data-testid="use-best"
        onClick={() => {
          onUse(flags, target.name);
        }}
      >
        Use the best
      </button>
      <Charts markup={charts} id="tune-charts" />
    </div>
  );
}
