/** A slider for each dim of a tile or a view. */
import type { Schedule } from "../../../ir/schedule.js";
import type { Shown } from "../jobs/messages.js";
import type { Change } from "../jobs/program.js";
import { Slider } from "./slider.js";

interface Props {
  readonly shown: Shown;
  readonly entry: "tile" | "view";
  readonly onChange: (change: Change) => Promise<string>;
}

/**
 * True if a program has a schedule that the page can change, that is, the program is valid and not in tile
 * IR.
 */
export const isSchedulable = ({ level }: Shown): boolean => level !== undefined && level !== "tile";

/** Renders the sliders of the tile or of the view, as `entry` says: one slider for each dim that they cut. */
export function TileSliders({ shown, entry, onChange }: Props) {
  const { schedule, extents, verdict, stops } = shown;
  const chosen: Partial<Pick<Schedule, "tile" | "view">> = verdict.explained?.schedule ?? {};
  const entries = schedule[entry] ?? chosen[entry] ?? extents;
  return (
    <div class="sliders">
      {extents.map((extent, d) => {
        const value = Math.min(entries[d] ?? extent, Math.max(1, extent));
        return (
          <Slider
            key={`${entry}-${d}`}
            id={`${entry}-${d}`}
            label={`${entry} dim ${d}`}
            stops={stops?.[entry][d] ?? [{ entry: value, legal: true }]}
            value={value}
            extent={extent}
            disabled={!isSchedulable(shown)}
            onEntry={(moved) => {
              const text = extents.map((size, k) => (k === d ? moved : (entries[k] ?? size))).join();
              void onChange({ kind: "schedule", entries: [{ entry, text }] });
            }}
          />
        );
      })}
    </div>
  );
}
