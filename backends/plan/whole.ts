/** A tile program as one gather over whole tensors: no loops, no copies. */
import { gatherAddresses, mapOverTensors, tensorPlace } from "../../ir/addressing.js";
import { inputsOf, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { constant } from "../../ir/linear.js";
import { taskOfTile } from "../../ir/task/index.js";
import type { GatherStmt, Region } from "../../ir/tile.js";
import { planGather, type GatherPlan } from "./gather.js";

function wholeGather(func: TileFunc): GatherStmt | undefined {
  const map = mapOverTensors(func, taskOfTile(func));
  if (map === undefined) return undefined;
  const inputs = inputsOf(func);
  return {
    op: "gather",
    from: inputs.map(wholeOf),
    to: wholeOf(outputOf(func)),
    map,
    origins: inputs.slice(1).map(({ type }) => type.shape.map(() => constant(0))),
  };
}

/**
 * Its plan, with addresses in the tensors. Undefined for a program without a gather, and for one written by hand whose tiles have maps of
 * their own.
 */
export function planWhole(func: TileFunc): GatherPlan | undefined {
  const stmt = wholeGather(func);
  if (stmt === undefined) return undefined;
  const task = taskOfTile(func);
  const addresses = gatherAddresses(stmt, (region) => tensorPlace(func, task, region));
  return planGather(func, { stmt, loops: [] }, addresses);
}

const wholeOf = ({ name, type }: Operand): Region => ({
  buffer: name,
  offsets: type.shape.map(() => constant(0)),
  sizes: type.shape.map(constant),
});
