/** The part of a tile program that code is made from. */
import { outputOf, type TileFunc } from "../../ir/func.js";
import { elementCount } from "../../ir/types.js";

/**
 * Returns the program for which a backend generates code: `func` unchanged, or without statements if the
 * output is empty. The host checks the index values for an empty output.
 */
export const writtenBy = (func: TileFunc): TileFunc =>
  elementCount(outputOf(func).type.shape) === 0 ? { ...func, body: [] } : func;
