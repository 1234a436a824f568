/** The flags of a schedule, as hints name them. */
import { scheduleEntries, type Schedule } from "../../ir/index.js";
import { parseEntry } from "../../src/cli/flag-values.js";

/** Returns the entries of flags as they are printed: all with a value. */
export function scheduleIn(text: string): Schedule {
  const words = text.trim().split(" ");
  const entries = words.flatMap((flag, k): [string, unknown][] => {
    if (k % 2 === 1) return [];
    const value = words[k + 1] ?? "";
    const entry = Object.values(scheduleEntries).find((known) => `--${known.flag}` === flag);
    if (entry === undefined) throw new Error(`${flag} of ${text}`);
    return [[entry.key, parseEntry(entry.key, value)]];
  });
  return Object.fromEntries(entries);
}
