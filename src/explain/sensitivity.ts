/** Sensitivity of a schedule's time to each figure of its target, with the source of the figure. */
import { figuresIn } from "../../ir/figure-units.js";
import { cyclesOf, type FigureSource, type Target, type TileFunc } from "../../ir/index.js";

/**
 * Names of the target parameters with which cycles change gradually: rates, costs and factors, but not sizes
 * and counts.
 */
const gradualFigures = [...figuresIn("per cycle"), ...figuresIn("cycles"), ...figuresIn("factor")];

/**
 * Sensitivity of a kernel's cycles to one parameter of the target, with the source of the parameter's value.
 */
export interface Sensitivity extends FigureSource {
  readonly figure: (typeof gradualFigures)[number];
  /** Percent by which the cycles grow for one percent more of the figure. A positive value means slower. */
  readonly percent: number;
}

/**
 * Ticks of a cycle: so fine that what statements round up decides nothing. A power of two, which rounds no
 * figure.
 */
const ticks = 2 ** 20;
/** Relative step of the figure, in both directions. */
const step = 0.01;

/** Returns the target by a clock of so many ticks a cycle. */
function inTicks(target: Target): Target {
  const rates = figuresIn("per cycle").map((figure) => [figure, target[figure] / ticks] as const);
  const costs = figuresIn("cycles").map((figure) => [figure, target[figure] * ticks] as const);
  return { ...target, ...Object.fromEntries([...rates, ...costs]) };
}

/**
 * Returns the sensitivity of a program's estimated cycles to each target parameter in {@link gradualFigures},
 * the largest absolute value first. The unit is percent of cycles per percent of the parameter.
 */
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
