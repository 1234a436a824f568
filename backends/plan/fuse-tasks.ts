/**
 * Short tasks fused, so that one has rows enough to run side by side: the opposite of a split. The program
 * that comes out is a tile program like any other, with fewer parallel iterations and the same bits.
 */
import { formsOf, gatheredTable, indexed } from "../../ir/access.js";
import type { TileFunc } from "../../ir/func.js";
import { constant, isConstant, iv, loopVariables, sub } from "../../ir/linear.js";
import { isParam } from "../../ir/regions.js";
import { taskOfTile } from "../../ir/task/index.js";
import {
  ubBytes,
  type ForStmt,
  type GatherStmt,
  type Region,
  type Stmt,
  type UbBuffer,
} from "../../ir/tile.js";
import { followers } from "./split-tasks.js";

/** Bytes of a slab that a first-level cache holds beside indices and output. */
const maxSlabBytes = 2 ** 15;
/** Tasks that are left at least: enough for threads to share them evenly. */
const fewestTasks = 256;

/**
 * Returns the program with several iterations of the innermost parallel loop fused into one, so that each
 * task has `rows` rows. Unchanged if the loop or the statements do not allow the fusion.
 */
export function fuseTasks(func: TileFunc, rows: number): TileFunc {
  const { nest } = taskOfTile(func);
  const inner = nest.loops[nest.loops.length - 1];
  const gather = nest.body.find((stmt) => stmt.op === "gather");
  if (inner === undefined || gather === undefined) return func;
  const { stmt: loop, trips } = inner;
  const times = rows / loop.step;
  if (times <= 1 || trips % times !== 0 || nest.tasks / times < fewestTasks) return func;
  if (!isConstant(sub(loop.upper, loop.lower)) || !takesElements(gather, loop)) return func;
  const d = gather.to.offsets.findIndex((offset) => loopVariables(offset).has(loop.iv));
  if (d === -1 || d === gather.to.sizes.length - 1) return func;
  const fuse = new Fuse(func, loop, gather, d, times);
  const allocs = func.body.flatMap((stmt) => (stmt.op === "alloc" ? [fuse.alloc(stmt.buffer)] : []));
  const body = nest.body.map((stmt) => fuse.stmt(stmt));
  const stmts = [...allocs, ...body].filter((stmt) => stmt !== undefined);
  if (stmts.length < allocs.length + body.length) return func;
  const wide: Stmt = { ...loop, step: loop.step * times, body: stmts.slice(allocs.length) };
  const loops = nest.loops
    .slice(0, -1)
    .reduceRight<Stmt>((within, { stmt }) => ({ ...stmt, body: [within] }), wide);
  return { ...func, body: [...stmts.slice(0, allocs.length), loops] };
}

/**
 * True if each element of the innermost output dim has its own index, and no coordinate depends on the
 * variable of `loop`.
 */
const takesElements = ({ map, to }: GatherStmt, loop: ForStmt): boolean =>
  indexed(map).has(to.sizes.length - 1) && formsOf(map).every((form) => !loopVariables(form).has(loop.iv));

/** So many iterations of a loop as one: undefined for what does not move with it along the output dim `d`. */
class Fuse {
  constructor(
    private readonly func: TileFunc,
    private readonly loop: ForStmt,
    private readonly gather: GatherStmt,
    private readonly d: number,
    private readonly times: number,
  ) {}

  /**
   * Returns the widened allocation of the data's slab. Undefined for any other buffer, which may not be in
   * UB, and for a slab that cannot be widened or would exceed `maxSlabBytes`.
   */
  alloc(buffer: UbBuffer): Stmt | undefined {
    const { gather } = this;
    const along = followers(gather, gatheredTable, this.d);
    if (gather.from[gatheredTable]?.buffer !== buffer.name || along.includes(buffer.shape.length - 1))
      return undefined;
    const shape = buffer.shape.map((extent, k) => (along.includes(k) ? extent * this.times : extent));
    const wide = { ...buffer, shape };
    return ubBytes(wide) <= maxSlabBytes ? { op: "alloc", buffer: wide } : undefined;
  }

  /** Returns a statement of the fused task. Undefined for a statement that no fused task has. */
  stmt(stmt: Stmt): Stmt | undefined {
    const { d, gather } = this;
    if (stmt.op === "sync") return stmt;
    if (stmt.op === "load") {
      const from = this.region(stmt.from, followers(gather, gatheredTable, d));
      return from === undefined ? undefined : { ...stmt, from };
    }
    if (stmt.op !== "gather") return undefined;
    const to = this.region(stmt.to, [d]);
    const from = stmt.from.flatMap((region, table) => this.region(region, followers(stmt, table, d)) ?? []);
    return to === undefined || from.length < stmt.from.length ? undefined : { ...stmt, from, to };
  }

  /**
   * Returns a region that is widened along `dims`. A tensor's region starts further along with each
   * iteration; a tile's region has all iterations. Undefined if it cannot be widened.
   */
  private region(region: Region, dims: readonly number[]): Region | undefined {
    const { loop, times } = this;
    const moves = isParam(this.func, region.buffer);
    const fits = region.offsets.every((offset, k) => {
      const size = region.sizes[k] ?? constant(0);
      const fused = dims.includes(k);
      const rest = fused && moves ? sub(offset, iv(loop.iv)) : offset;
      const even = !fused || (isConstant(size) && size.at === loop.step);
      return even && ![rest, size].some((form) => loopVariables(form).has(loop.iv));
    });
    if (!fits) return undefined;
    const wide = constant(loop.step * times);
    return { ...region, sizes: region.sizes.map((size, k) => (dims.includes(k) ? wide : size)) };
  }
}
