/**
 * Figures that measurements fix. Each figure in turn takes the value that brings the rows that it names
 * nearest to what was measured, the others standing, until none moves.
 */
import { fasterWith, type BoardFigures, type Target } from "../../ir/index.js";
import { isCount } from "../api/check-options.js";
import { lcg } from "../formats/lcg.js";
import { workOfMeasurement, type BoardMeasurement } from "./measurement.js";
import { meanFactor, outsideBecause, predictionOf } from "./validate.js";

/**
 * Target parameter fitted to measurements: value, range, and ids of the measurements that determine the
 * parameter.
 */
export interface FittedFigure {
  readonly figure: keyof BoardFigures;
  readonly value: number;
  /**
   * Range that contains the value fitted to each measurement alone, and the middle 80 % of the fits to two
   * thirds of the measurements. Measurement noise is added at both ends.
   */
  readonly range: readonly [low: number, high: number];
  /** The measurements that it was fitted to. */
  readonly rows: readonly string[];
}

/**
 * Distribution of a fit's prediction error over random draws. Each draw fits two thirds of the measurements
 * and predicts the rest. The error of a draw is the mean factor between predicted and measured values.
 */
export interface Splits {
  readonly draws: number;
  readonly median: number;
  /** 10th percentile; `high` is the 90th. */
  readonly low: number;
  readonly high: number;
}

/**
 * Result of fitting a target's parameters to the measurements of one machine: the fitted parameters and the
 * distribution of the prediction error.
 */
export interface Fit {
  readonly machine: string;
  readonly figures: readonly FittedFigure[];
  readonly splits: Splits;
}

/** Random thirds that are left out. */
const draws = 60;
const seed = 20;
/** Twins of one quantity differ by 7 % on the pages. */
const noise = 1.035;

type Values = Partial<Record<keyof BoardFigures, number>>;

/**
 * Measured quantity, with a function that returns the predicted value divided by the measured value for a
 * target.
 */
export interface FitRow {
  readonly id: string;
  readonly factorOf: (figures: Target) => number;
}

function rowOf(row: BoardMeasurement): FitRow {
  const work = workOfMeasurement(row);
  return { id: row.id, factorOf: (figures) => predictionOf(row, figures, work).predicted / row.measured };
}

/** Target parameter to fit, with the measurements that determine the parameter. */
export interface FitTask {
  readonly figure: keyof BoardFigures;
  readonly rows: readonly FitRow[];
}

/** Names of the target parameters that a fit can change. */
export const boardFigureNames = Object.keys(fasterWith) as readonly (keyof BoardFigures)[];

/** Figures whose rows are there; a figure without one keeps its value. */
const tasksOf = (target: Target, rows: readonly FitRow[]): readonly FitTask[] =>
  boardFigureNames.flatMap((figure) => {
    const { rows: ids = [] } = target.sources[figure];
    const chosen = rows.filter(({ id }) => ids.includes(id));
    return chosen.length === 0 ? [] : [{ figure, rows: chosen }];
  });

/**
 * Returns the fit of a target to the measurements of one machine. Measurements outside the cost model are
 * left out ({@link outsideBecause}).
 */
export function fitOf(target: Target, machine: string, given: readonly BoardMeasurement[]): Fit {
  const rows = given.filter((row) => row.machine === machine && outsideBecause(row) === undefined).map(rowOf);
  const tasks = tasksOf(target, rows);
  const all = fitted(target, tasks, {});
  const random = lcg(seed);
  const splits = Array.from({ length: draws }, () => {
    const kept = withoutThird(rows, tasks, random);
    const values = fitted(target, narrowed(tasks, kept), all);
    const figures = { ...target, ...values };
    const left = rows.filter((row) => !kept.has(row));
    return {
      values,
      mean: meanFactor(left.map(({ factorOf }) => ({ ratio: factorOf(figures) }))),
    };
  });
  const figures = tasks.map((task): FittedFigure => {
    const bySplit = splits.map(({ values }) => values[task.figure] ?? target[task.figure]);
    return figureOf(task, target, all, [quantile(bySplit, 0.1), quantile(bySplit, 0.9)]);
  });
  const means = splits.map(({ mean }) => mean);
  return {
    machine,
    figures,
    splits: {
      draws,
      median: quantile(means, 0.5),
      low: quantile(means, 0.1),
      high: quantile(means, 0.9),
    },
  };
}

/** Returns the target parameters of the tasks, each fitted to the measurements of the task. */
export function fittedFigures(target: Target, tasks: readonly FitTask[]): readonly FittedFigure[] {
  const all = fitted(target, tasks, {});
  return tasks.map((task) => figureOf(task, target, all, []));
}

/**
 * Returns a target parameter with its fitted value and its range. The range spans the fitted value, the
 * values that single measurements imply, and `others`; measurement noise widens both ends. `others`: values
 * fitted to parts of the measurements.
 */
function figureOf(
  { figure, rows }: FitTask,
  target: Target,
  all: Values,
  others: readonly number[],
): FittedFigure {
  const value = all[figure] ?? target[figure];
  const byRow = rows.flatMap((row) => valueOfRow(row, figure, value, { ...target, ...all }) ?? []);
  const ends = [value, ...byRow, ...others];
  return {
    figure,
    value: isCount(figure) ? Math.max(1, Math.round(value)) : rounded(value, Math.round),
    range: [rounded(Math.min(...ends) / noise, Math.floor), rounded(Math.max(...ends) * noise, Math.ceil)],
    rows: rows.map(({ id }) => id),
  };
}

/** Returns a value of three digits. */
function rounded(value: number, round: (value: number) => number): number {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((round(Number((value / unit).toPrecision(9))) * unit).toPrecision(3));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/**
 * Returns about two thirds of the measurements, at random. At least one measurement for each parameter is
 * returned.
 */
function withoutThird(
  rows: readonly FitRow[],
  tasks: readonly FitTask[],
  random: () => number,
): ReadonlySet<FitRow> {
  const order = rows
    .map((row) => ({ row, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
  const kept = new Set(rows);
  const third = Math.floor(rows.length / 3);
  for (const row of order) {
    if (rows.length - kept.size === third) break;
    kept.delete(row);
    if (tasks.some((task) => task.rows.every((other) => !kept.has(other)))) kept.add(row);
  }
  return kept;
}

const narrowed = (tasks: readonly FitTask[], kept: ReadonlySet<FitRow>): readonly FitTask[] =>
  tasks.map(({ figure, rows }) => ({ figure, rows: rows.filter((row) => kept.has(row)) }));

/** Rounds over all figures at most, and the change of a figure that is none. */
const rounds = 12;
const tolerance = 1e-6;

/**
 * Returns the parameter values that minimize the prediction error of the tasks' measurements. The parameters
 * are fitted in turn, from the initial values `start`, for at most `rounds` rounds.
 */
function fitted(target: Target, tasks: readonly FitTask[], start: Values): Values {
  const values: Values = { ...start };
  for (let round = 0; round < rounds; round++) {
    let changes = 0;
    for (const { figure, rows } of tasks) {
      const before = values[figure] ?? target[figure];
      const figures = { ...target, ...values };
      const value = least((candidate) => lossOf(rows, { ...figures, [figure]: candidate }), before);
      values[figure] = value;
      changes = Math.max(changes, Math.abs(Math.log(value / before)));
    }
    if (changes < tolerance) break;
  }
  return values;
}

/** Up to this factor rows count by its square, beyond it by itself. */
const soft = 0.05;

/** Returns the soft absolute value of each row's factor, summed. */
const lossOf = (rows: readonly FitRow[], figures: Target): number =>
  rows.reduce((sum, { factorOf }) => {
    const factor = Math.log(factorOf(figures)) / soft;
    return sum + Math.sqrt(1 + factor * factor) - 1;
  }, 0);

const golden = (Math.sqrt(5) - 1) / 2;
/** Values that are looked at: a factor of `reach` both ways, so many of them first. */
const reach = 1.5;
const looks = 15;

/**
 * Returns the value that minimizes `loss`, in the range from about `from / reach` to about `from * reach`,
 * where `reach` is a constant.
 */
function least(loss: (value: number) => number, from: number): number {
  const step = (2 * Math.log(reach)) / (looks - 1);
  let [best, minimum] = [Math.log(from), Infinity];
  for (let k = 0; k < looks; k++) {
    const at = Math.log(from) - Math.log(reach) + k * step;
    const value = loss(Math.exp(at));
    if (value < minimum) [best, minimum] = [at, value];
  }
  let [low, high] = [best - step, best + step];
  let [left, right] = [high - golden * (high - low), low + golden * (high - low)];
  let [atLeft, atRight] = [loss(Math.exp(left)), loss(Math.exp(right))];
  while (high - low > tolerance / 4) {
    if (atLeft <= atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - golden * (high - low);
      atLeft = loss(Math.exp(left));
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + golden * (high - low);
      atRight = loss(Math.exp(right));
    }
  }
  return Math.exp((low + high) / 2);
}

/**
 * Returns the value of the target parameter `figure` at which the predicted value of a measurement equals the
 * measured value. `value`: present value of the parameter; the search covers `value / 4` to `4 * value`.
 * Returns undefined if the predicted value is above the measured value at both ends of this range, or below
 * it at both ends.
 */
function valueOfRow(
  { factorOf }: FitRow,
  figure: keyof BoardFigures,
  value: number,
  figures: Target,
): number | undefined {
  const over = (at: number): number => factorOf({ ...figures, [figure]: at }) - 1;
  let [low, high] = [value / 4, value * 4];
  if (over(low) * over(high) > 0) return undefined;
  const rising = over(high) > over(low);
  for (let k = 0; k < 40; k++) {
    const middle = Math.sqrt(low * high);
    if (over(middle) > 0 === rising) high = middle;
    else low = middle;
  }
  return Math.sqrt(low * high);
}
