/**
 * Copies left out: a gather that reads its inputs where a load finds them, and writes its output where a
 * store puts it. The program that comes out is a tile program like any other, with the same bits.
 */
import type { TileFunc } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { accessesOf, flatten, withChildren, type GatherStmt, type Stmt } from "../../ir/tile.js";
import { within } from "./join-runs.js";

/** Result of {@link elide}: a tile program without unnecessary copies, and the removed statements. */
export interface Elided {
  readonly func: TileFunc;
  /** The statements that are left out. */
  readonly gone: ReadonlySet<Stmt>;
}

/**
 * Returns a tile program without the loads and the store around its gather, which then reads and writes the
 * tensors themselves. A program without a gather is unchanged. `stays`: returns true for the index of an
 * input that must still be loaded.
 */
export function elide(func: TileFunc, stays: (table: number) => boolean): Elided {
  const task = taskOfTile(func);
  const gather = task.gather?.stmt;
  if (gather === undefined) return { func, gone: new Set() };
  const gone = new Set<Stmt>();
  const from = gather.from.map((region, table) => {
    const load = task.loads.get(region.buffer)?.stmt;
    if (load === undefined || stays(table)) return region;
    gone.add(load);
    return within(region, load.from);
  });
  const store = task.store?.stmt;
  if (store !== undefined) gone.add(store);
  const to = store === undefined ? gather.to : within(gather.to, store.to);
  const { scratch: _scratch, ...rest } = gather;
  const inPlace: GatherStmt = { ...rest, from, to };
  const used = new Set(
    flatten(func.body).flatMap((stmt) =>
      gone.has(stmt) ? [] : accessesOf(stmt === gather ? inPlace : stmt).map(({ buffer }) => buffer),
    ),
  );
  const body = rewrite(func.body, (stmt) => {
    if (gone.has(stmt)) return [];
    if (stmt.op === "alloc") return used.has(stmt.buffer.name) ? [stmt] : [];
    return [stmt === gather ? inPlace : stmt];
  });
  return { func: { ...func, body }, gone };
}

/** Returns a body with other statements in the place of each, those inside loops first. */
const rewrite = (body: readonly Stmt[], put: (stmt: Stmt) => readonly Stmt[]): readonly Stmt[] =>
  body.flatMap((stmt) => put(withChildren(stmt, (inside) => rewrite(inside, put))));
