/**
 * Rule 3 of what is written, the mirror of full load. What an index names is whole in the tile that is
 * stored, points of one element are taken in order, and what a profile pins along a dim that index and output
 * share is as long as both.
 */
import { isOrderFree } from "../../access.js";
import { inputOf, keyOf, outputOf } from "../../func.js";
import { gatheredTable } from "../../access.js";
import { defaultProfile, profileOf } from "../../profile.js";
import { targetFacts } from "../../target.js";
import { at } from "../../types.js";
import { writeRulesOf } from "../pypto-writes.js";
import { orderFault } from "../point-order.js";
import type { ScatterTiling } from "../scatter-tiling.js";
import type { Tiling } from "../tiling.js";
import { pinnedTiles, pinnedViews, requiredView } from "./pinned-dims.js";
import type { RuleVerdict } from "./rule.js";

const ours = "docs/tiling-rules.md: scatters";

/**
 * Returns the pass or fail results for the tile of a scatter. Checked are the dims to store in full, the
 * order of points, and the extents that a PyPTO profile or operator prescribes.
 */
export const storeVerdicts = (tiling: Tiling, scatter: ScatterTiling): readonly RuleVerdict[] => [
  ...storedInFull(scatter),
  pointOrder(scatter),
  ...pinned(tiling),
];

/**
 * Returns a pass or fail result for each output dim that is not split among tasks. The dim passes if the tile
 * has the dim's full extent. The list is empty if the tile is not in the unified buffer (UB).
 */
function storedInFull({ scatter, isLoaded, tasks, written }: ScatterTiling): RuleVerdict[] {
  if (!isLoaded) return [];
  const output = outputOf(scatter);
  const cut = new Set([...tasks.values()].map(({ output: k }) => k));
  return output.type.shape.flatMap((extent, dim) =>
    cut.has(dim)
      ? []
      : [
          {
            rule: "full-store",
            pass: at(written, dim) === extent,
            detail: `dim ${dim} of ${keyOf(output)} is stored whole: ${extent} elements`,
            source: ours,
          },
        ],
  );
}

/**
 * Returns the pass or fail result for the order of a scatter's points. Points that may write the same element
 * must run in row-major order, unless the order cannot change the output.
 */
function pointOrder(tiling: ScatterTiling): RuleVerdict {
  const { scatter, tile, carrying } = tiling;
  const { map } = scatter;
  const fault = orderFault(tiling);
  const verdict = { rule: "point-order", source: ours };
  if (fault !== undefined) {
    const { cut, outer } = fault;
    const detail =
      `tile[${cut}] = ${at(tile, cut)} cuts dim ${cut} of ${at(map.domain, cut)}, and tile[${outer}] = ${at(tile, outer)} ` +
      `covers several points of the outer dim ${outer}: a tile would write a point before an earlier point`;
    return { ...verdict, pass: false, detail };
  }
  if (isOrderFree(map.write, outputOf(scatter).type.dtype)) {
    const { combine, duplicates } = map.write;
    const why =
      duplicates === "unique" ? "duplicates = unique" : `${combine} of ${outputOf(scatter).type.dtype}`;
    return { ...verdict, pass: true, detail: `the order of points cannot be seen: ${why}` };
  }
  const detail =
    carrying.length === 0
      ? "no two points write one element"
      : `points of dim${carrying.length === 1 ? "" : "s"} ${carrying.join(", ")} are taken in order`;
  return { ...verdict, pass: true, detail };
}

/**
 * Returns a pass or fail result for each extent of a scatter's view and tile that a PyPTO profile or operator
 * prescribes.
 */
function pinned({ gather, schedule }: Tiling): RuleVerdict[] {
  const facts = profileOf(schedule);
  const { profile = defaultProfile } = schedule;
  const operator = writeRulesOf(gather);
  const reason = (dim: number): string => {
    const points = at(gather.map.domain, dim);
    if (operator?.fullRows === true) return `${points}, the whole row`;
    return `${requiredView(gather, dim)} = max(input ${at(inputOf(gather, gatheredTable).type.shape, dim)}, index ${points})`;
  };
  const verdict = (name: "view" | "tile", dim: number, pinnedBy: string): RuleVerdict => {
    const [entry, required] = [at(schedule[name], dim), requiredView(gather, dim)];
    const isExact = operator?.fullRows === true && name === "tile";
    const pass = isExact ? entry === required : entry >= required;
    const relation = pass ? (isExact ? "=" : ">=") : isExact ? "must equal" : "<";
    return {
      rule: `full-store-${name}`,
      pass,
      detail: `${name}[${dim}] = ${entry} ${relation} ${reason(dim)}`,
      source: `${pinnedBy} (profile ${profile})`,
    };
  };
  return [
    ...pinnedViews(gather, schedule).map((dim) => verdict("view", dim, operator?.view ?? facts.view)),
    ...pinnedTiles(gather, schedule).map((dim) => verdict("tile", dim, operator?.tile ?? facts.tile)),
  ];
}

/**
 * Returns the pass or fail result for a scatter that writes directly to global memory; an empty list for the
 * unified buffer (UB). An Ascend core cannot combine values in global memory if the order of writes matters.
 */
export function storeResidency({ scatter, residency, target }: ScatterTiling): RuleVerdict[] {
  if (residency === "ub") return [];
  const { combine } = scatter.map.write;
  const { dtype } = outputOf(scatter).type;
  const pass =
    combine === "set" || !targetFacts[target.kind].vectorUnit || isOrderFree(scatter.map.write, dtype);
  return [
    {
      rule: "residency",
      pass,
      detail: pass
        ? "points are written to global memory as they come"
        : `residency gm: ${combine} of ${dtype} takes points in order, and stores to global memory have none`,
      source: ours,
    },
  ];
}
