/** Tile of an operand of a scatter in UB. */
import { elementCount, type DType, type Shape } from "../types.js";
import { ubRowBytes } from "./footprint.js";

/**
 * Tile of a scatter's operand in the unified buffer (UB), with the shape in elements and the size in bytes.
 */
export interface ScatterTile {
  /** Position of the operand among the function's operands, from 0. */
  readonly operand: number;
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  /** Bytes of an innermost row as it lies in UB. */
  readonly rowBytes: number;
  readonly bytes: number;
}

/** Returns a tile in UB with rows padded to blocks of `blockBytes` bytes. */
export function paddedTile(
  name: string,
  dtype: DType,
  shape: Shape,
  blockBytes: number,
): Omit<ScatterTile, "operand"> {
  const rowBytes = ubRowBytes(shape, dtype, blockBytes);
  return { name, dtype, shape, rowBytes, bytes: elementCount(shape.slice(0, -1)) * rowBytes };
}
