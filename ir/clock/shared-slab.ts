/** Slabs of the data that several cores load, and what it costs that they do so in one order. */
import { gatheredTable } from "../access.js";
import { inputOf, type TileFunc } from "../func.js";
import { loopVariables } from "../linear.js";
import type { Schedule } from "../schedule.js";
import type { Target } from "../target.js";
import { statementsOf } from "../task/statements.js";
import type { Tiling } from "../tiling/index.js";
import { at } from "../types.js";

/** Returns how many times as long the data's loads take in global memory: more than once where cores share slabs and none is rotated. */
export const slabFactorOf = (
  shared: boolean,
  { rotate }: Pick<Schedule, "rotate">,
  target: Target,
): number => (shared && rotate !== "on" ? target.sameSlabFactor : 1);

/** True if tasks of a schedule load the same slab of the data: a parallel loop goes over indices alone. */
export function sharesSlab({ operands, loops }: Pick<Tiling, "operands" | "loops">): boolean {
  const data = at(operands, gatheredTable);
  return data.inUb && loops.some(({ mode, dim }) => mode === "parallel" && !data.dependsOn.has(dim));
}

/** Returns the same of a tile program. */
export function programSharesSlab(func: TileFunc): boolean {
  const { name } = inputOf(func, gatheredTable);
  return statementsOf(func).some(({ stmt, loops }) => {
    if (stmt.op !== "load" || stmt.from.buffer !== name) return false;
    const read = new Set(stmt.from.offsets.flatMap((offset) => [...loopVariables(offset)]));
    return loops.some(({ mode, iv }) => mode === "parallel" && !read.has(iv));
  });
}
