/** The part of a tile program that code is made from. */
import { outputOf, type TileFunc } from "../../ir/func.js";
import { elementCount } from "../../ir/types.js";

/**
 * Returns the program, without statements where its output has no elements: there is nothing to write, and
 * the host looks up the index values (`backends/empty-output.ts`).
 */
export const writtenBy = (func: TileFunc): TileFunc =>
  elementCount(outputOf(func).type.shape) === 0 ? { ...func, body: [] } : func;
