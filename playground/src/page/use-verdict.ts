/** The verdict that the page shows, and the text that it is of. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Shown } from "../jobs/messages.js";
import type { PageState } from "../page-state.js";
import { quick } from "../workers.js";
import { askedOf, keyOf } from "./page-program.js";

/** Content that the page displays for a program. `of` is the key of the page state that has this program. */
interface Judged {
  /** Displayed content; absent until the compiler is loaded. */
  readonly shown?: Shown;
  /** Key of the page state that has the program. */
  readonly of: string;
}

/** The verdict on the page's program. */
export interface PageVerdict extends Judged {
  /** True once the first program was judged, or could not be. */
  readonly isJudged: boolean;
  /**
   * Waits for the promise `coming`, and then shows the content for the program of the page state with key
   * `of`. Only the latest call counts: the result or error of an earlier unfinished call is dropped.
   */
  readonly show: (of: string, coming: Promise<Shown>) => Promise<void>;
}

/**
 * Returns the verdict on the page's program, which follows the state. `onError` is called with the error of a
 * program that could not be judged.
 */
export function useVerdict(state: PageState, onError: (thrown: unknown) => void): PageVerdict {
  const [judged, setJudged] = useState<Judged>({ of: "" });
  const [isJudged, setIsJudged] = useState(false);
  const latestKey = useRef("");
  const turn = useRef(0);
  const show = async (of: string, coming: Promise<Shown>): Promise<void> => {
    latestKey.current = of;
    const mine = ++turn.current;
    try {
      const shown = await coming;
      if (mine === turn.current) setJudged({ shown, of });
    } catch (thrown) {
      if (mine === turn.current) throw thrown;
    }
  };
  useEffect(() => {
    const key = keyOf(state);
    if (latestKey.current === key) return;
    show(key, quick.call("show", askedOf(state)))
      .catch((thrown: unknown) => {
        latestKey.current = "";
        onError(thrown);
      })
      .finally(() => {
        setIsJudged(true);
      });
  }, [state.text, state.func]);
  return { ...judged, isJudged, show };
}
