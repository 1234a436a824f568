import type { Diagnostic } from "../../../ir/diagnostic.js";
import type { Schedule } from "../../../ir/schedule.js";
import { scheduleEntries } from "../../../ir/schedule-entries.js";

/** An entry of a schedule as text. */
export interface ScheduleText {
  readonly entry: keyof Schedule;
  /** As the flag takes it; empty: the entry goes. */
  readonly text: string;
}

/** Flags, such as a hint gives, as entries of a schedule. Other flags are left out. */
export const entriesOf = (flags: string): ScheduleText[] =>
  [...flags.matchAll(/--([a-z-]+) (\S+)/g)].flatMap(([, flag, text = ""]) =>
    Object.values(scheduleEntries).flatMap((entry) =>
      entry.flag === flag ? [{ entry: entry.key, text }] : [],
    ),
  );

/** The schedules that a hint names, as flags. Empty for any other diagnostic, and for a hint with text beside the flags. */
export function hintedFlags({ severity, hint = "" }: Diagnostic): readonly string[] {
  const all = hint.split(" or ");
  const named =
    severity === "hint" &&
    all.every((flags) => /^(--[a-z-]+ \S+ ?)+$/.test(flags) && entriesOf(flags).length > 0);
  return named ? all : [];
}
