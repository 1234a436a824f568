import { render } from "preact";
import { themes } from "../../src/report/page.js";
import { passStyle } from "../../src/report/pass-style.js";
import { timelineStyle } from "../../src/report/timeline-style.js";
import { App } from "./app.js";
import { firstText } from "./gallery.js";
import { stateOf } from "./link.js";
import { emptyState, type PageState } from "./page-state.js";

const style = document.createElement("style");
style.textContent = themes + passStyle + timelineStyle;
document.head.prepend(style);

/** The state in the link; without one, an embedding, whose tile size is a trade-off. */
async function firstState(): Promise<PageState> {
  const linked = await stateOf(location.hash.slice(1));
  return linked ?? { ...emptyState, text: firstText };
}

const root = document.getElementById("page");
if (root !== null) render(<App first={await firstState()} />, root);
