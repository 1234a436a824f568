/** Addresses of a program's regions in the kernel's memory. */
import { stepsOf, type Place } from "../../ir/addressing.js";
import { outputOf, type TileFunc } from "../../ir/func.js";
import type { Linear } from "../../ir/linear.js";
import { ubBuffers } from "../../ir/regions.js";
import { ubStrides, type Region, type UbBuffer } from "../../ir/tile.js";
import { at, bytesOf, invariant, isPacked, strides, type DType } from "../../ir/types.js";
import { beyondSteps, isOverPoint } from "../plan/stages.js";

/**
 * Memory of a region: the tensor of the operand with index `operand`, or a buffer in the unified buffer (UB).
 */
export type Memory =
  { readonly kind: "tensor"; readonly operand: number } | { readonly kind: "ub"; readonly buffer: UbBuffer };

/** Region of a tensor or buffer, with the memory of the region. Offsets and strides are in elements. */
export interface PlacedRegion extends Place {
  readonly memory: Memory;
}

/**
 * Address of a tile's elements in two parts. `start`, `by`: a pointer that advances by constant steps along
 * the output dims. `beyond`: the terms that contain index operands, quotients or remainders.
 */
export interface PointerWalk {
  readonly memory: Memory;
  /**
   * Bytes of an element; 1 for packed elements. Packed elements have no byte address: the pointer counts them
   * from the first element of the memory.
   */
  readonly elementBytes: number;
  readonly packed: boolean;
  /** Start of the pointer, in elements of the memory. */
  readonly start: Linear;
  /** Bytes between neighbours along each output dim. */
  readonly by: readonly number[];
  /** Terms of index operands, and of quotients and remainders of dims, in elements of the memory. */
  readonly beyond: Linear;
}

/** Position of an index operand's value in memory, as a byte offset from a pointer into the index tensor. */
export interface Lookup {
  /** Index, from 0, of the pointer into the index tensor. */
  readonly walk: number;
  /** Byte offset of the value from the pointer. */
  readonly shift: number;
  readonly dtype: DType;
}

/**
 * Returns an address split into a pointer and remaining terms ({@link PointerWalk}). `address`: in elements
 * of type `dtype`. `rank`: number of output dims.
 */
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

/**
 * Returns a function that maps a region of the program to the region's memory, with offsets and strides in
 * elements.
 */
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

/** True if a region lies in the output tensor. */
export const isOutput = ({ memory }: PlacedRegion, func: TileFunc): boolean =>
  memory.kind === "tensor" && at(func.operands, memory.operand) === outputOf(func);
