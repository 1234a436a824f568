/**
 * tilec/report: explanations as text; pass diffs, timelines and searches as self-contained pages and images.
 * Data in, a string out.
 */
export { renderExplanation, renderSummary, type RenderExplanationOptions } from "./explanation.js";
export { passPage, type PassStep } from "./pass-page.js";
export type { Timeline } from "./timeline-charts.js";
export { timelinePage } from "./timeline-page.js";
export { tunePage } from "./tune-page.js";
export { tuneSvg } from "./tune-svg.js";
