/** Cycles of a program at the ends of the ranges that figures of its target have. */
import { gpuFigureNames, type GpuFigures } from "../../ir/gpu-figures.js";
import {
  cyclesOf,
  fasterWith,
  type BoardFigures,
  type FigureKind,
  type Target,
  type TileFunc,
} from "../../ir/index.js";

/** Hardware parameter of a target with a range of possible values (low, high). */
export interface RangedFigure {
  readonly figure: keyof BoardFigures | keyof GpuFigures;
  readonly kind: FigureKind;
  readonly range: readonly [low: number, high: number];
}

/**
 * Parameter of a target whose range changes a program's estimated cycles by more than {@link wide} (a tenth).
 * `cycles`: estimated cycles at the low and at the high end.
 */
export interface WideFigure extends RangedFigure {
  readonly cycles: readonly [atLow: number, atHigh: number];
}

/**
 * Minimum and maximum of a program's estimated cycles over the ranges of the target's hardware parameters.
 * One parameter at a time is set to the low or high end.
 */
export interface CyclesRange {
  readonly low: number;
  readonly high: number;
  /** Parameters that change the cycles by more than {@link wide}, the largest change first. */
  readonly figures: readonly WideFigure[];
}

/**
 * Relative change of the estimated cycles above which a hardware parameter is reported. The change is taken
 * over the range of the parameter; 0.1 is 10 %.
 */
export const wide = 0.1;

/**
 * Returns the hardware parameters of a target that have a range, in the order of {@link BoardFigures} and
 * {@link GpuFigures}. The list is empty if no parameter has a range.
 */
export const rangedFigures = ({ sources }: Target): readonly RangedFigure[] =>
  [...(Object.keys(fasterWith) as (keyof BoardFigures)[]), ...gpuFigureNames].flatMap((figure) => {
    const { kind, range } = sources[figure];
    return range === undefined ? [] : [{ figure, kind, range }];
  });

/**
 * Returns the minimum and maximum of a program's estimated cycles over the ranges of the target's hardware
 * parameters. Undefined if no range changes the cycles by more than the fraction {@link wide}.
 */
export function cyclesRange(func: TileFunc, target: Target): CyclesRange | undefined {
  const { cycles } = cyclesOf(func, target);
  const change = ({ cycles: [low, high] }: WideFigure): number =>
    Math.max(Math.abs(low - cycles), Math.abs(high - cycles));
  const figures = rangedFigures(target)
    .map(({ figure, kind, range }): WideFigure => {
      const [low, high] = range.map((value) => cyclesOf(func, { ...target, [figure]: value }).cycles);
      return { figure, kind, range, cycles: [low ?? cycles, high ?? cycles] };
    })
    .filter((figure) => change(figure) > wide * cycles)
    .sort((a, b) => change(b) - change(a));
  const ends = figures.flatMap((figure) => figure.cycles);
  return ends.length === 0
    ? undefined
    : { low: Math.min(cycles, ...ends), high: Math.max(cycles, ...ends), figures };
}
