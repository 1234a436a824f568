/** How much of a schedule's time rests on each figure of its target, and how well that figure is known. */
import {
  cyclesOf,
  type FigureSource,
  type Target,
  type TargetFigures,
  type TileFunc,
} from "../../ir/index.js";

/** Figures that cycles change with by degrees: rates, of which more is faster, and costs. Sizes and counts change them by steps. */
export const rateFigures = [
  "gmReadBytesPerCycle",
  "gmMixedBytesPerCycle",
  "l2BytesPerCycle",
  "loadBytesPerCycle",
  "storeBytesPerCycle",
  "copyBytesPerCycle",
  "gatherElementsPerCycle",
] as const satisfies readonly (keyof TargetFigures)[];
/** Cycles of an instruction, a repeat, a wait or a start. */
export const costFigures = [
  "loadIssueCycles",
  "loadLatencyCycles",
  "storeIssueCycles",
  "storeLatencyCycles",
  "burstCycles",
  "gatherRowCycles",
  "gatherRepeatCycles",
  "stepCycles",
  "stepRepeatCycles",
  "copyStartupCycles",
  "scalarCycles",
  "gmAccessCycles",
  "rowIndexCycles",
  "simtWarpCycles",
  "simtLineCycles",
  "callCycles",
  "syncCycles",
  "taskCycles",
] as const satisfies readonly (keyof TargetFigures)[];

/** Figures that multiply a time. */
export const factorFigures = ["sameSlabFactor"] as const satisfies readonly (keyof TargetFigures)[];

/** Every figure that cycles change with by degrees. */
export const gradualFigures = [...rateFigures, ...costFigures, ...factorFigures] as const;

/** Share of the cycles that rests on a figure, and the source of the figure. */
export interface Sensitivity extends FigureSource {
  readonly figure: (typeof gradualFigures)[number];
  /** Of the cycles, for one percent more of the figure; positive: it takes longer. */
  readonly percent: number;
}

/** Ticks of a cycle: so fine that what statements round up decides nothing. A power of two, which rounds no figure. */
const ticks = 2 ** 20;
/** Of the figure, both ways. */
const step = 0.01;

/** The target by a clock of so many ticks a cycle. */
function inTicks(target: Target): Target {
  const rates = rateFigures.map((figure) => [figure, target[figure] / ticks] as const);
  const costs = costFigures.map((figure) => [figure, target[figure] * ticks] as const);
  return { ...target, ...Object.fromEntries([...rates, ...costs]) };
}

/** By central differences of cycles that are not rounded; the largest first. */
export function sensitivityOf(func: TileFunc, target: Target): readonly Sensitivity[] {
  const fine = inTicks(target);
  const cycles = cyclesOf(func, fine).cycles;
  const at = (figure: Sensitivity["figure"], factor: number): number =>
    cyclesOf(func, { ...fine, [figure]: fine[figure] * factor }).cycles;
  return gradualFigures
    .map((figure): Sensitivity => {
      const change = cycles === 0 ? 0 : (at(figure, 1 + step) - at(figure, 1 - step)) / (2 * step * cycles);
      return { figure, percent: change, ...target.sources[figure] };
    })
    .sort((a, b) => Math.abs(b.percent) - Math.abs(a.percent));
}
