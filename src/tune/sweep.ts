/** The best schedule and the default of a program over one figure of its target. */
import {
  CompileError,
  defined,
  type Func,
  type ResolvedSchedule,
  type Target,
  type TargetFigures,
} from "../../ir/index.js";
import { cyclesUnder } from "./cycles-under.js";
import type { TuneOptions } from "./options.js";
import type { TuneResult } from "./result.js";
import { taskOf, tune } from "./tune.js";

/** Result of a sweep at one value of the swept target parameter: the best and the default schedule. */
export interface SweepPoint {
  readonly value: number;
  /** Best schedule found; null if no schedule is legal. */
  readonly best: { readonly cycles: number; readonly schedule: ResolvedSchedule } | null;
  /** Cycles of the schedule that the compiler chooses without a search; null if there is none. */
  readonly default: { readonly cycles: number } | null;
  /** Reason why there is neither a best nor a default schedule. */
  readonly reason?: string;
}

/** Result of a sweep: the best and the default schedule for each value of one parameter of the target. */
export interface Sweep {
  readonly name: string;
  readonly target: string;
  readonly figure: keyof TargetFigures;
  /** Results in ascending order of the parameter's value. */
  readonly points: readonly SweepPoint[];
}

/**
 * Options of {@link sweep}: the target parameter to vary, the values, and the search options. Each search
 * minimizes cycles.
 */
export interface SweepOptions extends Pick<
  TuneOptions,
  "target" | "findTarget" | "passes" | "budget" | "seed" | "signal" | "bind"
> {
  readonly figure: keyof TargetFigures;
  readonly values: readonly number[];
  /** Called before each value is searched. */
  readonly onValue?: (value: number, done: number, total: number) => void;
}

/**
 * Returns a copy of the target with one parameter changed. A change of `ubBytes` (unified buffer size) keeps
 * the number of bytes reserved for libraries. If less than one block (`blockBytes`) would then be usable,
 * fewer bytes are reserved.
 */
export function withFigure(target: Target, figure: keyof TargetFigures, value: number): Target {
  const edited = { ...target, [figure]: value };
  if (figure !== "ubBytes") return edited;
  const kept = target.ubBytes - target.ubSafeBytes;
  return { ...edited, ubSafeBytes: Math.max(Math.min(value, target.blockBytes), value - kept) };
}

/**
 * Searches the best schedule for each value of a target parameter, and resolves to the schedules by value.
 * Rejects with the errors of {@link tune}. A value at which no schedule is legal is not an error.
 */
export async function sweep(program: Func, options: SweepOptions): Promise<Sweep> {
  const { figure, values, onValue, ...search } = options;
  const task = taskOf(program, search);
  const ascending = [...new Set(values)].sort((a, b) => a - b);
  const schedules: ResolvedSchedule[] = [];
  const points: SweepPoint[] = [];
  for (const value of ascending) {
    onValue?.(value, points.length, ascending.length);
    const target = withFigure(task.target, figure, value);
    const result = await searched(program, { ...search, target });
    const earlier = schedules.flatMap((schedule) => {
      const cycles = cyclesUnder(task.gather, schedule, { target, ...defined({ passes: search.passes }) });
      return cycles === null ? [] : [{ cycles, schedule }];
    });
    const outcome = typeof result === "string" ? [] : [bestOf(result)];
    const [best] = [...outcome, ...earlier].sort((a, b) => a.cycles - b.cycles);
    if (best !== undefined) schedules.push(best.schedule);
    points.push({
      value,
      best: best ?? null,
      default: typeof result === "string" ? null : { cycles: result.default.cycles },
      ...(typeof result === "string" ? { reason: result } : {}),
    });
  }
  return { name: task.gather.name, target: task.target.name, figure, points };
}

/** Returns the best of a search by the schedule that the compiler is given to make it again. */
const bestOf = ({ best: { cycles, given, schedule } }: TuneResult): NonNullable<SweepPoint["best"]> => ({
  cycles,
  schedule: given ?? schedule,
});

/** Rules of tiling: what they refuse at one value may be legal at another. */
const isRefusal = (code: string): boolean => /^TC[34]/.test(code);

/**
 * Resolves to the result of a search, or to a text with the reason why no schedule is legal. Rejects with any
 * other error of {@link tune}.
 */
async function searched(program: Func, options: TuneOptions): Promise<TuneResult | string> {
  try {
    return await tune(program, options);
  } catch (thrown) {
    const [first] = thrown instanceof CompileError ? thrown.diagnostics : [];
    if (first === undefined || !isRefusal(first.code)) throw thrown;
    return `${first.code}: ${first.message}`;
  }
}
