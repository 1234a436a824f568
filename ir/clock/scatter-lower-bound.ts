/**
 * The least cycles of a scatter, whatever its schedule: what is moved at least, and the work of its points on
 * as many cores as can share it.
 */
import { outputPlace, isInPlace } from "../func.js";
import type { ScatterTiling } from "../tiling/scatter-tiling.js";
import { compulsoryElements } from "../tiling/scatter-traffic.js";
import type { Target } from "../target.js";
import { at, bytesFor, elementCount } from "../types.js";
import { extent, type LowerBound, type LowerBoundLimit } from "./lower-bound-limit.js";
import { cyclesOfWork } from "./price.js";
import { settingOf } from "./scatter-estimate.js";
import { scatterWork } from "./scatter-work.js";
import { memoryCycles } from "./statement.js";
import { repeatedWork } from "./work.js";

/**
 * Returns the lower bound on the cycles of a scatter over all schedules with the cores and residency of
 * `tiling`. `target`: source of the hardware parameters.
 */
export function leastScatter(tiling: ScatterTiling, target: Target): LowerBound {
  const { scatter, schedule, tasks, isLoaded } = tiling;
  const { map, operands } = scatter;
  // Points along other dims follow one another in one task.
  const shared = [...tasks.keys()].reduce((product, d) => product * at(map.domain, d), 1);
  const cores = Math.max(1, Math.min(schedule.cores, shared));
  const share = extent / cores;
  const output = outputPlace(scatter);
  const points = elementCount(map.domain);
  const elements = compulsoryElements(scatter).map((compulsory, place) => {
    const full = elementCount(at(operands, place).type.shape);
    // A region in UB is loaded and stored full; points in global memory are all written, besides a copy of
    // the base.
    if (place === output) return isLoaded ? full : points + (isInPlace(scatter) ? 0 : full);
    return place === 0 && isLoaded && at(operands, place).inout === true ? full : compulsory;
  });
  const transferred = elements.map((count, place) => bytesFor(count, at(operands, place).type.dtype) * share);
  const work = repeatedWork(scatterWork(settingOf(tiling), map.domain, target), share);
  const unit: LowerBoundLimit = isLoaded ? "scalar" : "dma";
  const limits: readonly (readonly [LowerBoundLimit, number])[] = [
    ["global memory", memoryCycles(transferred, operands, target, cores, 1)],
    [unit, cyclesOfWork(work, isLoaded ? "S" : "MTE3", target, cores, 1)],
  ];
  const [limit, cycles] = limits.reduce((max, other) => (other[1] > max[1] ? other : max));
  return { cycles: cycles + Math.ceil(target.taskCycles), limit };
}
