/** The part of the page with forms for the program and the schedule. */
import type { Page } from "../page/use-page.js";
import { ProgramForm } from "./program-form.js";
import { ScheduleForm } from "./schedule-form.js";
import { SizesForm } from "./sizes-form.js";

/** Renders the forms for the operator, the sizes of symbols, and the target and schedule. */
export function FormsSection({ page }: { readonly page: Page }) {
  const { judged, vocabulary, change, state, update } = page;
  return (
    <section class="forms" aria-label="program and schedule as forms">
      {judged === undefined || vocabulary === undefined ? null : (
        <>
          <ProgramForm key={judged.name} shown={judged} vocabulary={vocabulary} onChange={change} />
          <SizesForm
            symbols={judged.symbols}
            sizes={state.sizes}
            onSizes={(sizes) => {
              update({ sizes });
            }}
          />
          <ScheduleForm key={judged.name} shown={judged} vocabulary={vocabulary} onChange={change} />
        </>
      )}
    </section>
  );
}
