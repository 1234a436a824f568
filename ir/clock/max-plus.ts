/**
 * Max-plus matrices: row i of a matrix says how long after each component was ready component i is ready. Statements
 * one after the other are a product, the same n times is a power.
 */
/** Square, row by row. They are many and small: plain arrays take less to make than typed ones. */
export type Matrix = number[];
/** One time for each component. */
export type Vector = number[];

export const never = Number.NEGATIVE_INFINITY;

export class MaxPlus {
  /** Products of two matrices so far. */
  products = 0;

  /** Matrices of `size` rows. */
  constructor(readonly size: number) {}

  /** Changes nothing. */
  identity(): Matrix {
    const matrix = this.nothing(this.size * this.size);
    for (let k = 0; k < this.size; k++) matrix[k * this.size + k] = 0;
    return matrix;
  }

  /** What `earlier` does, then `later`. */
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

  /** When each component is ready, given when each was. */
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

  /** `row` is ready so much later. */
  delay(matrix: Matrix, row: number, cycles: number): void {
    for (let k = row * this.size; k < (row + 1) * this.size; k++) matrix[k] = (matrix[k] ?? never) + cycles;
  }

  /** `row` waits until `cycles` after `other`. */
  wait(matrix: Matrix, row: number, other: number, cycles: number): void {
    for (let k = 0; k < this.size; k++) {
      const value = (matrix[other * this.size + k] ?? never) + cycles;
      if (value > (matrix[row * this.size + k] ?? never)) matrix[row * this.size + k] = value;
    }
  }

  /** `row` waits until `cycles` after what `memory` holds of `other`, which then holds when `other` was ready before. */
  waitForEarlier(matrix: Matrix, row: number, other: number, memory: number, cycles: number): void {
    const ready = matrix.slice(other * this.size, (other + 1) * this.size);
    this.wait(matrix, row, memory, cycles);
    for (let k = 0; k < this.size; k++) matrix[memory * this.size + k] = ready[k] ?? never;
  }

  /** So many times that never come. */
  private nothing(count: number): number[] {
    return new Array<number>(count).fill(never);
  }
}
