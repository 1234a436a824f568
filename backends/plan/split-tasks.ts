/**
 * Long tasks cut into slices, so that a run can be watched and given up between two of them, and threads
 * share what one task holds. The program that comes out is a tile program like any other, with more parallel
 * iterations and the same bits.
 */
import { gatheredTable, mapForms, readsOf } from "../../ir/access.js";
import type { TileFunc } from "../../ir/func.js";
import {
  add,
  constant,
  dim,
  dimsOf,
  isConstant,
  iv,
  min,
  sub,
  substitute,
  type Linear,
} from "../../ir/linear.js";
import { boundOf } from "../../ir/intervals/range.js";
import { sizesAround } from "../../ir/symbols/symbols.js";
import { taskOfTile } from "../../ir/task/index.js";
import {
  accessesOf,
  flatten,
  walkedSizes,
  type ForStmt,
  type GatherStmt,
  type Region,
  type Stmt,
} from "../../ir/tile.js";
import { at, elementCount } from "../../ir/types.js";
import { maxSizesOf } from "./gather.js";

/** Number of elements in a slice of a task. For every element type, a slice takes some milliseconds. */
export const splitElements = 2 ** 20;
/** A slice loads its data again; it moves so many times as much. */
const movesPerReload = 16;

/**
 * Returns the program with tasks longer than {@link splitElements} elements split into slices. Unchanged if
 * the loops do not allow the split.
 */
export function splitTasks(func: TileFunc): TileFunc {
  const around = sizesAround(func);
  const { gather, nest } = taskOfTile(func);
  const loops = nest.loops.map(({ stmt }) => stmt);
  const data = gather?.stmt.from[gatheredTable]?.buffer;
  const cut = cutTask(nest.body, [...around, ...loops], data);
  if (cut === undefined) return func;
  const body = loops.reduceRight<Stmt>((inner, loop) => ({ ...loop, body: [inner] }), cut);
  const hoisted = { ...func, body: [...func.body.filter((stmt) => stmt.op === "alloc"), body] };
  // A loop whose trips its text does not tell would stay inside its task.
  return taskOfTile(hoisted).nest.loops.length > loops.length ? splitTasks(hoisted) : func;
}

/**
 * Returns a parallel loop over slices of a task. Undefined if the task, with the statements `body`, is short
 * enough or cannot be split. `data`: name of the buffer with the gather's data. If each slice must load this
 * buffer again, the slices are larger.
 */
function cutTask(
  body: readonly Stmt[],
  loops: readonly ForStmt[],
  data: string | undefined,
): ForStmt | undefined {
  const place = body.findIndex((stmt) => flatten([stmt]).some(({ op }) => op === "gather"));
  const work = body[place];
  if (work === undefined) return undefined;
  const loads = body.slice(0, place);
  const after = body.slice(place + 1);
  if (!loads.every(({ op }) => op === "load" || op === "sync")) return undefined;
  const reloaded = loads.filter((stmt) => stmt.op === "load" && stmt.to === data);
  const max = Math.max(splitElements, movesPerReload * elementCopies(reloaded, loops));
  if (work.op === "for") {
    return after.every(({ op }) => op === "sync") ? cutLoop(work, loads, loops, max) : undefined;
  }
  return work.op === "gather" ? cutGather(work, loads, after, loops, max) : undefined;
}

/**
 * Returns the number of elements that statements load and gather, over all loop iterations. `loops`:
 * enclosing loops, outermost first.
 */
export function elementCopies(body: readonly Stmt[], loops: readonly ForStmt[]): number {
  return body.reduce((sum, stmt) => {
    if (stmt.op === "for") return sum + trips(stmt, loops) * elementCopies(stmt.body, [...loops, stmt]);
    if (stmt.op === "gather") return sum + elementCount(maxSizesOf(walkedSizes(stmt), loops));
    const reads = accessesOf(stmt).flatMap(({ region, write }) =>
      region === undefined || write ? [] : [elementCount(maxSizesOf(region.sizes, loops))],
    );
    return reads.reduce((all, elements) => all + elements, sum);
  }, 0);
}

const trips = (loop: ForStmt, loops: readonly ForStmt[]): number =>
  Math.max(0, Math.ceil(boundOf(sub(loop.upper, loop.lower), { loops }, "most") / loop.step));

/**
 * Returns a serial loop as a parallel loop whose tasks each run several iterations: as many as move at most
 * `max` elements, but at least one. Undefined if one task would run all iterations.
 */
function cutLoop(
  loop: ForStmt,
  loads: readonly Stmt[],
  loops: readonly ForStmt[],
  max: number,
): ForStmt | undefined {
  const inner = elementCopies(loop.body, [...loops, loop]);
  const count = trips(loop, loops);
  const together = Math.max(1, Math.floor(max / inner));
  if (count <= together) return undefined;
  if (together === 1) return { ...loop, mode: "parallel", body: [...loads, ...loop.body] };
  const name = fresh([...loops, loop]);
  const step = loop.step * together;
  const end = min(add(iv(name), constant(step)), loop.upper);
  const chunk: ForStmt = { ...loop, lower: iv(name), upper: end };
  return { ...loop, iv: name, step, mode: "parallel", body: [...loads, chunk] };
}

/**
 * Returns a gather as a parallel loop of tasks that each gather up to `max` elements. Undefined if the gather
 * is small enough or cannot be split.
 */
function cutGather(
  gather: GatherStmt,
  loads: readonly Stmt[],
  after: readonly Stmt[],
  loops: readonly ForStmt[],
  max: number,
): ForStmt | undefined {
  const extents = maxSizesOf(gather.to.sizes, loops);
  const elements = elementCount(maxSizesOf(walkedSizes(gather), loops));
  const d = extents.findIndex((extent) => extent > 1);
  if (elements <= max || d === -1) return undefined;
  const extent = at(extents, d);
  const step = Math.max(1, Math.floor((max * extent) / elements));
  const name = fresh(loops);
  const upper = at(gather.to.sizes, d);
  const isEven = isConstant(upper) && upper.at % step === 0;
  const size = isEven ? constant(step) : min(constant(step), sub(upper, iv(name)));
  const stores = after.flatMap((stmt): Stmt[] => {
    if (stmt.op === "store") return [{ ...stmt, to: slice(stmt.to, d, iv(name), size) }];
    return stmt.op === "sync" ? [stmt] : [];
  });
  if (stores.length !== after.length) return undefined;
  const stored = stores.some(({ op }) => op === "store");
  const cut: GatherStmt = {
    ...further(gather, d, iv(name)),
    to: slice(gather.to, d, stored ? constant(0) : iv(name), size),
  };
  return {
    op: "for",
    iv: name,
    lower: constant(0),
    upper,
    step,
    mode: "parallel",
    body: [...loads, cut, ...stores],
  };
}

/**
 * Returns a gather that reads the elements `start` positions further along output dim `d`. The regions and
 * the written coordinates do not change.
 */
function further(gather: GatherStmt, d: number, start: Linear): GatherStmt {
  const shifted = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "dim" && of.dim === d ? add(dim(d), start) : undefined));
  const { map } = gather;
  // What is written stays at the dims: the output's slice starts further along.
  return { ...gather, map: { ...mapForms(map, shifted), write: map.write } };
}

/**
 * Returns the dims of an input whose coordinate in a gather depends on output dim `d`; an empty list if there
 * are none. `table`: index of the input, from 0.
 */
export const followers = ({ map }: GatherStmt, table: number, d: number): number[] =>
  (readsOf(map, table)[0] ?? []).flatMap((coord, k) => (dimsOf(coord).includes(d) ? [k] : []));

/** Returns a region that begins `start` further along one dim, and has another size there. */
const slice = (region: Region, k: number, start: Linear, size: Linear): Region => ({
  ...region,
  offsets: region.offsets.map((offset, n) => (n === k ? add(offset, start) : offset)),
  sizes: region.sizes.map((old, n) => (n === k ? size : old)),
});

/** Returns a loop variable that none of these loops has. */
function fresh(loops: readonly ForStmt[]): string {
  const taken = loops.map((loop) => loop.iv);
  for (let k = 0; ; k++) if (!taken.includes(`s${k}`)) return `s${k}`;
}
