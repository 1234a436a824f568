/** How the cycles of a kernel stand to the least that its program could take. */
import {
  formatStanding,
  isResolved,
  programFloor,
  ratesOf,
  standingOf,
  Tiling,
  type ClockResult,
  type Standing,
} from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";

/** A kernel's standing, and the bytes of global memory that it moves; undefined for a tile program, which has no other schedules. */
export function standingOfKernel(
  { access, target }: Pick<Kernel, "access" | "target">,
  clock: ClockResult,
): (Standing & { readonly bytes: number }) | undefined {
  if (access === undefined || !isResolved(access.schedule)) return undefined;
  const tiling = new Tiling(access, access.schedule, target);
  return { bytes: tiling.traffic.bytes, ...standingOf(tiling, clock, programFloor(tiling)) };
}

/** The same in words. */
export function kernelStanding(
  kernel: Pick<Kernel, "access" | "target">,
  clock: ClockResult,
): string | undefined {
  const standing = standingOfKernel(kernel, clock);
  return standing === undefined ? undefined : formatStanding(standing, ratesOf(kernel.target));
}
