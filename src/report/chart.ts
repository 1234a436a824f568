/** Charts as text: Observable Plot on a document of its own, so that Node and a browser draw the same. */
import type * as Plot from "@observablehq/plot";
import { drawing } from "./drawing.js";

export interface ChartOptions extends Omit<
  Plot.PlotOptions,
  "document" | "figure" | "title" | "subtitle" | "caption"
> {
  /** What the chart is, for those who do not see it. */
  readonly ariaLabel: string;
  /** Id of a pattern of lines that marks may fill with, unique on its page. */
  readonly hatch?: string;
}

const stripes = `<path d="M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" stroke="currentColor" stroke-width="1.2"></path>`;

/** An `<svg>` element. */
export function chartOf({ hatch, ...options }: ChartOptions): string {
  const { Plot, parseHTML } = drawing();
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const style = "--plot-background: var(--paper); overflow: visible;";
  const svg = Plot.plot({ style, ...options, figure: false, document });
  // Marks are named groups; a name without a role is heard nowhere.
  svg.querySelectorAll("g[aria-label]").forEach((mark) => {
    mark.setAttribute("role", "group");
  });
  if (hatch !== undefined) {
    const defs = document.createElementNS("http://www.w3.org/2000/svg", "defs");
    defs.innerHTML = `<pattern id="${hatch}" width="6" height="6" patternUnits="userSpaceOnUse">${stripes}</pattern>`;
    svg.append(defs);
  }
  return svg.outerHTML;
}

/** At most `max` of the values, evenly, for the ticks of an axis of names. */
export function ticksOf<T>(values: readonly T[], max: number): T[] {
  const step = Math.max(1, Math.ceil(values.length / max));
  return values.filter((_, k) => k % step === 0);
}

/** `1.2M`, three digits. */
export const short = "~s";

/** `0.0123`, six digits. */
export const plain = "~r";
