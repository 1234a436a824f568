/**
 * A slider over the entries worth trying, evenly spaced, which is about a logarithmic scale; what a rule
 * refuses is hatched.
 */
import type { Stop } from "../jobs/stops.js";

interface Props {
  readonly id: string;
  readonly label: string;
  readonly stops: readonly Stop[];
  readonly value: number;
  readonly extent: number;
  readonly disabled: boolean;
  readonly onEntry: (entry: number) => void;
}

/** Renders a slider for one dim of the tile or of the view. Ranges of illegal extents are hatched. */
export function Slider({ id, label, stops, value, extent, disabled, onEntry }: Props) {
  const last = Math.max(1, stops.length - 1);
  const at = stops.findIndex(({ entry }) => entry >= value);
  const legal = stops[at]?.legal ?? true;
  const onlyOne = stops.length < 2 ? { title: "one entry: nothing to choose" } : {};
  return (
    <label class="slider" {...onlyOne}>
      <span>{label}</span>
      <span class="track">
        <span class="ranges">
          {refusedRanges(stops).map(([from, to]) => (
            <span
              class="refused-range"
              style={{ left: percent(from / last), right: percent(1 - to / last) }}
            />
          ))}
        </span>
        <input
          type="range"
          data-testid={id}
          data-stops={stops.map(({ entry }) => entry).join()}
          data-refused={stops
            .filter((stop) => !stop.legal)
            .map(({ entry }) => entry)
            .join()}
          min={0}
          max={last}
          step={1}
          value={at}
          disabled={disabled || stops.length < 2}
          aria-valuetext={`${value} of ${extent} elements${legal ? "" : ", refused"}`}
          onInput={(event) => {
            const stop = stops[Number(event.currentTarget.value)];
            if (stop !== undefined) onEntry(stop.entry);
          }}
        />
      </span>
      <output>
        {value} / {extent}
      </output>
    </label>
  );
}

const percent = (share: number): string => `${100 * share}%`;

/**
 * Returns the ranges of 0-based slider positions in which every value is illegal. Each range is extended by
 * half a position at the ends.
 */
function refusedRanges(stops: readonly Stop[]): (readonly [from: number, to: number])[] {
  const last = stops.length - 1;
  return stops.flatMap(({ legal }, k) => {
    if (legal || stops[k - 1]?.legal === false) return [];
    const next = stops.findIndex((stop, j) => j > k && stop.legal);
    const end = next < 0 ? last : next - 0.5;
    return [[Math.max(0, k - 0.5), end] as const];
  });
}
