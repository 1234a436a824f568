/** A kernel's tile program with its open sizes at the most. */
import { InternalError, isResolved, dynamicSymbols, Tiling, type TileFunc } from "../../ir/index.js";
import { lowered } from "../../passes/index.js";
import type { Kernel } from "./compile.js";

/**
 * Returns the tiling of a kernel: the result of applying the complete schedule to the kernel's gather or
 * scatter, on the kernel's target. Throws an InternalError if the kernel was compiled from a tile program,
 * and so has no program at access level.
 */
export function tilingOf({ access, target }: Kernel): Tiling {
  if (access === undefined || !isResolved(access.schedule))
    throw new InternalError("a program with a schedule has an access program");
  return new Tiling(access, access.schedule, target);
}

/** Returns the tile program of a kernel with all symbols (dynamic sizes) at the largest sizes. */
export const programAtMaxSizes = (kernel: Kernel): TileFunc =>
  dynamicSymbols(kernel.tile).length > 0 ? lowered(tilingOf(kernel)) : kernel.tile;
