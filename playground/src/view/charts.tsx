/**
 * Markup of the reports: they escape what they hold. A chart that is wider than its place is scrolled, with
 * the keyboard too.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useWidth } from "./use-width.js";

interface Props {
  readonly id: string;
  /** Draws the charts as markup, for a place of so many CSS pixels. */
  readonly draw: (width: number) => Promise<string>;
  /** Everything that the charts depend on. */
  readonly of: unknown;
}

/**
 * Renders charts as wide as their column. `draw` returns the markup for a width in CSS pixels; it is called
 * again when the width or the charted data (`of`) changes.
 */
export function Charts({ id, draw, of }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const [markup, setMarkup] = useState("");
  useLayoutEffect(() => {
    if (width === 0) return undefined;
    let current = true;
    void draw(width).then((drawn) => {
      if (current) setMarkup(drawn);
    });
    return () => {
      current = false;
    };
  }, [of, width]);
  useLayoutEffect(() => {
    for (const figure of place.current?.querySelectorAll("figure") ?? []) {
      const chart = figure.querySelector("svg");
      figure.tabIndex = 0;
      figure.setAttribute("aria-label", chart?.getAttribute("aria-label") ?? "chart");
    }
  }, [markup]);
  return <div ref={place} data-testid={id} dangerouslySetInnerHTML={{ __html: markup }} />;
}
