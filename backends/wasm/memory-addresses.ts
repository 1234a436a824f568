/** Where the regions of a program lie in the kernel's memory. */
import { stepsOf, type Place } from "../../ir/addressing.js";
import { outputOf, type TileFunc } from "../../ir/func.js";
import type { Linear } from "../../ir/linear.js";
import { ubBuffers } from "../../ir/regions.js";
import { ubStrides, type Region, type UbBuffer } from "../../ir/tile.js";
import { at, bytesOf, invariant, isPacked, strides, type DType } from "../../ir/types.js";
import { beyondSteps, isOverPoint } from "../plan/stages.js";

/** A tensor by its number among the operands, or a tile of the unified buffer. */
export type Memory =
  { readonly kind: "tensor"; readonly operand: number } | { readonly kind: "ub"; readonly buffer: UbBuffer };

/** A region of a memory: offsets and strides in elements. */
export interface PlacedRegion extends Place {
  readonly memory: Memory;
}

/** An address as a pointer that advances with the output dims of a tile, and what lies beyond its steps. */
export interface PointerWalk {
  readonly memory: Memory;
  /** Bytes of an element. Of packed elements, which have no address of their own, a walk counts elements from its memory's first. */
  readonly elementBytes: number;
  readonly packed: boolean;
  /** Where it starts, in elements of the memory. */
  readonly start: Linear;
  /** Bytes between neighbours along each output dim. */
  readonly by: readonly number[];
  /** Terms of index operands, and of quotients and remainders of dims, in elements of the memory. */
  readonly beyond: Linear;
}

/** Place of the value of an index operand. */
export interface Lookup {
  /** Number of the walk over its table. */
  readonly walk: number;
  /** Bytes from the walk to the value. */
  readonly shift: number;
  readonly dtype: DType;
}

/** `dtype`: of the memory's elements, in which the address counts. */
export function pointerWalkOf(memory: Memory, address: Linear, dtype: DType, rank: number): PointerWalk {
  const packed = isPacked(dtype);
  const elementBytes = packed ? 1 : bytesOf(dtype);
  return {
    memory,
    elementBytes,
    packed,
    start: { at: address.at, terms: address.terms.filter((term) => !isOverPoint(term)) },
    by: stepsOf(address, rank).map((step) => step * elementBytes),
    beyond: { at: 0, terms: beyondSteps(address) },
  };
}

/** Where the regions of a program lie. */
export function placing(func: TileFunc): (region: Region) => PlacedRegion {
  const buffers = ubBuffers(func);
  return ({ buffer: name, offsets }) => {
    const operand = func.operands.findIndex((other) => other.name === name);
    if (operand !== -1) {
      const by = strides(at(func.operands, operand).type.shape);
      return { memory: { kind: "tensor", operand }, offsets, strides: by };
    }
    const buffer = buffers.get(name);
    invariant(buffer !== undefined, `%${name} has no alloc`);
    return { memory: { kind: "ub", buffer }, offsets, strides: ubStrides(buffer) };
  };
}

export const isOutput = ({ memory }: PlacedRegion, func: TileFunc): boolean =>
  memory.kind === "tensor" && at(func.operands, memory.operand) === outputOf(func);
