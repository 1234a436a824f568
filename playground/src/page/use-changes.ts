/** Changes of the program by forms, sliders and suggestions, one at a time. */
import { useCallback, useRef } from "preact/hooks";
import type { Editor } from "../editor.js";
import { entriesOf } from "../jobs/flags.js";
import type { Change } from "../jobs/program.js";
import { errorTexts } from "./error-text.js";

/**
 * Kind of undo step that a change forms in the editor. `own`: the change is undone alone. `joined`: the
 * change is undone together with other changes in quick succession.
 */
export type Step = Parameters<Editor["setText"]>[1];

/**
 * Returns a callback that passes changes of the program to `apply`, one after the other. A waiting change is
 * dropped when a later change of the same item arrives, for example of the same schedule entry. The callback
 * resolves to an error message; empty if the change succeeded or was dropped.
 */
export function useChanges(
  apply: (change: Change, step: Step) => Promise<void>,
): (change: Change, step?: Step) => Promise<string> {
  const latest = useRef(apply);
  latest.current = apply;
  const busy = useRef(Promise.resolve());
  const waiting = useRef(new Map<string, Change>());
  return useCallback((change: Change, step: Step = "joined"): Promise<string> => {
    const slot = slotOf(change);
    waiting.current.delete(slot);
    waiting.current.set(slot, change);
    const done = busy.current.then(async () => {
      if (waiting.current.get(slot) !== change) return "";
      waiting.current.delete(slot);
      try {
        await latest.current(change, step);
        return "";
      } catch (thrown) {
        return errorTexts(thrown).join(" ");
      }
    });
    busy.current = done.then(() => undefined);
    return done;
  }, []);
}

const slotOf = (change: Change): string => {
  switch (change.kind) {
    case "schedule":
      return `schedule ${change.entries.map(({ entry }) => entry).join()}`;
    case "type":
      return `type ${change.operand}`;
    case "attr":
      return `attr ${change.key}`;
    case "operator":
      return `operator ${Object.keys(change).join()}`;
    case "oob":
    case "target":
      return change.kind;
  }
};

/**
 * Changes the target to `target` and then the schedule entries to those in `flags`, by calls of `change`. The
 * target is not changed if equal to `now`, the current target. Each call is a separate undo step of the
 * editor.
 */
export async function followFlags(
  change: (change: Change, step: Step) => Promise<string>,
  flags: string,
  target: string,
  now: string | undefined,
): Promise<void> {
  if (target !== now) await change({ kind: "target", target }, "own");
  await change({ kind: "schedule", entries: entriesOf(flags) }, "own");
}
