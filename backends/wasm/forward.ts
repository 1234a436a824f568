/**
 * Which UB tiles need no copy: on a CPU the unified buffer is memory like any other, so a gather may read its indices
 * where a load finds them, and write its output where a store puts it. The bits are the same.
 *
 * Data tiles are copied: a slab side by side in a first-level cache answers random reads that the tensor would miss.
 */
import { equalExpr } from "../../ir/expr.js";
import type { TileFunc } from "../../ir/func.js";
import {
  flatten,
  type GatherStmt,
  type LoadStmt,
  type Region,
  type Stmt,
  type StoreStmt,
} from "../../ir/tile.js";
import { at } from "../../ir/types.js";

export interface Forwarding {
  /** The region of a tensor that a buffer is a copy of, by the buffer's name. */
  readonly regions: ReadonlyMap<string, Region>;
  /** Loads and stores that are not run. */
  readonly skipped: ReadonlySet<Stmt>;
}

/** A statement and the bodies around it, outermost first. */
interface Located<S extends Stmt> {
  readonly stmt: S;
  readonly bodies: readonly (readonly Stmt[])[];
}

export function forwarding(func: TileFunc): Forwarding {
  const all = locate(func.body, []);
  const of = <S extends Stmt>(op: S["op"]): Located<S>[] =>
    all.flatMap((found) => (found.stmt.op === op ? [found as Located<S>] : []));
  const [self] = of<GatherStmt>("gather");
  const regions = new Map<string, Region>();
  const skipped = new Set<Stmt>();
  if (self === undefined) return { regions, skipped };
  const [load, ...loads] = of<LoadStmt>("load").filter(({ stmt }) => stmt.to === self.stmt.indices.buffer);
  if (load !== undefined && loads.length === 0 && reaches(load, self)) {
    regions.set(load.stmt.to, load.stmt.from);
    skipped.add(load.stmt);
  }
  const [store, ...stores] = of<StoreStmt>("store");
  if (store !== undefined && stores.length === 0 && storesAll(store, self)) {
    regions.set(store.stmt.from, store.stmt.to);
    skipped.add(store.stmt);
  }
  return { regions, skipped };
}

const locate = (body: readonly Stmt[], outer: readonly (readonly Stmt[])[]): Located<Stmt>[] =>
  body.flatMap((stmt) => [
    { stmt, bodies: [...outer, body] },
    ...(stmt.op === "for" ? locate(stmt.body, [...outer, body]) : []),
  ]);

/** The load runs before every gather, in a loop that the gather is in too: the region it names still holds. */
function reaches(load: Located<LoadStmt>, gather: Located<GatherStmt>): boolean {
  const depth = load.bodies.length - 1;
  const body = at(load.bodies, depth);
  if (gather.bodies[depth] !== body) return false;
  const inner = body.findIndex(
    (stmt) => stmt === gather.stmt || (stmt.op === "for" && flatten(stmt.body).includes(gather.stmt)),
  );
  return body.indexOf(load.stmt) < inner;
}

/** The store follows the gather in its body and takes all that it wrote, from the origin. */
function storesAll(store: Located<StoreStmt>, gather: Located<GatherStmt>): boolean {
  const { to } = gather.stmt;
  const body = at(gather.bodies, gather.bodies.length - 1);
  return (
    store.stmt.from === to.buffer &&
    body.indexOf(store.stmt) > body.indexOf(gather.stmt) &&
    to.offsets.every((offset) => offset.kind === "const" && offset.value === 0) &&
    to.sizes.every((size, d) => equalExpr(size, at(store.stmt.to.sizes, d)))
  );
}
