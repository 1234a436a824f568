/** Cycles and bytes of two sides of a comparison, above their difference. */
import type { CostOrRefusal, ProgramCost } from "../api/cost-of-program.js";
import { fasterOf } from "./side-by-side.js";
import { table } from "./table.js";

/** Costs of a program on the two sides of a comparison; undefined for a side without the program. */
export type Costs = readonly [a: CostOrRefusal | undefined, b: CostOrRefusal | undefined];

/** Column headers of the cost comparison between two sides, without the header of the first column. */
export const costHeads = ["cycles", "bytes moved", "target"] as const;

/**
 * Returns the cost cells of one side of a comparison: cycles, bytes and target, or the reason why there is no
 * cost.
 */
export function costCells(cost: CostOrRefusal | undefined): readonly (string | number)[] {
  if (cost === undefined) return ["no such program", "", ""];
  if (cost.ok) return [cost.cycles, cost.bytes, cost.target];
  const code = cost.diagnostics.find(({ severity }) => severity === "error")?.code ?? "";
  return [`refused (${code})`, "", ""];
}

/**
 * Returns a sentence that says which of two sides takes fewer cycles and moves fewer bytes. Undefined if a
 * side has no cost or the targets differ.
 */
export function costVerdict([a, b]: Costs): string | undefined {
  if (a?.ok !== true || b?.ok !== true || a.target !== b.target) return undefined;
  return `${fasterOf(a.cycles, b.cycles)}; ${fewerBytes(a, b)}`;
}

function fewerBytes(a: ProgramCost, b: ProgramCost): string {
  if (a.bytes === b.bytes) return "both move the same bytes";
  const [name, fewer] = a.bytes < b.bytes ? ["A", b.bytes - a.bytes] : ["B", a.bytes - b.bytes];
  return `${name} moves ${fewer.toLocaleString("en")} B less`;
}

/** Returns the costs of two sides as text: a sentence that compares the sides, then one line per side. */
export function renderCosts(name: string, titles: readonly [a: string, b: string], costs: Costs): string {
  const verdict = costVerdict(costs);
  const rows = costs.map((cost, k) => [k === 0 ? "A" : "B", ...costCells(cost), titles[k] ?? ""]);
  return [`@${name}${verdict === undefined ? "" : `: ${verdict}`}`, table(["", ...costHeads, ""], rows)].join(
    "\n",
  );
}
