/** Schedules that are best where a figure of the target is at an end of its range. */
import { cyclesOf, isResolved, type FigureKind, type Func, type ResolvedSchedule } from "../../ir/index.js";
import { tryCompile, type CompileOptions, type Kernel } from "../api/compile.js";
import { rangedFigures, type RangedFigure } from "../api/cycles-range.js";
import { programAtMaxSizes } from "../api/program-at-max-sizes.js";

/**
 * Better schedule for a program on a changed target, in which one parameter has the low or high end of an
 * uncertainty range. `cycles`, `own`: estimated cycles of the better and of the present schedule.
 */
export interface OtherChoice {
  readonly figure: RangedFigure["figure"];
  readonly kind: FigureKind;
  readonly range: readonly [low: number, high: number];
  /** The end, as a value of the figure. */
  readonly at: number;
  readonly schedule: ResolvedSchedule;
  /** Cycles of that schedule there, and of this one. */
  readonly cycles: number;
  readonly own: number;
}

/** Another schedule is told where it takes less than this part of the cycles. */
const better = 0.99;

/**
 * Returns better schedules for the program on targets in which one parameter has the low or high end of an
 * uncertainty range. A schedule is better if the estimated cycles are under 99 % of the present schedule's.
 * Schedule entries that the program states stay fixed.
 */
export function choicesAtEnds(
  program: Func,
  kernel: Kernel,
  options: Omit<CompileOptions, "target">,
): readonly OtherChoice[] {
  const func = programAtMaxSizes(kernel);
  return rangedFigures(kernel.target).flatMap(({ figure, kind, range }) =>
    range.flatMap((at): readonly OtherChoice[] => {
      const target = { ...kernel.target, [figure]: at };
      const other = tryCompile(program, { ...options, target });
      if (!other.ok || other.kernel.access === undefined) return [];
      const current = cyclesOf(func, target).cycles;
      const { cycles } = cyclesOf(programAtMaxSizes(other.kernel), target);
      const { schedule } = other.kernel.tile;
      return isResolved(schedule) && cycles < better * current
        ? [{ figure, kind, range, at, schedule, cycles, own: current }]
        : [];
    }),
  );
}
