/** A kernel's tile program with its open sizes at the most. */
import { InternalError, isResolved, dynamicSymbols, Tiling, type TileFunc } from "../../ir/index.js";
import { lowered } from "../../passes/index.js";
import type { Kernel } from "./compile.js";

/** The schedule of a kernel that was no tile program from the start. */
export function tilingOf({ access, target }: Kernel): Tiling {
  if (access === undefined || !isResolved(access.schedule))
    throw new InternalError("a program with a schedule has an access program");
  return new Tiling(access, access.schedule, target);
}

/** The tile program of a kernel, its open sizes at the most. */
export const programAtMaxSizes = (kernel: Kernel): TileFunc =>
  dynamicSymbols(kernel.tile).length > 0 ? lowered(tilingOf(kernel)) : kernel.tile;
