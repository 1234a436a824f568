/**
 * Rule 3, full load: the gather dim of the input is never split. Source: hicann/pypto
 * docs/zh/api/operation/pypto-gather.md rules 3 and 4, read as the schedule's profile says (decisions D1 and D5).
 */
import { gatheredTable, gatherDims } from "../../access.js";
import { inputOf, outputOf, type AccessFunc } from "../../func.js";
import type { ResolvedSchedule } from "../../schedule.js";
import { at, invariant, type Shape } from "../../types.js";
import { exactWidthOf, type ExactWidth } from "../../values/exact-width.js";
import { reductionsIn } from "../../values/expression.js";
import { dataResidency } from "../residency.js";
import type { Tiling } from "../tiling.js";
import type { Rule, RuleVerdict } from "./rule.js";

const page = "hicann/pypto docs/zh/api/operation/pypto-gather.md";

/** Under `strict`, the view along a paired dim covers the longer of input and index (rule 3). */
export const requiredView = (gather: AccessFunc, dim: number): number =>
  Math.max(at(inputOf(gather, gatheredTable).type.shape, dim), at(outputOf(gather).type.shape, dim), 1);

/** The paired dims that a profile pins: none when the data stays in global memory. */
export const pinnedDims = (
  gather: AccessFunc,
  { profile, residency }: Pick<ResolvedSchedule, "profile" | "residency">,
): Shape => (profile === "strict" && dataResidency(gather, { residency }) === "ub" ? gather.paired : []);

/** Dims of the output that no profile pins: a tile may cut them anywhere. */
export function freeDims({
  gather,
  schedule,
  extents,
}: Pick<Tiling, "gather" | "schedule" | "extents">): Shape {
  const pins = pinnedDims(gather, schedule);
  return extents.map((_, d) => d).filter((d) => !pins.includes(d));
}

export const fullLoad: Rule = {
  id: "full-load",
  code: "TC301",
  judge: (tiling) => [
    ...(tiling.residency === "gm" ? [] : [...wholeDims(tiling), ...pinned(tiling)]),
    ...termsInOrder(tiling),
  ],
};

/** The terms of an element are taken in by one task, in order: no schedule parts them among tasks. */
function termsInOrder({ gather, terms }: Tiling): RuleVerdict[] {
  const { reduced } = gather.map;
  if (reduced === undefined) return [];
  const parts = Math.ceil(reduced.most / terms);
  return [
    {
      rule: "reduced",
      pass: true,
      detail:
        parts === 1
          ? `tile[r] = ${terms} = all terms: one part`
          : `tile[r] = ${terms}: carried by a serial loop, ${parts} parts`,
      source: "docs/values.md: terms",
    },
    ...widthOfSum(gather, reduced.most),
  ];
}

/** The proof that the counter of an exact sum holds it, whatever the tile. The verifier has refused wider ones (B7). */
function widthOfSum(gather: AccessFunc, terms: number): RuleVerdict[] {
  const { value, reads } = gather.map;
  if (!reductionsIn(value).some(({ how }) => how === "exact")) return [];
  const types = reads.map(({ table }) => inputOf(gather, table).type.dtype);
  let proved: ExactWidth | undefined;
  const width = (): ExactWidth => {
    const found = exactWidthOf(value, types, terms);
    invariant(found?.ok === true, "an exact sum has a width");
    return (proved ??= found.width);
  };
  return [
    {
      rule: "exact-width",
      pass: true,
      get detail() {
        const { unit, termBits, mostTerms, neededBits, availableBits } = width();
        return (
          `a term takes ${termBits} bits in units of 2^${unit}; ${terms} terms take ${neededBits} ` +
          `of ${availableBits} bits; at most ${mostTerms} terms fit`
        );
      },
      source: "docs/values.md: terms (B7)",
      get width() {
        return width();
      },
    },
  ];
}

/** What the data tile holds along each gather dim. */
function wholeDims({ gather, schedule, operands }: Tiling): RuleVerdict[] {
  const { shape } = inputOf(gather, gatheredTable).type;
  const { tile } = at(operands, gatheredTable);
  const pins = pinnedDims(gather, schedule);
  return gatherDims(gather.map).map((dim) => ({
    rule: "full-load-data",
    pass: at(tile, dim) === at(shape, dim),
    get detail() {
      const view = pins.includes(dim) ? `, view at least ${requiredView(gather, dim)}` : "";
      return `gather dim ${dim} is loaded whole: ${at(tile, dim)} elements${view}`;
    },
    source: `${page} rule 3`,
  }));
}

function pinned({ gather, schedule }: Tiling): RuleVerdict[] {
  return pinnedDims(gather, schedule).flatMap((dim): RuleVerdict[] => {
    const required = requiredView(gather, dim);
    const [view, tile] = [at(schedule.view, dim), at(schedule.tile, dim)];
    return [
      {
        rule: "full-load-view",
        pass: view >= required,
        get detail() {
          const data = at(inputOf(gather, gatheredTable).type.shape, dim);
          const index = at(outputOf(gather).type.shape, dim);
          return `view[${dim}] = ${view} ${view >= required ? ">=" : "<"} ${required} = max(input ${data}, index ${index})`;
        },
        source: `${page} rule 3 (profile strict)`,
      },
      {
        rule: "full-load-tile",
        pass: tile === view,
        get detail() {
          return `tile[${dim}] = ${tile} ${tile === view ? "=" : "differs from"} view[${dim}] = ${view}`;
        },
        source: `${page} rule 4 (profile strict)`,
      },
    ];
  });
}
