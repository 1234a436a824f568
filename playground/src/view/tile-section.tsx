/** The part of the page with the tile and the verdict on it. */
import type { Page } from "../page/use-page.js";
import { ComparedView } from "./compared.js";
import { TileSliders } from "./tile-sliders.js";
import { VerdictView } from "./verdict.js";

/** Renders the sliders of the tile, the legality result, and a table of the schedule and its alternatives. */
export function TileSection({ page }: { readonly page: Page }) {
  const { judged, waits, invalid, change, editor, setSchedule, asked, of } = page;
  return (
    <section class="middle" aria-label="tile and verdict">
      <h2>Tile, in elements</h2>
      {judged === undefined ? (
        <p role="status">Loading the compiler…</p>
      ) : (
        <>
          <TileSliders shown={judged} entry="tile" onChange={change} />
          <VerdictView
            verdict={judged.verdict}
            invalid={invalid}
            waits={waits}
            onPlace={editor.goTo}
            onSuggestion={setSchedule}
          />
          <ComparedView asked={asked} of={judged.verdict.legal && !waits ? of : ""} onChoice={setSchedule} />
        </>
      )}
    </section>
  );
}
