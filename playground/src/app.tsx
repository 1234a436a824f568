/** The page: program, tile with its verdict, and map beside one another; below, what becomes of the program. */
import type { PageState } from "./page-state.js";
import { usePage } from "./page/use-page.js";
import { VerdictRefuses } from "./view/diagnostics.js";
import { InvalidFields } from "./view/field.js";
import { FormsSection } from "./view/forms-section.js";
import { Header, Notes } from "./view/header.js";
import { MapSection } from "./view/map-section.js";
import { ProgramSection } from "./view/program-section.js";
import { ResultsSection } from "./view/results-section.js";
import { TileSection } from "./view/tile-section.js";

/**
 * Renders the playground page: editor, tile controls with the legality result, map of tiles, and result tabs.
 * `first` is the initial state of the page.
 */
export function App({ first }: { readonly first: PageState }) {
  const page = usePage(first);
  return (
    <InvalidFields.Provider value={page.setInvalid}>
      <VerdictRefuses.Provider value={page.shown?.verdict.legal === false}>
        <Header page={page} />
        <Notes page={page} />
        <main>
          <ProgramSection page={page} />
          <TileSection page={page} />
          <MapSection page={page} />
          <FormsSection page={page} />
          <ResultsSection page={page} />
        </main>
      </VerdictRefuses.Provider>
    </InvalidFields.Provider>
  );
}
