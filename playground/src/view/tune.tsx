/** A search for the best schedule, with progress and an end at any time. */
import { useState } from "preact/hooks";
import type { Objective } from "../../../src/tune/result.js";
import type { Tuned, WithInputs } from "../jobs/messages.js";
import { long } from "../workers.js";
import { Charts } from "./charts.js";
import { Choice } from "./field.js";
import { Outcome, StartStop, useJob } from "./job.js";

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

/**
 * Renders the Tune tab: controls for the objective and the number of candidates, start and stop buttons, and
 * the result of the search.
 */
export function TuneView({ asked, onUse }: Props) {
  const [objective, setObjective] = useState<Objective>("cycles");
  const [budget, setBudget] = useState(50);
  const job = useJob([asked.text, asked.func], (options) =>
    long.call("tune", { ...asked, objective, budget }, options),
  );
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
        <StartStop job={job} label="Search" ids={["tune-start", "tune-stop"]} />
      </div>
      <Outcome answer={job.answer} show={(found) => <TuneAnswer {...found} onUse={onUse} />} />
    </div>
  );
}

/**
 * Renders the result of a schedule search: summary, best schedule, charts, and a button that applies the best
 * schedule.
 */
function TuneAnswer({ result, schedule, standing, flags, onUse }: Tuned & Pick<Props, "onUse">) {
  const { verdict, complete, target } = result;
  return (
    <div data-testid="tuned">
      <p>
        {verdict}.{complete ? "" : " The search was stopped before its end."}
      </p>
      <p>
        <code>{schedule}</code>
      </p>
      <p data-testid="best-standing">{standing}.</p>
      <button
        type="button"
        data-testid="use-best"
        onClick={() => {
          onUse(flags, target.name);
        }}
      >
        Use the best
      </button>
      <Charts
        id="tune-charts"
        of={result}
        draw={async (width) => (await import("./pictures.js")).searchMarkup(result, width)}
      />
    </div>
  );
}
