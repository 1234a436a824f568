/**
 * Alternatives to an illegal schedule: what the compiler chooses under other entries, and the flags that
 * select it.
 */
import { readPolicies, withPolicy } from "../ir/access.js";
import type { AccessFunc } from "../ir/func.js";
import { defaultProfile, laterProfiles } from "../ir/profile.js";
import { formatEntry, type Residencies, type Schedule } from "../ir/schedule.js";
import { defaultsOn, isResolved } from "../ir/schedule-entries.js";
import type { Target } from "../ir/target.js";
import {
  dataResidency,
  gmAllowed,
  honoured,
  residencyChoices,
  readsInGm,
  shortest,
  suggestionText,
  type Tiling,
} from "../ir/tiling/index.js";
import { chooseSchedule } from "./choose-schedule.js";
import { withBuffers } from "./with-buffers.js";
import { defaultOrder, withDefaults } from "./with-defaults.js";

/**
 * Legal alternative to a rejected schedule: the tiling, and the command-line flags that select the tiling.
 */
export interface Remedy {
  readonly tiling: Tiling;
  /** Command-line flags that select the tiling when added to the user's flags. */
  readonly flags: string;
}

/**
 * Schedule choices that a search keeps: every choice that is present in this object. The search chooses the
 * tile and all absent choices. The residency is always present.
 */
export type PinnedEntries = Omit<Schedule, "residency" | "tile"> & { readonly residency: Residencies };

/** True if a schedule sets a tile or view, by which the program is judged. */
export const isTyped = ({ tile, view }: Schedule): boolean => tile !== undefined || view !== undefined;

/**
 * True if a schedule sets a tile, view, profile, lowering or task rotation (`rotate`). As a rule, a schedule
 * with one of these entries and no residency gets the target's default residency instead of the fastest
 * residency.
 */
export const pinsResidency = (schedule: Schedule): boolean =>
  isTyped(schedule) ||
  [schedule.profile, schedule.lowering, schedule.rotate].some((entry) => entry !== undefined);

/**
 * Returns the best tiling that keeps all choices in `pinned`, and the command-line flags that select the
 * tiling. Undefined if no tile is legal, or if `pinned` has residency `gm` and the target does not allow
 * `gm`.
 */
export function remedyTo(gather: AccessFunc, pinned: PinnedEntries, target: Target): Remedy | undefined {
  const { residency } = pinned;
  if (dataResidency(gather, pinned) === "gm" && !gmAllowed(gather, target)) return undefined;
  const chosen = chooseSchedule(withDefaults({ ...gather, schedule: pinned }, residency, target));
  if (chosen === undefined) return undefined;
  const tiling = honoured(chosen);
  // Where nothing pins a residency the clock weighs them all, and the target's is no default.
  const { residency: _, ...unplaced } = withTargets(gather, {}, target);
  const from = pinsResidency(pinned)
    ? withTargets(gather, gather.schedule, target)
    : { ...unplaced, ...gather.schedule };
  if (Object.keys(gather.schedule).every((entry) => entry in pinned))
    return { tiling, flags: suggestionText(from, pinned) };
  return { tiling, flags: flagsTo(gather, tiling.with({ residency })) };
}

/**
 * Returns the given entries, completed with the target's defaults. Where a framework reads its inputs in
 * global memory the target's residency is no default: without a stated one there is none, so that every flag
 * names its own.
 */
function withTargets(gather: AccessFunc, given: Schedule, target: Target): Schedule {
  const { residency, ...defaults } = defaultsOn(target);
  return { ...defaults, ...(readsInGm(gather, target) ? {} : { residency }), ...given };
}

/**
 * Returns the command-line flags that select a tiling when they are added to the user's flags. Choices that
 * the tile gets by default need no flag.
 */
export function flagsTo(gather: AccessFunc, { schedule, target }: Tiling): string {
  const { view, order, buffers: resolved, ...followed } = schedule;
  const { buffers: _, ...given } = gather.schedule;
  const { buffers: stated } = unpinnedSchedule(gather);
  const withEntries = (others: Schedule): Tiling =>
    withDefaults({ ...gather, schedule: { ...given, ...followed, ...others } }, schedule.residency, target);
  const plain = withEntries({}).schedule;
  // A second copy is named, whether or not the tile gets it by itself; one copy, where the tile gets two.
  const got = stated ?? withBuffers(withEntries({ view, order })).schedule.buffers;
  const buffers = formatEntry(got) === formatEntry(resolved) ? (stated ?? plain.buffers) : got;
  return suggestionText(
    { ...withTargets(gather, given, target), view: plain.view, order: plain.order, buffers },
    schedule,
  );
}

/**
 * Returns legal alternatives to a rejected schedule: with another residency, or with another profile. If
 * there are none and the schedule requests a lowering, returns at most one alternative with another
 * out-of-range policy.
 */
export function remedies({ gather, schedule, target }: Tiling): Remedy[] {
  const [first, ...residencies] = residencyChoices(gather, target, ["ub", "gm"]);
  const others: readonly Pick<PinnedEntries, "residency" | "profile">[] = [
    { residency: first },
    ...laterProfiles(schedule.profile ?? defaultProfile).map(
      (profile) => ({ residency: "ub", profile }) as const,
    ),
    ...residencies.map((residency) => ({ residency })),
  ];
  const list = others.flatMap((other) => {
    const { residency, profile = schedule.profile } = other;
    const same = formatEntry(residency) === formatEntry(shortest(gather, target, schedule.residency));
    if (profile === schedule.profile && same) return [];
    return remedyTo(gather, { ...unpinnedSchedule(gather), ...other }, target) ?? [];
  });
  return list.length > 0 || gather.schedule.lowering === undefined ? list : withOtherPolicy(gather, target);
}

/**
 * Returns a list with one remedy for a refused gather: a legal tiling with another out-of-range policy. The
 * policy is the first that allows the lowering that the user's schedule requests. The list is empty if no
 * policy allows the lowering.
 */
function withOtherPolicy(gather: AccessFunc, target: Target): Remedy[] {
  for (const policy of readPolicies) {
    const other = { ...gather, map: withPolicy(gather.map, policy) };
    for (const residency of residencyChoices(gather, target, ["ub", "gm"])) {
      const remedy = remedyTo(other, { ...unpinnedSchedule(gather), residency }, target);
      if (remedy !== undefined) return [{ ...remedy, flags: `${remedy.flags} --oob ${policy}`.trim() }];
    }
  }
  return [];
}

/**
 * Returns the schedule of `gather` without its tile. If the schedule has a tile, its view is removed too. If
 * the compiler filled in defaults, the default loop order and a buffer count of 1 are also removed.
 */
export function unpinnedSchedule(gather: AccessFunc): Omit<Schedule, "tile"> {
  const { tile, view, order, buffers, ...kept } = gather.schedule;
  // A resolved schedule holds defaults that nobody chose: what equals the default is dropped.
  const written = isResolved(gather.schedule);
  return {
    ...kept,
    ...(view === undefined || tile !== undefined ? {} : { view }),
    ...(order === undefined || (written && order.join() === defaultOrder(gather).join()) ? {} : { order }),
    ...(buffers === undefined || (written && buffers === 1) ? {} : { buffers }),
  };
}
