/**
 * Rule 3, full load: the gather dim of the input is never split. What else is pinned along it, and where that
 * stands, is the profile's to say (ir/profile.ts; decisions D1 and D5).
 */
import { gatheredTable, gatherDims } from "../../access.js";
import { inputOf, outputOf, type AccessFunc } from "../../func.js";
import { defaultProfile, profileOf } from "../../profile.js";
import { at, invariant } from "../../types.js";
import { exactWidthOf, type ExactWidth } from "../../values/exact-width.js";
import { reductionsIn } from "../../values/expression.js";
import type { Tiling } from "../tiling.js";
import { pinnedTiles, pinnedViews, requiredView } from "./pinned-dims.js";
import type { Rule, RuleVerdict } from "./rule.js";
import { storeVerdicts } from "./store.js";

/** Source of the rule for gathers whose output lacks the gather dims. */
const rowsPage = "hicann/pypto docs/zh/api/operation/pypto-index_select.md at 883e7df (2026-08-22), rule 3";

/**
 * Rule of full load: a tile contains the full extent of each gather dim (data dim that indices select along).
 * For a scatter, the rule concerns the stored tile and the order of writes.
 */
export const fullLoad: Rule = {
  id: "full-load",
  code: "TC301",
  judge: (tiling) => [
    ...(tiling.scatter !== undefined
      ? storeVerdicts(tiling, tiling.scatter)
      : tiling.residency === "gm"
        ? []
        : [...fullDims(tiling), ...pinned(tiling)]),
    ...elementsInOrder(tiling),
  ],
};

/**
 * Returns the passing results of the full-load rule for a reduction; an empty list without a reduction. No
 * result fails, because one task always combines all reduction elements in order.
 */
function elementsInOrder({ gather, reductionTile }: Tiling): RuleVerdict[] {
  const { reduced } = gather.map;
  if (reduced === undefined) return [];
  const chunks = Math.ceil(reduced.max / reductionTile);
  return [
    {
      rule: "reduced",
      pass: true,
      detail:
        chunks === 1
          ? `tile[r] = ${reductionTile} = all reduction elements: one chunk`
          : `tile[r] = ${reductionTile}: ${chunks} chunks in a serial loop`,
      source: "docs/values.md: terms",
    },
    ...widthOfSum(gather, reduced.max),
  ];
}

/**
 * Returns the passing result for the width in bits of an exact sum; an empty list without an exact sum.
 * `elements`: the maximum number of elements in the sum.
 */
function widthOfSum(gather: AccessFunc, elements: number): RuleVerdict[] {
  const { value, reads } = gather.map;
  if (!reductionsIn(value).some(({ how }) => how === "exact")) return [];
  const types = reads.map(({ table }) => inputOf(gather, table).type.dtype);
  let proved: ExactWidth | undefined;
  const width = (): ExactWidth => {
    const width = exactWidthOf(value, types, elements);
    invariant(width?.ok === true, "an exact sum has a width");
    return (proved ??= width.width);
  };
  return [
    {
      rule: "exact-width",
      pass: true,
      get detail() {
        const { unit, termBits, mostTerms, neededBits, availableBits } = width();
        return (
          `a reduction element takes ${termBits} bits in units of 2^${unit}; ${elements} elements take ${neededBits} ` +
          `of ${availableBits} bits; at most ${mostTerms} elements fit`
        );
      },
      source: "docs/values.md: terms (B7)",
      get width() {
        return width();
      },
    },
  ];
}

/**
 * Returns a pass or fail result for each gather dim (data dim that indices select along). A dim passes if the
 * data tile contains the full extent.
 */
function fullDims({ gather, schedule, operands }: Tiling): RuleVerdict[] {
  const { shape } = inputOf(gather, gatheredTable).type;
  const { tile } = at(operands, gatheredTable);
  const pins = pinnedViews(gather, schedule);
  return gatherDims(gather.map).map((dim) => ({
    rule: "full-load-data",
    pass: at(tile, dim) === at(shape, dim),
    get detail() {
      const view = pins.includes(dim) ? `, view at least ${requiredView(gather, dim)}` : "";
      return `gather dim ${dim} is loaded whole: ${at(tile, dim)} elements${view}`;
    },
    get meaning() {
      return this.pass ? undefined : `the tile cuts gather dim ${dim}, which must be whole`;
    },
    source: gather.sharedDims.length > 0 ? profileOf(schedule).fullInput : rowsPage,
  }));
}

/**
 * Returns a pass or fail result for each extent of the view and of the tile that the PyPTO profile
 * prescribes. The view must have at least the required extent ({@link requiredView}), and the tile the same
 * extent as the view.
 */
function pinned({ gather, schedule }: Tiling): RuleVerdict[] {
  const facts = profileOf(schedule);
  const { profile = defaultProfile } = schedule;
  const views = pinnedViews(gather, schedule).map((dim): RuleVerdict => {
    const required = requiredView(gather, dim);
    const view = at(schedule.view, dim);
    return {
      rule: "full-load-view",
      pass: view >= required,
      get detail() {
        const data = at(inputOf(gather, gatheredTable).type.shape, dim);
        const index = at(outputOf(gather).type.shape, dim);
        return `view[${dim}] = ${view} ${view >= required ? ">=" : "<"} ${required} = max(input ${data}, index ${index})`;
      },
      get meaning() {
        return this.pass ? undefined : `the view cuts gather dim ${dim}, which must be whole`;
      },
      source: `${facts.view} (profile ${profile})`,
    };
  });
  const tiles = pinnedTiles(gather, schedule).map((dim): RuleVerdict => {
    const [view, tile] = [at(schedule.view, dim), at(schedule.tile, dim)];
    return {
      rule: "full-load-tile",
      pass: tile === view,
      get detail() {
        return `tile[${dim}] = ${tile} ${tile === view ? "=" : "must equal"} view[${dim}] = ${view}`;
      },
      get meaning() {
        if (this.pass) return undefined;
        return tile < view
          ? `the tile cuts gather dim ${dim}, which must be whole`
          : `the tile is longer than the view along gather dim ${dim}`;
      },
      source: `${facts.tile} (profile ${profile})`,
    };
  });
  return [...views, ...tiles];
}
