/** Schedules that are best where a figure of the target is at an end of its range. */
import { cyclesOf, isResolved, type FigureKind, type Func, type ResolvedSchedule } from "../../ir/index.js";
import { tryCompile, type CompileOptions, type Kernel } from "../api/compile.js";
import { rangedFigures, type RangedFigure } from "../api/cycles-range.js";
import { programAtMaxSizes } from "../api/program-at-max-sizes.js";

/**
 * Better schedule for a program on a changed target. One parameter of the target is set to the low or high
 * end of its uncertainty range. `cycles` and `own` are the cycles of the better and of the current schedule
 * on the changed target.
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
 * Finds the target parameters that could change the choice of the schedule within their uncertainty ranges.
 * Each parameter in turn is set to either end of its range, and the program is compiled again. Returns the
 * schedules that take under 99 % of the current schedule's cycles on the changed target; empty if none.
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
