/** A tile program as one gather over whole tensors: no loops, no copies. */
import { mapOverTensors } from "../../ir/addressing.js";
import { inputsOf, outputOf, type Operand, type TileFunc } from "../../ir/func.js";
import { constant } from "../../ir/linear.js";
import { taskOfTile } from "../../ir/task/index.js";
import type { GatherStmt, Region } from "../../ir/tile.js";

/** Undefined for a program without a gather, and for one written by hand whose tiles have maps of their own. */
export function wholeGather(func: TileFunc): GatherStmt | undefined {
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

const wholeOf = ({ name, type }: Operand): Region => ({
  buffer: name,
  offsets: type.shape.map(() => constant(0)),
  sizes: type.shape.map(constant),
});
