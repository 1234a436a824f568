/**
 * How the lanes of a workgroup share a tile: x along its innermost dim, y along the dim outside it, so that no lane
 * divides to find its place.
 */
import type { Target } from "../../ir/target.js";
import type { WgslLimits } from "./kernel.js";

const fewestLanes = 16;
/** Lanes may idle at the end of a row, this share at most. */
const idleShare = 0.25;

export interface LaneShape {
  readonly x: number;
  readonly y: number;
}

/** `x` and `y` as the kernel ends up using them. */
export class Lanes {
  /** Builtins that the text mentions. */
  readonly used = new Set<"lane" | "lane_index">();

  constructor(readonly shape: LaneShape) {}

  get count(): number {
    return this.shape.x * this.shape.y;
  }

  flat(): string {
    this.used.add("lane_index");
    return "lane_index";
  }

  along(axis: "x" | "y"): string {
    if (this.shape[axis] === 1) return "0u";
    this.used.add("lane");
    return `lane.${axis}`;
  }
}

/** For a tile of `rows` rows of `units` units; `together`: units that neighbouring lanes should read side by side. */
export function laneShape(
  rows: number,
  units: number,
  together: number,
  { limits, target }: { readonly limits: WgslLimits; readonly target: Target },
): LaneShape {
  const most = Math.min(
    target.lanes,
    limits.maxComputeInvocationsPerWorkgroup,
    limits.maxComputeWorkgroupSizeX,
  );
  const wanted = Math.min(most, Math.max(fewestLanes, powerAbove((rows * units) / 4)));
  const wide = widest(units, Math.min(wanted, powerAbove(together)));
  const y = Math.min(wanted / wide, powerAbove(rows), limits.maxComputeWorkgroupSizeY);
  return { x: widest(units, wanted / y), y };
}

/** The largest power of two up to `most` that leaves few lanes idle in the last turn. */
function widest(units: number, most: number): number {
  for (let x = most; x > 1; x /= 2) {
    const turns = Math.ceil(units / x);
    if (1 - units / (turns * x) <= idleShare) return x;
  }
  return 1;
}

const powerAbove = (value: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, value)));

/** Units that neighbouring lanes read side by side: what the target asks for. */
export const unitsTogether = (target: Target, unitBytes: number): number =>
  Math.max(1, Math.floor(target.laneBytes / unitBytes));
