/** Charts as text: Observable Plot on a document of its own, so that Node and a browser draw the same. */
import type * as Plot from "@observablehq/plot";
import { drawing } from "./drawing.js";

/**
 * Options of a chart: the options of Observable Plot, an accessible label, and the id of an optional hatch
 * pattern.
 */
export interface ChartOptions extends Omit<
  Plot.PlotOptions,
  "document" | "figure" | "title" | "subtitle" | "caption"
> {
  /** Description of the chart for people who do not see it. */
  readonly ariaLabel: string;
  /** Id of a pattern of lines that marks may fill with, unique on its page. */
  readonly hatch?: string;
}

const stripes = `<path d="M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" stroke="currentColor" stroke-width="1.2"></path>`;

/**
 * Returns a chart as the markup of an `<svg>` element. Throws a CompileError (TC703) if the libraries that
 * draw charts are not installed.
 */
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

/**
 * Returns at most `max` of the values, evenly spaced by position in the list, as ticks for an axis of
 * categories.
 */
export function ticksOf<T>(values: readonly T[], max: number): T[] {
  const step = Math.max(1, Math.ceil(values.length / max));
  return values.filter((_, k) => k % step === 0);
}

/** Number format of charts (d3-format) with an SI suffix and no trailing zeros, for example `1.2M`. */
export const short = "~s";

/** Returns a number of a linear axis in short: `50`, `1.25k`, `2M`. */
export function shortTick(value: number): string {
  const [size, suffix] = value < 1000 ? [1, ""] : value < 1_000_000 ? [1000, "k"] : [1_000_000, "M"];
  return `${Number((value / size).toPrecision(6))}${suffix}`;
}

/** Number format of charts (d3-format) in decimal notation without trailing zeros, for example `0.0123`. */
export const plain = "~r";
