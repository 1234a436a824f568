/**
 * Distribution of a tile over the lanes of a workgroup: x along the innermost dim, y along the dim outside
 * it. No lane then divides to find its position. Where that leaves many lanes without a unit, lanes are
 * numbered along the units of all rows, and find their row by a division by a constant.
 */
import { readsAlone, type Target } from "../../ir/target.js";
import { unitsOfLane } from "../../ir/clock/workgroup-memory.js";
import { isConstant } from "../../ir/linear.js";
import type { Amount } from "../../ir/text/form-text.js";
import { at, type Shape } from "../../ir/types.js";
import { named, zero } from "./forms.js";
import type { GatherMove } from "./gather-move.js";
import { laneRowDim } from "./lane-tile.js";
import type { WgslLimits } from "../../ir/wgsl-limits.js";

const fewestLanes = 16;
/**
 * Lanes may idle at the end of a row, this share at most; where there are lanes enough for all units, it does
 * not matter.
 */
const idleShare = 0.25;

/**
 * Shape of a workgroup: the numbers of lanes along x and y, and the method by which a tile's rows are
 * distributed among the lanes.
 */
export interface LaneShape {
  readonly x: number;
  readonly y: number;
  /** True if each lane along y takes neighbouring rows; false if the lanes take rows in turn. */
  readonly inRuns: boolean;
  /** True if the lanes along x are distributed over the element groups of all rows along y's dim. */
  readonly acrossRows: boolean;
}

/** Axis of the lanes in a workgroup. `all`: all lanes, numbered consecutively over x and y. */
export type LaneAxis = "x" | "y" | "all";

/**
 * WGSL names of the numbers of a lane in its workgroup: along x, along y, and in total. Also records the
 * built-in values that the kernel uses.
 */
export class Lanes {
  /** Builtins that the text mentions. */
  readonly used = new Set<"lane" | "lane_index">();

  constructor(readonly shape: LaneShape) {}

  count(axis: LaneAxis): number {
    return axis === "all" ? this.shape.x * this.shape.y : this.shape[axis];
  }

  /** Returns the number of this lane. */
  along(axis: LaneAxis): Amount {
    if (this.count(axis) === 1) return zero;
    this.used.add(axis === "all" ? "lane_index" : "lane");
    return named(axis === "all" ? "lane_index" : `lane.${axis}`);
  }
}

/**
 * Returns the lane axis for each dim of a tile: x for the last dim, y for the dim of {@link laneRowDim}, else
 * undefined.
 */
export const axesOf = (tile: Shape): (LaneAxis | undefined)[] =>
  tile.map((_, d) => (d === tile.length - 1 ? "x" : d === laneRowDim(tile) ? "y" : undefined));

/** Returns, for each dim of a tile, the number of coordinates that a lane takes at a time. */
export const groupsOf = ({ tile, unit }: Pick<GatherMove, "tile" | "unit">): number[] =>
  tile.map((_, d) =>
    d === tile.length - 1 ? unit.group : unit.how === "rows" && d === unit.fourAlong ? 4 : 1,
  );

/**
 * True if the WGSL code has a separate branch for full tiles, with loops of constant trip counts. False on
 * software adapters, and for computed or packed elements.
 */
export function branchesOnFullTiles(move: GatherMove, shape: LaneShape, { target }: Device): boolean {
  const { sizes, tile, unit, values } = move;
  if (readsAlone(target.laneBytes) || values !== undefined || unit.how === "packed") return false;
  const axes = axesOf(tile);
  const groups = groupsOf(move);
  if (shape.acrossRows) return sizes.some((size) => !isConstant(size)) && unitsAcross(move, axes) > shape.x;
  return sizes.some((size, d) => {
    const axis = axes[d];
    const lanes = axis === "x" || axis === "y" ? shape[axis] : 1;
    return !isConstant(size) && at(tile, d) > lanes * at(groups, d);
  });
}

/** Returns the number of units of the rows that lanes share. */
const unitsAcross = (move: GatherMove, axes: readonly (LaneAxis | undefined)[]): number => {
  const groups = groupsOf(move);
  return move.tile.reduce(
    (product, extent, d) => (axes[d] === undefined ? product : product * Math.ceil(extent / at(groups, d))),
    1,
  );
};

interface Device {
  readonly limits: WgslLimits;
  readonly target: Target;
}

/**
 * Returns the shape of a workgroup's lanes for a gather. `size`: bytes of an element. `tasks`: number of
 * tasks of the kernel.
 */
export function lanesFor(move: GatherMove, size: number, tasks: number, device: Device): LaneShape {
  const { tile, unit } = move;
  const { group } = unit;
  const units = Math.ceil((tile[tile.length - 1] ?? 1) / group);
  const y = laneRowDim(tile);
  const four = unit.how === "rows" && unit.fourAlong !== undefined && y === unit.fourAlong;
  const rows = y === undefined ? 1 : Math.ceil(at(tile, y) / (four ? 4 : 1));
  const inRows = unit.how === "rows" && group > 1;
  const { laneBytes } = device.target;
  const together = inRows ? Math.max(1, Math.floor(laneBytes / (group * size))) : units;
  const shape = laneShape({ rows, units, together, tasks }, device);
  const mayDivide = !readsAlone(laneBytes) && canCrossRows(move);
  if (mayDivide && usedShare({ rows, units }, shape) < leastUsedShare)
    return { x: shape.x * shape.y, y: 1, inRuns: false, acrossRows: true };
  return { ...shape, inRuns: inRows && !four && shape.y > 1 && readsAlone(laneBytes), acrossRows: false };
}

/** Share of turns with a unit below which lanes are numbered across rows. */
const leastUsedShare = 0.75;

/** Returns the share of the turns of all lanes that have a unit. */
const usedShare = ({ rows, units }: Pick<LanePartition, "rows" | "units">, { x, y }: Lattice): number =>
  (rows * units) / (Math.ceil(rows / y) * y * Math.ceil(units / x) * x);

type Lattice = Pick<LaneShape, "x" | "y">;

/** True if a unit may be any of a row: each has index values of its own, and no lanes stage rows. */
const canCrossRows = ({ unit, staged, resolved, tile }: GatherMove): boolean => {
  const y = laneRowDim(tile);
  return (
    (unit.how === "groups" || unit.how === "words") &&
    staged === undefined &&
    y !== undefined &&
    resolved.includes(y) &&
    resolved.includes(tile.length - 1)
  );
};

interface LanePartition {
  /** Rows of the tile, and units of each. */
  readonly rows: number;
  readonly units: number;
  /** Units that neighbouring lanes should read side by side. */
  readonly together: number;
  readonly tasks: number;
}

/**
 * Returns the numbers of lanes along x and y for the rows of a tile. One lane moves one element group of a
 * row.
 */
function laneShape({ rows, units, together, tasks }: LanePartition, { limits, target }: Device): Lattice {
  const max = Math.min(
    target.lanes,
    limits.maxComputeInvocationsPerWorkgroup,
    limits.maxComputeWorkgroupSizeX,
  );
  // A lane takes several units only where there is work for all lanes that run at once.
  const atOnce = target.cores * target.tasksPerCore * max;
  const steps = Math.max(1, Math.min(unitsOfLane, Math.floor((rows * units * tasks) / atOnce)));
  const wanted = Math.min(max, Math.max(fewestLanes, powerAbove((rows * units) / steps)));
  const idle = steps === 1 ? 1 : idleShare;
  const wide = widest(units, Math.min(wanted, powerAbove(together)), idle);
  const y = Math.min(wanted / wide, powerAbove(rows), limits.maxComputeWorkgroupSizeY);
  return { x: widest(units, wanted / y, idle), y };
}

/**
 * Returns the number of lanes for `units` element groups: the largest power of two up to `max` that leaves
 * few lanes idle. `idle`: largest allowed fraction (0 to 1) of idle lanes.
 */
function widest(units: number, max: number, idle: number): number {
  for (let x = Math.min(max, powerAbove(units)); x > 1; x /= 2) {
    const steps = Math.ceil(units / x);
    if (1 - units / (steps * x) <= idle) return x;
  }
  return 1;
}

const powerAbove = (value: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, value)));
