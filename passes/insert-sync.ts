/**
 * insert-sync: orders accesses of different pipes to the same UB bytes. Last, because reusing an address
 * makes hazards.
 *
 *   load %data[…] to %data_ub          sync V -> MTE2
 *   gather %data_ub[…] …          →    load %data[…] to %data_ub
 *                                      sync MTE2 -> V
 *                                      gather %data_ub[…] …
 *
 * Within a body the earlier statement's pipe is waited for right before the later statement. Across
 * iterations the writer waits for the users of the copy it overwrites: all earlier ones, or with two copies
 * (`lag 1`) all but those of the previous iteration. On WebGPU every task has a workgroup memory of its own,
 * so only serial loops carry.
 */
import type { TileFunc } from "../ir/func.js";
import { targetFacts, type Target } from "../ir/target.js";
import { ubBytes, type Pipe, type Stmt, type SyncStmt, type UbBuffer } from "../ir/tile.js";
import { at } from "../ir/types.js";
import { accessLookup, pipeOf, type UbAccess } from "../ir/regions.js";
import { definePass } from "./pass.js";

/**
 * Pass that inserts syncs between accesses of different hardware pipes (instruction queues) to the same bytes
 * of the unified buffer (docs/passes/08-insert-sync.md).
 */
export const insertSync = definePass({
  name: "insert-sync",
  summary: "orders the accesses of different pipes to the same UB bytes",
  requires: ["allocated"],
  ensures: ["synchronized"],
  run: (func, context) =>
    func.level === "tile"
      ? { ...func, body: syncBody(func.body, pipeAccesses(func), context.target, false) }
      : func,
});

interface PipeAccess extends UbAccess {
  readonly pipe: Pipe;
}

/**
 * Returns the statements of a loop or program body with syncs between conflicting accesses of different
 * hardware pipes (instruction queues). `carried`: true if accesses of consecutive iterations may conflict.
 */
function syncBody(
  body: readonly Stmt[],
  touchesOf: (stmt: Stmt) => readonly PipeAccess[],
  target: Target,
  carried: boolean,
): Stmt[] {
  const units = body.filter((stmt) => stmt.op !== "sync");
  const accesses = units.map(touchesOf);
  const out: Stmt[] = [];
  /** For each ordered pair of pipes, the unit before which it was last waited for. */
  const waited = new Map<string, number>();
  const wait = (from: Pipe, to: Pipe, lag: 0 | 1, unit: number): void => {
    out.push({ op: "sync", from, to, lag } satisfies SyncStmt);
    if (lag === 0) waited.set(`${from}>${to}`, unit);
  };
  /** For each ordered pair of pipes, the least lag of a wait for the previous iterations. */
  const backward = new Map<string, 0 | 1>();
  units.forEach((stmt, j) => {
    const current = at(accesses, j);
    if (carried) {
      for (const [later, access] of conflictsOf(accesses.slice(j + 1).flat(), current)) {
        const key = `${later.pipe}>${access.pipe}`;
        const lag = access.buffer.buffers === 2 ? 1 : 0;
        const least = backward.get(key);
        if (least !== undefined && least <= lag) continue;
        backward.set(key, lag);
        wait(later.pipe, access.pipe, lag, -1);
      }
    }
    for (let i = 0; i < j; i++) {
      for (const [earlier, access] of conflictsOf(at(accesses, i), current)) {
        if ((waited.get(`${earlier.pipe}>${access.pipe}`) ?? -1) > i) continue;
        wait(earlier.pipe, access.pipe, 0, j);
      }
    }
    const carries = stmt.op === "for" && (stmt.mode === "serial" || !targetFacts[target.kind].privateUb);
    out.push(stmt.op === "for" ? { ...stmt, body: syncBody(stmt.body, touchesOf, target, carries) } : stmt);
  });
  return out;
}

/** Returns the pairs of an access of `others` and an access of `current` that must stay in order. */
const conflictsOf = (
  others: readonly PipeAccess[],
  current: readonly PipeAccess[],
): (readonly [other: PipeAccess, access: PipeAccess])[] =>
  others.flatMap((other) =>
    current.filter((access) => conflict(other, access)).map((access) => [other, access] as const),
  );

/**
 * True if two accesses must stay in order: they are of different pipes, share bytes, and at least one is a
 * write.
 */
const conflict = (a: PipeAccess, b: PipeAccess): boolean =>
  a.pipe !== b.pipe && (a.write || b.write) && shareBytes(a.buffer, b.buffer);

/**
 * True if two buffers in the unified buffer (UB) are the same buffer or overlap in bytes. All copies of a
 * buffer count.
 */
function shareBytes(a: UbBuffer, b: UbBuffer): boolean {
  if (a.name === b.name) return true;
  const range = (buffer: UbBuffer): readonly [number, number] => {
    const addresses = buffer.addresses ?? [0];
    return [Math.min(...addresses), Math.max(...addresses) + ubBytes(buffer)];
  };
  const [startA, endA] = range(a);
  const [startB, endB] = range(b);
  return startA < endB && startB < endA;
}

/**
 * Returns a function that lists a statement's accesses to the unified buffer (UB), with the hardware pipe
 * (instruction queue) of each access. For a loop, the list includes the accesses of all inner statements.
 */
function pipeAccesses(func: TileFunc): (stmt: Stmt) => readonly PipeAccess[] {
  const lookup = accessLookup(func);
  const touchesOf = (stmt: Stmt): readonly PipeAccess[] => {
    if (stmt.op === "for") return stmt.body.flatMap(touchesOf);
    const pipe = pipeOf(stmt, func);
    return pipe === undefined ? [] : lookup(stmt).map((access) => ({ ...access, pipe }));
  };
  return touchesOf;
}
