/**
 * Stops of a slider: the entries worth trying along each dim of the tile and of the view, and the ones that a
 * rule refuses.
 */
import {
  at,
  domainOf,
  isLegal,
  replaced,
  smallestInView,
  type AccessFunc,
  type ResolvedSchedule,
  type Target,
} from "../../../ir/index.js";
import { residenciesOf, ScheduleSpace, withDefaults } from "../../../passes/index.js";

/**
 * Position of a slider: a value for one dim of a loop tile or view tile (PyPTO view shape), in elements.
 * `legal` is true if the schedule with the value is legal.
 */
export interface Stop {
  readonly entry: number;
  readonly legal: boolean;
}

/**
 * Slider positions for loop tile and view tile (PyPTO view shape): a list for every output dim, in ascending
 * order.
 */
export type Stops = Readonly<Record<"tile" | "view", readonly (readonly Stop[])[]>>;

/**
 * Returns the slider positions for each dim of the loop tile and the view tile (PyPTO view shape), with the
 * legality. Dims that are not changed have the values of the schedule `used`.
 */
export function stopsOf(access: AccessFunc, target: Target, used: ResolvedSchedule): Stops {
  const extents = domainOf(access);
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
