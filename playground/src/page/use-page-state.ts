/** The part of the page's state that a link stores. */
import { useCallback, useRef, useState } from "preact/hooks";
import type { PageState } from "../page-state.js";

/** Current state of the page, with functions that read and change the state. */
export interface HeldState {
  /** State that the page shows. */
  readonly state: PageState;
  /** Returns the state with all changes so far, even those that the page does not show yet. */
  readonly latest: () => PageState;
  readonly replace: (next: PageState) => void;
  readonly update: (change: Partial<PageState>) => void;
}

/** Returns the state of the page, initially `first`, with functions that read and change the state. */
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
