/** Legal or refused, every rule with its numbers, the unified buffer by operand, and what to do instead. */
import { useRef } from "preact/hooks";
import type { ScheduleText } from "../jobs/flags.js";
import type { Suggestion, Verdict } from "../jobs/messages.js";
import { formatSizeVerdict } from "../../../ir/tiling/size-verdicts.js";
import { Diagnostics } from "./diagnostics.js";

const bytes = (value: number): string => `${value.toLocaleString("en")} B`;

interface Props {
  readonly verdict: Verdict;
  readonly onSuggestion: (entries: readonly ScheduleText[]) => void;
}

/**
 * Renders the verdict on a schedule: headline, use of the unified buffer (UB), suggested schedules, rules and
 * diagnostics.
 */
export function VerdictView({ verdict, onSuggestion }: Props) {
  const { legal, code, diagnostics, explained, suggestions } = verdict;
  const place = useRef<HTMLElement>(null);
  return (
    <section
      class={legal ? "verdict legal" : "verdict refused"}
      aria-label="verdict"
      ref={place}
      tabIndex={-1}
      data-testid="verdict"
      data-legal={String(legal)}
      data-code={code}
    >
      <p class="headline" role="status">
        <span aria-hidden="true">{legal ? "✓" : "✗"}</span> {legal ? "Legal" : "Refused"}
        {code === "" ? "" : ` (${code})`}
        {legal && explained !== undefined ? `, about ${explained.cycles.toLocaleString("en")} cycles` : ""}
        {explained?.schedule.profile === undefined && explained !== undefined
          ? ", full load is not in force"
          : ""}
        {explained?.judgedTile === undefined ? "" : `, judged as tile ${explained.judgedTile.join()}`}
      </p>
      {explained?.turned === undefined ? null : <p data-testid="turned">{explained.turned}</p>}
      {legal && explained !== undefined ? (
        <p class="figures" data-testid="standing">
          {explained.standing}. Bottleneck: {explained.bottleneck}.
        </p>
      ) : null}
      {explained === undefined ? null : <UbBar {...explained.footprint} />}
      <Suggestions
        list={suggestions}
        onSuggestion={(entries) => {
          // The button goes away with what it mends; who pressed it stays with the verdict.
          place.current?.focus();
          onSuggestion(entries);
        }}
      />
      {explained?.infeasible === undefined ? null : <p>No tile is legal: {explained.infeasible}.</p>}
      {explained === undefined ? null : (
        <details open={!legal}>
          <summary>Rules</summary>
          <ul class="rules">
            {explained.rules.map(({ rule, pass, detail, source }) => (
              <li class={pass ? "pass" : "fail"}>
                <strong>
                  {pass ? "pass" : "FAIL"} {rule}
                </strong>{" "}
                {detail}
                <div class="soft">{source}</div>
              </li>
            ))}
          </ul>
        </details>
      )}
      {explained === undefined || explained.sizes.length === 0 ? null : (
        <ul class="rules" data-testid="sizes">
          {explained.sizes.map((size) => (
            <li>{formatSizeVerdict(size)}</li>
          ))}
        </ul>
      )}
      {legal && explained !== undefined ? (
        <p class="soft">
          {bytes(explained.traffic.bytes)} of global memory, {bytes(explained.traffic.compulsory)} at least;{" "}
          {explained.traffic.tasks.toLocaleString("en")} tasks of{" "}
          {explained.traffic.tiles.toLocaleString("en")} tiles.
        </p>
      ) : null}
      <Diagnostics list={diagnostics} />
    </section>
  );
}

/** Renders a button for each suggested schedule. Renders nothing if there are no suggestions. */
function Suggestions({
  list,
  onSuggestion,
}: { readonly list: readonly Suggestion[] } & Pick<Props, "onSuggestion">) {
  if (list.length === 0) return null;
  return (
    <p class="suggestions">
      Nearest legal:{" "}
      {list.map(({ flags, entries, cycles }, k) => (
        <button
          type="button"
          data-testid={k === 0 ? "suggestion" : `suggestion-${k + 1}`}
          onClick={() => {
            onSuggestion(entries);
          }}
        >
          {flags}
          {cycles === undefined ? "" : `, about ${cycles.toLocaleString("en")} cycles`}
        </button>
      ))}
    </p>
  );
}

type Footprint = NonNullable<Verdict["explained"]>["footprint"];

/**
 * Renders a bar of the bytes that the schedule uses in the unified buffer (UB), split by operand. A line in
 * the bar marks the available bytes.
 */
function UbBar({ parts, bytes: used, budget }: Footprint) {
  const most = Math.max(used, budget, 1);
  const over = used > budget;
  const title = `${bytes(used)} of ${bytes(budget)} of unified buffer`;
  return (
    <div class="ub">
      <div
        class={over ? "ub-bar over" : "ub-bar"}
        role="img"
        aria-label={title}
        data-testid="ub-bar"
        data-bytes={used}
        data-budget={budget}
      >
        {parts.map(({ part, counted }, k) => (
          <span
            class={`part part-${k % 5}`}
            style={{ width: `${(100 * counted) / most}%` }}
            title={`${part} ${bytes(counted)}`}
          />
        ))}
        <span class="budget" style={{ left: `${(100 * budget) / most}%` }} />
      </div>
      <p class="soft">
        {parts.map(({ part, counted, buffers }, k) => (
          <span class="key">
            <span class={`swatch part-${k % 5}`} /> {part} {bytes(counted)}
            {buffers === 2 ? ", two copies" : ""}
          </span>
        ))}
        <span class="key">
          <strong>{title}</strong>
          {over ? `, ${bytes(used - budget)} too many` : ""}
        </span>
      </p>
    </div>
  );
}
