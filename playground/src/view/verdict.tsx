/** The one place for a verdict and its errors: every rule with its numbers, UB by operand, what to do instead. */
import { useRef } from "preact/hooks";
import type { ScheduleText } from "../jobs/flags.js";
import type { Suggestion, Verdict } from "../jobs/messages.js";
import type { Diagnostic } from "../../../ir/index.js";
import type { Span } from "../../../ir/shape.js";
import { formatSizeVerdict } from "../../../ir/tiling/size-verdicts.js";
import { Diagnostics } from "./diagnostics.js";

const bytes = (value: number): string => `${value.toLocaleString("en")} B`;

interface Props {
  readonly verdict: Verdict;
  /**
   * Labels of form fields with a text that cannot be parsed. The verdict is then on the program before that
   * edit.
   */
  readonly invalid: readonly string[];
  /** True while the verdict on a newer text is awaited. */
  readonly waits: boolean;
  readonly onPlace: (span: Span) => void;
  readonly onSuggestion: (entries: readonly ScheduleText[]) => void;
}

const signs = { legal: "✓", refused: "✗", stale: "?" } as const;

/**
 * Renders the legality result of a schedule: headline, errors, use of the unified buffer, suggestions, rules
 * and warnings. `invalid` has the labels of form fields with invalid text; the result is then grey and
 * outdated.
 */
export function VerdictView({ verdict, invalid, waits, onPlace, onSuggestion }: Props) {
  const { legal, headline, code, diagnostics, explained, suggestions } = verdict;
  const place = useRef<HTMLElement>(null);
  const state = invalid.length > 0 ? "stale" : legal ? "legal" : "refused";
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const others = diagnostics.filter(({ severity }) => severity !== "error");
  return (
    <section
      class={`verdict ${state}`}
      aria-label="verdict"
      aria-busy={waits}
      ref={place}
      tabIndex={-1}
      data-testid="verdict"
      data-legal={String(legal)}
      data-stale={String(state === "stale")}
      data-code={code}
    >
      <p class="headline" role="status">
        <span aria-hidden="true">{signs[state]}</span>{" "}
        {state === "stale" ? `Not judged: correct the field ${invalid.join(", ")}` : headline}
      </p>
      {state === "stale" ? <p data-testid="stale">Of the program before: {headline.toLowerCase()}.</p> : null}
      {explained?.schedule.profile === undefined && explained !== undefined ? (
        <p class="soft">Full load is not in force: rows come from global memory.</p>
      ) : null}
      {explained?.judgedTile === undefined ? null : <p>Judged as tile {explained.judgedTile.join()}.</p>}
      {explained?.turned === undefined ? null : <p data-testid="turned">{explained.turned}</p>}
      {legal && explained !== undefined ? (
        <p class="figures" data-testid="standing">
          {explained.standing}. Bottleneck: {explained.bottleneck}.
        </p>
      ) : null}
      {errors.length === 0 ? null : (
        <div data-testid="problems">
          {/* What to do instead is a button below; the operands are in the bar and its key. */}
          <Diagnostics list={explained === undefined ? errors : errors.map(inBrief)} onPlace={onPlace} />
        </div>
      )}
      {explained === undefined ? null : <UbBar {...explained.footprint} />}
      <Suggestions
        list={suggestions}
        onSuggestion={(entries) => {
          // The button goes away with what it mends; who pressed it stays with the verdict.
          place.current?.focus();
          onSuggestion(entries);
        }}
      />
      {explained === undefined ? null : <Rules {...explained} />}
      {explained === undefined || explained.sizes.length === 0 ? null : (
        <ul class="rules" data-testid="sizes">
          {explained.sizes.map((size) => (
            <li>{formatSizeVerdict(size)}</li>
          ))}
        </ul>
      )}
      {others.length === 0 ? null : <Diagnostics list={others} onPlace={onPlace} />}
    </section>
  );
}

/** Returns an error without what the verdict shows beside it: the notes, and the hint that is a button. */
const inBrief = ({ notes: _, hint: __, ...error }: Diagnostic): Diagnostic => error;

/** Renders the rules with numbers and sources, and the memory traffic, in a section that can be expanded. */
function Rules({ rules, traffic, infeasible }: NonNullable<Verdict["explained"]>) {
  const broken = rules.filter(({ pass }) => !pass).length;
  return (
    <details>
      <summary>
        {rules.length - broken} rules pass{broken === 0 ? "" : `, ${broken} refuse`}; bytes moved
      </summary>
      {infeasible === undefined ? null : <p>No tile is legal: {infeasible}.</p>}
      <ul class="rules">
        {rules.map(({ rule, pass, detail, source }) => (
          <li class={pass ? "pass" : "fail"}>
            <strong>
              {pass ? "pass" : "FAIL"} {rule}
            </strong>{" "}
            {detail}
            <div class="soft">{source}</div>
          </li>
        ))}
      </ul>
      <p class="soft">
        {bytes(traffic.bytes)} of global memory, {bytes(traffic.compulsory)} at least;{" "}
        {traffic.tasks.toLocaleString("en")} tasks of {traffic.tiles.toLocaleString("en")} tiles.
      </p>
    </details>
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
 * Renders a bar of the bytes that the schedule uses in the unified buffer (UB), split by operand, with a line
 * at the available bytes.
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
        </span>
      </p>
    </div>
  );
}
