/**
 * How the lanes of a workgroup share a tile: x along its innermost dim, y along the dim outside it, so that no lane
 * divides to find its place.
 */
import type { Target } from "../../ir/target.js";
import { at, elementCount, type Shape } from "../../ir/types.js";
import type { GatherMove } from "./gather-move.js";
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

interface Device {
  readonly limits: WgslLimits;
  readonly target: Target;
}

/** For elements of `size` bytes. */
export function lanesFor({ how, tile, group }: GatherMove, size: number, device: Device): LaneShape {
  const units = Math.ceil((tile[tile.length - 1] ?? 1) / group);
  // Lanes of a packed gather count words of the whole tile.
  if (how === "packed") return laneShape(1, units * elementCount(tile.slice(0, -1)), units, device);
  const y = rowDim(tile);
  const rows = y === undefined ? 1 : at(tile, y);
  const together = how === "rows" ? Math.max(1, Math.floor(device.target.laneBytes / (group * size))) : units;
  return laneShape(rows, units, together, device);
}

/** The dim that y lanes share: the innermost one outside the rows that has more than one entry. */
export function rowDim(tile: Shape): number | undefined {
  const d = tile.slice(0, -1).findLastIndex((extent) => extent > 1);
  return d === -1 ? undefined : d;
}

/** For a tile of `rows` rows of `units` units; `together`: units that neighbouring lanes should read side by side. */
function laneShape(rows: number, units: number, together: number, { limits, target }: Device): LaneShape {
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
