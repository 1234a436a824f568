/** Tile of an operand of a scatter in UB. */
import type { DType, Shape } from "../types.js";

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
