/**
 * Rule 2: the data may stay in global memory where the machine can fetch what an index names (decision D15),
 * and an index table where single elements of it can be read: on an Ascend core by the scalar unit.
 */
import { isScatter } from "../../access.js";
import { inputsOf, keyOf, type AccessFunc } from "../../func.js";
import { targetFacts, type Target } from "../../target.js";
import { refusedLowering } from "../requested-lowering.js";
import { movableTables, residencyOf } from "../residency.js";
import type { Tiling } from "../tiling.js";
import type { Rule, RuleVerdict } from "./rule.js";
import { storeResidency } from "./store.js";

/**
 * True if the data may stay in global memory. True for scatters, gathers of whole rows, and targets that read
 * single elements from global memory.
 */
export const gmAllowed = (gather: AccessFunc, target: Target): boolean =>
  isScatter(gather.map) || target.gmGather === "any" || gather.sharedDims.length === 0;

/** Citation of what no page of a framework has (decision D15). */
const ours = "docs/tiling-rules.md: residency";
/** Citation of rows that are fetched from global memory. */
const rows =
  "hicann/pypto docs/zh/api/operation/pypto-index_select.md at 883e7df (2026-08-22), rules 3 and 5";
/** The same of PyPTO's gather through a table of pages. */
const pagedRows =
  "hicann/pypto docs/zh/api/operation/pypto-experimental-gather_in_ub.md at 883e7df (2026-08-22)";

/**
 * Rule of residency (memory in which an operand is kept): the target supports the memories and the lowering
 * that the schedule requests.
 */
export const residency: Rule = {
  id: "residency",
  code: "TC403",
  judge: (tiling) => [
    ...(tiling.scatter === undefined ? ofData(tiling) : storeResidency(tiling.scatter)),
    ...ofTables(tiling),
    ...ofLowering(tiling),
  ],
};

/**
 * Returns a list with the pass or fail result for the lowering class (kind of instruction sequence) that the
 * schedule requests. The list is empty without a requested lowering.
 */
function ofLowering(tiling: Tiling): RuleVerdict[] {
  const { target, residency: taken, schedule } = tiling;
  const { lowering: requested } = schedule;
  if (requested === undefined) return [];
  if (tiling.scatter !== undefined) {
    const detail = `lowering ${requested} applies to gathers only, and this is a scatter`;
    return [{ rule: "lowering", pass: false, detail, source: ours }];
  }
  // Derived for those alone who ask: a search judges many more tiles than it weighs.
  const refused = refusedLowering(tiling.lowering, requested, target, taken !== "gm");
  const pass = refused === undefined || refused.room;
  return [
    {
      rule: "lowering",
      pass,
      detail: pass ? `${requested} gathers it` : `lowering ${requested} does not apply: ${refused.reason}`,
      source: "docs/pto.md: what a gather becomes",
    },
  ];
}

/**
 * Returns a list with the pass or fail result for data that stays in global memory. The list is empty for
 * data in the unified buffer (UB).
 */
function ofData({ gather, residency: taken, target }: Tiling): RuleVerdict[] {
  if (taken === "ub") return [];
  const verdict = { rule: "residency", pass: gmAllowed(gather, target) };
  if (!verdict.pass) {
    const detail = "residency gm fetches whole rows, and an index of this gather selects one element";
    return [{ ...verdict, detail, source: rows }];
  }
  // No page has elements that are read where they lie: machines that gather in place do so.
  if (gather.sharedDims.length > 0)
    return [{ ...verdict, detail: `target ${target.name} reads elements in global memory`, source: ours }];
  const source = gather.framework !== undefined && inputsOf(gather).length > 2 ? pagedRows : rows;
  return [{ ...verdict, detail: "rows are fetched from global memory", source }];
}

/**
 * Returns a result for each index tensor whose memory in the schedule differs from the target's default; an
 * empty list if none differs. The result passes if {@link movableTables} allows the memory.
 */
function ofTables({ gather, schedule, target }: Tiling): RuleVerdict[] {
  // Words say nothing of tables.
  if (typeof schedule.residency === "string") return [];
  const movable = movableTables(gather, target);
  const { gathersInPlace } = targetFacts[target.kind];
  const home = gathersInPlace ? "gm" : "ub";
  return gather.operands.flatMap((operand): RuleVerdict[] => {
    const residency = residencyOf(operand, schedule.residency, target);
    if (operand.role !== "indices" || residency === home) return [];
    const key = keyOf(operand);
    const pass = movable.includes(operand);
    const why = gathersInPlace
      ? `target ${target.name} reads index tables where they lie, in global memory`
      : `${key} moves with the tile: only a table that index values look up is read element by element`;
    return [
      {
        rule: "residency-table",
        pass,
        detail: pass
          ? `${key} is read in global memory, element by element`
          : `${key} = ${residency}: ${why}`,
        source: ours,
      },
    ];
  });
}
