/** Work of one tile of a schedule, by pipe and operand. */
import { gatheredTable } from "../access.js";
import { ofEach } from "../func.js";
import { gatherPipe } from "../regions.js";
import { ubStrides } from "../tile.js";
import type { PlacedTensor, Instructions } from "../tiling/gather-lowering.js";
import { gatherWork } from "../tiling/gather-work.js";
import { operandRowBytes, type Tiling } from "../tiling/index.js";
import { at } from "../types.js";
import { transferWork, type StatementWork } from "./statement.js";

/**
 * Work of one tile of a schedule: the loads and stores, and a function that returns the gather's work for a
 * lowering.
 */
export interface TileWork {
  /** Loads of the inputs that pass through UB, and the store of the output if it passes through UB. */
  readonly transfers: readonly StatementWork[];
  /** Returns the work of the gather with the instructions of `lowering`. */
  readonly gather: (lowering: Instructions) => StatementWork;
}

/**
 * Returns the work of one full tile of a schedule: loads, store, and a function for the gather. Operands
 * without a tile in the unified buffer (UB) have no load or store.
 */
export function workOfTile(tiling: Tiling): TileWork {
  const { target, operands, tile, gather } = tiling;
  const resident = operands.map((operand): PlacedTensor => {
    const { type } = operand.operand;
    if (!operand.inUb) return { type };
    const rowBytes = operandRowBytes(tiling, operand);
    return { type, inTile: ubStrides({ dtype: type.dtype, shape: operand.tile, rowBytes }) };
  });
  const setting = { map: gather.map, ...ofEach(gather, resident) };
  const pipe = gatherPipe(gather, at(operands, gatheredTable).inUb);
  return {
    transfers: operands.flatMap((operand, k) =>
      operand.inUb
        ? [
            {
              pipe: operand.operand.role === "output" ? "MTE3" : "MTE2",
              operand: k,
              work: transferWork(at(resident, k), operand.tile, target),
            } as const,
          ]
        : [],
    ),
    gather: (lowering) => ({
      pipe,
      operand: gatheredTable,
      work: gatherWork({ ...setting, lowering }, tile, target),
    }),
  };
}
