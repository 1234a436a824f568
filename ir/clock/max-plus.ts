/**
 * Max-plus matrices: row i of a matrix says how long after each component was ready component i is ready.
 * Statements one after the other are a product, the same n times is a power.
 */
/**
 * Square max-plus matrix, stored row by row. Entry (i, k) is the delay, in cycles, from the time when
 * component k is ready to the time when component i is ready.
 */
export type Matrix = number[];
/**
 * Vector of max-plus algebra: the time, in cycles, at which each component (such as a hardware pipe) is
 * ready.
 */
export type Vector = number[];

/** Time of a component that never becomes ready: the zero element of max-plus algebra. */
export const never = Number.NEGATIVE_INFINITY;

/**
 * Operations on lists of times at which components, such as hardware pipes, are ready: delay, wait and
 * record. A list has `columns` entries for each component: 1 in a vector, or the number of components in a
 * max-plus matrix.
 */
export class Recurrence {
  constructor(readonly columns: number) {}

  /** Delays component number `row` by `cycles`. */
  delay(times: number[], row: number, cycles: number): void {
    for (let k = row * this.columns; k < (row + 1) * this.columns; k++)
      times[k] = (times[k] ?? never) + cycles;
  }

  /** Makes `row` wait until `cycles` after `other`. */
  wait(times: number[], row: number, other: number, cycles: number): void {
    for (let k = 0; k < this.columns; k++) {
      const value = (times[other * this.columns + k] ?? never) + cycles;
      if (value > (times[row * this.columns + k] ?? never)) times[row * this.columns + k] = value;
    }
  }

  /** Makes `memory` hold when `row` is ready. */
  record(times: number[], row: number, memory: number): void {
    for (let k = 0; k < this.columns; k++)
      times[memory * this.columns + k] = times[row * this.columns + k] ?? never;
  }

  /**
   * Makes `row` wait until `cycles` after what `memory` holds of `other`, which then holds when `other` was
   * ready before.
   */
  waitForEarlier(times: number[], row: number, other: number, memory: number, cycles: number): void {
    this.wait(times, row, memory, cycles);
    this.record(times, other, memory);
  }
}

/** Returns the latest time in a vector; `never` for an empty vector. */
export function latest(ready: Vector): number {
  let max = never;
  for (const time of ready) if (time > max) max = time;
  return max;
}

/**
 * Advances the times in `ready` by `times` executions of a body; `times` may be a fraction. `run`: advances
 * `ready` by one execution, and is called at most `followed` times. Each further execution adds the mean
 * duration of the last `period` calls.
 */
export function repeatRuns(
  ready: Vector,
  times: number,
  followed: number,
  period: number,
  run: () => void,
): void {
  const steps = Math.min(followed, Math.ceil(times));
  let before = 0;
  for (let k = 0; k < steps; k++) {
    if (k === steps - period) before = latest(ready);
    run();
  }
  if (times === steps) return;
  const others = ((times - steps) * (latest(ready) - before)) / period;
  for (let k = 0; k < ready.length; k++) ready[k] = (ready[k] ?? never) + others;
}

/**
 * Algebra of square max-plus matrices. A product of two matrices is the effect of two consecutive parts of a
 * program.
 */
export class MaxPlus extends Recurrence {
  /** Products of two matrices so far. */
  products = 0;

  /** Matrices of `size` rows. */
  constructor(readonly size: number) {
    super(size);
  }

  /** Changes nothing. */
  identity(): Matrix {
    const matrix = this.nothing(this.size * this.size);
    for (let k = 0; k < this.size; k++) matrix[k * this.size + k] = 0;
    return matrix;
  }

  /** Returns the matrix of `earlier` followed by `later`. */
  after(later: Matrix, earlier: Matrix): Matrix {
    const { size } = this;
    this.products++;
    const result = this.nothing(size * size);
    for (let row = 0; row < size; row++) {
      for (let k = 0; k < size; k++) {
        const delay = later[row * size + k] ?? never;
        if (delay === never) continue;
        for (let column = 0; column < size; column++) {
          const value = delay + (earlier[k * size + column] ?? never);
          if (value > (result[row * size + column] ?? never)) result[row * size + column] = value;
        }
      }
    }
    return result;
  }

  /** Returns the times at which the components are ready after a matrix, given the times before. */
  apply(matrix: Matrix, ready: Vector): Vector {
    const { size } = this;
    const result = this.nothing(size);
    for (let row = 0; row < size; row++) {
      for (let k = 0; k < size; k++) {
        const value = (matrix[row * size + k] ?? never) + (ready[k] ?? never);
        if (value > (result[row] ?? never)) result[row] = value;
      }
    }
    return result;
  }

  /** Returns a list of `count` times that are `never`. */
  private nothing(count: number): number[] {
    return new Array<number>(count).fill(never);
  }
}
