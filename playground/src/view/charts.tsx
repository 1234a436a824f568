/**
 * Markup of the reports: they escape what they hold. A chart that is wider than its place is scrolled, with
 * the keyboard too.
 */
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  readonly markup: string;
  readonly id: string;
}

/**
 * Renders charts from HTML markup. Each `figure` element can be focused, so that a wide chart scrolls with
 * the keyboard.
 */
export function Charts({ markup, id }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    for (const figure of place.current?.querySelectorAll("figure") ?? []) {
      const chart = figure.querySelector("svg");
      figure.tabIndex = 0;
      figure.setAttribute("aria-label", chart?.getAttribute("aria-label") ?? "chart");
    }
  }, [markup]);
  return <div ref={place} data-testid={id} dangerouslySetInnerHTML={{ __html: markup }} />;
}
