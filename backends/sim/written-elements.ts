/** Elements that the points of a scatter write: by which task, and by which points. */
import { coordinates } from "../memory.js";
import { badIndexAt, duplicateWrite, type MappedInputs } from "../resolved-indices.js";
import type { Env } from "../../ir/linear.js";
import { strides } from "../../ir/types.js";

/**
 * Record of the output elements that a scatter writes: for each element, the task that writes the element,
 * and the first two points that write it.
 */
export class WrittenElements {
  /** By element, the number of the task that wrote it, from 1. */
  private readonly tasks: Int32Array;
  /** By element, the first two points that write it, in row-major order of the domain. */
  private readonly points = new Map<number, readonly [first: number, second: number]>();
  private readonly by: readonly number[];
  /** The first point with an index out of range, with the loop variables of its iteration. */
  private firstBad: { readonly number: number; readonly env: Env } | undefined;

  /**
   * `mapped`: the scatter in coordinates of whole tensors, which loop variables may move. `elements`: those
   * of the output.
   */
  constructor(
    private readonly mapped: MappedInputs,
    elements: number,
  ) {
    this.tasks = new Int32Array(elements);
    this.by = strides(mapped.map.domain);
  }

  private numberOf(point: readonly number[]): number {
    return point.reduce((sum, coord, d) => sum + coord * (this.by[d] ?? 0), 0);
  }

  /** Notes a point with an index out of range. `env`: values of the loop variables. */
  reject(point: readonly number[], env: Env): void {
    const number = this.numberOf(point);
    if (number < (this.firstBad?.number ?? Infinity)) this.firstBad = { number, env: new Map(env) };
  }

  /** Notes that a point writes an element. */
  write(point: readonly number[], element: number): void {
    const { duplicates } = this.mapped.map.write;
    if (duplicates !== "error" && duplicates !== "unique") return;
    const now = this.numberOf(point);
    const [first, second] = this.points.get(element) ?? [Infinity, Infinity];
    const [least, next] = [Math.min(first, now), Math.min(second, Math.max(first, now))];
    this.points.set(element, [least, next]);
  }

  /**
   * Records that a task writes the elements `first` to `end` (exclusive). Returns the first of them that
   * another task wrote, and records no later one; undefined if there is none.
   */
  otherTask(first: number, end: number, task: number): number | undefined {
    for (let element = first; element < end; element++) {
      const owner = this.tasks[element] ?? 0;
      if (owner !== 0 && owner !== task) return element;
      this.tasks[element] = task;
    }
    return undefined;
  }

  /**
   * Throws a RunError: TC601 for the first point with an index out of range, else TC607 for the first that
   * writes an element again.
   */
  judge(): void {
    const { domain } = this.mapped.map;
    if (this.firstBad !== undefined) {
      const { number, env } = this.firstBad;
      throw badIndexAt({ ...this.mapped, env }, coordinates(number, domain));
    }
    let again: { readonly point: number; readonly earlier: number; readonly element: number } | undefined;
    for (const [element, [earlier, point]] of this.points)
      if (point !== Infinity && point < (again?.point ?? Infinity)) again = { point, earlier, element };
    if (again === undefined) return;
    throw duplicateWrite(this.mapped, domain, again);
  }
}
