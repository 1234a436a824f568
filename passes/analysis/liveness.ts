/** When each UB buffer holds something: intervals over the statements in program order. */
import type { TileFunc } from "../../ir/func.js";
import type { Stmt } from "../../ir/tile.js";
import { InternalError } from "../../ir/types.js";
import { ubAccesses } from "../../ir/verify/accesses.js";

export interface Interval {
  readonly first: number;
  readonly last: number;
}

/**
 * A buffer is live from its first access to its last. One that a loop both fills and uses is live for the whole loop
 * where a statement outside the loop touches it too, or where its pipes may run ahead (two copies).
 */
export function liveness(func: TileFunc): ReadonlyMap<string, Interval> {
  const intervals = new Map<string, Interval>();
  let position = 0;
  const touch = (name: string, first: number, last: number): void => {
    const old = intervals.get(name);
    intervals.set(
      name,
      old === undefined
        ? { first, last }
        : { first: Math.min(old.first, first), last: Math.max(old.last, last) },
    );
  };
  const visit = (stmts: readonly Stmt[]): Set<string> => {
    const names = new Set<string>();
    for (const stmt of stmts) {
      if (stmt.op === "for") {
        const start = position;
        const inside = visit(stmt.body);
        // Pipes overlap across iterations, so what a loop touches stays live until its end.
        for (const name of inside) touch(name, start, position);
        inside.forEach((name) => names.add(name));
      } else {
        for (const { buffer } of ubAccesses(stmt, func)) {
          touch(buffer.name, position, position);
          names.add(buffer.name);
        }
      }
      position++;
    }
    return names;
  };
  visit(func.body);
  return intervals;
}

export const overlaps = (a: Interval, b: Interval): boolean => a.first <= b.last && b.first <= a.last;

export function intervalOf(intervals: ReadonlyMap<string, Interval>, name: string): Interval {
  const interval = intervals.get(name);
  if (interval === undefined) throw new InternalError(`buffer %${name} is never touched`);
  return interval;
}
