/**
 * Rule 4: the tile fits the unified buffer. Source: hicann/pypto docs/zh/api/operation/pypto-gather.md rule 5
 * and decision D6. Under the budget rule `spec` the written sum and the plan with its padding must both fit.
 */
import { gatherDims, gatheredTable } from "../../access.js";
import { withCommas } from "../../counted.js";
import { at, bytesFor } from "../../types.js";
import { sumText, ubCapacity } from "../footprint.js";
import { refusedLowering } from "../requested-lowering.js";
import type { Tiling } from "../tiling.js";
import type { Rule, RuleVerdict } from "./rule.js";

/**
 * Rule of the budget for the unified buffer (UB): the padded buffers of a tile fit the budget. A requested
 * lowering must fit the remaining bytes.
 */
export const ubBudget: Rule = {
  id: "ub-budget",
  code: "TC401",
  judge(tiling) {
    const { footprint, need, target, schedule } = tiling;
    const { bytes, planned, budget, rule } = footprint;
    const capacity = ubCapacity(tiling);
    const isTight = capacity < budget;
    const source = (): string => `target ${target.name}: ${target.sources.ubBytes.source}`;
    const compared = (sum: number, pass: boolean): string => {
      // What a kernel adds may take all that a tile below the buffer leaves.
      const relation = pass ? (isTight && sum < budget ? "<" : "<=") : isTight ? ">=" : ">";
      return `${sum} B ${relation} ${budget} B`;
    };
    const sum: RuleVerdict = {
      rule: "ub-budget",
      pass: need.bytes <= capacity,
      get detail() {
        const count = footprint.parts.length + footprint.written.length;
        const sum = compared(bytes, this.pass);
        return count === 0 ? `nothing is copied to UB: ${sum}` : `${sumText(footprint)} = ${sum}`;
      },
      get meaning() {
        return this.pass ? undefined : largestEntry(tiling);
      },
      get source() {
        return source();
      },
    };
    const { lowering: requested } = schedule;
    // The rest of UB is for what a class adds, and the class that is asked for has to find room there.
    const refused =
      requested === undefined || !sum.pass
        ? undefined
        : refusedLowering(tiling.lowering, requested, target, tiling.residency !== "gm");
    const capacityVerdicts: RuleVerdict[] =
      refused?.room === true
        ? [
            {
              rule: "lowering-room",
              pass: false,
              detail: `lowering ${String(requested)} ${refused.reason}`,
              get source() {
                return source();
              },
            },
          ]
        : [];
    if (rule === "full") return [sum, ...capacityVerdicts];
    const plan: RuleVerdict = {
      rule: "ub-plan",
      pass: need.planned <= capacity,
      get detail() {
        return `with padding and second buffers ${compared(planned, this.pass)}`;
      },
      get meaning() {
        return this.pass ? undefined : largestEntry(tiling);
      },
      get source() {
        return source();
      },
    };
    return [sum, plan, ...capacityVerdicts];
  },
};

/**
 * Returns a text on the part of the footprint that takes the most bytes of the unified buffer (UB). For data
 * that is loaded whole along gather dims, the text names these dims; for all other parts, the bytes.
 * Undefined if nothing takes UB.
 */
function largestEntry({ gather, footprint, scatter, operands }: Tiling): string | undefined {
  const [largest] = [...footprint.parts, ...footprint.written].sort((a, b) => b.counted - a.counted);
  if (largest === undefined) return undefined;
  const { part, use, tile, dtype, bytes, padded, rowBytes, counted } = largest;
  const row = bytesFor(tile.at(-1) ?? 1, dtype);
  const padding = padded > bytes && rowBytes > row ? `, rows of ${row} B padded to ${rowBytes} B` : "";
  const isData = scatter === undefined && typeof use === "object" && use.operand === gatheredTable;
  const { shape } = at(gather.operands, gatheredTable).type;
  const loaded = isData
    ? gatherDims(gather.map).filter((dim) => at(at(operands, gatheredTable).tile, dim) === at(shape, dim))
    : [];
  if (loaded.length === 0)
    return `${part} takes ${withCommas(counted)} B, more than any other part${padding}`;
  const dims = `gather ${loaded.length === 1 ? "dim" : "dims"} ${loaded.join(", ")} of ${part}`;
  const extents = loaded.map((dim) => withCommas(at(shape, dim))).join(" x ");
  return `${dims} ${loaded.length === 1 ? "is" : "are"} loaded whole: ${extents} elements${padding}`;
}
