import type { Diagnostic } from "../../../ir/diagnostic.js";
import type { Schedule } from "../../../ir/schedule.js";
import { scheduleEntries } from "../../../ir/schedule-entries.js";

/**
 * Schedule entry as text: the key of the entry, and the value in the syntax of command-line flags. An empty
 * value removes the entry.
 */
export interface ScheduleText {
  readonly entry: keyof Schedule;
  /** Value in the syntax of the entry's flag; empty to remove the entry. */
  readonly text: string;
}

/**
 * Parses schedule flags, for example `--tile 8,128`, into schedule entries. Flags that do not set a schedule
 * entry are ignored.
 */
export const entriesOf = (flags: string): ScheduleText[] =>
  [...flags.matchAll(/--([a-z-]+) (\S+)/g)].flatMap(([, flag, text = ""]) =>
    Object.values(scheduleEntries).flatMap((entry) =>
      entry.flag === flag ? [{ entry: entry.key, text }] : [],
    ),
  );

/**
 * Returns the schedules that a diagnostic of severity `hint` suggests, each as flags such as `--tile 8,128`.
 * Returns an empty list for another severity, or if the suggestion has any text besides schedule flags.
 */
export function hintedFlags({ severity, hint = "" }: Diagnostic): readonly string[] {
  const all = hint.split(" or ");
  const named =
    severity === "hint" &&
    all.every((flags) => /^(--[a-z-]+ \S+ ?)+$/.test(flags) && entriesOf(flags).length > 0);
  return named ? all : [];
}
