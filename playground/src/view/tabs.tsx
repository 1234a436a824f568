/** The tab bar of the results. */
import { tabs, type Tab } from "../page-state.js";
import { tabTitles } from "./tab-panel.js";

interface Props {
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
}

/** Renders the tab bar of the results. The left and right arrow keys select the previous and the next tab. */
export function Tabs({ tab, onTab }: Props) {
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="what becomes of the program" onKeyDown={move}>
      {tabs.map((name) => (
        <button
          type="button"
          role="tab"
          id={`tab-${name}`}
          data-testid={name}
          aria-selected={name === tab}
          aria-controls="panel"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => {
            onTab(name);
          }}
        >
          {tabTitles[name]}
        </button>
      ))}
    </div>
  );
}
