/** An answer of a worker for what is shown now; one that nobody waits for any more is stopped. */
import { useEffect, useState } from "preact/hooks";
import type { Diagnostic } from "../../../ir/index.js";
import { Refused, Stopped, type Client, type Progress } from "../jobs/client.js";
import type { Kind, Work } from "../jobs/messages.js";
import { messageOf } from "../../../ir/faults.js";

/**
 * State of a request to a worker: waiting, done with an answer, refused with diagnostics, or failed with an
 * error message.
 */
export type Answer<T> =
  | { readonly state: "waiting"; readonly progress?: Progress }
  | { readonly state: "done"; readonly answer: T }
  | { readonly state: "refused"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly state: "failed"; readonly message: string };

/**
 * Sends a request to a worker and returns the state of the request, with the answer when done. A new request
 * replaces the previous request when `key` changes. Nothing is sent if `ask` is undefined.
 */
export function useAnswer<K extends Kind>(
  client: Client,
  kind: K,
  ask: Work[K]["ask"] | undefined,
  key: string,
): Answer<Work[K]["answer"]> {
  const [answer, setAnswer] = useState<Answer<Work[K]["answer"]>>({ state: "waiting" });
  useEffect(() => {
    if (ask === undefined) return undefined;
    const controller = new AbortController();
    setAnswer({ state: "waiting" });
    const set = (next: Answer<Work[K]["answer"]>): void => {
      if (!controller.signal.aborted) setAnswer(next);
    };
    const options = {
      signal: controller.signal,
      onProgress: (progress: Progress) => {
        set({ state: "waiting", progress });
      },
    };
    client.call(kind, ask, options).then(
      (found) => {
        set({ state: "done", answer: found });
      },
      (thrown: unknown) => {
        set(failedAnswer(thrown));
      },
    );
    return () => {
      controller.abort();
    };
  }, [client, kind, key, ask === undefined]);
  return answer;
}

/**
 * Converts an error of a worker request to the state of the request. A {@link Refused} error gives `refused`
 * with diagnostics. Any other error gives `failed` with a message.
 */
export function failedAnswer(
  thrown: unknown,
): Exclude<Answer<never>, { readonly state: "done" | "waiting" }> {
  if (thrown instanceof Refused) return { state: "refused", diagnostics: thrown.diagnostics };
  if (thrown instanceof Stopped) return { state: "failed", message: "It was stopped." };
  const message = messageOf(thrown);
  return { state: "failed", message: `This is a bug of tilec: ${message}` };
}
