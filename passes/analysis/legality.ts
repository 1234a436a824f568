/**
 * Whether a schedule is legal, rule by rule, before anything is lowered: the answer names the rule, the numbers and
 * the operand at fault. Sources: hicann/pypto docs/zh/api/operation/pypto-gather.md (rules 3 to 5) for full load and
 * the budget; decisions D1, D5, D6 for what the profiles and the budget count.
 */
import { error, type Diagnostic } from "../../ir/diagnostic.js";
import { clipTile, footprint, type Footprint, type Gather } from "../../ir/footprint.js";
import type { AccessFunc } from "../../ir/func.js";
import type { ResolvedSchedule, Schedule } from "../../ir/schedule.js";
import type { Target } from "../../ir/target.js";
import { at, formatShape, formatType, type Shape } from "../../ir/types.js";

export const gatherOf = (func: AccessFunc): Gather => ({
  map: func.map,
  data: func.data.type,
  indices: func.indices.type,
  output: func.output.type,
});

/** Under `strict`, the view along a paired dim covers the longer of input and index (pypto.gather rule 3). */
export const requiredView = (func: AccessFunc, dim: number): number =>
  Math.max(at(func.data.type.shape, dim), at(func.output.type.shape, dim), 1);

/** The paired dims that this schedule's profile pins: none when the data stays in global memory. */
export const pinnedDims = (
  func: AccessFunc,
  schedule: Pick<ResolvedSchedule, "profile" | "residency">,
): Shape => (schedule.profile === "strict" && schedule.residency === "ub" ? func.paired : []);

/** What is no tile, view, order or count at all, whatever the target. */
export function checkScheduleShape(func: AccessFunc, schedule: Schedule): Diagnostic[] {
  const rank = func.output.type.shape.length;
  const out: Diagnostic[] = [];
  const span = func.opSpan;
  for (const [name, shape] of [
    ["tile", schedule.tile],
    ["view", schedule.view],
  ] as const) {
    if (shape === undefined) continue;
    if (shape.length !== rank) {
      const message = `${name} ${formatShape(shape)} has ${shape.length} entries; the output has rank ${rank}`;
      const hint = `give one entry for each dim of ${formatType(func.output.type)}`;
      out.push(error(name === "tile" ? "TC302" : "TC303", message, { span, hint, data: { [name]: shape } }));
    } else {
      const bad = shape.findIndex((entry) => !Number.isSafeInteger(entry) || entry < 1);
      if (bad !== -1) {
        const message = `${name} ${formatShape(shape)} has ${at(shape, bad)} along dim ${bad}; an entry is at least 1`;
        const fixed = shape.map((entry) => (Number.isSafeInteger(entry) && entry >= 1 ? entry : 1));
        const hint = `${name} = ${formatShape(fixed)}`;
        out.push(
          error(name === "tile" ? "TC302" : "TC303", message, {
            span,
            hint,
            data: { [name]: shape, nearest: fixed },
          }),
        );
      }
    }
  }
  const { order, cores, ubBytes } = schedule;
  if (order !== undefined) {
    const sorted = [...order].sort((a, b) => a - b);
    if (sorted.length !== rank || sorted.some((dim, k) => dim !== k)) {
      const natural = Array.from({ length: rank }, (_, d) => d);
      const message = `order ${formatShape(order)} is no permutation of the ${rank} output dims`;
      out.push(error("TC303", message, { span, hint: `order = ${formatShape(natural)}` }));
    }
  }
  if (cores !== undefined && (!Number.isSafeInteger(cores) || cores < 1)) {
    out.push(error("TC303", `cores is ${cores}; at least 1 core runs the tasks`, { span }));
  }
  if (ubBytes !== undefined && (!Number.isSafeInteger(ubBytes) || ubBytes < 0)) {
    out.push(error("TC303", `ub_bytes is ${ubBytes}; it must be a whole number of bytes`, { span }));
  }
  return out;
}

/** One rule's verdict, for `explain`. */
export interface RuleVerdict {
  readonly rule: "full-load-view" | "full-load-tile" | "full-load-data" | "residency" | "ub-budget";
  readonly pass: boolean;
  readonly detail: string;
  readonly source: string;
}

const gatherPage = "hicann/pypto docs/zh/api/operation/pypto-gather.md";

/** The full-load rule under the schedule's profile, dim by dim. */
export function fullLoadVerdicts(func: AccessFunc, schedule: ResolvedSchedule): RuleVerdict[] {
  const verdicts: RuleVerdict[] = [];
  for (const dim of pinnedDims(func, schedule)) {
    const required = requiredView(func, dim);
    const [view, tile] = [at(schedule.view, dim), at(schedule.tile, dim)];
    const [data, index] = [at(func.data.type.shape, dim), at(func.output.type.shape, dim)];
    verdicts.push(
      {
        rule: "full-load-view",
        pass: view >= required,
        detail: `view[${dim}] = ${view} ${view >= required ? ">=" : "<"} ${required} = max(input ${data}, index ${index})`,
        source: `${gatherPage} rule 3 (profile strict)`,
      },
      {
        rule: "full-load-tile",
        pass: tile === view,
        detail: `tile[${dim}] = ${tile} ${tile === view ? "=" : "differs from"} view[${dim}] = ${view}`,
        source: `${gatherPage} rule 4 (profile strict)`,
      },
    );
  }
  return verdicts;
}

export const footprintOf = (func: AccessFunc, schedule: ResolvedSchedule, target: Target): Footprint => {
  const tile = clipTile(schedule.tile, schedule.view, func.output.type.shape);
  return footprint(gatherOf(func), tile, schedule, target);
};

/** Whether the target's cores, or the operator, can read the data from global memory row by row (decision D15). */
export const gmAllowed = (func: AccessFunc, target: Target): boolean =>
  target.gmGather === "any" || func.paired.length === 0;

/** Every rule at once: what `select-tile`, `suggest` and `legal` ask of a candidate. */
export const isLegal = (func: AccessFunc, schedule: ResolvedSchedule, target: Target): boolean => {
  if (schedule.residency === "gm" && !gmAllowed(func, target)) return false;
  if (fullLoadVerdicts(func, schedule).some((verdict) => !verdict.pass)) return false;
  const { bytes, budget } = footprintOf(func, schedule, target);
  return bytes <= budget;
};
