/** Roofline of a kernel: its cycles relative to the lower bound of its program. */
import {
  formatRoofline,
  isResolved,
  programLowerBound,
  ratesOf,
  rooflineOf,
  Tiling,
  type ClockResult,
  type Roofline,
} from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";

/**
 * Returns the roofline of a kernel, and its traffic in bytes. Undefined for a kernel compiled from a tile
 * program.
 */
export function rooflineOfKernel(
  { access, target }: Pick<Kernel, "access" | "target">,
  clock: ClockResult,
): (Roofline & { readonly bytes: number }) | undefined {
  if (access === undefined || !isResolved(access.schedule)) return undefined;
  const tiling = new Tiling(access, access.schedule, target);
  return { bytes: tiling.traffic.bytes, ...rooflineOf(tiling, clock, programLowerBound(tiling)) };
}

/** Returns the roofline of a kernel as text. Undefined for a kernel compiled from a tile program. */
export function kernelRoofline(
  kernel: Pick<Kernel, "access" | "target">,
  clock: ClockResult,
): string | undefined {
  const roofline = rooflineOfKernel(kernel, clock);
  return roofline === undefined ? undefined : formatRoofline(roofline, ratesOf(kernel.target));
}
