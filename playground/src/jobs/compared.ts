/** Schedules to compare with the one shown: those that hints name, and the compiler's alternatives. */
import { printSchedule, type Func } from "../../../ir/index.js";
import { explain } from "../../../src/api/explain.js";
import { entriesOf, hintedFlags } from "./flags.js";
import type { Compared } from "./messages.js";
import { funcOf, withEntry, type Asked } from "./program.js";

/**
 * Returns the program's schedule and the legal alternatives that the compiler suggests, sorted by estimated
 * cycles in ascending order. Returns an empty list if the program is in tile IR or has an illegal schedule.
 */
export function comparedTo(asked: Asked): readonly Compared[] {
  const func = funcOf(asked);
  if (func.level === "tile") return [];
  const own = explain(func);
  if (!own.legal) return [];
  const rows = new Map<string, Compared>();
  // A schedule that several hints name is listed once, with the first reason.
  const add = (key: string, row: Omit<Compared, "entries">): void => {
    if (!rows.has(key)) rows.set(key, { ...row, entries: entriesOf(row.flags) });
  };
  add(printSchedule(own.schedule), { why: "as it is", flags: "", cycles: own.cycles });
  for (const diagnostic of own.diagnostics) {
    for (const flags of hintedFlags(diagnostic)) {
      const other = explain(withFlags(func, flags));
      if (!other.legal) continue;
      add(printSchedule(other.schedule), { why: diagnostic.message, flags, cycles: other.cycles });
    }
  }
  for (const { name, schedule, cycles, flags } of own.comparison?.alternatives ?? []) {
    // Other sizes of the unified buffer are other machines.
    if (schedule.ubBytes === own.schedule.ubBytes) add(printSchedule(schedule), { why: name, flags, cycles });
  }
  return [...rows.values()].sort((a, b) => a.cycles - b.cycles);
}

const withFlags = <F extends Func>(func: F, flags: string): F => ({
  ...func,
  schedule: entriesOf(flags).reduce(withEntry, func.schedule),
});
