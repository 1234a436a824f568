/** The part of the page's state that a link stores. */
import { useCallback, useRef, useState } from "preact/hooks";
import type { PageState } from "../page-state.js";

/** Current state of the page, and functions that change it. */
export interface HeldState {
  /** State that is drawn. */
  readonly state: PageState;
  /** Returns the state after all changes so far, of which the latest may not be drawn yet. */
  readonly latest: () => PageState;
  readonly replace: (next: PageState) => void;
  readonly update: (change: Partial<PageState>) => void;
}

/** Returns the state of the page, which begins as `first`, and functions that change it. */
export function usePageState(first: PageState): HeldState {
  const [state, setState] = useState(first);
  const held = useRef(first);
  const replace = useCallback((next: PageState): void => {
    held.current = next;
    setState(next);
  }, []);
  const latest = useCallback(() => held.current, []);
  const update = useCallback((change: Partial<PageState>): void => {
    replace({ ...held.current, ...change });
  }, []);
  return { state, latest, replace, update };
}
