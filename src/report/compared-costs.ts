/** Cycles and bytes of two sides of a comparison, above their difference. */
import type { CostOrRefusal, ProgramCost } from "../api/cost-of-program.js";
import { fasterOf } from "./side-by-side.js";
import { table } from "./table.js";

/**
 * Estimated costs of a program in the two versions, A and B, that `tilec diff` compares. An entry is
 * undefined if that version lacks the program.
 */
export type Costs = readonly [a: CostOrRefusal | undefined, b: CostOrRefusal | undefined];

/** Headers of the cost columns in a table that compares two versions, A and B, of a program. */
export const costHeads = ["cycles", "bytes moved", "target"] as const;

/**
 * Returns the table cells for the cost of a program: cycles, bytes and target. The first cell has the reason
 * instead if there is no cost.
 */
export function costCells(cost: CostOrRefusal | undefined): readonly (string | number)[] {
  if (cost === undefined) return ["no such program", "", ""];
  if (cost.ok) return [cost.cycles, cost.bytes, cost.target];
  const code = cost.diagnostics.find(({ severity }) => severity === "error")?.code ?? "";
  return [`refused (${code})`, "", ""];
}

/**
 * Returns a sentence that says which of two programs, A or B, takes fewer cycles and moves fewer bytes.
 * Undefined if a program has no cost or the targets differ.
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

/**
 * Returns the costs of two versions, A and B, of a program as text: a sentence that compares the versions,
 * then one line for each. `titles`: names of A and B.
 */
export function renderCosts(name: string, titles: readonly [a: string, b: string], costs: Costs): string {
  const verdict = costVerdict(costs);
  const rows = costs.map((cost, k) => [k === 0 ? "A" : "B", ...costCells(cost), titles[k] ?? ""]);
  return [`@${name}${verdict === undefined ? "" : `: ${verdict}`}`, table(["", ...costHeads, ""], rows)].join(
    "\n",
  );
}
