/** A tile program as one gather over whole tensors: no loops, no copies. */
import { gatherAddresses, gatherOverTensors, mapOverTensors, tensorPlace } from "../../ir/addressing.js";
import type { TileFunc } from "../../ir/func.js";
import { taskOfTile } from "../../ir/task/index.js";
import { planGather, type GatherPlan } from "./gather.js";

/**
 * Returns the plan of a program's gather over whole tensors. Undefined if the program has no gather, or is
 * hand-written with different maps in different tiles.
 */
export function planTogether(func: TileFunc): GatherPlan | undefined {
  const task = taskOfTile(func);
  const map = mapOverTensors(func, task);
  if (map === undefined) return undefined;
  const stmt = gatherOverTensors(map, func.operands);
  const addresses = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  return planGather(func, { stmt, loops: [] }, addresses);
}
