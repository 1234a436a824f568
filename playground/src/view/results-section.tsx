/** The part of the page with the forms that a program takes, its timeline and its search. */
import { followFlags } from "../page/use-changes.js";
import type { Page } from "../page/use-page.js";
import { TabPanel } from "./tab-panel.js";
import { Tabs } from "./tabs.js";

/** Renders the result tabs and the panel of the chosen tab. */
export function ResultsSection({ page }: { readonly page: Page }) {
  const { state, update, judged, withInputs, change } = page;
  return (
    <section class="results" aria-label="results">
      <Tabs
        tab={state.tab}
        onTab={(tab) => {
          update({ tab });
        }}
      />
      <div
        class="panel"
        role="tabpanel"
        id="panel"
        aria-labelledby={`tab-${state.tab}`}
        data-testid={`${state.tab}-panel`}
      >
        {/* The first verdict comes first: what the tabs show takes a worker of its own. */}
        {judged === undefined ? null : (
          <TabPanel
            asked={withInputs}
            tab={state.tab}
            onUse={(flags, target) => void followFlags(change, flags, target, judged.target)}
          />
        )}
      </div>
    </section>
  );
}
