/** The part of the page with the map of tile shapes. */
import { formatEntry } from "../../../ir/schedule.js";
import type { Page } from "../page/use-page.js";
import { SpaceMapView } from "./space-map.js";

/** Renders the map of the program's tile shapes. A cell that is chosen becomes the tile of the program. */
export function MapSection({ page: { judged, asked, setSchedule } }: { readonly page: Page }) {
  const used = judged?.verdict.explained?.schedule;
  return (
    <section class="right" aria-label="map">
      {judged === undefined ? null : (
        <SpaceMapView
          asked={asked}
          space={judged.space}
          tile={(judged.schedule.tile ?? used?.tile ?? []).join()}
          onCell={({ tile, residency }) => {
            const now = used?.residency === undefined ? undefined : formatEntry(used.residency);
            setSchedule([
              { entry: "tile", text: tile.join() },
              ...(now === residency ? [] : [{ entry: "residency" as const, text: residency }]),
            ]);
          }}
        />
      )}
    </section>
  );
}
