/** A schedule as the named whole numbers that other tuners call parameters. */
import type { ResolvedSchedule } from "../../../ir/index.js";

export function parametersOf(schedule: ResolvedSchedule): Readonly<Record<string, number>> {
  const { tile, view, order, residency, buffers } = schedule;
  const each = (name: string, entries: readonly number[]): (readonly [string, number])[] =>
    entries.map((entry, k) => [`${name}_${k}`, entry]);
  const copies: readonly (readonly [string, number])[] = Object.entries(
    typeof buffers === "object" ? buffers : { "": buffers },
  );
  return Object.fromEntries([
    ...each("tile", tile),
    ...each("view", view),
    ...each("order", order),
    ...(typeof residency === "string"
      ? [["residency_gm", residency === "gm" ? 1 : 0] as const]
      : Object.entries(residency).map(
          ([operand, own]) => [`residency_gm_${operand}`, own === "gm" ? 1 : 0] as const,
        )),
    ...copies.map(([operand, n]) => [operand === "" ? "buffers" : `buffers_${operand}`, n] as const),
  ]);
}
