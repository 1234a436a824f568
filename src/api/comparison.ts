/**
 * A legal schedule beside others of the same gather: other buffers, residencies and sizes of UB, each as fast
 * as it gets there.
 */
import {
  dataResidency,
  formatEntry,
  isLegal,
  lowerBoundsOf,
  residencyChoices,
  targetFacts,
  targets,
  type AccessFunc,
  type ClockResult,
  type Copies,
  type ResolvedSchedule,
  type Target,
  type Tiling,
} from "../../ir/index.js";
import {
  clockOf,
  flagsTo,
  unpinnedSchedule,
  remedyTo,
  withDefaults,
  type PinnedEntries,
  type Remedy,
} from "../../passes/index.js";
import { neighbourSchedules } from "./neighbour-schedules.js";

/** Legal schedule, with estimated cycles, that {@link compareSchedules} compares with the schedule in use. */
export interface Alternative {
  /** Difference from the schedule in use, such as `residency gm`. */
  readonly name: string;
  readonly schedule: ResolvedSchedule;
  readonly cycles: number;
  /** The pipe that is busy longest, or `gm` for global memory. */
  readonly busiest: ClockResult["bottleneck"];
  /** Number of cores without work while the other cores run their last task. */
  readonly idleCores: number;
  /** Flags to add to the command to get this schedule; empty for the schedule that runs. */
  readonly flags: string;
}

/**
 * Comparison of the schedule in use with legal alternatives. An alternative differs in buffers, residency or
 * UB size, or has the entries that the compiler chooses. An alternative with a nearby tile or loop order, or
 * with fewer cores, is listed only if it is faster.
 */
export interface Comparison {
  /** The schedule in use, then the alternatives. */
  readonly alternatives: readonly Alternative[];
  /**
   * Fastest alternative of the same UB size, if it takes under 90 % of the cycles of the schedule in use. For
   * a framework's program, it must also read the data from the same memory as the schedule in use.
   */
  readonly better?: Pick<Alternative, "flags" | "cycles"> & Pick<ResolvedSchedule, "tile" | "view">;
}

/**
 * Result of {@link compareSchedules}: the comparison of the schedule in use with alternatives, and the
 * schedules that performance hints (TC901 to TC903) may propose.
 */
export interface ComparedSchedules {
  readonly comparison: Comparison;
  /** The schedule of `comparison.better`. */
  readonly better?: Alternative;
  /** Schedules with a nearby tile or order that are no slower than the schedule in use, fastest first. */
  readonly neighbours: readonly Alternative[];
}

/** Ways to schedules; undefined where there is none. */
type Named = readonly (readonly [name: string, way: Remedy | undefined])[];

/**
 * Name of the alternative in which the compiler chooses the tile, view, loop order and buffers that the user
 * stated. A comparison has no such alternative if the user stated none of these entries, or if no such
 * schedule is legal.
 */
export const compilersChoice = "the compiler's choice";

/** A schedule is worth telling about when it takes less than this share of the cycles. */
const worthTelling = 0.9;

/**
 * Compares the schedule in use, `tiling`, with the legal alternatives that {@link Comparison} describes.
 * `access`: program with the schedule entries that the user stated.
 */
export function compareSchedules(access: AccessFunc, tiling: Tiling): ComparedSchedules {
  const { schedule, target } = tiling;
  const unpinned = { ...unpinnedSchedule(access), residency: schedule.residency };
  const { order: _, buffers: __, view: ___, ...unchosen } = unpinned;
  const runs = measured(
    `buffers ${formatEntry(schedule.buffers)}, residency ${formatEntry(schedule.residency)}`,
    {
      tiling,
      flags: "",
    },
  );
  const here: Named = [
    ...(tiling.scatter === undefined ? otherCopies(schedule, target) : []).map(
      (buffers) => [`buffers ${buffers}`, withCopies(access, tiling, buffers)] as const,
    ),
    ...residencyChoices(access, target, ["ub", "gm"])
      .map((residency) => ({ residency, name: formatEntry(residency) }))
      .filter(({ name }) => name !== formatEntry(schedule.residency))
      .map(
        ({ residency, name }) =>
          [`residency ${name}`, remedyTo(access, { ...unpinned, residency }, target)] as const,
      ),
  ];
  const inOtherSizes: Named = ubBytesOfKind(target)
    .filter((ubBytes) => ubBytes !== schedule.ubBytes)
    .map((ubBytes) => [`UB of ${ubBytes} B`, remedyTo(access, { ...unpinned, ubBytes }, target)]);
  const chosen: Named = Object.keys(access.schedule).some((entry) => !(entry in unchosen))
    ? [[compilersChoice, remedyTo(access, unchosen, target)]]
    : [];
  const neighbours = neighbourSchedules(tiling)
    .map((other) => measured("a tile or order near it", { tiling: other, flags: flagsTo(access, other) }))
    .filter(({ cycles }) => cycles <= runs.cycles)
    .sort((a, b) => a.cycles - b.cycles);
  const [near, sized, choice] = [reached(here), reached(inOtherSizes), reached(chosen)];
  // These are listed where they are faster than all that the compiler makes of the gather.
  const limit = Math.min(runs.cycles, ...[...near, ...choice].map(({ cycles }) => cycles));
  const faster = [...neighbours.slice(0, 1), ...forFewerCores(access, tiling, unpinned, limit)];
  const others = [...near, ...faster.filter(({ cycles }) => cycles < limit)];
  // A framework that cuts the tiles itself also decides where its operators read the data.
  const isUnpinned = (other: ResolvedSchedule): boolean =>
    access.framework === undefined || dataResidency(access, other) === dataResidency(access, schedule);
  const alternatives = [runs, ...others, ...sized, ...choice];
  const [fastest] = [...others, ...choice]
    .filter((other) => isUnpinned(other.schedule) && other.cycles < worthTelling * runs.cycles)
    .sort((a, b) => a.cycles - b.cycles);
  if (fastest === undefined) return { comparison: { alternatives }, neighbours };
  const { flags, cycles } = fastest;
  const { tile, view } = fastest.schedule;
  return { comparison: { alternatives, better: { flags, cycles, tile, view } }, better: fastest, neighbours };
}

/**
 * Returns a list of at most one schedule: the fastest of those that the compiler chooses for 1/2, 1/4, … of
 * the cores. The schedule uses all cores if its tile is legal and no slower on all cores. The list is empty
 * if no schedule is found that takes fewer than `limit` cycles.
 */
function forFewerCores(
  access: AccessFunc,
  tiling: Tiling,
  unpinned: PinnedEntries,
  limit: number,
): readonly Alternative[] {
  const { schedule, target } = tiling;
  const counts: number[] = [];
  for (let cores = schedule.cores >> 1; cores >= 1; cores >>= 1) counts.push(cores);
  return counts
    .map((cores): PinnedEntries => ({ ...unpinned, cores }))
    .filter((pinned) => {
      const plain = withDefaults({ ...access, schedule: pinned }, pinned.residency, target);
      return lowerBoundsOf(plain).any() < worthTelling * limit;
    })
    .flatMap((pinned) => {
      const remedy = remedyTo(access, pinned, target);
      if (remedy === undefined) return [];
      const few = measured(`cores ${remedy.tiling.schedule.cores}`, remedy);
      const onAll = remedy.tiling.with({ cores: schedule.cores });
      const all = measured("a tile for fewer cores", { tiling: onAll, flags: flagsTo(access, onAll) });
      return isLegal(onAll) && all.cycles <= few.cycles ? all : few;
    })
    .filter(({ cycles }) => cycles < limit)
    .sort((a, b) => a.cycles - b.cycles)
    .slice(0, 1);
}

const reached = (others: Named): Alternative[] =>
  others.flatMap(([name, remedy]) => (remedy === undefined ? [] : [measured(name, remedy)]));

function measured(name: string, { tiling, flags }: Remedy): Alternative {
  const { cycles, bottleneck, idleCores } = clockOf(tiling);
  return { name, schedule: tiling.schedule, cycles, busiest: bottleneck, idleCores, flags };
}

/**
 * Returns the buffer counts, 1 or 2 for all operands, that the schedule does not use. Empty on targets whose
 * pipes do not run in parallel.
 */
const otherCopies = ({ buffers }: ResolvedSchedule, { kind }: Target): readonly Copies[] =>
  targetFacts[kind].doubleBuffers ? ([1, 2] as const).filter((copies) => copies !== buffers) : [];

/**
 * Returns a legal schedule with `buffers` copies of each tile, and the flags that select the schedule.
 * Undefined if none is legal. A tile that the program states is kept.
 */
function withCopies(access: AccessFunc, tiling: Tiling, buffers: Copies): Remedy | undefined {
  if (access.schedule.tile === undefined) {
    const { residency } = tiling.schedule;
    return remedyTo(access, { ...unpinnedSchedule(access), residency, buffers }, tiling.target);
  }
  const other = tiling.with({ buffers });
  return isLegal(other) ? { tiling: other, flags: `--buffers ${buffers}` } : undefined;
}

/**
 * Returns the UB sizes of the built-in targets of a target's kind, in bytes, ascending: the full size and the
 * size that libraries leave free.
 */
function ubBytesOfKind({ kind }: Target): readonly number[] {
  const sizes = Object.values(targets)
    .filter((target) => targetFacts[target.kind] === targetFacts[kind])
    .flatMap(({ ubBytes, ubSafeBytes }) => [ubSafeBytes, ubBytes]);
  return [...new Set(sizes)].sort((a, b) => a - b);
}
