/** Width of a place on the page, for charts that are drawn as wide as it. */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/**
 * Widths are taken in steps of this many pixels, so that a scroll bar that comes and goes draws nothing anew.
 */
const step = 20;

/**
 * Returns the width of an element in CSS pixels, rounded down to a multiple of 20; 0 until the element is
 * laid out.
 */
export function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      setWidth(Math.floor(element.clientWidth / step) * step);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, []);
  return width;
}
