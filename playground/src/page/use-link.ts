/** The address of the page, whose fragment stores the page's state. */
import { useEffect } from "preact/hooks";
import { fragmentOf, stateOf } from "../link.js";
import type { PageState } from "../page-state.js";

const linkDelayMs = 250;

/** Fragment that the page itself wrote last: an address with this fragment changes nothing. */
let written = "";

/**
 * Writes the state to the fragment of the page's address, 250 ms after a change. When the user opens another
 * fragment, calls `follow` with the state in that fragment, or with undefined if the fragment has no state.
 */
export function useLink(state: PageState, follow: (linked: PageState | undefined) => void): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      void fragmentOf(state).then((fragment) => {
        written = `#${fragment}`;
        history.replaceState(null, "", written);
      });
    }, linkDelayMs);
    return () => {
      clearTimeout(timer);
    };
  }, [state]);

  useEffect(() => {
    const read = (): void => {
      if (location.hash === written || location.hash === "") return;
      void stateOf(location.hash.slice(1)).then(follow);
    };
    addEventListener("hashchange", read);
    return () => {
      removeEventListener("hashchange", read);
    };
  }, []);
}
