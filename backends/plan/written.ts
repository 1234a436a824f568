/** The part of a tile program that code is made from. */
import { outputOf, type TileFunc } from "../../ir/func.js";
import { elementCount } from "../../ir/types.js";

/**
 * Returns the program for which a backend generates code: without statements if the output has no elements,
 * otherwise unchanged. For an empty output, the host checks the index values (`backends/empty-output.ts`).
 */
export const writtenBy = (func: TileFunc): TileFunc =>
  elementCount(outputOf(func).type.shape) === 0 ? { ...func, body: [] } : func;
