/** Slabs of the data that several cores load, and what it costs that they do so in one order. */
import { gatheredTable } from "../access.js";
import { inputOf, type TileFunc } from "../func.js";
import { loopVariables, type Linear } from "../linear.js";
import type { Schedule } from "../schedule.js";
import { targetFacts, type Target } from "../target.js";
import { nestOf } from "../task/nest.js";
import { statementsOf } from "../task/statements.js";
import { meanTrips } from "../tiling/loops.js";
import type { Tiling } from "../tiling/index.js";
import type { ForStmt } from "../tile.js";
import { at } from "../types.js";

/**
 * Sharing of slabs (parts of the data that one task loads) between tasks. `none`: tasks do not share slabs.
 * `one task`: no core has a second task. `one slab`: all tasks of a core load the same slab. `several`: the
 * tasks of a core load different slabs.
 */
export type SlabSharing = "none" | "one task" | "one slab" | "several";

/** A loop whose iterations are tasks. */
interface TaskLoop {
  readonly trips: number;
  /** True if its iterations load different slabs. */
  readonly followed: boolean;
}

/**
 * Returns the factor by which loads from global memory slow down because several cores load the same slab.
 * The factor is 1 without shared slabs. With a rotated task order, the factor is 1 if the tasks of a core
 * load different slabs.
 */
export const slabFactorOf = (
  sharing: SlabSharing,
  { rotate }: Pick<Schedule, "rotate">,
  target: Target,
): number => {
  const rotated = rotate === "on" && targetFacts[target.kind].dmaEngine;
  return sharing === "none" || (sharing === "several" && rotated) ? 1 : target.sameSlabFactor;
};

/**
 * Returns the kind of slab sharing between the tasks of a schedule. A slab is the part of the data that one
 * task loads.
 */
export function slabSharing(tiling: Tiling): SlabSharing {
  const data = at(tiling.operands, gatheredTable);
  const loops = tiling.loops
    .filter(({ mode }) => mode === "parallel")
    .map((loop) => ({
      trips: Math.ceil(meanTrips(loop, tiling)),
      followed: data.dependsOn.has(loop.dim),
    }));
  const shared = data.inUb && loops.some(({ followed }) => !followed);
  return shared ? sharingBy(loops, tiling.schedule.cores) : "none";
}

/**
 * Returns the kind of slab sharing between the tasks of a tile program on `cores` cores. A slab is the part
 * of the data that one task loads.
 */
export function programSlabSharing(func: TileFunc, cores: number): SlabSharing {
  const { name } = inputOf(func, gatheredTable);
  const nest = nestOf(func);
  for (const { stmt, loops } of statementsOf(func)) {
    if (stmt.op !== "load" || stmt.from.buffer !== name) continue;
    const read = offsetVariables(stmt.from.offsets, loops);
    if (!loops.some(({ mode, iv }) => mode === "parallel" && !read.has(iv))) continue;
    return sharingBy(
      nest.loops.map((loop) => ({ trips: loop.trips, followed: read.has(loop.stmt.iv) })),
      cores,
    );
  }
  return "none";
}

/**
 * Returns the variables that offsets depend on: those of a tile begin at its view's. `loops`: outermost
 * first.
 */
function offsetVariables(offsets: readonly Linear[], loops: readonly ForStmt[]): ReadonlySet<string> {
  const variables = new Set(offsets.flatMap((offset) => [...loopVariables(offset)]));
  for (const { iv, lower } of [...loops].reverse())
    if (variables.has(iv)) for (const variable of loopVariables(lower)) variables.add(variable);
  return variables;
}

/**
 * Returns the kind of slab sharing between tasks. A slab is the part of the data that one task loads. Core c
 * executes the tasks c, c + `cores`, c + 2 `cores`, … `loops`: parallel loops, outermost first.
 */
function sharingBy(loops: readonly TaskLoop[], cores: number): SlabSharing {
  const tasks = loops.reduce((product, { trips }) => product * trips, 1);
  if (tasks <= cores) return "one task";
  let inner = tasks;
  for (const { trips, followed } of loops) {
    inner /= trips;
    if (followed && differsAfter(cores, inner, trips, tasks)) return "several";
  }
  return "one slab";
}

/**
 * True if floor(task / inner) mod trips differs between some task and the one `cores` later. Its quotients
 * are floor(cores / inner) apart, and one more where the remainders carry.
 */
function differsAfter(cores: number, inner: number, trips: number, tasks: number): boolean {
  if (Math.floor(cores / inner) % trips !== 0) return true;
  const carried = cores % inner;
  return trips > 1 && carried > 0 && tasks - cores > inner - carried;
}
