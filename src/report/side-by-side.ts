/** Two schedules of one gather as one table. */
import {
  formatRatio,
  formatShape,
  inPercent,
  printSchedule,
  rooflineTexts,
  type MachineRates,
} from "../../ir/index.js";
import type { Side } from "../explain/side-of.js";
import { table } from "./table.js";

const rows: readonly (readonly [name: string, cell: (side: Side) => string | number])[] = [
  ["cycles", ({ cycles }) => cycles],
  ["times lower bound", ({ floor }) => formatRatio(floor.ratio)],
  ["bytes moved", ({ bytes }) => bytes],
  ["tile", ({ tile }) => formatShape(tile)],
  ["tasks", ({ tasks }) => tasks],
  ["bursts", ({ bursts }) => bursts],
  ["MTE2 busy", ({ shares }) => inPercent(shares.MTE2)],
  ["V busy", ({ shares }) => inPercent(shares.V)],
  ["MTE3 busy", ({ shares }) => inPercent(shares.MTE3)],
  ["S busy", ({ shares }) => inPercent(shares.S)],
  ["global memory busy", ({ shares }) => inPercent(shares.gm)],
  ["waits, cycles", ({ waits }) => waits],
  ["cores idle in the last round", ({ idleCores }) => idleCores],
  ["UB bytes", ({ ubBytes }) => ubBytes],
  ["lowering", ({ lowering = "" }) => lowering],
];

/**
 * Column headers of the table that compares two schedules, A and B. The first column has the labels of the
 * rows.
 */
export const sideHeads = ["", "A", "B"] as const;
/**
 * Returns the rows of the table that compares two schedules: a label, the value for A and the value for B.
 */
export function sideRows([a, b]: readonly [Side, Side]): readonly (readonly [string, string, string])[] {
  const text = (cell: string | number): string =>
    typeof cell === "number" ? cell.toLocaleString("en") : cell;
  return rows.map(([label, cell]) => [label, text(cell(a)), text(cell(b))]);
}

/**
 * Returns a phrase that says which of two schedules, A or B, takes fewer cycles, and how many times as fast.
 * `a`, `b`: cycles of A and B.
 */
export function fasterOf(a: number, b: number): string {
  if (a === b) return "both take the same cycles";
  const [fast, slow, name] = a < b ? [a, b, "A"] : [b, a, "B"];
  return `${name} takes ${(slow - fast).toLocaleString("en")} cycles less: ${(slow / Math.max(1, fast)).toFixed(2)} times as fast`;
}

/**
 * Returns a text table that compares two schedules, A and B. `machine`: clock rate and bandwidth of the
 * target; undefined if the time of a cycle is unknown.
 */
export function renderSides(
  name: string,
  sides: readonly [Side, Side],
  machine: MachineRates | undefined,
): string {
  const [a, b] = sides;
  return [
    `@${name}: two schedules`,
    `A  ${printSchedule(a.schedule)}`,
    ...rooflineTexts(a, machine).map((text) => `   ${text}`),
    `B  ${printSchedule(b.schedule)}`,
    ...rooflineTexts(b, machine).map((text) => `   ${text}`),
    table(sideHeads, sideRows(sides)),
    fasterOf(a.cycles, b.cycles),
  ].join("\n");
}
