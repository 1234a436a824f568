/** The verdict that the page shows, and the text that it is of. */
import { useCallback, useRef } from "preact/hooks";
import type { Shown } from "../jobs/messages.js";

/** Data that the page displays for a program, and the state to which the data belong. */
export interface Judged {
  /** Absent until the compiler is loaded. */
  readonly shown?: Shown;
  /** The key of the state that it is of. */
  readonly of: string;
}

/**
 * Returns a callback that waits for the promise `coming`, and then calls `set` with the page data and `of`.
 * `of` is the key of the page state that the data belong to. If the callback is called again before `coming`
 * settles, the result or error of the earlier call is dropped.
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
