/**
 * Style rules of the markup of timelines; apart from it, so that a page can have them before it loads charts.
 */

/** Zoom factors: factors by which the time axis is drawn wider. */
export const zooms = [1, 4, 16] as const;
/** Zoom factor: factor by which the time axis is drawn wider. */
export type Zoom = (typeof zooms)[number];

/**
 * Returns the name of a zoom: the CSS class of the charts and the id of the button that selects the charts.
 */
export const zoomName = (zoom: Zoom): string => `zoom-${zoom}`;

/** CSS rules that show the charts of the selected zoom, and highlight the bar under the pointer. */
export const timelineStyle = `.zoom { border: 1px solid var(--line); border-radius: 6px; padding: 0.25rem 0.75rem 0.5rem; display: inline-flex; gap: 1rem; }
${zooms
  .filter((zoom) => zoom !== 1)
  .map(
    (
      zoom,
    ) => `.${zoomName(zoom)}, .timeline:has(#${zoomName(zoom)}:checked) .${zoomName(1)} { display: none; }
.timeline:has(#${zoomName(zoom)}:checked) .${zoomName(zoom)} { display: block; }`,
  )
  .join("\n")}
.timeline svg rect:hover { stroke: var(--ink); stroke-width: 2px; }
`;
