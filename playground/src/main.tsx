import { render } from "preact";
import { themes } from "../../src/report/page.js";
import { passStyle } from "../../src/report/pass-page.js";
import { App } from "./app.js";
import { gallery } from "./gallery.js";
import { stateOf } from "./link.js";
import { emptyState, type PageState } from "./page-state.js";

const style = document.createElement("style");
style.textContent = themes + passStyle;
document.head.prepend(style);

/** What a link says; without one, the example that shows a full load. */
async function firstState(): Promise<PageState> {
  const linked = await stateOf(location.hash.slice(1));
  if (linked !== undefined) return linked;
  const example = gallery.find(({ id }) => id === "sort");
  return { ...emptyState, text: example !== undefined && "text" in example ? example.text : "" };
}

const root = document.getElementById("page");
if (root !== null) render(<App first={await firstState()} />, root);
