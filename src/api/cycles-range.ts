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

/** Number that describes a target, with the lower and upper end of its range. */
export interface RangedFigure {
  readonly figure: keyof BoardFigures | keyof GpuFigures;
  readonly kind: FigureKind;
  readonly range: readonly [low: number, high: number];
}

/**
 * Number of a target whose range changes the cycles by more than {@link wide}, with the cycles at both ends
 * of the range.
 */
export interface WideFigure extends RangedFigure {
  readonly cycles: readonly [atLow: number, atHigh: number];
}

/**
 * Minimum and maximum of a program's estimated cycles. For each bound, one number of the target at a time is
 * set to an end of its range.
 */
export interface CyclesRange {
  readonly low: number;
  readonly high: number;
  /** The one that changes most comes first. */
  readonly figures: readonly WideFigure[];
}

/**
 * Limit for reporting the range of a target's number: the fraction of the cycles that the range must change.
 */
export const wide = 0.1;

/**
 * Returns the numbers of a target that have a range, in the order of {@link BoardFigures} and {@link
 * GpuFigures}.
 */
export const rangedFigures = ({ sources }: Target): readonly RangedFigure[] =>
  [...(Object.keys(fasterWith) as (keyof BoardFigures)[]), ...gpuFigureNames].flatMap((figure) => {
    const { kind, range } = sources[figure];
    return range === undefined ? [] : [{ figure, kind, range }];
  });

/**
 * Returns the range of the estimated cycles of a program. Undefined if no number of the target has a range
 * that changes the cycles by more than {@link wide}.
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
