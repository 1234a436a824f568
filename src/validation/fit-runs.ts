/** Figures of a target fitted to a user's own runs of kernels that tilec emitted. */
import {
  defined,
  CompileError,
  cyclesOf,
  error,
  launchMicroseconds,
  type ClockResult,
  type FigureSource,
  type Target,
  type TileFunc,
} from "../../ir/index.js";
import { boardFigureNames, fittedFigures, type FitRow, type FittedFigure } from "./fit.js";
import type { ProfiledKernel, ProfiledTime } from "./profiled-runs.js";
import { meanFactor } from "./validate.js";

/**
 * Kernel emitted from a program. A profile file of msprof contains the kernel under the name of the entry
 * point.
 */
export interface EmittedKernel {
  /** Program from which the kernel was emitted, as messages name the program. */
  readonly program: string;
  readonly entryPoint: string;
  readonly tile: TileFunc;
}

/**
 * Measured time of a kernel in microseconds, with the predictions of the cost model. `before` and `after` are
 * the predicted time divided by the measured time, before and after a fit.
 */
export interface FittedRun {
  /** Entry point of the kernel, and label of the time: `tilec_kernel_gather:aiv`. */
  readonly id: string;
  readonly microseconds: number;
  readonly before: number;
  readonly after: number;
  /**
   * Target parameter that was fitted to the time; absent if no parameter determines at least {@link decides}
   * of the time.
   */
  readonly figure?: string;
}

/**
 * Result of fitting a target's parameters to profiled times: the new target, the changed parameters, and the
 * times with the predictions.
 */
export interface RunsFit {
  readonly target: Target;
  readonly figures: readonly (FittedFigure & { readonly was: number })[];
  readonly runs: readonly FittedRun[];
  /**
   * Mean factor between predicted and measured time, `exp(mean |ln ratio|)`, over the times with a prediction
   * above 0.
   */
  readonly mean: { readonly before: number; readonly after: number };
  /** Names of the operators in the profile that are not among the emitted kernels. */
  readonly others: readonly string[];
}

/**
 * Least fraction (0 to 1) of a predicted time that a target parameter must determine. A parameter that
 * determines less of the time is not fitted to the measured time.
 */
export const decides = 0.3;
/** Change of a figure by which that is found. */
const step = 0.01;

/** Names of times in ids. */
const labels: Readonly<Record<ProfiledTime, string>> = {
  task: "task",
  cores: "aiv",
  MTE2: "mte2",
  V: "vec",
  S: "scalar",
  MTE3: "mte3",
};

interface Run extends FitRow {
  readonly microseconds: number;
}

/**
 * Returns the predicted microseconds for one kind of time in a profile file of msprof. Times of a hardware
 * pipe (instruction queue) are means over the cores.
 */
function predicted(time: ProfiledTime, clock: ClockResult, target: Target): number {
  const { cycles, busy, tasks, tasksPerCore, cores } = clock;
  const mean = tasks === 0 ? 1 : tasks / (cores * tasksPerCore.most);
  switch (time) {
    case "task":
      return cycles / target.clockMhz + launchMicroseconds(cores, target);
    case "cores":
      return cycles / target.clockMhz;
    case "MTE2":
    case "V":
    case "S":
    case "MTE3":
      return (mean * busy[time]) / target.clockMhz;
  }
}

/**
 * Returns the times in a kernel's profile that the cost model can predict. Each time has a function that
 * returns the predicted time divided by the measured time for a target. The launch time `task` is left out if
 * the profile has the time of the cores.
 */
function runsOf({ entryPoint, tile }: EmittedKernel, kernel: ProfiledKernel): readonly Run[] {
  const { cores, ...others } = kernel.microseconds;
  const taken = cores === undefined ? others : { ...others, task: undefined, cores };
  return (Object.entries(taken) as readonly [ProfiledTime, number | undefined][]).flatMap(
    ([time, microseconds]) =>
      microseconds === undefined
        ? []
        : [
            {
              id: `${entryPoint}:${labels[time]}`,
              microseconds,
              factorOf: (figures) => predicted(time, cyclesOf(tile, figures), figures) / microseconds,
            },
          ],
  );
}

/**
 * Returns the target parameter that determines the largest fraction of a predicted time. Returns undefined if
 * the fraction is below {@link decides}, or if the predicted time is 0.
 */
function decidedBy({ factorOf }: Run, target: Target): keyof Target["sources"] | undefined {
  const now = factorOf(target);
  if (now === 0) return undefined;
  const shares = boardFigureNames.map((figure) => {
    const at = (factor: number): number => factorOf({ ...target, [figure]: target[figure] * factor });
    return { figure, share: Math.abs(at(1 + step) - at(1 - step)) / (2 * step * now) };
  });
  const max = shares.reduce((best, other) => (other.share > best.share ? other : best));
  return max.share >= decides ? max.figure : undefined;
}

const refused = (message: string, hint: string): CompileError =>
  new CompileError([error("TC019", message, { hint })]);

/** Throws a CompileError (TC019) if two kernels have the same entry point. */
function checkNames(kernels: readonly EmittedKernel[]): void {
  const programOf = new Map<string, string>();
  for (const { entryPoint, program } of kernels) {
    const other = programOf.get(entryPoint);
    if (other !== undefined)
      throw refused(
        `${other} and ${program} have one kernel name, ${entryPoint}: a profile does not distinguish their runs`,
        "pass one of the two, or rename its function before you emit the kernel",
      );
    programOf.set(entryPoint, program);
  }
}

/**
 * Returns a target whose parameters are fitted to the measured times of the given kernels. Throws a
 * CompileError (TC019) if the profile has no run of these kernels or no time that can be predicted, or if a
 * kernel ran on another number of cores than its program states.
 */
export function fitRuns(
  target: Target,
  kernels: readonly EmittedKernel[],
  profile: readonly ProfiledKernel[],
  file: string,
): RunsFit {
  checkNames(kernels);
  const pairs = kernels.flatMap((kernel) =>
    profile.filter(({ name }) => name === kernel.entryPoint).map((run) => ({ kernel, run })),
  );
  if (pairs.length === 0) {
    const names = profile.length === 0 ? ["none"] : profile.slice(0, 5).map(({ name }) => name);
    throw refused(
      `${file}: no Op Name is ${kernels.map(({ entryPoint }) => entryPoint).join(" or ")}; it lists ${names.join(", ")}`,
      "name the programs whose kernels ran, with the schedules that they ran with",
    );
  }
  for (const { kernel, run } of pairs) {
    const { cores } = cyclesOf(kernel.tile, target);
    if (run.blocks !== undefined && run.blocks !== cores)
      throw refused(
        `${file}: ${run.name} ran on ${run.blocks} blocks, and its program is one of ${cores} cores`,
        `state cores = ${run.blocks} in the program's schedule`,
      );
  }
  const runs = pairs.flatMap(({ kernel, run }) => runsOf(kernel, run));
  if (runs.every(({ factorOf }) => factorOf(target) === 0))
    throw refused(
      runs.length === 0
        ? `${file}: no run of ${pairs.map(({ run }) => run.name).join(" or ")} has a time: each is 0, N/A or empty`
        : `${file}: the cost model predicts none of its times, which are ${runs.map(({ id }) => id).join(", ")}`,
      "profile so that Task Duration(us) or aiv_time(us) holds a time above 0 of each kernel",
    );
  const figureOf = new Map(runs.map((run) => [run, decidedBy(run, target)]));
  const tasks = boardFigureNames.flatMap((figure) => {
    const rows = runs.filter((run) => figureOf.get(run) === figure);
    return rows.length === 0 ? [] : [{ figure, rows }];
  });
  const figures = fittedFigures(target, tasks).map((figure) => ({ ...figure, was: target[figure.figure] }));
  const sources = Object.fromEntries(
    figures.map(({ figure, range, rows }): [string, FigureSource] => [
      figure,
      { kind: "board", source: `own runs, ${file}`, range, rows },
    ]),
  );
  const proposed: Target = {
    ...target,
    ...Object.fromEntries(figures.map(({ figure, value }) => [figure, value])),
    name: `${target.name}-own`,
    title: `${target.title}, fitted to own runs`,
    sources: { ...target.sources, ...sources },
  };
  const shown = runs.map((run): FittedRun => {
    const figure = figureOf.get(run);
    return {
      id: run.id,
      microseconds: run.microseconds,
      before: run.factorOf(target),
      after: run.factorOf(proposed),
      ...defined({ figure }),
    };
  });
  // The clock gives some pipes nothing to do that a kernel keeps busy for a moment.
  const timed = shown.filter(({ before }) => before > 0);
  return {
    target: proposed,
    figures,
    runs: shown,
    mean: {
      before: meanFactor(timed.map(({ before }) => ({ ratio: before }))),
      after: meanFactor(timed.map(({ after }) => ({ ratio: after }))),
    },
    others: profile.filter(({ name }) => !pairs.some(({ run }) => run.name === name)).map(({ name }) => name),
  };
}
