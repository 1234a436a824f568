/** The scatter of a tile program over whole tensors, as the fast executor takes it. */
import type { AccessMap } from "../ir/access.js";
import { derivedOnce } from "../ir/derived-once.js";
import { CompileError, error } from "../ir/diagnostic.js";
import type { TileFunc } from "../ir/func.js";
import { scatterOverTensors } from "../ir/scatter-over-tensors.js";

/**
 * Returns the access map of a program's scatter over whole tensors. Throws a CompileError (TC505) if the
 * program's tiles do not run each point once, in a valid order.
 */
export const scatterMapOf = derivedOnce((tile: TileFunc): AccessMap => {
  const map = scatterOverTensors(tile);
  if (map !== undefined) return map;
  const message = `the tiles of @${tile.name} are not the points of its domain in order, and the fast executor takes no others`;
  throw new CompileError([
    error("TC505", message, { span: tile.span, hint: "run it with the checked executor" }),
  ]);
});
