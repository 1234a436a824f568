/** tilec/report: explanations as text, pass diffs and timelines as self-contained pages. Data in, a string out. */
export { renderExplanation } from "./explanation.js";
export { passPage, type PassStep } from "./pass-page.js";
export { timelinePage } from "./timeline-page.js";
