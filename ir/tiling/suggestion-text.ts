/** Flags of a hint that set a schedule. */
import { formatEntry, type Schedule } from "../schedule.js";
import { scheduleEntries, wordsOf } from "../schedule-entries.js";

/** Words come first: which numbers are legal depends on them. */
const suggested = [true, false].flatMap((words) =>
  Object.values(scheduleEntries).filter((entry) => wordsOf(entry).length > 0 === words),
);

/**
 * Returns the command-line flags that change schedule `from` into schedule `to`. The flag for the tile is
 * included also if the tile is the same, unless the tile is empty.
 */
export function suggestionText(from: Schedule, to: Schedule): string {
  const flags = suggested.flatMap(({ key, flag }) => {
    const [old, entry] = [from[key], to[key]].map((value) => (value === undefined ? "" : formatEntry(value)));
    return entry === "" || (old === entry && key !== "tile") ? [] : [`--${flag} ${entry}`];
  });
  return flags.join(" ");
}
