/** A schedule as the named whole numbers that other tuners call parameters. */
import type { ResolvedSchedule, SearchedEntry } from "../../../ir/index.js";

type Parameters = readonly (readonly [name: string, value: number])[];

const list = (name: string, entries: readonly number[]): Parameters =>
  entries.map((entry, k) => [`${name}_${k}`, entry]);

const byOperand = <T extends string | number>(
  name: string,
  value: T | Readonly<Record<string, T>>,
  numberOf: (own: T) => number,
): Parameters =>
  typeof value === "object"
    ? Object.entries(value).map(([operand, own]) => [`${name}_${operand}`, numberOf(own)])
    : [[name, numberOf(value)]];

/** Of the entries that a search chooses. */
export function scheduleParameters(schedule: ResolvedSchedule): Readonly<Record<string, number>> {
  const { tile, view, order, residency, buffers } = schedule;
  const parameters: Readonly<Record<SearchedEntry, Parameters>> = {
    tile: list("tile", tile),
    view: list("view", view),
    order: list("order", order),
    residency: byOperand("residency_gm", residency, (own) => (own === "gm" ? 1 : 0)),
    buffers: byOperand("buffers", buffers, Number),
  };
  return Object.fromEntries(Object.values(parameters).flat());
}
