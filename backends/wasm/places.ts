/** Where the regions of a program lie in the kernel's memory. */
import type { Place } from "../../ir/addressing.js";
import { outputOf, type TileFunc } from "../../ir/func.js";
import { add, type Linear } from "../../ir/linear.js";
import { ubBuffers } from "../../ir/regions.js";
import { ubStrides, type Region, type UbBuffer } from "../../ir/tile.js";
import { at, invariant, strides } from "../../ir/types.js";

/** A tensor by its number among the operands, or a tile of the unified buffer. */
export type Memory =
  { readonly kind: "tensor"; readonly operand: number } | { readonly kind: "ub"; readonly buffer: UbBuffer };

/** A region of a memory: offsets and strides in elements. */
export interface Placed extends Place {
  readonly memory: Memory;
}

/** An address that moves with the output dims of a tile. */
export interface Walk {
  readonly memory: Memory;
  /** Where it starts, in elements of the memory. */
  readonly start: Linear;
  /** Bytes between neighbours along each output dim. */
  readonly by: readonly number[];
}

/** `standIns`: regions of tensors that a tile of the unified buffer stands for, by its name. */
export function placing(func: TileFunc, standIns: ReadonlyMap<string, Region>): (region: Region) => Placed {
  const buffers = ubBuffers(func);
  const placed = (region: Region): Placed => {
    const standIn = standIns.get(region.buffer);
    if (standIn !== undefined) {
      const offsets = region.offsets.map((offset, k) => add(at(standIn.offsets, k), offset));
      return placed({ ...region, buffer: standIn.buffer, offsets });
    }
    const { offsets } = region;
    const operand = func.operands.findIndex(({ name }) => name === region.buffer);
    if (operand !== -1) {
      const by = strides(at(func.operands, operand).type.shape);
      return { memory: { kind: "tensor", operand }, offsets, strides: by };
    }
    const buffer = buffers.get(region.buffer);
    invariant(buffer !== undefined, `%${region.buffer} has no alloc`);
    return { memory: { kind: "ub", buffer }, offsets, strides: ubStrides(buffer) };
  };
  return placed;
}

export const isOutput = ({ memory }: Placed, func: TileFunc): boolean =>
  memory.kind === "tensor" && at(func.operands, memory.operand) === outputOf(func);
