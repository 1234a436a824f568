/** Schedules that are best where a figure of the target is at an end of its range. */
import { cyclesOf, isResolved, type FigureKind, type Func, type ResolvedSchedule } from "../../ir/index.js";
import { tryCompile, type CompileOptions, type Kernel } from "../api/compile.js";
import { rangedFigures, type RangedFigure } from "../api/cycles-range.js";
import { programAtMaxSizes } from "../api/program-at-max-sizes.js";

/**
 * Schedule that is faster than the schedule in use if the target parameter `figure` has the value `at`.
 * `cycles`, `own`: estimated cycles at that value, of the faster schedule and of the schedule in use.
 */
export interface OtherChoice {
  readonly figure: RangedFigure["figure"];
  readonly kind: FigureKind;
  readonly range: readonly [low: number, high: number];
  /** Value of the parameter: the low or the high end of its range. */
  readonly at: number;
  readonly schedule: ResolvedSchedule;
  /** Estimated cycles with the parameter at `at`. `own`: estimated cycles of the schedule in use. */
  readonly cycles: number;
  readonly own: number;
}

/** Another schedule is told where it takes less than this part of the cycles. */
const better = 0.99;

/**
 * Returns schedules that are better than the kernel's if one parameter of the target is at the low or high
 * end of its range. A better schedule takes under 99 % of the cycles of the kernel's schedule at that end.
 * Schedule entries that the program states are not changed.
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
