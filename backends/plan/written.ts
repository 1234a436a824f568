/** The part of a tile program that code is made from. */
import { outputOf, type TileFunc } from "../../ir/func.js";
import { elementCount } from "../../ir/types.js";

/**
 * Returns the program for which code is generated: without statements if its output has no elements. The host
 * then checks the index values (`backends/empty-output.ts`).
 */
export const writtenBy = (func: TileFunc): TileFunc =>
  elementCount(outputOf(func).type.shape) === 0 ? { ...func, body: [] } : func;
