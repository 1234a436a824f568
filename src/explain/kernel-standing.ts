/** How the cycles of a kernel stand to the least that its program could take. */
import {
  formatStanding,
  isResolved,
  programFloor,
  ratesOf,
  standingOf,
  Tiling,
  type ClockResult,
} from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";

/** In words; undefined for a tile program, which has no other schedules. */
export function kernelStanding(
  { access, target }: Pick<Kernel, "access" | "target">,
  clock: ClockResult,
): string | undefined {
  if (access === undefined || !isResolved(access.schedule)) return undefined;
  const tiling = new Tiling(access, access.schedule, target);
  return formatStanding(standingOf(tiling, clock, programFloor(tiling)), ratesOf(target));
}
