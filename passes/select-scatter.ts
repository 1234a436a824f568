/** The schedule of a scatter: what is stated is kept, the rest is chosen. */
import { isOrderFree } from "../ir/access.js";
import { error, hasErrors, hint as hintDiagnostic, type Diagnostic } from "../ir/diagnostic.js";
import { outputOf, type AccessFunc } from "../ir/func.js";
import type { Residencies } from "../ir/schedule.js";
import { targetFacts, type Target } from "../ir/target.js";
import { doubles } from "../ir/tiling/index.js";
import { coresFault } from "../ir/tiling/rules/index.js";
import {
  scatterRefusals,
  smallestTile,
  tileScatter,
  type ScatterTiling,
} from "../ir/tiling/scatter-tiling.js";
import { formatShape } from "../ir/types.js";
import { plainSchedule } from "./with-defaults.js";

/** A schedule, or the diagnostics that refuse what is stated; hints and warnings beside the schedule. */
export interface ScatterSchedule {
  readonly tiling?: ScatterTiling;
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the schedule of a scatter on a target, written down in full. */
export function selectScatter(scatter: AccessFunc, target: Target): ScatterSchedule {
  const faults = statedFaults(scatter, target);
  if (hasErrors(faults)) return { diagnostics: faults };
  const tilings = residenciesOf(scatter, target).map((residency) =>
    underResidency(scatter, residency, target),
  );
  const judged = tilings.map((tiling) => ({ tiling, refused: scatterRefusals(tiling) }));
  const legal = judged.find(({ refused }) => refused.length === 0);
  if (legal !== undefined) return { tiling: legal.tiling, diagnostics: faults };
  return { diagnostics: [...faults, ...(judged[0]?.refused ?? [])] };
}

/** Returns the residencies that a scatter may have, the preferred one first. */
function residenciesOf(scatter: AccessFunc, target: Target): readonly Residencies[] {
  const { residency } = scatter.schedule;
  if (residency !== undefined && residency !== "auto") return [residency];
  if (targetFacts[target.kind].gathersInPlace) return ["gm", "ub"];
  const { write } = scatter.map;
  const isFree = write.combine === "set" || isOrderFree(write, outputOf(scatter).type.dtype);
  return isFree ? ["ub", "gm"] : ["ub"];
}

/** Returns the stated tile, or the largest that fits, from the whole domain. */
function underResidency(scatter: AccessFunc, residency: Residencies, target: Target): ScatterTiling {
  const { map, schedule } = scatter;
  const order = map.domain.map((_, d) => d);
  const plain = plainSchedule(schedule, { residency, extents: map.domain, order }, target);
  const resolved = { ...plain, buffers: 1 } as const;
  const tiling = tileScatter(scatter, resolved, target);
  if (schedule.tile !== undefined) return tiling;
  const tile = smallestTile(tiling);
  return tile === undefined ? tiling : tileScatter(scatter, { ...resolved, tile }, target);
}

/** Returns what is wrong with the stated schedule, whatever UB it takes. */
function statedFaults(scatter: AccessFunc, target: Target): Diagnostic[] {
  const { schedule, map, opSpan: span } = scatter;
  const { tile, view, order, buffers = 1, lowering } = schedule;
  const rank = map.domain.length;
  const faults: Diagnostic[] = [];
  const isExtent = (entry: number): boolean => Number.isSafeInteger(entry) && entry >= 1;
  if (tile !== undefined && (tile.length !== rank || !tile.every(isExtent))) {
    const message = `tile ${formatShape(tile)} is no tile of the domain ${formatShape(map.domain)}`;
    faults.push(error("TC302", message, { span, hint: `${rank} entries, each 1 or more` }));
  }
  if (view !== undefined && (view.length !== rank || view.some((entry, d) => entry < (map.domain[d] ?? 1)))) {
    const message = `view ${formatShape(view)} cuts the domain ${formatShape(map.domain)}, and scatters have no views yet`;
    faults.push(error("TC303", message, { span, hint: "leave out view; tile cuts the domain" }));
  }
  if (order !== undefined && order.toSorted((a, b) => a - b).join() !== map.domain.map((_, d) => d).join()) {
    const message = `order ${formatShape(order)} is no order of the ${rank} dims of the domain`;
    faults.push(error("TC303", message, { span, hint: "leave out order" }));
  }
  if (lowering !== undefined) {
    const message = `lowering ${lowering} is of gathers, and this is a scatter`;
    faults.push(error("TC403", message, { span, hint: "leave out lowering" }));
  }
  const cores = coresFault(schedule, target);
  if (cores !== undefined) faults.push(error("TC303", cores.detail, { span, hint: cores.hint }));
  if (doubles(buffers)) {
    const message = "a scatter keeps one copy of each tile: points follow one another";
    faults.push(hintDiagnostic("TC908", message, { span, hint: "leave out buffers" }));
  }
  return faults;
}
