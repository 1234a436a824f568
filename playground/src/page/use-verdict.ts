/** The verdict that the page shows, and the text that it is of. */
import { useCallback, useRef } from "preact/hooks";
import type { Shown } from "../jobs/messages.js";

/** Content that the page displays for a program. `of` is the key of the page state that has this program. */
export interface Judged {
  /** Displayed content; absent until the compiler is loaded. */
  readonly shown?: Shown;
  /** Key of the page state that has the program. */
  readonly of: string;
}

/**
 * Returns a callback that waits for the promise `coming` and then calls `set` with the displayed content and
 * `of`, the key of the page state. Only the latest call counts: the result or error of an earlier unfinished
 * call is dropped.
 */
export function useVerdict(
  set: (judged: Judged) => void,
): (of: string, coming: Promise<Shown>) => Promise<void> {
  const turn = useRef(0);
  return useCallback(async (of: string, coming: Promise<Shown>): Promise<void> => {
    const mine = ++turn.current;
    try {
      const shown = await coming;
      if (mine === turn.current) set({ shown, of });
    } catch (thrown) {
      if (mine === turn.current) throw thrown;
    }
  }, []);
}
