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

/** A figure of a target with the ends of its range. */
export interface RangedFigure {
  readonly figure: keyof BoardFigures | keyof GpuFigures;
  readonly kind: FigureKind;
  readonly range: readonly [low: number, high: number];
}

/** A figure whose range changes the cycles by more than {@link wide}, and the cycles at its ends. */
export interface WideFigure extends RangedFigure {
  readonly cycles: readonly [atLow: number, atHigh: number];
}

/** Least and most cycles, one figure at a time at an end of its range. */
export interface CyclesRange {
  readonly low: number;
  readonly high: number;
  /** The one that changes most comes first. */
  readonly figures: readonly WideFigure[];
}

/** Part of the cycles from which a range is told. */
export const wide = 0.1;

/** Returns the figures of a target that have a range, in the order of {@link BoardFigures} and {@link GpuFigures}. */
export const rangedFigures = ({ sources }: Target): readonly RangedFigure[] =>
  [...(Object.keys(fasterWith) as (keyof BoardFigures)[]), ...gpuFigureNames].flatMap((figure) => {
    const { kind, range } = sources[figure];
    return range === undefined ? [] : [{ figure, kind, range }];
  });

/** Returns the cycles that a program may take; undefined where no range changes them by more than {@link wide}. */
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
