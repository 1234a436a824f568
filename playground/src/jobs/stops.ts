/**
 * Stops of a slider: the entries worth trying along each dim of the tile and of the view, and the ones that a
 * rule refuses.
 */
import {
  at,
  isLegal,
  replaced,
  smallestInView,
  type AccessFunc,
  type ResolvedSchedule,
  type Target,
} from "../../../ir/index.js";
import { residenciesOf, ScheduleSpace, withDefaults } from "../../../passes/index.js";

/**
 * Position of a slider for one dim of the tile or of the view: the extent `entry`, in elements. `legal` is
 * true if the schedule with this extent is legal.
 */
export interface Stop {
  readonly entry: number;
  readonly legal: boolean;
}

/**
 * Slider positions for the tile and for the view: one list for each dim of the output (of the domain, for a
 * scatter), in ascending order.
 */
export type Stops = Readonly<Record<"tile" | "view", readonly (readonly Stop[])[]>>;

/**
 * Returns the slider positions for each dim of the tile and of the view, with the legality of each position.
 * A position changes one extent of the schedule `used` and no other.
 */
export function stopsOf(access: AccessFunc, target: Target, used: ResolvedSchedule): Stops {
  const extents = access.map.domain;
  const { tile: _, ...open } = access.schedule;
  const residencies = residenciesOf(access, target);
  const worthTrying = residencies.map(
    (residency) => new ScheduleSpace(withDefaults({ ...access, schedule: open }, residency, target)),
  );
  const legal = (schedule: AccessFunc["schedule"]): boolean =>
    residencies.some((residency) => {
      const tiling = withDefaults({ ...access, schedule }, residency, target);
      return isLegal(schedule.tile === undefined ? smallestInView(tiling) : tiling);
    });
  const along = (key: keyof Stops, d: number, others: readonly number[]): readonly Stop[] => {
    const extent = Math.max(1, at(extents, d));
    const now = at(used[key], d);
    const entries = [...new Set([...powersBelow(extent), ...others, now, extent])].sort((a, b) => a - b);
    return entries
      .filter((entry) => entry <= extent)
      .map((entry) => ({
        entry,
        legal: legal({ ...access.schedule, [key]: replaced(used[key], d, entry) }),
      }));
  };
  return {
    tile: extents.map((_extent, d) =>
      along(
        "tile",
        d,
        worthTrying.flatMap((space) => space.entries(d)),
      ),
    ),
    view: extents.map((_extent, d) => along("view", d, [])),
  };
}

function powersBelow(extent: number): number[] {
  const powers: number[] = [];
  for (let n = 1; n < extent; n *= 2) powers.push(n);
  return powers;
}
