/**
 * Figures that measurements fix. Each figure in turn takes the value that brings the rows that it names nearest to what was measured,
 * the others standing, until none moves.
 */
import { fasterWith, type BoardFigures, type KernelWork, type Target } from "../../ir/index.js";
import { lcg } from "../formats/lcg.js";
import { workOfMeasurement, type BoardMeasurement } from "./measurement.js";
import { meanFactor, outsideBecause, predictionOf } from "./validate.js";

/** A figure with what the measurements say of it. */
export interface FittedFigure {
  readonly figure: keyof BoardFigures;
  readonly value: number;
  /**
   * Covers the value that each row asks for alone and eight of ten fits without a third of the rows, each widened by the noise of the
   * pages.
   */
  readonly range: readonly [low: number, high: number];
  /** The measurements that it was fitted to. */
  readonly rows: readonly string[];
}

/** Mean factors on rows that were left out of a fit. */
export interface Splits {
  readonly draws: number;
  readonly median: number;
  /** The tenth and the ninetieth of a hundred. */
  readonly low: number;
  readonly high: number;
}

/** A target fitted to measurements. */
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

/** A row with its work, which all fits price. */
interface Row {
  readonly row: BoardMeasurement;
  readonly work: KernelWork;
}

const factorOf = ({ row, work }: Row, figures: BoardFigures): number =>
  predictionOf(row, figures, work).predicted / row.measured;

interface Task {
  readonly figure: keyof BoardFigures;
  readonly rows: readonly Row[];
}

const figureNames = Object.keys(fasterWith) as readonly (keyof BoardFigures)[];

/** Figures whose rows are there; a figure without one keeps its value. */
const tasksOf = (target: Target, rows: readonly Row[]): readonly Task[] =>
  figureNames.flatMap((figure) => {
    const { rows: ids = [] } = target.sources[figure];
    const own = rows.filter(({ row }) => ids.includes(row.id));
    return own.length === 0 ? [] : [{ figure, rows: own }];
  });

/** Returns the fit of a target to the rows of one machine, those outside the model left out. */
export function fitOf(target: Target, machine: string, given: readonly BoardMeasurement[]): Fit {
  const rows = given.flatMap((row) =>
    row.machine === machine && outsideBecause(row) === undefined
      ? [{ row, work: workOfMeasurement(row) }]
      : [],
  );
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
      mean: meanFactor(left.map((row) => ({ ratio: factorOf(row, figures) }))),
    };
  });
  const figures = tasks.map(({ figure, rows: own }): FittedFigure => {
    const value = all[figure] ?? target[figure];
    const byRow = own.flatMap((row) => valueOfRow(row, figure, value, { ...target, ...all }) ?? []);
    const bySplit = splits.map(({ values }) => values[figure] ?? value);
    const ends = [value, ...byRow, quantile(bySplit, 0.1), quantile(bySplit, 0.9)];
    const range = [
      rounded(Math.min(...ends) / noise, Math.floor),
      rounded(Math.max(...ends) * noise, Math.ceil),
    ] as const;
    return { figure, value: rounded(value, Math.round), range, rows: own.map(({ row }) => row.id) };
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

/** Returns a value of three digits. */
function rounded(value: number, round: (value: number) => number): number {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2);
  return Number((round(Number((value / unit).toPrecision(9))) * unit).toPrecision(3));
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = part * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}

/** All but a random third of the rows. A row that alone fixes a figure stays, and so does the last one of a figure's rows. */
function withoutThird(rows: readonly Row[], tasks: readonly Task[], random: () => number): ReadonlySet<Row> {
  const order = rows
    .map((row) => ({ row, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ row }) => row);
  const kept = new Set(rows);
  const third = Math.floor(rows.length / 3);
  for (const row of order) {
    if (rows.length - kept.size === third) break;
    kept.delete(row);
    if (tasks.some((task) => task.rows.every((own) => !kept.has(own)))) kept.add(row);
  }
  return kept;
}

const narrowed = (tasks: readonly Task[], kept: ReadonlySet<Row>): readonly Task[] =>
  tasks.map(({ figure, rows }) => ({ figure, rows: rows.filter((row) => kept.has(row)) }));

/** Rounds over all figures at most, and the change of a figure that is none. */
const rounds = 12;
const standing = 1e-6;

function fitted(target: Target, tasks: readonly Task[], start: Values): Values {
  const values: Values = { ...start };
  for (let round = 0; round < rounds; round++) {
    let moved = 0;
    for (const { figure, rows } of tasks) {
      const before = values[figure] ?? target[figure];
      const figures = { ...target, ...values };
      const value = least((own) => lossOf(rows, { ...figures, [figure]: own }), before);
      values[figure] = value;
      moved = Math.max(moved, Math.abs(Math.log(value / before)));
    }
    if (moved < standing) break;
  }
  return values;
}

/** Up to this factor rows count by its square, beyond it by itself. */
const soft = 0.05;

/** The soft absolute value of each row's factor, summed. */
const lossOf = (rows: readonly Row[], figures: BoardFigures): number =>
  rows.reduce((sum, row) => {
    const factor = Math.log(factorOf(row, figures)) / soft;
    return sum + Math.sqrt(1 + factor * factor) - 1;
  }, 0);

const golden = (Math.sqrt(5) - 1) / 2;
/** Values that are looked at: a factor of `reach` both ways, so many of them first. */
const reach = 1.5;
const looks = 15;

/** The value with the least loss around a first one, by a coarse look, then by golden sections of its logarithm. */
function least(loss: (value: number) => number, from: number): number {
  const step = (2 * Math.log(reach)) / (looks - 1);
  let [best, found] = [Math.log(from), Infinity];
  for (let k = 0; k < looks; k++) {
    const at = Math.log(from) - Math.log(reach) + k * step;
    const value = loss(Math.exp(at));
    if (value < found) [best, found] = [at, value];
  }
  let [low, high] = [best - step, best + step];
  let [left, right] = [high - golden * (high - low), low + golden * (high - low)];
  let [atLeft, atRight] = [loss(Math.exp(left)), loss(Math.exp(right))];
  while (high - low > standing / 4) {
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

/** The value with which a row alone is met, within a factor of four; undefined where there is none. */
function valueOfRow(
  row: Row,
  figure: keyof BoardFigures,
  value: number,
  figures: BoardFigures,
): number | undefined {
  const over = (at: number): number => factorOf(row, { ...figures, [figure]: at }) - 1;
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
